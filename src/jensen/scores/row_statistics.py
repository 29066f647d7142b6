"""Statistics of rows: counts of families and moments of columns, for scores.

A family is counted as one row per configuration of the parents that occurs.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from jensen.data import RowSource, Table
from jensen.data.blocks import Block, sum_blocks
from jensen.data.counting import count_families, require_states
from jensen.data.statistics import (
    Array,
    Coordinates,
    Family,
    FamilyCounts,
    Moments,
    coordinates_of,
    moments_of,
)
from jensen.data.variable import Variable
from jensen.exceptions import DataError
from jensen.scores.table_checks import constant_columns


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """The statistics of a `RowSource`; implements `FamilyStatistics`.

    Rows that miss a member of a family are left out of its counts. Moments are of complete columns.
    """

    source: RowSource

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, sorted by name."""
        return tuple(sorted(self.source.variables, key=lambda variable: variable.name))

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.source.total_weight

    @property
    def rows(self) -> Table | None:
        """The rows, if they are in memory."""
        return self.source if isinstance(self.source, Table) else None

    @property
    def is_whole(self) -> bool:
        """Whether every row counts a whole number of times."""
        if not self.source.is_weighted:
            return True
        blocks = self.source.blocks()
        return all(bool(np.all(block.weights == np.floor(block.weights))) for block in blocks)

    def counts(self, families: Sequence[Family]) -> list[FamilyCounts]:
        """Counts of many families in one pass over the rows."""
        return family_counts(self.source, families)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Coordinates in which the columns have ranges of about 1."""
        return coordinates_of(self.source, self._names)

    @cached_property
    def constant(self) -> frozenset[int]:
        """Positions of the columns that are constant up to rounding."""
        return frozenset(constant_columns(self.source, self._names))

    def moments(self, coordinates: Coordinates | None = None) -> Moments:
        """Weight, means and scatter of all columns."""
        here = self.coordinates if coordinates is None else coordinates
        return moments_of(self.source, self._names, here)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)


__all__ = ["FamilyCounts", "family_counts"]

MAX_DENSE_CELLS = 1 << 16
"""Larger tables are counted densely only if they have no more cells than the data have rows."""


def family_counts(table: RowSource, families: Sequence[Family]) -> list[FamilyCounts]:
    """Counts of many families (variable, parents) in one pass over the rows.

    Families with more cells than rows are counted by sorting the configurations that occur, so
    that memory is bounded by the data, whatever the numbers of states.
    """
    shapes = [[require_states(table, v).n_states for v in (*parents, x)] for x, parents in families]
    limit = max(MAX_DENSE_CELLS, table.n_rows)
    sizes = [math.prod(n + 1 for n in shape) for shape in shapes]
    dense = [k for k, size in enumerate(sizes) if size <= limit]
    counted = count_families(table, [(*families[k][1], families[k][0]) for k in dense])
    tables = dict(zip(dense, counted, strict=True))
    result = []
    for k, (x, parents) in enumerate(families):
        rows: Array | csr_array
        configs = None
        if k in tables:
            rows = tables[k].reshape(-1, shapes[k][-1])
            configs = np.flatnonzero(rows.any(axis=1))
            rows = rows[configs]
        else:
            rows = _sparse(table, x, parents)
        n_configs = math.prod(map(float, shapes[k][:-1]))
        if n_configs == math.inf:
            raise DataError(f"the parents of {x!r} have more than 1e308 configurations: use fewer")
        total = float(rows.sum())
        result.append(FamilyCounts(rows, n_configs, total, (*parents, x), configs))
    return result


def distinct_rows(table: RowSource, names: Sequence[str]) -> tuple[NDArray[np.int64], Array]:
    """Distinct complete rows of some columns, block by block: codes (m, k) and weights (m,).

    Blocks keep their order; within a block rows are sorted by their codes.
    """
    cards = [table.variable(name).n_states for name in names]

    def of_block(block: Block) -> tuple[tuple[NDArray[np.int64], Array], ...]:
        known = (block.weights > 0.0) & ~np.any([block.missing(name) for name in names], axis=0)
        codes = np.array([block.values(name)[known] for name in names], np.int64).T
        number = _number(codes, cards)
        _, first, at = np.unique(number, return_index=True, return_inverse=True)
        weight = np.bincount(at, block.weights[known], minlength=len(first))
        return ((codes[first], weight.astype(np.float64)),)

    parts = sum_blocks(table.blocks(), of_block, operator.add)
    codes, weights = zip(*parts, strict=True)
    return np.concatenate(codes), np.concatenate(weights)


def _sparse(table: RowSource, x: str, parents: Sequence[str]) -> csr_array:
    """Cells that occur, found by sorting, in the order of the full table."""
    cards = [table.variable(name).n_states for name in (*parents, x)]
    codes, weights = distinct_rows(table, (*parents, x))
    config, n_states = _number(codes[:, :-1], cards[:-1]), cards[-1]
    cells, at = np.unique(config * n_states + codes[:, -1], return_inverse=True)
    counts = np.bincount(at, weights, minlength=len(cells))
    n_configs = int(config.max(initial=-1)) + 1
    ends = np.searchsorted(cells, np.arange(n_configs + 1) * n_states)
    return csr_array((counts, cells % n_states, ends), shape=(n_configs, n_states))


def _number(codes: NDArray[np.int64], cards: Sequence[int]) -> NDArray[np.int64]:
    """(m,): the number of each row's configuration among those that occur, sorted by codes."""
    number = np.zeros(len(codes), np.int64)
    for column, n in zip(codes.T, cards, strict=True):
        # numbers stay dense, so products never overflow
        number = np.unique(number * n + column, return_inverse=True)[1]
    return number
