"""The linear relaxation: weights of families, one in all for each child, and cuts."""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from jensen.q_graph.optimum.cluster_cuts import Cut
from jensen.q_graph.optimum.families import Families
from jensen.q_graph.optimum.solver import solver

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Pair = tuple[int, int]

TINY = 1e-9
"""Weights below it are rounding."""

PATIENCE = 12
"""Solutions in which a cut may be of no use before it is dropped."""


class Point(NamedTuple):
    """An optimum of the relaxation."""

    x: Array  # (m,): weights of families
    bound: float  # no graph scores more
    loss: Array  # (m,): what the bound falls by, at least, if a family is chosen


class Row(NamedTuple):
    """A cut in the program, and for how long it has been of no use."""

    cut: Cut
    idle: int
    pair: Pair | None  # a row that only holds where this pair is joined


class Relaxation:
    """A linear program over families; what each loses against the best of its child is its cost.

    Parameters
    ----------
    end
        What the clock shows when time is over: no program is solved further then.
    """

    def __init__(self, families: Families, rows: Sequence[Row] = (), end: float = math.inf) -> None:
        self.families = families
        self.end = end
        self.holds = families.holds
        self.top = families.score[families.first[:-1]]
        self.cost = self.top[families.child] - families.score
        self.model, highspy = solver()
        self.infinity = highspy.kHighsInf
        self.infeasible = highspy.HighsModelStatus.kInfeasible
        n, m = families.n, len(families.child)
        none = np.array([], np.int32)
        self.model.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, np.int32), none, none * 1.0)
        self.model.addCols(
            m, self.cost, np.zeros(m), np.full(m, self.infinity), m,
            np.arange(m, dtype=np.int32), families.child.astype(np.int32), np.ones(m),
        )  # fmt: skip
        self.closed = np.zeros(m, bool)
        self.rows: list[Row] = []
        self._matrix: csr_array | None = None
        self._demanded: frozenset[Pair] = frozenset()
        self._add_rows(rows)

    def add(self, cuts: Sequence[Cut]) -> None:
        """Add inequalities."""
        self._add_rows([Row(cut, 0, None) for cut in cuts])

    def _add_rows(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        cuts = [row.cut for row in rows]
        sizes = [len(cut.at) for cut in cuts]
        least = np.array([0.0 if row.pair else row.cut.least for row in rows])
        self.model.addRows(
            len(cuts), least, np.full(len(cuts), self.infinity), sum(sizes),
            np.cumsum([0, *sizes[:-1]]).astype(np.int32),
            np.concatenate([cut.at for cut in cuts]).astype(np.int32),
            np.concatenate([cut.weight for cut in cuts]),
        )  # fmt: skip
        self.rows += rows
        self._matrix = None

    def join(self, pairs: Sequence[Pair]) -> None:
        """Demand that each of these pairs is joined, and no others that were demanded before."""
        known = {row.pair for row in self.rows if row.pair}
        self._add_rows([Row(self._joined(*p), 0, p) for p in pairs if p not in known])
        for i, row in enumerate(self.rows):
            if row.pair and (row.pair in pairs) != (row.pair in self._demanded):
                least = 1.0 if row.pair in pairs else 0.0
                self.model.changeRowBounds(self.families.n + i, least, self.infinity)
        self._demanded = frozenset(pairs)

    def _joined(self, u: int, v: int) -> Cut:
        child = self.families.child
        at = np.flatnonzero(((child == v) & self.holds[:, u]) | ((child == u) & self.holds[:, v]))
        return Cut(at, np.ones(len(at)), 1.0)

    def solve(self, closed: Flags) -> Point | None:
        """The optimum without the families that are closed; None if there is no solution."""
        changed = np.flatnonzero(closed != self.closed).astype(np.int32)
        if len(changed):
            upper = np.where(closed[changed], 0.0, self.infinity)
            self.model.changeColsBounds(len(changed), changed, np.zeros(len(changed)), upper)
            self.closed = closed.copy()
        if self.end < math.inf:  # a program that is not solved to its end has prices too
            left = max(self.end - time.perf_counter(), 0.0)
            self.model.setOptionValue("time_limit", self.model.getRunTime() + left)
        self.model.run()
        if self.model.getModelStatus() == self.infeasible:
            return None
        solution = self.model.getSolution()
        x = np.resize(solution.col_value or 0.0, len(closed))  # none, if time was over at once
        x[x < TINY] = 0.0
        duals = np.resize(solution.row_dual or 0.0, self.families.n + len(self.rows))
        duals = np.maximum(duals[self.families.n :], 0.0)
        self.rows = [
            row._replace(idle=0 if price > TINY else row.idle + 1)
            for row, price in zip(self.rows, duals, strict=True)
        ]
        return self._bounded(x, duals)

    def _bounded(self, x: Array, prices: Array) -> Point:
        """The bound that prices of cuts give, whatever prices they are: no rounding weakens it.

        A family pays its cost and is paid for what it adds to the cuts; each child takes the
        cheapest, and what the cuts demand is paid in any case.
        """
        paid = self.cost.copy()
        if self.rows:
            paid -= self.matrix.T @ prices
        paid[self.closed] = np.inf
        least = np.minimum.reduceat(paid, self.families.first[:-1])
        demanded = sum(
            price * row.cut.least
            for price, row in zip(prices.tolist(), self.rows, strict=True)
            if not row.pair or row.pair in self._demanded
        )
        bound = float(self.top.sum() - least.sum() - demanded)
        return Point(x, bound, paid - least[self.families.child])

    @property
    def matrix(self) -> csr_array:
        """(rows, m): the weights in all cuts."""
        if self._matrix is None:
            cuts = [row.cut for row in self.rows]
            self._matrix = csr_array(
                (
                    np.concatenate([cut.weight for cut in cuts]),
                    np.concatenate([cut.at for cut in cuts]),
                    np.cumsum([0, *(len(cut.at) for cut in cuts)]),
                ),
                shape=(len(cuts), len(self.families.child)),
            )
        return self._matrix

    def drop_idle(self) -> None:
        """Drop cuts that have been of no use for long."""
        idle = [i for i, row in enumerate(self.rows) if row.idle > PATIENCE and not row.pair]
        if len(idle) > len(self.rows) // 5:
            at = np.array(idle, np.int32) + self.families.n
            self.model.deleteRows(len(at), at)
            gone = set(idle)
            self.rows = [row for i, row in enumerate(self.rows) if i not in gone]
            self._matrix = None

    def take(self, kept: Ints) -> "Relaxation":
        """The same program with some of the families alone."""
        new = np.full(len(self.families.child), -1)
        new[kept] = np.arange(len(kept))
        rows = []
        for row in self.rows:
            at = new[row.cut.at]
            cut = Cut(at[at >= 0], row.cut.weight[at >= 0], row.cut.least)
            rows.append(row._replace(cut=cut))
        return Relaxation(self.families.take(kept), rows, self.end)
