"""What the caller says about a table, checked, and the columns that are encoded as it says."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.data import convert
from jensen.data.dialect import TextChoices
from jensen.data.encode import Column, encode
from jensen.data.files import read_columns
from jensen.data.sources import collected, is_missing, kind_of_source, raw_columns
from jensen.data.variable import Kind, Variable, column_name, label_text
from jensen.exceptions import DataError
from jensen.support.machine import ordered_map
from jensen.support.text import offer, option, plural


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


class Declared(NamedTuple):
    """What the caller says of columns."""

    kinds: dict[str, Kind]
    states: dict[str, tuple[str, ...]]
    missing: list[str] | None  # labels that mean missing; None if the caller did not say
    others_are_numbers: bool  # all other columns that hold nothing but numbers are continuous

    @property
    def absent(self) -> list[str]:
        """The labels that mean missing."""
        return self.missing or []

    @property
    def has_words(self) -> bool:
        """Whether to warn of words that look missing: not if only empty fields are missing."""
        return self.missing is None or any(self.missing)

    def refuse_weights(self, name: str) -> None:
        """Refuse a column of weights that is declared as a variable."""
        if name in self.kinds or name in self.states:
            raise DataError(f"column {name!r} holds the weights, so it is no variable")


def read_declared(
    categorical: Any, counts: Any, continuous: Any, states: Any, missing: Any
) -> Declared:
    """What the caller says of columns, checked; `continuous` may be "all"."""
    is_all, said = continuous == "all", missing_labels(missing)
    kinds = kinds_by_column(categorical, counts, () if is_all else continuous)
    return Declared(kinds, states_by_column(states, kinds), said, is_all)


LARGEST_TOTAL = 1e302
"""The largest sum of weights: weights times log-likelihoods overflow not far beyond."""


def check_weights(
    weights: ArrayLike, n_rows: int, noun: str = "row", most: float = LARGEST_TOTAL, before: int = 0
) -> NDArray[np.float64]:
    """Weights as finite floats ≥ 0 that sum to `most` at most, one per row, or an error.

    `before` rows come before these.
    """
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
            f"the weight of {noun} {before + row + 1} is {array[row]}: a weight says how often a "
            f"{noun} counts, so it must be finite and >= 0"
        )
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if total > most:
        raise DataError(
            f"the weights of {plural(n_rows, noun)} sum to {total:.3g}, and sums over more than "
            f"{most:.3g} {noun}s lose their digits or overflow: divide all weights by one number"
        )
    return array


# --- columns ---

Reader = Callable[[Kind | None, Sequence[str] | None, Collection[str]], Column]
"""Encodes one column as the caller's choices say: kind, states, missing labels."""


def open_columns(
    data: Any, names: Sequence[str] | None, absent: Sequence[str], choices: TextChoices
) -> tuple[str, list[tuple[str, Reader]], list[str]]:
    """The kind of source, a reader for each column, and the columns that it makes states of."""
    if isinstance(data, (str, PathLike)):
        kind, raws = "pandas", read_columns(data, absent, choices)
    else:
        choices.refuse_for(f"this {type(data).__name__}")
        data = collected(data)
        kind, raws = kind_of_source(data), raw_columns(data, names)
    readers: list[tuple[str, Reader]] = [(raw.name, partial(encode, raw)) for raw in raws]
    return kind, readers, [raw.name for raw in raws if raw.is_coded]


def read_declared_columns(
    readers: list[tuple[str, Reader]], told: Declared, weights: ArrayLike | str | None
) -> tuple[list[Column], ArrayLike | None, dict[str, Kind]]:
    """The columns but that of the weights, the weights, and the kinds that were declared."""
    kinds, states = dict(told.kinds), told.states
    for name in [*kinds, *states]:
        if name not in dict(readers):
            raise DataError(no_column(name, [name for name, _ in readers]))
    if isinstance(weights, str):
        told.refuse_weights(weights)
        weights, readers = take_weights(weights, readers)
    if told.others_are_numbers:
        rest = [name for name, _ in readers if name not in kinds and name not in states]
        kinds |= columns_of_numbers(readers, rest, told.absent)
    columns = read_all(readers, kinds, states, told.absent)
    return mark_counts(columns, kinds), weights, kinds


