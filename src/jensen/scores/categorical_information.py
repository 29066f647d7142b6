"""Mutual information of categorical columns, alone or given another column.

As a matrix, or one row of it at a time. Nothing may be missing.
"""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from jensen.data import Table, TableScan
from jensen.data.counting import CountingPlan, count_meetings, plane_plan, require_states
from jensen.scores.summed_information import SummedInformation

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rows = Table | TableScan

MOST_STATES = 16
"""Variables with more states are counted faster row by row than by bitsets."""

MOST_MEETINGS = 2048
"""The most states whose joint counts are held in one matrix; beyond, it is made row by row."""

DENSE_CELLS = 1 << 16
"""Larger tables are counted densely only if they have no more cells than the data have rows."""

MOST_KNOWN = 4096
"""Terms x log x of cells with fewer rows are tabulated; the table fits into the fastest cache."""

BLOCK = 1 << 22
"""Indicators (states times rows) that are multiplied at a time where rows have weights."""


class CategoricalInformation:
    """I(x; y) of every pair of categorical columns; nothing may be missing.

    Parameters
    ----------
    table, names
        The columns, in this order.
    sample_size
        So many imagined rows are spread evenly over all configurations.
    weights
        Those of the rows; None: the table's. A learner that weighs the rows of one table again
        and again gives them here, and the table remembers its bytes and bitsets.
    """

    def __init__(
        self,
        table: Table,
        names: Sequence[str],
        sample_size: float = 0.0,
        weights: Array | None = None,
    ) -> None:
        self.names = tuple(names)
        self._table, self._sample_size = table, float(sample_size)
        self._weights = table.weights if weights is None else weights
        weight = table.n_rows if self._weights is None else self._weights.sum()
        self._weight = float(weight)
        self.total = self._weight + self._sample_size
        states = {variable.name: len(variable.states) for variable in table.variables}
        sizes = [states.get(x) or require_states(table, x).n_states for x in self.names]
        self._sizes = np.array(sizes, np.int64)
        self._known: dict[int, Array] = {}
        self._entropies: Array | None = None

    @property
    def degrees(self) -> Array:
        """(n,): states less one; an edge has the product of two of them as free parameters."""
        return np.asarray(self._sizes - 1.0)

    @property
    def n_parameters(self) -> Array:
        """(n,): free parameters of each column alone."""
        return self.degrees

    def entropies(self) -> Array:
        """(n,): the entropy of each column."""
        if self.total <= 0.0:
            return np.zeros(len(self.names))
        if self._entropies is None:
            self._entropies = np.asarray(np.log(self.total) - self._own_terms / self.total)
        return self._entropies

    def matrix(self) -> Array:
        """(n, n): I(x; y) of all pairs; entropies on the diagonal."""
        out = self._matrix()
        self._entropies = out.diagonal().copy()
        return out

    def _matrix(self) -> Array:
        n, small = len(self.names), np.flatnonzero(self._is_small)
        if (self._sizes[small] - 1).sum() > MOST_MEETINGS:
            small = small[:0]
        if len(small) == n:
            return self._matrix_of(self.names, self._sizes)
        full = np.empty((n, n))
        full[np.ix_(small, small)] = self._matrix_of(
            [self.names[k] for k in small], self._sizes[small]
        )
        wanted = np.ones(n, np.bool_)
        for k in np.setdiff1d(np.arange(n), small):
            row = self.row(int(k), wanted)
            full[k, wanted] = full[wanted, k] = row[wanted]
            wanted[k] = False
        return full

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): I(k; v) for the wanted columns v; the other entries are undefined."""
        if self.total <= 0.0:
            return np.zeros(len(self.names))
        terms, own = np.zeros(len(self.names)), self._own_terms
        by_bits = self._is_small if self._weights is None and self._is_small[k] else None
        if by_bits is not None:
            self._terms_from_bits(k, wanted & by_bits, terms)
        self._terms_by_rows(k, wanted if by_bits is None else wanted & ~by_bits, terms)
        terms[k] = own[k]
        information = (terms - own[k] - own) / self.total + np.log(self.total)
        return np.asarray(np.maximum(information, 0.0))

    def _matrix_of(self, names: Sequence[str], sizes: Ints) -> Array:
        """(n, n): the matrix of columns with few states, all pairs counted together."""
        from jensen.kernels.pair_information import matrix_from_meetings

        if not names or self.total <= 0.0:
            return np.zeros((len(names), len(names)))
        is_counted = self._weights is None
        meetings = (
            count_meetings(self._table, names).astype(np.float64)
            if is_counted
            else self._weighted(names)
        )
        is_whole = is_counted and not self._sample_size
        out = np.empty((len(names), len(names)))
        matrix_from_meetings(meetings, sizes, self._weight, self._sample_size, is_whole, out)
        return out

    def _weighted(self, names: Sequence[str]) -> Array:
        """Joint counts of weighted rows, as a product of indicators."""
        assert self._weights is not None
        planes, levels = self._table.packed.planes(names), self._table.packed.levels
        states = [(levels[x].planes[0], s) for x in names for s in range(levels[x].size - 1)]
        out, roots = np.zeros((len(states), len(states))), np.sqrt(self._weights)
        step = max(BLOCK // max(len(states), 1), 1)
        for start in range(0, self._table.n_rows, step):
            rows = slice(start, start + step)
            indicators = np.empty((len(states), len(roots[rows])))
            for k, (plane, state) in enumerate(states):
                np.multiply(planes[plane, rows] == state, roots[rows], out=indicators[k])
            out += indicators @ indicators.T
        return out

    def _terms_from_bits(self, k: int, wanted: Mask, terms: Array) -> None:
        from jensen.kernels import pair_information

        known = self._known_terms(int(self._sizes[k]))
        pair_information.terms_from_bits(
            *self._bitsets, *self._counts, k, wanted, self._sample_size, known, terms
        )

    def _known_terms(self, n_states: int) -> Array:
        """(c, n): the term of a cell with n rows, by the number c of states of the other."""
        if n_states not in self._known:
            rows = np.arange(min(self._table.n_rows + 1.0, MOST_KNOWN))
            cells = n_states * np.arange(MOST_STATES + 1)[:, None].clip(1)
            x = rows + self._sample_size / cells
            self._known[n_states] = xlogy(x, x)
        return self._known[n_states]

    def _terms_by_rows(self, k: int, wanted: Mask, terms: Array) -> None:
        """Fill in Σ x log x over cells by counting rows; tables larger than the data by sorting."""
        from jensen.kernels import pair_information

        if not wanted.any():
            return
        is_dense = self._sizes * self._sizes[k] <= max(DENSE_CELLS, self._table.n_rows)
        planes, plan, weights = self._bytes
        pair_information.terms_by_rows(
            planes, *plan[:3], self._sizes, k, weights, wanted & is_dense, self._sample_size, terms
        )
        for v in np.flatnonzero(wanted & ~is_dense):
            terms[v] = self._sparse_term(k, int(v))

    def _sparse_term(self, k: int, v: int) -> float:
        one, other = (self._table.column(self.names[x]).data for x in (k, v))
        cells = one.astype(np.int64) * self._sizes[v] + other
        counts = np.bincount(np.unique(cells, return_inverse=True)[1], self._weights)
        n_cells = float(self._sizes[k]) * float(self._sizes[v])
        pseudo = self._sample_size / n_cells
        empty = (n_cells - len(counts)) * xlogy(pseudo, pseudo)
        return float(xlogy(counts + pseudo, counts + pseudo).sum() + empty)

    @cached_property
    def _is_small(self) -> Mask:
        return self._sizes <= MOST_STATES

    @cached_property
    def _counts(self) -> tuple[Array, NDArray[np.int64]]:
        """The weight of every state, and where each variable begins."""
        columns = zip(self.names, self._sizes, strict=True)
        counts = [
            np.bincount(self._table.column(x).data, self._weights, minlength=n) for x, n in columns
        ]
        at = np.concatenate([[0], np.cumsum(self._sizes)])
        return np.concatenate([np.empty(0), *counts]), at

    @cached_property
    def _own_terms(self) -> Array:
        counts, at = self._counts
        cells = counts + np.repeat(self._sample_size / self._sizes, self._sizes)
        return np.asarray(np.add.reduceat(xlogy(cells, cells), at[:-1]))

    @cached_property
    def _bitsets(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The bitsets of the variables with few states, and where each begins."""
        packed = self._table.packed
        small = [x for x, is_small in zip(self.names, self._is_small, strict=True) if is_small]
        return packed.bits(small), np.array([packed.levels[x].bits.start for x in self.names])

    @cached_property
    def _bytes(self) -> tuple[NDArray[np.uint8], CountingPlan, Array]:
        """The bytes of all columns, where each stands, and the weight of every row."""
        weights = np.ones(self._table.n_rows) if self._weights is None else self._weights
        planes = self._table.packed.planes(self.names)
        return planes, plane_plan(self._table, [(x,) for x in self.names]), weights


