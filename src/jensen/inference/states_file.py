"""Fitted models with hidden states as plain data, and back.

In a file the choices and the columns of the estimator say what the model is made of; the rest
stands there as it is here, and docs/json-format.md describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import ColumnSummary
from jensen.exceptions import JensenError
from jensen.inference.mixtures import FittedStates
from jensen.models.emissions.derived import labels_of, with_masks
from jensen.models.emissions.discrete import concentration_fault, shares_fault
from jensen.models.emissions.gaussian_states import GaussianStates, family_given
from jensen.models.emissions.kinds import Chosen, Fault
from jensen.models.emissions.priors import COVARIANCES
from jensen.models.emissions.product import EmissionPart, ProductEmission, parts_of, records_of
from jensen.models.emissions.registry import EMISSIONS, EmissionRecord, record_of
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixture
from jensen.models.state_model import flatten, unflatten
from jensen.support.fields import leaves
from jensen.support.json_values import Checked, plain_array, plain_record, read_array, read_record

if TYPE_CHECKING:
    from jensen.models.state_model import StateModel

Array = NDArray[np.float64]

MIXTURE, CHAIN = "mixture", "chain"
PART_MEMBERS = {"name", "labels", "covariance", "shift"}

SAME = 1e-4
"""Relative tolerance where a file gives a number twice (a posterior and its mean, parameters and
what is held at them): matrices may be hard to invert."""


DESCRIPTION = ("model", "n_states", "emission", "end")
"""The members that say what a model is made of."""


def plain_fitted(fitted: FittedStates) -> dict[str, Any]:
    """The model, its parameters, their posterior or samples; empty members are left out."""
    members = {
        **plain_model(fitted.model),
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
    """The posterior, or the prior, of all fields that are not held."""
    if eta is None:
        return None
    return {name: plain_record(x) for name, x in eta._asdict().items() if name not in model.held}


def read_fitted(value: Checked) -> FittedStates:
    """The inverse of `plain_fitted`."""
    model: StateModel[Any, Any] = read_model(value)
    _, rest = value.parted(frozenset(), {*DESCRIPTION, "masks"})
    optional = {"held", "posterior", "prior", "samples", "symmetric"}
    document = rest.fields({"counts", "parameters"}, optional)
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
    """η of a posterior with this mean, or of a prior; held fields keep their blank value."""
    blank = model.blank
    members = value.fields({name for name in blank._fields if name not in model.held})
    fields = zip(blank._fields, blank, strict=True)
    eta = type(blank)(*(read_record(members[x], y) if x in members else y for x, y in fields))
    _refuse(value, belief_fault(model, eta, mean))
    return eta


def _samples(model: Any, value: Checked) -> Array:
    """Samples of t (S, width), each flattened to one row."""
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


# --- what a model is made of ---


def plain_model(model: StateModel[Any, Any]) -> dict[str, Any]:
    """Mixture or chain, how many states, and what the states make, part by part."""
    parts = [_plain_part(part) for part in parts_of(model.emission)]
    end = {"end": model.has_end} if isinstance(model, HiddenMarkov) else {}
    kind = CHAIN if end else MIXTURE
    return {"model": kind, "n_states": model.n_states, "emission": parts, **end}


def plain_part(
    record: EmissionRecord,
    columns: Iterable[int],
    *,
    name: str = "",
    labels: int = 0,
    covariance: str = "",
    shift: Iterable[float] = (),
) -> dict[str, Any]:
    """What states make of some columns: as much of it as the record asks for."""
    members: dict[str, Any] = {"kind": record.word, "columns": list(map(int, columns))}
    if name:
        members["name"] = name
    if record.has_labels:
        members["labels"] = labels
    if "covariance" in record.options:
        members["covariance"] = covariance
    if record.is_shifted:
        members["shift"] = list(map(float, shift))
    return members


def _plain_part(part: EmissionPart) -> dict[str, Any]:
    emission, columns, name = part
    return plain_part(
        record_of(emission),
        columns,
        name=name,
        labels=getattr(emission, "n_labels", 0),
        covariance=getattr(emission, "covariance", ""),
        shift=getattr(emission, "shift", ()),
    )


def read_model(value: Checked) -> Mixture | HiddenMarkov:
    """The model that plain data describe, under a flat prior: answers do not look at it."""
    members, _ = value.parted({"model", "n_states", "emission"}, {"end", "masks"})
    kind, K = members["model"].text(), members["n_states"].whole()
    if kind not in (MIXTURE, CHAIN):
        members["model"].fail(f"must be {MIXTURE!r} or {CHAIN!r}, not {kind!r:.40}")
    if K < 1:
        members["n_states"].fail("must be 1 or more")
    if (kind == CHAIN) != ("end" in members):
        members["model"].fail(f"must be {CHAIN!r} if there is an 'end', and only then")
    emission = _read_emission(members["emission"], K)
    model: Mixture | HiddenMarkov = Mixture(emission, None, K)
    if kind == CHAIN:
        model = HiddenMarkov(emission, None, None, K, members["end"].flag())
    return read_masks(model, members.get("masks"))


def _read_emission(value: Checked, K: int) -> Any:
    """One emission, or several with names side by side."""
    items = [item.fields({"kind", "columns"}, PART_MEMBERS) for item in value.items()]
    places = [[x.whole() for x in members["columns"].items()] for members in items]
    every = sorted(place for own in places for place in own)
    if not every or every != list(range(len(every))):
        value.fail("must have parts that hold every column once, by its number from 0")
    parts = [_read_part(members, K, len(own)) for members, own in zip(items, places, strict=True)]
    names = [members["name"].text() for members in items if "name" in members]
    if len(parts) == 1 and not names:
        return parts[0]
    if len({*names}) < len(parts):
        value.fail("must have a name for each of its parts")
    return ProductEmission(tuple(parts), tuple(map(np.array, places)), tuple(names))


def _read_part(members: dict[str, Checked], K: int, n_columns: int) -> Any:
    """The emission of some columns."""
    kind = members["kind"]
    if kind.text() not in EMISSIONS:
        kind.fail(f"must be one of {', '.join(EMISSIONS)}, not {kind.text()!r:.40}")
    record = EMISSIONS[kind.text()]
    wanted = plain_part(record, [])
    for name in ("labels", "covariance", "shift"):
        if (name in members) != (name in wanted):
            kind.fail(f"must be one that has {name!r}" if name in members else f"needs {name!r}")
    chosen, shift = Chosen(), np.zeros(n_columns)
    if "covariance" in members:
        chosen = Chosen(members["covariance"].text())
        if chosen.covariance not in COVARIANCES:
            members["covariance"].fail(f"must be one of {', '.join(COVARIANCES)}")
    if "labels" in members:
        n_labels = members["labels"].whole()
        if n_labels < 1 or n_columns != 1:
            members["labels"].fail("must be 1 or more, of one column")
        chosen = Chosen(labels=tuple(map(str, range(n_labels))))
    if "shift" in members:
        shift = read_array(members["shift"], (n_columns,))
    return record.kind.make(K, ColumnSummary.at(shift), None, chosen)


# --- checks: are the numbers of a file parameters, or a posterior? ---


@np.errstate(all="ignore")  # a number may be anything, and then makes no sense
def theta_fault(model: Any, t: Any) -> Fault | None:
    """The first fault of the parameters t(θ) of a model: where and what; None if there is none."""
    masks = getattr(model, "masks", {})
    for name, part in zip(t._fields[:-1], t[:-1], strict=True):
        fault = shares_fault(part, masks.get(name))
        if fault is not None:
            return f".{name}{fault[0]}", fault[1]
    for place, emission, part in _parts(model.emission, t[-1]):
        fault = record_of(emission).kind.theta_fault(emission, part)
        if fault is not None:
            return f".{t._fields[-1]}{place}{fault[0]}", fault[1]
    return None


@np.errstate(all="ignore")
def belief_fault(model: Any, eta: Any, t: Any = None) -> Fault | None:
    """The first fault of a posterior η with mean t, or of a prior (t=None); None if it has none."""
    masks, emission_name = getattr(model, "masks", {}), eta._fields[-1]
    for name, part in zip(eta._fields[:-1], eta[:-1], strict=True):
        fault = None if name in model.held else concentration_fault(part, masks.get(name))
        if fault is not None:
            return f".{name}{fault[0]}", fault[1]
    if emission_name not in model.held:
        for place, emission, part in _parts(model.emission, eta[-1]):
            fault = record_of(emission).kind.belief_fault(emission, part)
            if fault is not None:
                return f".{emission_name}{place}{fault[0]}", fault[1]
    try:
        mean = model.point(eta)
    except (JensenError, np.linalg.LinAlgError):
        return f".{emission_name}", "is no distribution: a precision has no expected value"
    if t is None:
        return None
    for name, found, expected in zip(t._fields, t, mean, strict=True):
        if not all(map(_agree, leaves(found), leaves(expected))):
            return f".{name}", "does not have the parameters as its mean"
    return None


def _parts(emission: Any, record: Any) -> Iterator[tuple[str, Any, Any]]:
    """The path, the emission and the parameters of each part of an emission."""
    pairs = zip(parts_of(emission), records_of(emission, record), strict=True)
    for k, (part, own) in enumerate(pairs):
        yield f"[{k}]" if part.name else "", part.emission, own


def _agree(found: Array, expected: Array) -> bool:
    """Whether two arrays are equal within `SAME`."""
    finite = np.isfinite(expected)
    if (finite != np.isfinite(found)).any():
        return False
    size = np.abs(np.where(finite, expected, 0.0)).max(initial=0.0)
    away = np.abs(np.where(finite, found, 0.0) - np.where(finite, expected, 0.0))
    return bool((away <= SAME * size + 1e-12).all())


# --- what is held ---


def plain_held(model: Any) -> dict[str, Any]:
    """Names of held fields (null: held at the parameters), or held parts of a field with values."""
    parts = getattr(model.emission, "held", {})
    return {**dict.fromkeys(model.held), **{name: plain_array(x) for name, x in parts.items()}}


def read_held(model: Any, t: Any, value: Checked | None) -> Any:
    """The model in which the listed fields, or parts of its emission, are held."""
    if value is None:
        return model
    members, emission = value.members(), model.emission
    parts_here = [record_of(part.emission).held for part in parts_of(emission) if not part.name]
    known = [*t._fields, *sum(parts_here, ())]
    parts: dict[str, Array] = {}
    for name, member in members.items():
        if name not in known:
            value.fail(f"names {name!r}, but only {', '.join(known)} can be held")
        if name in t._fields:
            if not member.is_null():
                member.fail("must be null: the parameters say at what it is held")
            model.held[name] = getattr(t, name)
        else:
            parts[name] = _held_part(emission, t[-1], name, member)
    if len(parts) + (t._fields[-1] in model.held) > 1:
        value.fail(f"must name {t._fields[-1]!r} where all of it is held")
    return replace(model, emission=replace(emission, held=parts)) if parts else model


def _held_part(emission: GaussianStates, t: Any, name: str, value: Checked) -> Array:
    """Held means (less the shift) or covariances; they must agree with the parameters."""
    shown = emission.show(t)[name] - (emission.shift if name == "means" else 0.0)
    part = read_array(value, np.shape(shown))
    slack = SAME * (np.abs(shown).max() + np.abs(emission.shift).max() * (name == "means"))
    if (np.abs(part - shown) > slack).any():
        value.fail("is not what the parameters say")
    try:
        family_given({name: part}, emission.covariance)
    except (JensenError, np.linalg.LinAlgError):
        value.fail("is not positive definite")
    return part


# --- masks ---


def plain_masks(model: Any) -> dict[str, Any]:
    """Masks of allowed (1) and forbidden (0) entries, of those fields that forbid something."""
    masks = getattr(model, "masks", {})
    found = {x: _plain_mask(masks[x]) for x in ("initial", "transition") if x in masks}
    emission = [part.mask for part in labels_of(model.emission)]
    if any(mask is not None for mask in emission):
        found["emission"] = [None if mask is None else _plain_mask(mask) for mask in emission]
    return found


def read_masks(model: Mixture | HiddenMarkov, value: Checked | None) -> Mixture | HiddenMarkov:
    """The model with its masks."""
    if value is None:
        return model
    if not isinstance(model, HiddenMarkov):
        value.fail("belongs to hidden Markov models")
    members = value.fields(frozenset(), {"initial", "transition", "emission"})
    masks: dict[str, Any] = {
        name: _read_mask(members[name], np.shape(getattr(model.blank, name)))
        for name in ("initial", "transition")
        if name in members
    }
    model = replace(model, masks=masks)
    if "emission" not in members:
        return model
    parts, items = labels_of(model.emission), list(members["emission"].items())
    if not parts or len(items) != len(parts):
        members["emission"].fail("must have a mask or null for every part of labels")
    emission = [
        None if item.is_null() else _read_mask(item, part.blank.shape)
        for part, item in zip(parts, items, strict=True)
    ]
    return replace(model, emission=with_masks(model.emission, emission))


def _plain_mask(mask: NDArray[np.bool_]) -> Any:
    return np.asarray(mask, int).tolist()


def _read_mask(value: Checked, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    mask = read_array(value, shape)
    if not np.isin(mask, (0.0, 1.0)).all():
        value.fail("must hold 1 (may be) and 0 (may not)")
    if not mask.any(-1).all():
        value.fail("leaves a state without any possibility")
    return mask.astype(bool)
