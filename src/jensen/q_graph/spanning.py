"""The tree of largest weight over all variables, or the forest of those edges that pay."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.scores.mutual_information import PairInformation, Unconditional

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_IN_MATRIX = 2048
"""Up to so many variables all weights are computed at once, else a row of them when needed."""


class Penalised:
    """Mutual informations minus what the parameters of an edge cost, both per row."""

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
        """(n,): for the variables that are wanted; the others hold nothing of use."""
        cost = self._cost * self._degrees[k] * self._degrees
        return np.asarray(self._information.row(k, wanted) - cost)


class Tree(NamedTuple):
    """A spanning tree as it grew: every vertex but the first is joined to one before it."""

    near: Indices  # (n,): to which; -1 for the first
    weight: Array  # (n,): of that edge


def spanning_tree(weights: PairInformation, stage: Sequence[int]) -> Tree:
    """The spanning tree of largest weight, by Prim's algorithm in O(n) memory beside the weights.

    Equal weights are decided by the names, in whose order the variables stand: the tree is the
    same for any order of columns, rows and states.

    Parameters
    ----------
    weights
        Those of all pairs.
    stage
        Vertices of a higher stage come in when all of a lower one are there, so that those of the
        lower form a tree of their own. That is optimal among such trees: once the lower stage is
        one tree, it counts as one vertex, of which the rest is an ordinary spanning tree.
    """
    from jensen.kernels import spanning

    n = len(weights.names)
    stages = np.array(stage, np.int64)
    near, best, outside = np.full(n, -1), np.zeros(n), np.ones(n, np.bool_)
    vertex = int(np.argmin(stages))
    if n <= MOST_IN_MATRIX:
        spanning.grow(weights.matrix(), vertex, stages, outside, best, near)
        return Tree(near, best)
    while vertex >= 0:
        row = weights.row(vertex, outside)
        vertex = spanning.take_in(row, vertex, stages, outside, best, near)
    return Tree(near, best)


def paying_edges(tree: Tree) -> list[tuple[int, int]]:
    """The edges whose weight is positive, beyond rounding."""
    from jensen.kernels.spanning import TIE

    return [(u, v) for u, v in all_edges(tree) if tree.weight[v] > TIE]


def all_edges(tree: Tree) -> list[tuple[int, int]]:
    """All edges."""
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
