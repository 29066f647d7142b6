"""Rows of numbers (n, D), NaN where they are missing, in memory or read again in every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Block, RowSource
from jensen.data.table import Table
from jensen.data.threads import ordered_map
from jensen.data.units import TreeSum, Units
from jensen.fields import add

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SUMMED_ROWS = 1 << 14
"""Rows that are summed at once; fixed, so that sums never depend on threads."""


class NumberBlock(NamedTuple):
    """Some rows."""

    values: Array  # (n, D)
    weight: Array  # (n,)
    start: int  # how many rows come before


class Passes:
    """What is made anew whenever it is gone through."""

    def __init__(self, begin: Callable[[], Iterable[Any]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[Any]:
        return iter(self._begin())


@dataclass(frozen=True, eq=False)
class NumberRows:
    """Rows of numbers and their weights; `NumberRows.of` and `NumberRows.scanned` make them.

    Parameters
    ----------
    n_rows, n_columns
        How many there are.
    cut
        Begins a pass: blocks that end before these rising row numbers, the last of which is n_rows.
    is_kept
        Whether the rows are in memory, so that units made of them may be kept there too.
    """

    n_rows: int
    n_columns: int
    cut: Callable[[Ints], Iterable[NumberBlock]]
    is_kept: bool

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> NumberRows:
        """Rows in memory; each counts once unless weights say otherwise."""
        weight = np.ones(len(values)) if weight is None else weight

        def cut(ends: Ints) -> list[NumberBlock]:
            pairs = pairwise([0, *ends.tolist()])
            return [NumberBlock(values[a:b], weight[a:b], a) for a, b in pairs]

        return cls(values.shape[0], values.shape[1], cut, is_kept=True)

    @classmethod
    def scanned(cls, rows: RowSource, names: Sequence[str]) -> NumberRows:
        """Columns of numbers or codes, as numbers; a name without a column is missing."""
        if isinstance(rows, Table):
            return cls.of(numbers_of(rows, names), rows.weights)

        def cut(ends: Ints) -> Iterator[NumberBlock]:
            tables = ((numbers_of(t, names), Block(t, 0, t.n_rows).weights) for t in rows.tables())
            return _recut(tables, ends)

        return cls(rows.n_rows, len(names), cut, is_kept=False)

    def read(self, size: int) -> Iterable[NumberBlock]:
        """The rows in blocks of that many, the last of which may be shorter."""
        return self.cut(np.append(np.arange(size, self.n_rows, size), self.n_rows)[: self.n_rows])

    def by_sequence(self, lengths: Ints, weight: Array) -> NumberRows:
        """The same rows, each as heavy as the sequence that it belongs to."""
        ends = np.cumsum(lengths)

        def weigh(block: NumberBlock) -> NumberBlock:
            numbers = np.arange(block.start, block.start + len(block.weight))
            return block._replace(weight=weight[np.searchsorted(ends, numbers, "right")])

        def cut(at: Ints) -> Iterable[NumberBlock]:
            blocks = self.cut(at)
            return [*map(weigh, blocks)] if self.is_kept else map(weigh, blocks)

        return replace(self, cut=cut)

    @cached_property
    def total_weight(self) -> float:
        """How many rows there are, each counted as often as its weight says."""
        return float(self.sum(lambda block: block.weight.sum()) or 0.0)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether anything is missing."""
        return bool(self.sum(lambda block: int(np.isnan(block.values).any())))

    def sum(
        self,
        f: Callable[[NumberBlock], Any],
        join: Callable[[Any, Any], Any] = add,
    ) -> Any:
        """Σ f(block) on threads, as a dyadic tree; None of no rows."""
        tree = TreeSum(join)
        for number, term in enumerate(ordered_map(f, self.read(SUMMED_ROWS))):
            tree.put(number, term)
        return tree.total()

    def take(self, chosen: NDArray[np.intp]) -> tuple[Array, Array]:
        """Values and weights of some rows, by their rising numbers."""

        def pick(block: NumberBlock) -> tuple[tuple[Array, Array], ...]:
            a, b = np.searchsorted(chosen, [block.start, block.start + len(block.weight)])
            some = chosen[a:b] - block.start
            return ((block.values[some], block.weight[some]),)

        parts = self.sum(pick, lambda a, b: a + b)
        values, weight = zip(*parts, strict=True)
        return np.concatenate(values), np.concatenate(weight)

    def units(
        self,
        encode: Callable[[NumberBlock], Any],
        begin: Callable[[], Iterable[NumberBlock]],
        *,
        total_weight: float,
        is_complete: bool,
    ) -> Units:
        """Units of blocks: kept where the rows are, else made again in every pass."""
        if self.is_kept:
            return Units(tuple(ordered_map(encode, begin())), total_weight, is_complete)
        return Units(Passes(begin), total_weight, is_complete, encode)


def _recut(tables: Iterable[tuple[Array, Array]], ends: Ints) -> Iterator[NumberBlock]:
    """Rows that come in any pieces, in blocks that end before these row numbers."""
    pieces, start, n = iter(tables), 0, 0
    held: list[tuple[Array, Array]] = []
    for end in ends.tolist():
        while start + n < end:
            held.append(next(pieces))
            n += len(held[-1][1])
        values, weight = (np.concatenate(part) for part in zip(*held, strict=True))
        size = end - start
        yield NumberBlock(values[:size], weight[:size], start)
        held, n, start = [(values[size:], weight[size:])], n - size, end


def numbers_of(table: Table | Block, names: Sequence[str]) -> Array:
    """(rows, n): numbers or codes, NaN where they are missing; so is a name without a column."""
    block = table if isinstance(table, Block) else Block(table, 0, table.n_rows)
    out = np.full((block.n_rows, len(names)), np.nan)
    for v, name in enumerate(names):
        if name in block.table:
            out[:, v] = block.values(name)
            if block.table.variable(name).kind == "categorical":
                out[block.missing(name), v] = np.nan
    return out
