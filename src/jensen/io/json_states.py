"""Mixtures and hidden Markov models in Jensen's JSON, exact to the bit.

The shapes of all arrays follow from choices and columns, so the file need not tell them: a reader
makes a model without parameters, and fills in those of the file. docs/json-format.md describes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.fields import leaves
from jensen.io.checked import Checked, check_version, dump, refusing
from jensen.io.json_arrays import plain_array, plain_record, read_array, read_record
from jensen.io.json_files import STATES
from jensen.io.json_learning import plain_learned, read_learned
from jensen.io.json_state_checks import belief_fault, theta_fault
from jensen.io.json_state_choices import (
    KINDS,
    check_start,
    check_state_choices,
    find_kind,
    plain_state_choices,
    read_state_choices,
)
from jensen.io.json_state_models import (
    plain_columns,
    plain_held,
    plain_masks,
    read_columns,
    read_held,
    read_masks,
    tell_emission,
    without_parameters,
)
from jensen.models.fitted_states import FittedStates, flatten, unflatten

if TYPE_CHECKING:
    from jensen.estimators.states_estimator import StatesEstimator

Array = NDArray[np.float64]

VERSION = 1
NEEDED = frozenset(
    {"format", "version", "model", "choices", "learned", "columns", "counts", "parameters"}
)
OPTIONAL = frozenset({"held", "masks", "posterior", "prior", "samples", "symmetric"})


# --- writing ---


def dumps(estimator: StatesEstimator) -> str:
    """The model as JSON text."""
    fitted = estimator.require_fitted()
    check_state_choices(estimator)
    _check_choices_are_those_of_fit(estimator, fitted)
    members = {
        "format": STATES,
        "version": VERSION,
        "model": find_kind(estimator).name,
        "choices": plain_state_choices(estimator),
        "learned": plain_learned(estimator),
        "columns": plain_columns(estimator),
        "held": plain_held(fitted.model),
        "masks": plain_masks(fitted.model),
        "counts": plain_array(fitted.counts),
        "parameters": plain_record(fitted.t),
        "posterior": _plain_belief(fitted.model, fitted.eta),
        "prior": _plain_belief(fitted.model, fitted.prior),
        "samples": None if fitted.samples is None else plain_array(fitted.samples),
        "symmetric": True if fitted.is_symmetric else None,
    }
    kept = {name: x for name, x in members.items() if name in NEEDED or x not in (None, [], {})}
    lines = [f"{dump(name)}: {dump(value)}" for name, value in kept.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain_belief(model: Any, eta: Any) -> dict[str, Any] | None:
    """The posterior, or the prior, of all that was not held."""
    if eta is None:
        return None
    return {name: plain_record(x) for name, x in eta._asdict().items() if name not in model.held}


def _check_choices_are_those_of_fit(estimator: StatesEstimator, fitted: FittedStates) -> None:
    """Refuse choices that were changed since: the file would contradict itself."""
    columns = plain_columns(estimator)
    shift = np.array([column.get("shift", 0.0) for column in columns])
    model = without_parameters(estimator, shift)
    wanted = leaves(model.blank)
    found = leaves(fitted.t)
    is_same_kind = getattr(estimator, "emission", None) in (None, getattr(estimator, "kind_", None))
    if not is_same_kind or [np.shape(x) for x in wanted] != [np.shape(x) for x in found]:
        raise JensenError(
            f"{type(estimator).__name__} was fitted with other choices than it has now, and a "
            f"file would hold both: fit it again, or set the choices back"
        )
    check_start(estimator, model, shift)


# --- reading ---


def read(head: Checked) -> Any:
    """A model from a document."""
    check_version(head, STATES, VERSION)
    document = head.fields(NEEDED, OPTIONAL)
    kind = document["model"].text()
    if kind not in KINDS:
        document["model"].fail(f"must be one of {', '.join(KINDS)}, not {kind!r:.40}")
    estimator = KINDS[kind].make(read_state_choices(KINDS[kind], document["choices"]))
    tell_emission(estimator, document["columns"])
    with refusing(f"{head.file}: choices"):
        check_state_choices(estimator)
    with refusing(head.file):
        shift = read_columns(estimator, document["columns"])
    model = read_masks(without_parameters(estimator, shift), document.get("masks"))
    with refusing(f"{head.file}: choices"):
        check_start(estimator, model, shift)
    symmetric = "symmetric" in document and document["symmetric"].flag()
    estimator.fitted_ = replace(_fitted(model, document), is_symmetric=symmetric)
    samples = estimator.fitted_.samples
    read_learned(
        estimator,
        document["learned"],
        has_posterior=estimator.fitted_.eta is not None,
        n_samples=None if samples is None else len(samples),
    )
    estimator._show()
    return estimator


def _fitted(model: Any, document: dict[str, Checked]) -> FittedStates:
    counts = read_array(document["counts"], (model.n_states,))
    if (counts < 0.0).any():
        document["counts"].fail("holds a negative number")
    t = _theta(model, document["parameters"])
    model = read_held(model, t, document.get("held"))
    if "posterior" in document and "samples" in document:
        document["samples"].fail("cannot stand beside a posterior")
    if "prior" in document and "posterior" not in document:
        document["prior"].fail("needs a posterior beside it")
    if "posterior" in document:
        eta = _belief(model, document["posterior"], t)
        prior = _belief(model, document["prior"]) if "prior" in document else None
        return FittedStates(model, t, counts, eta, prior=prior)
    if "samples" in document:
        return FittedStates(model, t, counts, samples=_samples(model, document["samples"]))
    return FittedStates(model, t, counts)


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
