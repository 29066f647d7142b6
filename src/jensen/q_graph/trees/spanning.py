"""Maximum-weight spanning trees by Prim's algorithm, and forests of edges with positive weight."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.scores.mutual_information import PairInformation, Unconditional

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_IN_MATRIX = 2048
"""Up to this many variables all weights are computed at once, else row by row."""


BLOCK = 255
"""Rows of weights that are computed together with the one that is needed."""

KEPT_BYTES = 1 << 28
"""The memory for rows that were computed in advance."""


class Penalised:
    """Mutual information minus the penalty of the parameters of an edge, both per row."""

    def __init__(self, information: Unconditional, cost: float) -> None:
        self.names = information.names
        self._information = information
        self._degrees = information.degrees
        self._cost = cost / information.total if information.total > 0.0 else cost

    def matrix(self) -> Array:
        """(n, n)."""
        cost = self._cost * np.outer(self._degrees, self._degrees)
        return np.asarray(self._information.matrix() - cost)

    def row(self, k: int, wanted: NDArray[np.bool_]) -> Array:
        """(n,): the weights of variable k with those in `wanted`; other entries are undefined."""
        cost = self._cost * self._degrees[k] * self._degrees
        return np.asarray(self._information.row(k, wanted) - cost)

    @property
    def rows(self) -> Callable[[Sequence[int]], Array] | None:
        """A function that computes several rows at once; None if the information has none."""
        rows = getattr(self._information, "rows", None)
        if rows is None:
            return None
        cost = self._cost * self._degrees
        return lambda chosen: np.asarray(rows(chosen) - np.outer(self._degrees[chosen], cost))


class RowsAhead:
    """Rows of weights, computed in blocks with those that the tree is likely to need next.

    A product of two matrices takes hardly more time than one of a matrix and a few vectors, and
    every vertex joins the tree at some time.
    """

    def __init__(self, weights: PairInformation) -> None:
        self._weights = weights
        self._rows = getattr(weights, "rows", None)
        self._kept: dict[int, Array] = {}
        self._most = max(KEPT_BYTES // (8 * len(weights.names)), BLOCK)

    def row(self, vertex: int, outside: NDArray[np.bool_], best: Array) -> Array:
        """(n,): the weights of a vertex; best (n,) is the best edge weight of each vertex."""
        if self._rows is None:
            return self._weights.row(vertex, outside)
        if vertex not in self._kept:
            self._make(vertex, np.where(outside, best, -np.inf))
        return self._kept.pop(vertex)

    def _make(self, vertex: int, best: Array) -> None:
        waiting = sorted(self._kept, key=lambda v: -best[v])
        best[[vertex, *waiting]] = -np.inf
        likely = (
            np.argpartition(-best, BLOCK)[:BLOCK] if len(best) > BLOCK else np.arange(len(best))
        )
        chosen = [vertex, *(int(v) for v in np.sort(likely) if best[v] > -np.inf)]
        for v in waiting[max(self._most - len(chosen), 0) :]:  # those that would come in last
            del self._kept[v]
        assert self._rows is not None
        for v, row in zip(chosen, self._rows(chosen), strict=True):
            self._kept[v] = row.copy()  # a view would hold the rows beside it


class SpanningTree(NamedTuple):
    """A spanning tree in the order in which it grew."""

    near: Indices  # (n,): the earlier vertex that each vertex is joined to; -1 for the first
    weight: Array  # (n,): the weight of that edge


def spanning_tree(weights: PairInformation, stage: Sequence[int]) -> SpanningTree:
    """The spanning tree of largest weight, by Prim's algorithm in O(n) memory beside the weights.

    Equal weights are decided by the names, in whose order the variables stand: the tree is the
    same for any order of columns, rows and states.

    Parameters
    ----------
    weights
        The weights of all pairs.
    stage
        Vertices of a higher stage join after all of a lower one, so that the lower stage forms a
        tree of its own. The result is optimal among such trees: once the lower stage is one tree,
        it counts as one vertex, and the rest is an ordinary spanning tree.
    """
    from jensen.kernels import graphs

    n = len(weights.names)
    stages, best, near = np.array(stage, np.int64), np.zeros(n), np.empty(n, np.int64)
    if n <= MOST_IN_MATRIX:
        graphs.grow(weights.matrix(), stages, best, near)
        return SpanningTree(near, best)
    near[:], outside = -1, np.ones(n, np.bool_)
    vertex, ahead = int(stages.argmin()), RowsAhead(weights)
    while vertex >= 0:
        row = ahead.row(vertex, outside, best)
        vertex = graphs.take_in(row, vertex, stages, outside, best, near)
    return SpanningTree(near, best)


def paying_edges(tree: SpanningTree) -> list[tuple[int, int]]:
    """The edges whose weight is positive, beyond rounding."""
    from jensen.kernels.graphs import TIE

    return [(u, v) for u, v in all_edges(tree) if tree.weight[v] > TIE]


def all_edges(tree: SpanningTree) -> list[tuple[int, int]]:
    """All edges (earlier vertex, later vertex)."""
    return [(u, v) for v, u in enumerate(tree.near.tolist()) if u >= 0]


def parents_from(edges: Sequence[tuple[int, int]], roots: Sequence[int]) -> dict[int, int | None]:
    """The parent of every vertex, when a forest hangs from the first of `roots` in each component.

    >>> parents_from([(0, 1), (1, 2)], [2, 0, 1, 3])
    {2: None, 1: 2, 0: 1, 3: None}
    """
    neighbours: dict[int, list[int]] = {v: [] for v in roots}
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    parents: dict[int, int | None] = {}
    for root in roots:
        if root in parents:
            continue
        parents[root] = None
        front = [root]
        while front:
            u = front.pop()
            for v in neighbours[u]:
                if v not in parents:
                    parents[v] = u
                    front.append(v)
    return parents
