"""The linear relaxation of the best network, and how its problem is branched in two.

Every family has a weight between 0 and 1; the weights of one child sum to 1, and cuts exclude
cycles. Where the weights stay fractional, the problem is branched by whether two variables are
adjacent, or by the direction of an edge.
"""

import heapq
import math
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from jensen.q_graph.optimum.cuts import Cut, edge_weights
from jensen.q_graph.optimum.families import CandidateFamilies
from jensen.q_graph.optimum.solver import solver

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Pair = tuple[int, int]

TINY = 1e-9
"""Weights below this are rounding errors."""

PATIENCE = 12
"""A cut is dropped after more than this many solutions in a row in which its price is 0."""

CANDIDATES = 6
"""The number of branchings that are compared."""

WHOLE = 1e-6
"""Weights that are this close to 0 or 1 are integral."""

LEAST_FALL, MOST_FALL = 1e-6, 1e9
"""Falls of bounds are clipped to this range before their products are compared."""


class Point(NamedTuple):
    """An optimum of the relaxation."""

    x: Array  # (m,): weights of families
    bound: float  # no graph scores more
    loss: Array  # (m,): the bound falls by at least this if a family is chosen


class CutRow(NamedTuple):
    """A cut that is a row of the linear program."""

    cut: Cut
    idle: int  # the number of last solutions in which its price was 0
    pair: Pair | None  # if given, the row applies only in parts where this pair is adjacent


class Relaxation:
    """A linear program over the weights of families.

    The cost of a family is its score below the best family of the same child.

    Parameters
    ----------
    families
        The families, one column each.
    rows
        Cuts that are added at once.
    end
        The time (`time.perf_counter`) after which the solver stops.
    """

    def __init__(
        self, families: CandidateFamilies, rows: Sequence[CutRow] = (), end: float = math.inf
    ) -> None:
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
        self.rows: list[CutRow] = []
        self._matrix: csr_array | None = None
        self._demanded: frozenset[Pair] = frozenset()
        self._add_rows(rows)

    def add(self, cuts: Sequence[Cut]) -> None:
        """Add cuts."""
        self._add_rows([CutRow(cut, 0, None) for cut in cuts])

    def _add_rows(self, rows: Sequence[CutRow]) -> None:
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
        """Require that exactly these pairs are adjacent; earlier requirements end."""
        known = {row.pair for row in self.rows if row.pair}
        self._add_rows([CutRow(self._joined(*p), 0, p) for p in pairs if p not in known])
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
        """The optimum without the closed families; None if there is no solution."""
        changed = np.flatnonzero(closed != self.closed).astype(np.int32)
        if len(changed):
            upper = np.where(closed[changed], 0.0, self.infinity)
            self.model.changeColsBounds(len(changed), changed, np.zeros(len(changed)), upper)
            self.closed = closed.copy()
        if self.end < math.inf:  # a program that is not solved to optimality has prices too
            left = max(self.end - time.perf_counter(), 0.0)
            self.model.setOptionValue("time_limit", self.model.getRunTime() + left)
        self.model.run()
        if self.model.getModelStatus() == self.infeasible:
            return None
        solution = self.model.getSolution()
        x = np.resize(solution.col_value or 0.0, len(closed))  # empty if there was no time at all
        x[x < TINY] = 0.0
        duals = np.resize(solution.row_dual or 0.0, self.families.n + len(self.rows))
        duals = np.maximum(duals[self.families.n :], 0.0)
        self.rows = [
            row._replace(idle=0 if price > TINY else row.idle + 1)
            for row, price in zip(self.rows, duals, strict=True)
        ]
        return self._bounded(x, duals)

    def _bounded(self, x: Array, prices: Array) -> Point:
        """The Lagrangian bound at these prices of cuts; it is valid for any prices ≥ 0.

        The reduced cost of a family is its cost minus the prices of what it adds to the cuts. Each
        child takes its cheapest family, and the right-hand sides of the cuts are paid in full.
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
        """(rows, m): the coefficients of all cuts."""
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
        """Drop cuts whose price has been 0 for long, if there are many of them."""
        idle = [i for i, row in enumerate(self.rows) if row.idle > PATIENCE and not row.pair]
        if len(idle) > len(self.rows) // 5:
            at = np.array(idle, np.int32) + self.families.n
            self.model.deleteRows(len(at), at)
            gone = set(idle)
            self.rows = [row for i, row in enumerate(self.rows) if i not in gone]
            self._matrix = None

    def take(self, kept: Ints) -> "Relaxation":
        """The same program with only these families."""
        new = np.full(len(self.families.child), -1)
        new[kept] = np.arange(len(kept))
        rows = []
        for row in self.rows:
            at = new[row.cut.at]
            cut = Cut(at[at >= 0], row.cut.weight[at >= 0], row.cut.least)
            rows.append(row._replace(cut=cut))
        return Relaxation(self.families.take(kept), rows, self.end)


class Node(NamedTuple):
    """A part of the problem: a node of the branch-and-bound tree."""

    bound: float  # no graph of this part scores more
    depth: int
    joined: tuple[Pair, ...]  # pairs that are adjacent, in either direction
    closed: Flags  # (m,): families that no graph of this part has, or no better graph

    def part(self, closed: Flags, joined: tuple[Pair, ...] = ()) -> "Node":
        """A child node with further closed families or adjacent pairs."""
        return Node(self.bound, self.depth + 1, self.joined + joined, self.closed | closed)


class OpenParts:
    """The parts of the problem that are not solved yet, by falling bound."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Node]] = []
        self._numbers = count()

    def add(self, node: Node) -> None:
        """Add a part."""
        heapq.heappush(self._heap, (-node.bound, next(self._numbers), node))

    def pop(self) -> Node | None:
        """Remove and return the part with the highest bound; None if none is left."""
        return heapq.heappop(self._heap)[2] if self._heap else None


