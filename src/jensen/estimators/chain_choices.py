"""Choices of a hidden Markov model: the emission that suits the columns, starts, and masks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from jensen.data import Table, Variable
from jensen.data.encode import encode
from jensen.data.number_rows import NumberRows
from jensen.data.sources import raw_columns
from jensen.estimators.arrays import is_file, refuse_dates
from jensen.estimators.state_estimator import check_one_of
from jensen.exceptions import JensenError
from jensen.models.emissions.derived import completed, labels_of
from jensen.models.emissions.kinds import read_array, read_shares
from jensen.models.emissions.priors import COVARIANCES, check_names
from jensen.models.emissions.product import ProductEmission, parts_of
from jensen.models.emissions.registry import EMISSIONS, USUAL, named_parameters, owner_of
from jensen.models.hidden_markov import Chained, HiddenMarkov
from jensen.support.text import option

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MASKED = ("initial", "transition", "end", "emission")
MOVES = ("initial", "transition", "end")


def check_kinds(estimator: Any) -> None:
    """Refuse kinds that there are not."""
    if estimator.emission is not None:
        check_one_of("emission", estimator.emission, tuple(EMISSIONS))
    check_one_of("covariance", estimator.covariance, COVARIANCES)
    if not isinstance(estimator.end, bool | np.bool_):
        raise JensenError(f"end must be True or False, not {estimator.end!r:.80}")


def check_chosen_kind(estimator: Any) -> None:
    """Refuse choices that an emission of this kind would ignore."""
    options = EMISSIONS[estimator.kind_].options
    if estimator.symbols is not None and "symbols" not in options:
        raise JensenError(
            f"symbols are the labels of {option('emission', owner_of('symbols').word)}"
        )
    if estimator.covariance != "full" and "covariance" not in options:
        so = "" if estimator.emission is not None else ", which the kind of the columns asks for"
        raise JensenError(
            f"{option('covariance', estimator.covariance)} belongs to "
            f"{option('emission', owner_of('covariance').word)}, and would be ignored by "
            f"{estimator.kind_!r}{so}"
        )


def named_start(start: Any) -> Mapping[str, Any]:
    """A start as a dict of parameters."""
    if hasattr(start, "require_fitted"):
        start.require_fitted()
        moves = {name: getattr(start, f"{name}_", None) for name in MOVES}
        said = {name: value for name, value in moves.items() if value is not None}
        return {**said, **named_parameters(start)}
    if not isinstance(start, Mapping):
        raise JensenError(
            f"start must be a fitted model or a dict of its parameters, not {start!r:.80}"
        )
    return start


def _of_emission(start: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """What a start says of the emission; of several columns, by name, what it says of each.

    "x0", "x1", ... are columns by their place, where none has that name.
    """
    own = {name: value for name, value in start.items() if name not in MOVES}
    if not names:
        return own
    if isinstance(own.get("emission"), Mapping):
        own = own["emission"]
        check_names(own, (*names, *_places(names)), "start['emission']")
    by_place = {f"x{i}": name for i, name in enumerate(names)}
    return {name if name in names else by_place.get(name, name): own[name] for name in own}


def _places(names: Sequence[str]) -> list[str]:
    return [f"x{i}" for i in range(len(names)) if f"x{i}" not in names]


def read_chain_start(start: Any, model: HiddenMarkov, rows: NumberRows | None = None) -> Chained:
    """η whose mode has the parameters of a start; what it does not say is even, as masks allow.

    Covariances that it does not say are those of the rows, if there are any.
    """
    named = named_start(start)
    known = MOVES if model.has_end else MOVES[:2]
    columns = model.emission.names if isinstance(model.emission, ProductEmission) else ()
    parts = (*columns, *_places(columns))
    every = dict.fromkeys(name for record in EMISSIONS.values() for name in record.parameters)
    check_names(named, (*known, *every, *parts), "start")
    own = _of_emission(named, columns)
    initial = _even(model, "initial")
    if "initial" in named:
        initial = read_shares(named, "initial", initial.shape)
    if rows is not None:
        own = completed(own, model.emission, rows)
    return Chained(initial, _read_moves(named, model), model.emission.read(own))


def _read_moves(named: Mapping[str, Any], model: HiddenMarkov) -> Array:
    """Transitions, and in a last column the end, if there is one."""
    K = model.n_states
    if "transition" not in named and "end" not in named:
        return _even(model, "transition")
    if not model.has_end:
        return read_shares(named, "transition", (K, K))
    moves = read_array(named, "transition", (K, K))
    ends = read_array(named, "end", (K,))
    both = {"transition": np.concatenate([moves, ends[:, None]], axis=1)}
    return read_shares(both, "transition", (K, K + 1))


def _even(model: HiddenMarkov, name: str) -> Array:
    """Equal probabilities of all that may be."""
    shape = getattr(model.blank, name).shape
    possible = model.masks.get(name, np.ones(shape, bool))
    return np.asarray(possible / possible.sum(-1, keepdims=True))


def chain_masks(estimator: Any, n_states: int, emission: Any) -> dict[str, Any]:
    """What may be, of each part that has something that may not: by masks, or by zeros of a start.

    A start that gives something to what masks leave out is refused.
    The transitions have a last column for the end, if there is one. That of the emission is a list,
    one (K, columns, labels) for each of its parts.
    """
    K = n_states
    has_labels = "masks" in EMISSIONS[estimator.kind_].options
    labels = labels_of(emission) if has_labels else []
    shapes = {"initial": (K,), "transition": (K, K), "end": (K,)}
    if len(labels) == 1 and labels[0].n_columns == 1:
        shapes["emission"] = (K, labels[0].n_labels)
    found = {name: _fit(name, mask, shapes) for name, mask in _given_masks(estimator).items()}
    start = {} if estimator.start is None else named_start(estimator.start)
    for name in MOVES:
        _leave_out(found, name, _said(start, name, shapes[name]))
    if estimator.end and ("transition" in found or "end" in found):
        moves = found.get("transition", np.ones((K, K), bool))
        ends = found.get("end", np.ones(K, bool))
        found["transition"] = np.concatenate([moves, ends[:, None]], axis=1)
    found.pop("end", None)
    given = found.pop("emission", None)
    masks = _emission_masks(start, emission, labels, given) if labels else []
    every = [*found.items(), *(("emission", mask) for mask in masks)]
    for name, mask in every:
        if not mask.any(-1).all():
            raise JensenError(f"{name} leaves a state without any possibility: allow one at least")
    kept: dict[str, Any] = {name: mask for name, mask in found.items() if not mask.all()}
    if not all(mask.all() for mask in masks):
        kept["emission"] = [None if mask.all() else mask for mask in masks]
    return kept


def _given_masks(estimator: Any) -> dict[str, Mask]:
    if not isinstance(estimator.masks, Mapping | None):
        raise JensenError(f"masks must be a dict of arrays, not {estimator.masks!r:.80}")
    given = dict(estimator.masks or {})
    for name in given:
        if name not in MASKED:
            raise JensenError(f"masks has no part {name!r}: mask any of {', '.join(MASKED)}")
    if "end" in given and not estimator.end:
        raise JensenError("masks['end'] belongs to end=True")
    if "emission" in given and "masks" not in EMISSIONS[estimator.kind_].options:
        word = owner_of("masks").word
        raise JensenError(f"masks['emission'] belongs to labels: emission={word!r}")
    return {name: _read_mask(name, value) for name, value in given.items()}


def _emission_masks(
    start: Mapping[str, Any], emission: Any, labels: list[Any], given: Mask | None
) -> list[Mask]:
    """(K, columns, labels) of every part of an emission of labels."""
    parts = parts_of(emission)
    own = _of_emission(start, [part.name for part in parts if part.name])
    said = [_shares(part.emission, own.get(part.name or "emission")) for part in parts]
    if given is not None and said[0] is not None:
        _refuse_outside("emission", said[0].reshape(given.shape), given)
    found = [
        np.ones(part.blank.shape, bool) if shares is None else shares > 0.0
        for part, shares in zip(labels, said, strict=True)
    ]
    return found if given is None else [found[0] & given[:, None, :]]


def _shares(part: Any, said: Any) -> Array | None:
    """The shares of labels (K, columns, labels) that a start says; None as in `_said`."""
    try:
        return np.asarray(part.read({"emission": said}))
    except JensenError:
        return None


def _said(start: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array | None:
    """What a start says of a part; None if that is nothing, or is refused when it is read."""
    try:
        value = np.asarray(start.get(name), np.float64)
    except (TypeError, ValueError):
        return None
    return value if value.shape == shape and np.isfinite(value).all() else None


def _leave_out(found: dict[str, Mask], name: str, said: Array | None) -> None:
    """What a start gives nothing to."""
    if said is None:
        return
    if name in found:
        _refuse_outside(name, said, found[name])
        found[name] = found[name] & (said > 0.0)
    elif not (said > 0.0).all():
        found[name] = said > 0.0


def _refuse_outside(name: str, said: Array, mask: Mask) -> None:
    outside = np.argwhere((said > 0.0) & ~mask)
    if len(outside):
        cell = tuple(outside[0].tolist())
        raise JensenError(
            f"start[{name!r}] gives {said[cell]:g} to the cell {list(cell)}, which "
            f"masks[{name!r}] leaves out: give it 0, or allow it"
        )


def _fit(name: str, mask: Mask, shapes: Mapping[str, tuple[int, ...]]) -> Mask:
    if name not in shapes:
        raise JensenError("masks['emission'] is for one column of labels")
    if mask.shape != shapes[name]:
        raise JensenError(f"masks[{name!r}] must have the shape {shapes[name]}, not {mask.shape}")
    return mask


def _read_mask(name: str, value: Any) -> Mask:
    mask = np.asarray(value)
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        raise JensenError(f"masks[{name!r}] must hold True (may be) and False (may not)")
    return mask.astype(bool)


ADVICE = "give columns of one kind, or say which it is with emission="


def emission_of(variables: Iterable[Variable], advice: str = ADVICE) -> str:
    """What states make of columns of these kinds; columns of different kinds are refused.

    Beside numbers counts are numbers too.
    """
    known = tuple(variables)
    kinds = {variable.kind for variable in known}
    if len(kinds) == 1:
        return USUAL[kinds.pop()].word
    if "categorical" in kinds:
        shown = ", ".join(f"{v.name} is {v.kind}" for v in known)
        raise JensenError(
            f"the columns are of different kinds ({shown:.200}), and states of a hidden Markov "
            f"model make one kind: {advice}"
        )
    return USUAL["continuous"].word


def find_emission(estimator: Any, rows: Any) -> str:
    """The emission that was chosen; else that of `symbols`, of `start`, or of the columns."""
    if estimator.emission is not None:
        return str(estimator.emission)
    if estimator.symbols is not None:
        return owner_of("symbols").word
    start = estimator.start
    known = getattr(start, "kind_", None)
    if known is not None:
        return str(known)
    told = _told_by(start) if isinstance(start, Mapping) else []
    return told[0] if len(told) == 1 else emission_of(_variables(rows))


def _told_by(start: Mapping[str, Any]) -> list[str]:
    """The emissions that have parameters of the names in a start."""
    return [word for word, x in EMISSIONS.items() if not start.keys().isdisjoint(x.parameters)]


def _variables(rows: Any) -> tuple[Variable, ...]:
    """The columns as a `Table` takes them: kinds by the same rules as those of a file."""
    if isinstance(rows, Table):
        return rows.variables
    refuse_dates(rows, f"say {option('emission', owner_of('symbols').word)} if they are labels")
    if is_file(rows) or (hasattr(rows, "columns") and not isinstance(rows, np.ndarray)):
        return Table(rows).variables
    unknown = (Variable("x0", "continuous"),)  # what is no table is refused when it is read
    if issparse(rows):
        return unknown
    array = np.asarray(rows, dtype=object if isinstance(rows, list | tuple) else None)
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2 or columns.dtype.kind not in "biufOUST" or columns.size == 0:
        return unknown
    if columns.dtype.kind == "f" and not np.isfinite(columns[~np.isnan(columns)]).all():
        return unknown
    is_object = columns.dtype == object
    named = {f"x{i}": list(x) if is_object else x for i, x in enumerate(columns.T)}
    return tuple(encode(raw, None, None, ()).variable for raw in raw_columns(named))
