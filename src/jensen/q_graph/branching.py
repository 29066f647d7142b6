"""Parts of an integer program: which edges are there, and which are not."""

import heapq
from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.local_cuts import edge_weights
from jensen.q_graph.relaxation import Point, Relaxation

Flags = NDArray[np.bool_]
Pair = tuple[int, int]

CANDIDATES = 6
"""Ways to part a problem that are tried."""

WHOLE = 1e-6
"""Weights that are this close to 0 or 1 are whole."""


class Node(NamedTuple):
    """A part of the problem."""

    bound: float  # no graph of this part scores more
    decisions: tuple[str, ...]
    joined: tuple[Pair, ...]  # pairs with an edge, in some direction
    closed: Flags  # (m,): families that no graph of this part has, or none that is better
    point: Point


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

    def __len__(self) -> int:
        return len(self._heap)


def branch(
    relaxation: Relaxation, node: Node, is_open: Callable[[float], bool]
) -> list[Node]:
    """Two parts that make up a part; of some ways to part it, that which lowers bounds most."""
    best: list[Node] = []
    most = -1.0
    for parts in _ways(relaxation, node):
        bounds = [_bound(relaxation, part) for part in parts]
        falls = [max(node.bound - bound, 1e-6) for bound in bounds]
        value = min(falls[0], 1e9) * min(falls[1], 1e9)
        if value > most:
            most = value
            best = [p._replace(bound=min(b, node.bound)) for p, b in zip(parts, bounds)]
        if not any(map(is_open, bounds)):
            return []
    return [part for part in best if is_open(part.bound)]


def _bound(relaxation: Relaxation, part: Node) -> float:
    """The bound of a part without further inequalities."""
    if np.logical_and.reduceat(part.closed, relaxation.families.first[:-1]).any():
        return -np.inf
    relaxation.join(part.joined)
    point = relaxation.solve(part.closed)
    return -np.inf if point is None else point.bound


def _ways(relaxation: Relaxation, node: Node) -> Iterator[tuple[Node, Node]]:
    """Whether two variables are joined; where that is settled, the direction of an edge."""
    families, holds = relaxation.families, relaxation.holds
    weight = edge_weights(families, node.point.x)
    either = np.triu(weight + weight.T, 1)
    doubtful = _most_doubtful(either)
    if doubtful:
        for u, v in doubtful:
            apart = node.closed | _has(families.child, holds, u, v) | _has(families.child, holds, v, u)
            yield (
                node._replace(closed=apart, decisions=(*node.decisions, f"{u} {v}")),
                node._replace(joined=(*node.joined, (u, v)), decisions=(*node.decisions, f"{u}-{v}")),
            )
        return
    for u, v in _most_doubtful(weight):
        there = (families.child == v) & ~holds[:, u] | _has(families.child, holds, v, u)
        yield (
            node._replace(closed=node.closed | there, decisions=(*node.decisions, f"{u}->{v}")),
            node._replace(
                closed=node.closed | _has(families.child, holds, u, v),
                decisions=(*node.decisions, f"not {u}->{v}"),
            ),
        )


def _has(child: NDArray[np.int64], holds: Flags, u: int, v: int) -> Flags:
    """Families with the edge u -> v."""
    return np.asarray((child == v) & holds[:, u])


def _most_doubtful(weight: NDArray[np.float64]) -> list[Pair]:
    """Edges whose weights are nearest to a half."""
    doubt = np.minimum(weight, 1.0 - weight)
    found = np.argwhere(doubt > WHOLE)
    order = np.argsort(-doubt[found[:, 0], found[:, 1]], kind="stable")
    return [(int(u), int(v)) for u, v in found[order[:CANDIDATES]]]
