"""Rows of numbers (n, D), NaN where they are missing, in memory or read again in every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Block, RowSource
from jensen.data.table import Table
from jensen.data.threads import ordered_map
from jensen.data.units import TreeSum, Units
from jensen.fields import add

Array = NDArray[np.float64]

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
    read
        Begins a pass: blocks of that many rows, the last of which may be shorter.
    is_kept
        Whether the rows are in memory, so that units made of them may be kept there too.
    """

    n_rows: int
    n_columns: int
    read: Callable[[int], Iterable[NumberBlock]]
    is_kept: bool

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> NumberRows:
        """Rows in memory; each counts once unless weights say otherwise."""
        weight = np.ones(len(values)) if weight is None else weight

        def read(size: int) -> list[NumberBlock]:
            starts = range(0, len(values), size)
            return [NumberBlock(values[a : a + size], weight[a : a + size], a) for a in starts]

        return cls(values.shape[0], values.shape[1], read, is_kept=True)

    @classmethod
    def scanned(cls, rows: RowSource, names: Sequence[str]) -> NumberRows:
        """Columns of numbers or codes, as numbers; a name without a column is missing."""
        if isinstance(rows, Table):
            return cls.of(numbers_of(rows, names), rows.weights)

        def read(size: int) -> Iterator[NumberBlock]:
            start = 0
            for block in rows.blocks(size):
                yield NumberBlock(numbers_of(block.table, names), block.weights, start)
                start += block.n_rows

        return cls(rows.n_rows, len(names), read, is_kept=False)

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
        size: int = SUMMED_ROWS,
    ) -> Any:
        """Σ f(block) on threads, as a dyadic tree; None of no rows."""
        tree = TreeSum(join)
        for number, term in enumerate(ordered_map(f, self.read(size))):
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

    def units(self, encode: Callable[[NumberBlock], Any], size: int, *, is_complete: bool) -> Units:
        """Units of that many rows: kept where the rows are, else made again in every pass."""
        if self.is_kept:
            made = tuple(ordered_map(encode, self.read(size)))
            return Units(made, self.total_weight, is_complete)
        return Units(Passes(lambda: self.read(size)), self.total_weight, is_complete, encode)


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
