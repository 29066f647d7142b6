"""Columns that grow on disk, piece by piece, and are mapped to memory when they are whole.

What a column is (labels, counts, numbers) and which states it has is decided by all its rows, as
for a table in memory. Until then labels are codes in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jensen.data.distinct_values import (
    FEW,
    DistinctValues,
    RawColumn,
    find_distinct,
    labels_of,
    merge_numbers,
    occurring,
    read_numbers,
)
from jensen.data.encode import (
    MAX_INTEGER_STATES,
    Column,
    check_counts,
    encode_labels,
    infer_kind,
    numbers_of,
    smallest_code_type,
)
from jensen.data.variable import EXACT, Kind, Variable, parse_number
from jensen.exceptions import FileError

ROWS = 1 << 20
"""Rows of a finished column that are looked at together."""

MISSING = 0
"""The code of a missing label while a column grows; the first label is 1."""


class Growing:
    """Values of one type in a file, to which more are appended.

    Parameters
    ----------
    path
        The file; it must not exist.
    dtype
        The type of the values; it may be widened.
    """

    def __init__(self, path: Path, dtype: Any) -> None:
        self.path, self.dtype, self.n = path, np.dtype(dtype), 0
        path.write_bytes(b"")

    def append(self, values: NDArray[Any]) -> None:
        """Write more values at the end."""
        try:
            with self.path.open("ab") as file:
                file.write(np.ascontiguousarray(values, self.dtype).data)
        except OSError as error:
            raise FileError(
                f"cannot write decoded columns to {self.path.parent}: {error.strerror}; choose "
                f"another folder with spill="
            ) from None
        self.n += len(values)

    def widen(self, dtype: Any) -> None:
        """Write all values anew in another type."""
        if self.dtype == np.dtype(dtype):
            return
        self.replace(dtype, (part.astype(dtype) for _, part in self.parts()))

    def replace(self, dtype: Any, parts: Iterator[NDArray[Any]]) -> None:
        """Write other values of another type in place of these."""
        other = Growing(self.path.with_suffix(".new"), dtype)
        for part in parts:
            other.append(part)
        other.path.replace(self.path)
        self.dtype, self.n = other.dtype, other.n

    def parts(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Some neighbouring values at a time, and how many come before."""
        whole = self.mapped()
        for start in range(0, self.n, ROWS):
            yield start, whole[start : start + ROWS]

    def mapped(self) -> NDArray[Any]:
        """All values, mapped to memory."""
        if not self.n:
            return np.empty(0, self.dtype)
        mapped: NDArray[Any] = np.asarray(np.memmap(self.path, self.dtype, "r", shape=(self.n,)))
        return mapped


class Told(NamedTuple):
    """What the caller says of a column."""

    kind: Kind | None = None
    states: tuple[str, ...] | None = None
    missing: Sequence[str] = ()
    as_numbers: bool = False  # continuous, if all values are numbers


class MixedColumnError(Exception):
    """A column of numbers goes on with labels: it must be read from its beginning, as texts."""