class ConditionalInformation:
    """I(x; y | given) of every pair of categorical columns: a mean over the states of `given`.

    Every state has its own rows, and an equal part of the imagined ones.
    """

    def __init__(
        self, table: Rows, names: Sequence[str], given: str, sample_size: float = 0.0
    ) -> None:
        self.names = tuple(names)
        self.total = table.total_weight + sample_size
        n_states = require_states(table, given).n_states
        share = sample_size / n_states
        parts: list[CategoricalInformation | SummedInformation] = []
        for state in range(n_states):
            if isinstance(table, Table):
                rows = table.take(table.column(given).data == state)
                parts.append(CategoricalInformation(rows, self.names, share))
            else:
                parts.append(SummedInformation.of(table.where(given, state), self.names, share))
        self._parts = [(part.total / self.total, part) for part in parts if part.total > 0.0]

    @property
    def entropy(self) -> float:
        """The entropy of `given`."""
        return -sum(share * math.log(share) for share, _ in self._parts)

    def entropies(self) -> Array:
        """(n,): the entropy of each column given `given`."""
        zero = np.zeros(len(self.names))
        return sum((share * part.entropies() for share, part in self._parts), zero)

    def matrix(self) -> Array:
        """(n, n): I(x; y | given) of all pairs; conditional entropies on the diagonal."""
        n = len(self.names)
        return sum((share * part.matrix() for share, part in self._parts), np.zeros((n, n)))

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): I(k; v | given) for the wanted columns v; the other entries are undefined."""
        zero = np.zeros(len(self.names))
        return sum((share * part.row(k, wanted) for share, part in self._parts), zero)
