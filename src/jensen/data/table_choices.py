"""What the caller says about a table, checked: columns, kinds, states, missing labels, weights."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.data.sources import column_name, is_missing
from jensen.data.variable import Kind, label_text
from jensen.exceptions import DataError
from jensen.support.text import plural


def list_of_columns(chosen: Any, what: str) -> list[str]:
    """Names of columns as text; a single text is refused."""
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise DataError(f"{what} must be a list of columns, [{chosen!r}], not {chosen!r} itself")
    return [column_name(name) for name in chosen]


def kinds_by_column(categorical: Any, counts: Any, continuous: Any) -> dict[str, Kind]:
    """The kind of each column for which the caller declares one."""
    kinds: dict[str, Kind] = {}
    said: list[tuple[Kind, str, Any]] = [
        ("categorical", "categorical", categorical),
        ("count", "counts", counts),
        ("continuous", "continuous", continuous),
    ]
    for kind, what, chosen in said:
        for name in list_of_columns(chosen, what):
            if kinds.setdefault(name, kind) != kind:
                raise DataError(f"column {name!r} is declared {kinds[name]} and {kind}: choose one")
    return kinds


def states_by_column(states: Any, kinds: Mapping[str, Kind]) -> dict[str, tuple[str, ...]]:
    """The states of each column for which the caller lists them."""
    if states is None:
        return {}
    if not isinstance(states, Mapping):
        raise DataError(f"states must map columns to lists of labels, not be {states!r:.40}")
    return {column_name(name): _labels(name, labels, kinds) for name, labels in states.items()}


def _labels(name: object, labels: Any, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    kind = kinds.get(column_name(name), "categorical")
    if kind != "categorical":
        raise DataError(f"column {name!r} is declared {kind}, which has no states")
    if isinstance(labels, (str, Set, Mapping)) or not isinstance(labels, Iterable):
        raise DataError(f"the states of {name!r} must be a list in order, not {labels!r:.40}")
    chosen = list(labels)
    if any(map(is_missing, chosen)):
        raise DataError(f"the states of {name!r} list {chosen}: None and NaN are missing, no state")
    return tuple(map(label_text, chosen))


def missing_labels(missing: Any) -> list[str] | None:
    """Labels that mean missing, besides None and NaN; None if the caller did not say."""
    if missing is None:
        return None
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        raise DataError(f"missing must be a list of labels, [{missing!r}], not {missing!r} itself")
    return [label_text(label) for label in missing if not is_missing(label)]


LARGEST_TOTAL = 1e302
"""The largest sum of weights: weights times log-likelihoods overflow not far beyond."""


def check_weights(
    weights: ArrayLike, n_rows: int, noun: str = "row", most: float = LARGEST_TOTAL
) -> NDArray[np.float64]:
    """Weights as finite floats ≥ 0 that sum to `most` at most, one per row, or an error."""
    try:
        array = np.array(weights, np.float64)  # a copy: the caller may go on to change theirs
    except (TypeError, ValueError):
        raise DataError(f"weights must be numbers, one per {noun}") from None
    if array.shape != (n_rows,):
        raise DataError(f"{n_rows} {noun}s need {n_rows} weights, but their shape is {array.shape}")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"the weight of {noun} {row + 1} is {array[row]}: a weight says how often a {noun} "
            f"counts, so it must be finite and >= 0"
        )
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if total > most:
        raise DataError(
            f"the weights of {plural(n_rows, noun)} sum to {total:.3g}, and sums over more than "
            f"{most:.3g} {noun}s lose their digits or overflow: divide all weights by one number"
        )
    return array
