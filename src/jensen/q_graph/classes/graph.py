"""Markov equivalence classes as sets of bits: the completed PDAG, and conversions from and to DAGs.

A set of nodes is an integer whose bits are its members, so that sets are intersected, united and
compared in one operation, whatever the number of nodes. `class_of` completes a DAG to its class;
`member` extends a class to a DAG in which chosen nodes come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush

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
    """The union of the sets of these nodes."""
    found = 0
    for x in members(nodes):
        found |= sets[x]
    return found


def walk(links: Sets, start: int, inside: int) -> int:
    """All nodes that links reach from `start` within the set `inside`, and the start."""
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

    All fields hold one set per node. The graph is immutable; a move makes a new one.
    """

    parents: Sets  # along directed edges
    children: Sets
    neighbours: Sets  # along undirected edges
    adjacent: Sets  # along any edge
    dag: Sets  # the parents in one DAG of the class
    _reached: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def matrix(self) -> Flags:
        """(n, n): [a, b] for a -> b; undirected edges are in both directions."""
        n = len(self.parents)
        found = np.zeros((n, n), bool)
        for y in range(n):
            found[list(members(self.parents[y] | self.neighbours[y])), y] = True
        return found

    @property
    def around(self) -> Iterator[tuple[int, int, int]]:
        """Parents, neighbours and children of each node."""
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
        """The next nodes of a semi-directed path from each node: children and neighbours."""
        return [a | b for a, b in zip(self.children, self.neighbours, strict=True)]

    def reached(self, y: int, blocked: int) -> int:
        """The nodes on semi-directed paths from y that avoid the blocked nodes."""
        key = y, blocked
        if key not in self._reached:
            self._reached[key] = walk(self.onward, 1 << y, ~blocked)
        return self._reached[key]

    def reaches_beside(self, y: int, x: int, blocked: int) -> bool:
        """Whether such a path other than the edge between them leads from y to x."""
        first = self.onward[y] & ~(blocked | 1 << x)
        return bool(walk(self.onward, first, ~(blocked | 1 << y)) >> x & 1)


def member(graph: ClassGraph, first: Sequence[int]) -> Sets:
    """The parents in a DAG of the class in which the nodes of `first` come as early as possible.

    Within a component of undirected edges, nodes are visited by maximum cardinality search: next is
    a node with the most visited neighbours, which never makes a v-structure. Among equals the nodes
    of `first` precede the others, in their order, so a clique at the beginning of `first` is
    visited before all other nodes. Components without a node of `first` are directed as in `dag`.

    References
    ----------
    Tarjan and Yannakakis (1984), *Simple linear-time algorithms to test chordality of graphs*.
    """
    dag, done = list(graph.dag), 0
    rank = {x: k - len(first) for k, x in enumerate(first)}
    for x in first:
        if not done >> x & 1:
            linked = walk(graph.neighbours, 1 << x, ~0)
            done |= linked
            visited = 0
            for y in _visit(graph, linked, rank):
                dag[y] = graph.parents[y] | graph.neighbours[y] & visited
                visited |= 1 << y
    return dag


def _visit(graph: ClassGraph, nodes: int, rank: Mapping[int, int]) -> list[int]:
    """The order of maximum cardinality search; of equals the one of the lowest rank is next."""
    met = dict.fromkeys(members(nodes), 0)
    queue = [(0, rank.get(x, x), x) for x in met]
    heapify(queue)
    order: list[int] = []
    left = nodes
    while queue:
        _, _, x = heappop(queue)
        if not left >> x & 1:  # an entry from before more of its neighbours were visited
            continue
        left ^= 1 << x
        order.append(x)
        for y in members(graph.neighbours[x] & left):
            met[y] += 1
            heappush(queue, (-met[y], rank.get(y, y), y))
    return order


def class_of(dag: Sets) -> ClassGraph:
    """The class of a DAG that is given by the parents of every node.

    References
    ----------
    Chickering (1995), *A transformational characterization of equivalent Bayesian network
    structures*, algorithm Label-Edges. The last parent of y decides about all edges into y, so each
    node is visited once.
    """
    n = len(dag)
    below: Sets = [0] * n
    for y, above in enumerate(dag):
        for x in members(above):
            below[x] |= 1 << y
    parents: Sets = [0] * n
    for y, last in _with_last_parent(dag, below):
        free = not parents[last] & ~dag[y] and not dag[y] & ~(dag[last] | 1 << last)
        parents[y] = parents[last] if free else dag[y]
    children, neighbours = [0] * n, [0] * n
    for y in range(n):
        for x in members(parents[y]):
            children[x] |= 1 << y
        for x in members(dag[y] & ~parents[y]):
            neighbours[x] |= 1 << y
            neighbours[y] |= 1 << x
    adjacent = [above | under for above, under in zip(dag, below, strict=True)]
    return ClassGraph(parents, children, neighbours, adjacent, list(dag))


def _with_last_parent(dag: Sets, below: Sets) -> list[tuple[int, int]]:
    """The nodes with parents in a topological order, each with its last parent in that order."""
    waiting = [above.bit_count() for above in dag]
    ready = [y for y, count in enumerate(waiting) if not count]
    found = []
    for x in ready:  # grows on the way
        for y in members(below[x]):
            waiting[y] -= 1
            if not waiting[y]:
                ready.append(y)
                found.append((y, x))
    return found


def class_of_matrix(joined: Flags) -> ClassGraph | None:
    """The class of a matrix (undirected edges in both directions); None if it is no CPDAG."""
    into = [set_of(map(int, column.nonzero()[0])) for column in joined.T]
    out = [set_of(map(int, row.nonzero()[0])) for row in joined]
    parents = [a & ~b for a, b in zip(into, out, strict=True)]
    children = [b & ~a for a, b in zip(into, out, strict=True)]
    neighbours = [a & b for a, b in zip(into, out, strict=True)]
    adjacent = [a | b for a, b in zip(into, out, strict=True)]
    given = ClassGraph(parents, children, neighbours, adjacent, parents)
    found = class_of(member(given, range(len(into))))
    return found if np.array_equal(found.matrix, joined) else None


def are_equivalent(a: Flags, b: Flags) -> bool:
    """Whether two graphs are of one Markov equivalence class."""
    if np.array_equal(a, b):
        return True
    if not np.array_equal(a | a.T, b | b.T):
        return False
    one, other = (
        class_of([set_of(np.flatnonzero(up).tolist()) for up in x.T]).matrix for x in (a, b)
    )
    return np.array_equal(one, other)
