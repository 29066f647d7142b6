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
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.held_parts import PARTS, family_given
from jensen.models.emissions.poisson import Poisson
from jensen.models.emissions.product import Product
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixture

Array = NDArray[np.float64]

SAME = 1e-4
"""Of what is held and what the parameters say: matrices may be hard to invert."""

COLUMN_PARTS = {"name", "states", "cuts", "shift", "whole"}
KIND_OF_EMISSION = {"gaussian": "continuous", "poisson": "count", "bernoulli": "binary"}
"""What columns are, where the model says it; else the columns say it."""


# --- columns ---


def plain_columns(estimator: Any) -> list[dict[str, Any]]:
    """Every column: its name, its kind, its labels, and what is taken off its values."""
    emission = estimator.require_fitted().model.emission
    if _has_variables(estimator):
        columns = [_plain_variable(variable) for variable in estimator.variables_]
    else:
        columns = [{"kind": _kind(estimator)} for _ in range(estimator.n_features_in_)]
    for column, is_whole in zip(columns, getattr(estimator, "whole_labels_", ()), strict=False):
        if is_whole:
            column["whole"] = True
    names = _names(estimator)
    for column, name in zip(columns, names or (), strict=False):
        column["name"] = str(name)
    for part, places in parts_of(emission, len(columns)):
        for place, shift in zip(places, getattr(part, "shift", ()), strict=False):
            columns[int(place)]["shift"] = float(shift)
    return columns


def tell_emission(estimator: Any, columns: Checked) -> None:
    """Tell a hidden Markov model what its states make: what was chosen, else by its columns."""
    if not hasattr(estimator, "emission"):
        return
    kinds = {kind: emission for emission, kind in KIND_OF_EMISSION.items()}
    first = next(iter(columns.items()), None)
    kind = ""
    if first is not None and not estimator.emission:
        kind = first.fields({"kind"}, COLUMN_PARTS)["kind"].text()
    estimator.kind_ = estimator.emission or kinds.get(kind, "categorical")


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
        _check_numbers(items, _kind(estimator))
        if hasattr(estimator, "emission"):
            estimator.variables_, estimator.whole_labels_ = None, ()
    return np.array([_shift(members) for members in items])


def _names(estimator: Any) -> list[str] | None:
    """Names of the columns, if they have any."""
    if hasattr(estimator, "n_classes"):
        return [variable.name for variable in estimator.variables_]
    found = getattr(estimator, "feature_names_in_", None)
    return None if found is None else list(map(str, found))


def _kind(estimator: Any) -> str:
    return KIND_OF_EMISSION[getattr(estimator, "kind_", "gaussian")]


def _has_variables(estimator: Any) -> bool:
    """Whether columns are of kinds of their own, or have labels."""
    is_labels = getattr(estimator, "kind_", None) == "categorical"
    return is_labels or hasattr(estimator, "n_classes")


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


def _shift(members: dict[str, Checked]) -> float:
    """The shift of a continuous column; no other has one."""
    is_continuous = members["kind"].text() == "continuous"
    if is_continuous != ("shift" in members):
        members["kind"].fail("must be 'continuous' if there is a shift, and only then")
    return members["shift"].number() if is_continuous else 0.0


# --- models ---


def without_parameters(estimator: Any, shift: Array) -> Mixture | HiddenMarkov:
    """The model that `fit` makes, under a flat prior: answers do not look at it."""
    if hasattr(estimator, "n_components"):
        K = int(estimator.n_components)
        return Mixture(_gaussian(K, shift, estimator.covariance), None, K)
    if hasattr(estimator, "n_classes"):
        K = int(estimator.n_classes)
        names = tuple(variable.name for variable in estimator.variables_)
        return Mixture(_product(K, estimator.variables_, shift, names), None, K)
    K = int(estimator.n_states)
    return HiddenMarkov(_made_by_states(estimator, K, shift), None, None, K, bool(estimator.end))


