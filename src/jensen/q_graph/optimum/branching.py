"""Parts of an integer program: which variables are joined, and in which direction."""

import heapq
from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.optimum.local_cuts import edge_weights
from jensen.q_graph.optimum.relaxation import Pair, Relaxation

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

CANDIDATES = 6
"""Ways to part a problem that are tried."""

WHOLE = 1e-6
"""Weights that are this close to 0 or 1 are whole."""

LEAST_FALL, MOST_FALL = 1e-6, 1e9
"""What a fall of a bound counts as, so that products of two compare."""


class Node(NamedTuple):
    """A part of the problem."""

    bound: float  # no graph of this part scores more
    depth: int
    joined: tuple[Pair, ...]  # pairs with an edge, in some direction
    closed: Flags  # (m,): families that no graph of this part has, or none that is better

    def part(self, closed: Flags, joined: tuple[Pair, ...] = ()) -> "Node":
        """What is left where more is closed, or joined."""
        return Node(self.bound, self.depth + 1, self.joined + joined, self.closed | closed)


class Tree:
    """Parts that are still to be looked at."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Node]] = []
        self._numbers = count()

    def add(self, node: Node) -> None:
        """Keep a part for later."""
        heapq.heappush(self._heap, (-node.bound, next(self._numbers), node))

    def pop(self) -> Node | None:
        """The part with the highest bound."""
        return heapq.heappop(self._heap)[2] if self._heap else None


def branch(
    relaxation: Relaxation, node: Node, x: Array, is_open: Callable[[float], bool]
) -> list[Node] | None:
    """What is open of two parts that make up a part; None if the weights are whole.

    Of some ways to part it, that one is taken which lowers both bounds most.
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
    """The bound of a part without further inequalities."""
    if np.logical_and.reduceat(part.closed, relaxation.families.first[:-1]).any():
        return -np.inf
    relaxation.join(part.joined)
    point = relaxation.solve(part.closed)
    return -np.inf if point is None else point.bound


def _ways(relaxation: Relaxation, node: Node, x: Array) -> Iterator[tuple[Node, Node]]:
    """Whether two variables are joined; where that is settled, the direction of an edge."""
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
    """Edges whose weights are nearest to a half."""
    doubt = np.minimum(weight, 1.0 - weight)
    found = np.argwhere(doubt > WHOLE)
    order = np.argsort(-doubt[found[:, 0], found[:, 1]], kind="stable")
    return [(int(u), int(v)) for u, v in found[order[:CANDIDATES]]]