def read_all(
    readers: Sequence[tuple[str, Reader]],
    kinds: Mapping[str, Kind],
    states: Mapping[str, Sequence[str]],
    absent: Collection[str],
) -> list[Column]:
    """All columns; those that do not hold what the caller says are named in one error."""

    def read(named: tuple[str, Reader]) -> Column | DataError:
        name, reader = named
        try:
            return reader(kinds.get(name), states.get(name), absent)
        except DataError as error:
            return error

    found = list(ordered_map(read, readers))
    wrong = [error for error in found if isinstance(error, DataError)]
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise DataError("; ".join(error.marked for error in wrong))
    return [column for column in found if isinstance(column, Column)]


def mark_counts(columns: Iterable[Column], kinds: Mapping[str, Kind]) -> list[Column]:
    """The columns, those that the caller declares to be counts marked as such."""
    return [
        Column(replace(c.variable, is_declared=True), c.data)
        if kinds.get(c.variable.name) == "count"
        else c
        for c in columns
    ]


def columns_of_numbers(
    readers: Sequence[tuple[str, Reader]], names: Collection[str], absent: Collection[str]
) -> dict[str, Kind]:
    """Which of these columns hold nothing but numbers, as continuous ones."""

    def holds_numbers(named: tuple[str, Reader]) -> bool:
        name, reader = named
        try:
            column = reader("continuous", None, absent) if name in names else None
        except DataError:
            return False
        return column is not None and not bool(column.missing().all())

    found = ordered_map(holds_numbers, readers)
    chosen = [name for (name, _), is_number in zip(readers, found, strict=True) if is_number]
    return dict.fromkeys(chosen, "continuous")


def encode_again(
    column: Column, kind: Kind | None, states: Sequence[str] | None, missing: Collection[str]
) -> Column:
    """Encode a column of a table again, with other choices."""
    if kind is None and states is None and not missing:
        return column
    old = column.variable
    if kind is None and states is None:
        kind = old.kind
    new = encode(raw_columns(convert.to_arrow([column]))[0], kind, states, missing)
    same = new.variable == replace(old, cuts=None)
    return Column(old, new.data) if same else new


def take_weights(
    name: str, readers: list[tuple[str, Reader]]
) -> tuple[NDArray[np.float64], list[tuple[str, Reader]]]:
    """The weights in a column, and the readers of the other columns."""
    chosen = [read for known, read in readers if known == name]
    if not chosen:
        raise DataError(no_column(name, [known for known, _ in readers]))
    try:
        column = chosen[0]("continuous", None, ())
    except DataError as error:
        raise DataError(f"{option('weights', name)}: {error.marked}") from None
    return np.asarray(column.data, np.float64), [pair for pair in readers if pair[0] != name]


def no_column(name: str, names: Sequence[str]) -> str:
    """The error text for an unknown column, with the nearest names."""
    return f"there is no column {name!r}; {offer(name, names, 'column')}"


# --- what is asked of a table ---


def check_rows(found: NDArray[Any], chosen: Any, n_rows: int) -> None:
    """Refuse what chooses no rows of a table; `found` is what was chosen, as an array."""
    if found.ndim != 1 or found.dtype.kind not in "bi":
        raise DataError(
            f"a table takes the name of a column, a list of names, a slice of rows, their "
            f"positions, or a mask with an entry per row, not {chosen!r:.60}"
        )
    rows = plural(n_rows, "row")
    if found.dtype.kind == "b" and len(found) != n_rows:
        raise DataError(f"a mask of {len(found):,} entries does not fit {rows}")
    if found.dtype.kind == "i" and not -n_rows <= found.min() <= found.max() < n_rows:
        wrong = found.max() if found.max() >= n_rows else found.min()
        raise DataError(f"there is no row {wrong}: the table has {rows}, from 0")


def columns_to_write(
    columns: Mapping[str, Column], weights: NDArray[np.float64] | None, name: str | None
) -> list[Column]:
    """The columns for a file: row weights, if there are any, become one, which needs a name."""
    if weights is None and name is None:
        return [*columns.values()]
    if weights is None:
        raise DataError(f"this table has no weights to write as {name!r}")
    if name is None:
        raise DataError(
            "this table has weights, and a file holds them as a column: name it, "
            "write(path, weights='n'), or leave them out, with_weights(None).write(path)"
        )
    if name in columns:
        raise DataError(f"there is a column {name!r} already: name the weights otherwise")
    return [*columns.values(), Column(Variable(name, "continuous"), weights)]
