"""Columns, and the model without parameters that follows from them and from what was chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.io.checked import Checked
from jensen.io.json_arrays import plain_array, read_array
from jensen.models.emissions.building import labels_of, make_columns, make_emission, with_masks
from jensen.models.emissions.column_summary import ColumnSummary
from jensen.models.emissions.gaussian_states import GaussianStates, family_given
from jensen.models.emissions.product import parts_of
from jensen.models.emissions.registry import EMISSIONS, USUAL, EmissionRecord, record_of
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixture

Array = NDArray[np.float64]

SAME = 1e-4
"""Of what is held and what the parameters say: matrices may be hard to invert."""

COLUMN_PARTS = {"name", "states", "cuts", "shift", "whole"}
"""What a column may say besides its kind."""


# --- columns ---


def plain_columns(estimator: Any) -> list[dict[str, Any]]:
    """Every column: its name, its kind, its labels, and what is taken off its values."""
    emission = estimator.require_fitted().model.emission
    if _has_variables(estimator):
        columns = [_plain_variable(variable) for variable in estimator.variables_]
    else:
        columns = [{"kind": _record(estimator).column} for _ in range(estimator.n_features_in_)]
    for column, is_whole in zip(columns, getattr(estimator, "whole_labels_", ()), strict=False):
        if is_whole:
            column["whole"] = True
    names = _names(estimator)
    for column, name in zip(columns, names or (), strict=False):
        column["name"] = str(name)
    for part in parts_of(emission, len(columns)):
        if record_of(part.emission).is_shifted:
            for place, shift in zip(part.columns, part.emission.shift, strict=True):
                columns[int(place)]["shift"] = float(shift)
    return columns


def tell_emission(estimator: Any, columns: Checked) -> None:
    """Tell a hidden Markov model what its states make: what was chosen, else by its columns."""
    if not hasattr(estimator, "emission"):
        return
    first = next(iter(columns.items()), None)
    kind = ""
    if first is not None and not estimator.emission:
        kind = first.fields({"kind"}, COLUMN_PARTS)["kind"].text()
    estimator.kind_ = estimator.emission or USUAL.get(kind, USUAL["categorical"]).word


def read_columns(estimator: Any, value: Checked) -> Array:
    """Tell the estimator its columns; the shift of each (D,), 0 where there is none."""
    items = [item.fields({"kind"}, COLUMN_PARTS) for item in value.items()]
    if not items:
        value.fail("must name one column at least")
    names = [members["name"].text() for members in items if "name" in members]
    is_table = hasattr(estimator, "n_classes")
    if len(names) < len(items) and (names or is_table):
        value.fail("must have a name each" if is_table else "must have a name each, or none")
    if len(set(names)) < len(names):
        value.fail("repeats a name")
    if is_table and names != sorted(names):
        value.fail("must stand in the order of their names")
    if not is_table:
        estimator.n_features_in_ = len(items)
        if names:
            estimator.feature_names_in_ = np.array(names, dtype=object)
    usual = names or [f"x{i}" for i in range(len(items))]
    if _has_variables(estimator):
        pairs = zip(usual, items, strict=True)
        estimator.variables_ = tuple(_read_variable(name, x, is_table) for name, x in pairs)
        if not is_table:
            estimator.whole_labels_ = tuple(map(_are_whole, items))
    else:
        _check_numbers(items, _record(estimator).column)
        if hasattr(estimator, "emission"):
            estimator.variables_, estimator.whole_labels_ = None, ()
    records = [_record(estimator)] * len(items)
    if is_table:
        records = [USUAL[variable.kind] for variable in estimator.variables_]
    return np.array([_shift(r, members) for r, members in zip(records, items, strict=True)])


def _names(estimator: Any) -> list[str] | None:
    """Names of the columns, if they have any."""
    if hasattr(estimator, "n_classes"):
        return [variable.name for variable in estimator.variables_]
    found = getattr(estimator, "feature_names_in_", None)
    return None if found is None else list(map(str, found))


def _record(estimator: Any) -> EmissionRecord:
    """What the columns are, where the model says it; else the columns say it."""
    return EMISSIONS[getattr(estimator, "kind_", USUAL["continuous"].word)]


def _has_variables(estimator: Any) -> bool:
    """Whether columns are of kinds of their own, or have labels."""
    return _record(estimator).has_labels or hasattr(estimator, "n_classes")


def _plain_variable(variable: Variable) -> dict[str, Any]:
    members: dict[str, Any] = {"kind": variable.kind}
    if variable.kind == "categorical":
        members["states"] = list(variable.states)
    if variable.cuts is not None:
        members["cuts"] = list(variable.cuts)
    return members


def _read_variable(name: str, members: dict[str, Checked], is_table: bool) -> Variable:
    kind = members["kind"].text()
    if kind != "categorical" and not is_table:
        members["kind"].fail("must be 'categorical' in this model")
    if (kind == "categorical") != ("states" in members):
        members["kind"].fail("must be 'categorical' if there are states, and only then")
    states = tuple(members["states"].texts()) if "states" in members else ()
    if "states" in members and not states:
        members["states"].fail("must name one state at least")
    cuts = tuple(map(float, members["cuts"].numbers())) if "cuts" in members else None
    return Variable(name, kind, states, cuts)  # type: ignore[arg-type]


def _are_whole(members: dict[str, Checked]) -> bool:
    """Whether the labels of a column were given as whole numbers."""
    from jensen.estimators.sequences import WHOLE

    if "whole" not in members or not members["whole"].flag():
        return False
    if not all(WHOLE.fullmatch(text) for text in members["states"].texts()):
        members["whole"].fail("must be false: a state is no whole number of 18 digits at most")
    return True


def _check_numbers(items: list[dict[str, Checked]], kind: str) -> None:
    """Columns of numbers, all of one kind."""
    for members in items:
        if members["kind"].text() != kind:
            members["kind"].fail(f"must be {kind!r} in this model")
        for name in ("states", "cuts", "whole"):
            if name in members:
                members[name].fail("belongs to columns with labels")


def _shift(record: EmissionRecord, members: dict[str, Checked]) -> float:
    """What is taken off the values of a column, if its emission takes anything."""
    if record.is_shifted != ("shift" in members):
        kind = next(x.column for x in EMISSIONS.values() if x.is_shifted)
        members["kind"].fail(f"must be {kind!r} if there is a shift, and only then")
    return members["shift"].number() if record.is_shifted else 0.0


# --- models ---


def without_parameters(estimator: Any, shift: Array) -> Mixture | HiddenMarkov:
    """The model that `fit` makes, under a flat prior: answers do not look at it."""
    columns, K = ColumnSummary.at(shift), int(getattr(estimator, estimator.size))
    if hasattr(estimator, "n_classes"):
        records = [USUAL[variable.kind] for variable in estimator.variables_]
        return Mixture(make_columns(records, estimator.variables_, K, columns, None), None, K)
    emission = make_emission(
        _record(estimator),
        K,
        columns,
        None,
        covariance=estimator.covariance,
        variables=getattr(estimator, "variables_", None) or (),
    )
    if hasattr(estimator, "n_components"):
        return Mixture(emission, None, K)
    return HiddenMarkov(emission, None, None, K, bool(estimator.end))


# --- what is held ---


def plain_held(model: Any) -> dict[str, Any]:
    """Fields that are held as a whole, at the parameters; or one part of them, at these values."""
    emission = model.emission
    parts = emission.held if isinstance(emission, GaussianStates) else {}
    return {**dict.fromkeys(model.held), **{name: plain_array(x) for name, x in parts.items()}}


def read_held(model: Any, t: Any, value: Checked | None) -> Any:
    """The model with what is held."""
    if value is None:
        return model
    members, emission = value.members(), model.emission
    can_be_parted = isinstance(emission, GaussianStates)
    known = [*t._fields, *(record_of(emission).held if can_be_parted else ())]
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
    """Means (less the shift) or covariances, which are those of the parameters."""
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
    """What may be (1) and what may not (0), of parameters that have something that may not."""
    masks = getattr(model, "masks", {})
    found = {x: _plain_mask(masks[x]) for x in ("initial", "transition") if x in masks}
    emission = [part.mask for part in labels_of(model.emission)]
    if any(mask is not None for mask in emission):
        found["emission"] = [None if mask is None else _plain_mask(mask) for mask in emission]
    return found


def read_masks(model: Any, value: Checked | None) -> Any:
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