def branch(
    relaxation: Relaxation, node: Node, x: Array, is_open: Callable[[float], bool]
) -> list[Node] | None:
    """Branch a node in two, and return the parts that are open; None if the weights are integral.

    Of several branchings the one with the largest product of the falls of both bounds is taken.
    """
    best: list[Node] | None = None
    most = 0.0
    for parts in _ways(relaxation, node, x):
        bounds = [min(_bound(relaxation, part), node.bound) for part in parts]
        one, other = (min(max(node.bound - b, LEAST_FALL), MOST_FALL) for b in bounds)
        if one * other > most:
            most = one * other
            both = zip(parts, bounds, strict=True)
            best = [part._replace(bound=bound) for part, bound in both if is_open(bound)]
        if not best:
            break
    return best


def _bound(relaxation: Relaxation, part: Node) -> float:
    """The bound of a part without further cuts."""
    if np.logical_and.reduceat(part.closed, relaxation.families.first[:-1]).any():
        return -np.inf
    relaxation.join(part.joined)
    point = relaxation.solve(part.closed)
    return -np.inf if point is None else point.bound


def _ways(relaxation: Relaxation, node: Node, x: Array) -> Iterator[tuple[Node, Node]]:
    """Branchings: whether two variables are adjacent; if all are decided, the direction."""
    child, holds = relaxation.families.child, relaxation.holds
    weight = edge_weights(relaxation.families, x)
    doubtful = _most_doubtful(np.triu(weight + weight.T, 1))
    for u, v in doubtful:
        forwards, backwards = (child == v) & holds[:, u], (child == u) & holds[:, v]
        yield node.part(forwards | backwards), node.part(np.zeros_like(node.closed), ((u, v),))
    if doubtful:
        return
    for u, v in _most_doubtful(weight):
        forwards, backwards = (child == v) & holds[:, u], (child == u) & holds[:, v]
        yield node.part((child == v) & ~forwards | backwards), node.part(forwards)


def _most_doubtful(weight: Array) -> list[Pair]:
    """The pairs whose weights are nearest to one half."""
    doubt = np.minimum(weight, 1.0 - weight)
    found = np.argwhere(doubt > WHOLE)
    order = np.argsort(-doubt[found[:, 0], found[:, 1]], kind="stable")
    return [(int(u), int(v)) for u, v in found[order[:CANDIDATES]]]
