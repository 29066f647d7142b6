"""A Markov equivalence class as sets of nodes; a set is a whole number whose bits are its members.

Such sets are met, joined and compared in one step, whatever the number of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Sets = list[int]


def members(nodes: int) -> Iterator[int]:
    """The members of a set, ascending."""
    while nodes:
        lowest = nodes & -nodes
        yield lowest.bit_length() - 1
        nodes ^= lowest


def set_of(nodes: Iterable[int]) -> int:
    """The set of these nodes."""
    found = 0
    for x in nodes:
        found |= 1 << x
    return found


def union(sets: Sets, nodes: int) -> int:
    """All that stands in the sets of these nodes."""
    found = 0
    for x in members(nodes):
        found |= sets[x]
    return found


def walk(links: Sets, start: int, inside: int) -> int:
    """All nodes that links lead to without leaving a set, the start included."""
    seen = fresh = start
    while fresh:
        lowest = fresh & -fresh
        found = links[lowest.bit_length() - 1] & inside & ~seen
        seen |= found
        fresh = fresh ^ lowest | found
    return seen


@dataclass(frozen=True, eq=False)
class ClassGraph:
    """A completed PDAG, and the parents of every node in one DAG of the class.

    All fields hold one set per node. The graph is never changed: a move makes another one.
    """

    parents: Sets  # by directed edges
    children: Sets
    neighbours: Sets  # by undirected edges
    adjacent: Sets  # by any edge
    dag: Sets  # parents in a member of the class
    _reached: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def matrix(self) -> Flags:
        """(n, n): [a, b] for a -> b; undirected edges stand in both directions."""
        n = len(self.parents)
        found = np.zeros((n, n), bool)
        for y in range(n):
            found[list(members(self.parents[y] | self.neighbours[y])), y] = True
        return found

    @property
    def around(self) -> Iterator[tuple[int, int, int]]:
        """How each node is joined to others."""
        return zip(self.parents, self.neighbours, self.children, strict=True)

    def cliques(self, y: int) -> Iterator[int]:
        """All cliques among the neighbours of y, the empty one first."""
        yield 0
        waiting = [(0, self.neighbours[y])]
        while waiting:
            clique, further = waiting.pop()
            for x in members(further):
                further ^= 1 << x
                larger = clique | 1 << x
                yield larger
                waiting.append((larger, further & self.neighbours[x]))

    @cached_property
    def onward(self) -> Sets:
        """Where a path may go on from each node: along an arrow, or an undirected edge."""
        return [a | b for a, b in zip(self.children, self.neighbours, strict=True)]

    def reached(self, y: int, blocked: int) -> int:
        """What paths from y reach that meet no arrow head-on and no blocked node."""
        key = y, blocked
        if key not in self._reached:
            self._reached[key] = walk(self.onward, 1 << y, ~blocked)
        return self._reached[key]

    def reaches_beside(self, y: int, x: int, blocked: int) -> bool:
        """Whether such a path leads from y to x besides the edge between them."""
        first = self.onward[y] & ~(blocked | 1 << x)
        return bool(walk(self.onward, first, ~(blocked | 1 << y)) >> x & 1)
