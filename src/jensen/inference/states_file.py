"""Hidden states that were learned as plain data, and back; docs/json-format.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.io.checked import Checked
from jensen.io.json_arrays import plain_array, plain_record, read_array, read_record
from jensen.io.json_state_checks import belief_fault, theta_fault
from jensen.io.json_state_models import plain_held, plain_masks, read_held
from jensen.models.state_model import FittedStates, flatten, unflatten

if TYPE_CHECKING:
    from jensen.models.state_model import StateModel

Array = NDArray[np.float64]


def plain_fitted(fitted: FittedStates) -> dict[str, Any]:
    """Parameters, their posterior or samples; what is empty is left out."""
    members = {
        "held": plain_held(fitted.model),
        "masks": plain_masks(fitted.model),
        "counts": plain_array(fitted.counts),
        "parameters": plain_record(fitted.t),
        "posterior": _plain_belief(fitted.model, fitted.eta),
        "prior": _plain_belief(fitted.model, fitted.prior),
        "samples": None if fitted.samples is None else plain_array(fitted.samples),
        "symmetric": True if fitted.is_symmetric else None,
    }
    return {name: value for name, value in members.items() if value not in (None, [], {})}


def _plain_belief(model: Any, eta: Any) -> dict[str, Any] | None:
    """The posterior, or the prior, of all that was not held."""
    if eta is None:
        return None
    return {name: plain_record(x) for name, x in eta._asdict().items() if name not in model.held}


def read_fitted(model: StateModel, value: Checked) -> FittedStates:
    """What `plain_fitted` gave, of a model that has everything but parameters."""
    optional = {"held", "posterior", "prior", "samples", "symmetric"}
    document = value.fields({"counts", "parameters"}, optional)
    counts = read_array(document["counts"], (model.n_states,))
    if (counts < 0.0).any():
        document["counts"].fail("holds a negative number")
    t = _theta(model, document["parameters"])
    model = read_held(model, t, document.get("held"))
    if "posterior" in document and "samples" in document:
        document["samples"].fail("cannot stand beside a posterior")
    if "prior" in document and "posterior" not in document:
        document["prior"].fail("needs a posterior beside it")
    more: dict[str, Any] = {}
    if "posterior" in document:
        more["eta"] = _belief(model, document["posterior"], t)
    if "prior" in document:
        more["prior"] = _belief(model, document["prior"])
    if "samples" in document:
        more["samples"] = _samples(model, document["samples"])
    if "symmetric" in document:
        more["is_symmetric"] = document["symmetric"].flag()
    return model.fitted(t, counts, **more)


def _theta(model: Any, value: Checked) -> Any:
    t = read_record(value, model.blank, logs=True)
    _refuse(value, theta_fault(model, t))
    return t


def _belief(model: Any, value: Checked, mean: Any = None) -> Any:
    """η of a posterior with this mean, or of a prior; what is held has none, and nobody looks."""
    blank = model.blank
    members = value.fields({name for name in blank._fields if name not in model.held})
    fields = zip(blank._fields, blank, strict=True)
    eta = type(blank)(*(read_record(members[x], y) if x in members else y for x, y in fields))
    _refuse(value, belief_fault(model, eta, mean))
    return eta


def _samples(model: Any, value: Checked) -> Array:
    """Draws of t, each with all its numbers in a row."""
    n_samples, width = len(list(value.items())), len(flatten(model.blank))
    if n_samples == 0:
        value.fail("must hold one sample at least")
    samples = read_array(value, (n_samples, width), logs=True)
    for k, flat in enumerate(samples):
        fault = theta_fault(model, unflatten(model.blank, flat))
        if fault is not None:
            value.fail(f"makes no sense: of sample {k}, {fault[0].lstrip('.')} {fault[1]}")
    return samples


def _refuse(value: Checked, fault: tuple[str, str] | None) -> None:
    if fault is not None:
        place, what = fault
        Checked(value.value, value.file, f"{value.path}{place}").fail(what)