@dataclass
class ColumnDraft:
    """A column that grows.

    Parameters
    ----------
    name, told
        Its name, and what the caller says of it.
    path
        The file of its values.
    as_text
        Whether it is known to hold labels, so that its numbers are labels too.
    """

    name: str
    told: Told
    path: Path
    as_text: bool = False
    is_coded: bool = False  # whether the source makes states of the values
    values: Growing | None = None
    n_blank: int = 0  # missing values before the first that tells whether these are labels
    is_written: bool = False
    declared: dict[str, None] | None = None
    labels: dict[str, int] = field(default_factory=dict)  # label → code
    first_rows: list[int] = field(default_factory=list)  # where each label came first
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # distinct, or some

    @property
    def n_rows(self) -> int:
        """How many values there are."""
        return self.n_blank + (self.values.n if self.values is not None else 0)

    @property
    def has_labels(self) -> bool:
        """Whether the values are codes of labels."""
        return self.values is not None and self.values.dtype.kind == "u"

    def add(self, raw: RawColumn) -> None:
        """Append the values of a piece."""
        self.is_coded, self.is_written = raw.is_coded, raw.written
        if raw.declared is not None:
            self.declared = {**(self.declared or {}), **dict.fromkeys(raw.declared)}
        keep_texts = self.as_text or self.has_labels or self.told.states is not None
        distinct = find_distinct(raw, self.told.missing, keep_texts)
        if keep_texts and distinct.numbers is not None:
            distinct = _as_texts(distinct)
        if self.values is None and not _has_values(distinct):
            self.n_blank += len(raw.values)
        elif distinct.texts is not None:
            self._add_labels(distinct)
        else:
            self._add_numbers(distinct)

    def _begin(self, dtype: Any, blank: Any) -> Growing:
        self.values = Growing(self.path, dtype)
        n, self.n_blank = self.n_blank, 0
        self.values.append(np.full(n, blank, dtype))
        return self.values

    def _add_labels(self, distinct: DistinctValues) -> None:
        assert distinct.codes is not None
        values = self.values or self._begin(np.uint8, MISSING)
        if values.dtype.kind != "u":
            if not _has_values(distinct):
                values.append(np.full(len(distinct.codes), np.nan))
                return
            raise MixedColumnError(self.name)
        texts = labels_of(distinct)
        lookup = np.zeros(len(texts) + 1, np.uint32)  # the last is read by code -1
        for k in occurring(distinct):
            code = self.labels.get(texts[k])
            if code is None:
                code = self.labels[texts[k]] = len(self.labels) + 1
                self.first_rows.append(values.n + int(np.argmax(distinct.codes == k)))
            lookup[k] = code
        values.widen(smallest_code_type(len(self.labels) + 1))
        values.append(lookup[distinct.codes])

    def _add_numbers(self, distinct: DistinctValues) -> None:
        assert distinct.numbers is not None
        values = self.values or self._begin(np.float64, np.nan)
        known = distinct.numbers
        rows = known if distinct.codes is None else np.append(known, np.nan)[distinct.codes]
        used = known if distinct.codes is None else known[occurring(distinct)]
        self.numbers = self._remember(used[~np.isnan(used)])
        values.append(rows)

    def _remember(self, more: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distinct numbers; of many some that tell which kind they are, unless all count."""
        all_count = self.told.kind == "categorical" or self.told.states is not None
        found = np.unique(np.concatenate([self.numbers, more + 0.0]))
        if all_count or len(found) <= FEW:
            return found
        odd = (np.abs(found) > EXACT) | (found != np.floor(found))
        keep = np.r_[found[: MAX_INTEGER_STATES + 1], found[-1:], found[odd][:1]]
        return np.unique(keep)

    def discard(self) -> None:
        """Remove the file."""
        if self.values is not None:
            self.values.path.unlink()

    # --- the end ---

    def finish(self) -> Column:
        """The column, its values mapped to memory."""
        if self.values is None:
            self._begin(np.uint8, MISSING)
        distinct = (
            self._read_labels() if self.has_labels else DistinctValues(None, self.numbers, None)
        )
        kind: Kind | None = self.told.kind or (
            "categorical" if self.told.states is not None else None
        )
        if kind is None and self.told.as_numbers and self._are_numbers(distinct):
            kind = "continuous"
        if kind is None:
            kind = "categorical" if self.declared is not None else infer_kind(distinct)
        return self._labelled(distinct) if kind == "categorical" else self._numeric(distinct, kind)

    def _read_labels(self) -> DistinctValues:
        """All labels, a row each and one that is missing; or the numbers that all of them are."""
        texts = list(self.labels)
        codes = np.append(np.int32(-1), np.arange(len(texts), dtype=np.int32))
        if self.is_written and self.told.states is None and texts:
            found = read_numbers(pa.array(texts, pa.string()))
            if found is not None:
                return DistinctValues(None, found, codes)
        return DistinctValues(texts, None, codes, all_occur=True)

    def _are_numbers(self, distinct: DistinctValues) -> bool:
        """Whether there are values, and all are numbers."""
        if distinct.texts is None:
            return len(self.numbers) > 0 or len(self.labels) > 0
        return bool(distinct.texts) and all(parse_number(x) is not None for x in distinct.texts)

    def _labelled(self, distinct: DistinctValues) -> Column:
        """Labels: every code, or every number, becomes that of its state."""
        raw = RawColumn(self.name, pa.chunked_array([], pa.string()), self.is_written, self._order)
        values = self.values
        assert values is not None
        if not self.has_labels:
            numbers = distinct.numbers
            assert numbers is not None
            codes = np.append(np.arange(len(numbers), dtype=np.int32), np.int32(-1))
            own = encode_labels(raw, DistinctValues(None, numbers, codes), *self._rules)
            places = (np.searchsorted(numbers, part) for _, part in values.parts())  # NaN is last
            parts = (own.data.take(place) for place in places)
        else:
            if distinct.numbers is not None:
                distinct = merge_numbers(distinct.numbers, distinct.codes)
            own = encode_labels(raw, distinct, *self._rules)
            parts = (own.data.take(part) for _, part in values.parts())
        values.replace(own.data.dtype, parts)
        return Column(own.variable, values.mapped())

    @property
    def _order(self) -> tuple[str, ...] | None:
        return None if self.declared is None else tuple(self.declared)

    @property
    def _rules(self) -> tuple[Sequence[str] | None, Collection[str]]:
        return self.told.states, self.told.missing

    def _numeric(self, distinct: DistinctValues, kind: Kind) -> Column:
        """Numbers, which may have been written as labels."""
        values = self.values
        assert values is not None
        if self.has_labels:
            found = distinct.numbers
            if found is None:
                texts = list(self.labels)
                used = np.arange(len(texts))
                found = numbers_of(self.name, kind, texts, used, self.first_rows.__getitem__)
            lookup = np.append(np.nan, found)
            values.replace(np.float64, (lookup.take(part) for _, part in values.parts()))
        if kind == "count":
            for before, part in values.parts():
                check_counts(self.name, part, before)
        return Column(Variable(self.name, kind), values.mapped())


def _has_values(distinct: DistinctValues) -> bool:
    if distinct.codes is None:
        assert distinct.numbers is not None
        return not np.isnan(distinct.numbers).all()
    return bool((distinct.codes >= 0).any())


def _as_texts(distinct: DistinctValues) -> DistinctValues:
    """Numbers of a column of labels, as the labels that they are written as."""
    if distinct.codes is None:
        assert distinct.numbers is not None
        rows = np.arange(len(distinct.numbers), dtype=np.int32)
        distinct = merge_numbers(distinct.numbers, rows)
    return DistinctValues(labels_of(distinct), None, distinct.codes)
