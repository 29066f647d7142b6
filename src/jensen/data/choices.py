"""What the caller says about a table, checked: lists of columns, kinds, states, missing labels."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from jensen.data.sources import column_name, is_missing
from jensen.data.variable import Kind, label_text
from jensen.exceptions import DataError


def list_of_columns(chosen: Any, what: str) -> list[str]:
    """Names of columns as text; one text is no list of names."""
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise DataError(f"{what} must be a list of columns, [{chosen!r}], not {chosen!r} itself")
    return [column_name(name) for name in chosen]


def kinds_by_column(categorical: Any, counts: Any, continuous: Any) -> dict[str, Kind]:
    """The kind of each column that the caller names."""
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
    """The labels of each column whose states the caller lists."""
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
    """The labels that mean missing; None and NaN do anyway. None: the caller did not say."""
    if missing is None:
        return None
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        raise DataError(f"missing must be a list of labels, [{missing!r}], not {missing!r} itself")
    return [label_text(label) for label in missing if not is_missing(label)]