def _made_by_states(estimator: Any, K: int, shift: Array) -> Any:
    """The emission of a hidden Markov model."""
    D, variables = len(shift), estimator.variables_
    if estimator.kind_ == "gaussian":
        return _gaussian(K, shift, estimator.covariance)
    if estimator.kind_ == "poisson":
        return Poisson(K, D, None)
    if estimator.kind_ == "bernoulli":
        return Discrete(K, D, 2, None, is_binary=True)
    if D == 1:
        return Discrete(K, 1, variables[0].n_states, None)
    return _product(K, variables, shift, tuple(variable.name for variable in variables))


def _gaussian(K: int, shift: Array, covariance: str) -> Gaussian | Diagonal:
    if covariance in ("full", "tied"):
        return Gaussian(K, shift, None, is_tied=covariance == "tied")
    return Diagonal(K, shift, None, is_spherical=covariance == "spherical")


def _product(K: int, variables: Any, shift: Array, names: tuple[str, ...]) -> Product:
    """Columns side by side, each by its kind."""
    parts: list[Any] = []
    for i, variable in enumerate(variables):
        if variable.kind == "categorical":
            parts.append(Discrete(K, 1, variable.n_states, None))
        elif variable.kind == "count":
            parts.append(Poisson(K, 1, None))
        else:
            parts.append(Diagonal(K, shift[i : i + 1], None))
    return Product(tuple(parts), tuple(np.array([i]) for i in range(len(parts))), names)


def parts_of(emission: Any, n_columns: int) -> list[tuple[Any, NDArray[np.intp]]]:
    """The parts of an emission with their columns; most are one part."""
    if hasattr(emission, "parts"):
        return list(zip(emission.parts, emission.columns, strict=True))
    return [(emission, np.arange(n_columns))]


# --- what is held ---


def plain_held(model: Any) -> dict[str, Any]:
    """Fields that are held as a whole, at the parameters; or one part of them, at these values."""
    parts = getattr(model.emission, "held", {})
    return {**dict.fromkeys(model.held), **{name: plain_array(x) for name, x in parts.items()}}


def read_held(model: Any, t: Any, value: Checked | None) -> Any:
    """The model with what is held."""
    if value is None:
        return model
    members, is_gaussian = value.members(), hasattr(model.emission, "covariance")
    known = [*t._fields, *(PARTS if is_gaussian else ())]
    parts: dict[str, Array] = {}
    for name, member in members.items():
        if name not in known:
            value.fail(f"names {name!r}, but only {', '.join(known)} can be held")
        if name in t._fields:
            if not member.is_null():
                member.fail("must be null: the parameters say at what it is held")
            model.held[name] = getattr(t, name)
        else:
            parts[name] = _held_part(model.emission, t[-1], name, member)
    if len(parts) + (t._fields[-1] in model.held) > 1:
        value.fail(f"must name {t._fields[-1]!r} where all of it is held")
    return replace(model, emission=replace(model.emission, held=parts)) if parts else model


def _held_part(emission: Any, t: Any, name: str, value: Checked) -> Array:
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
    emission = [getattr(part, "mask", None) for part, _ in parts_of(model.emission, 1)]
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
    parts = [part for part, _ in parts_of(model.emission, 1)]
    items = list(members["emission"].items())
    if len(items) != len(parts) or not all(hasattr(part, "mask") for part in parts):
        members["emission"].fail("must have a mask or null for every part of labels")
    masked = tuple(
        part if item.is_null() else replace(part, mask=_read_mask(item, part.blank.shape))
        for part, item in zip(parts, items, strict=True)
    )
    if hasattr(model.emission, "parts"):
        return replace(model, emission=replace(model.emission, parts=masked))
    return replace(model, emission=masked[0])


def _plain_mask(mask: NDArray[np.bool_]) -> Any:
    return np.asarray(mask, int).tolist()


def _read_mask(value: Checked, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    mask = read_array(value, shape)
    if not np.isin(mask, (0.0, 1.0)).all():
        value.fail("must hold 1 (may be) and 0 (may not)")
    if not mask.any(-1).all():
        value.fail("leaves a state without any possibility")
    return mask.astype(bool)
