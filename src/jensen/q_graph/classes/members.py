"""From a class to a DAG of it in which chosen nodes come first, and from a DAG to its class."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from jensen.q_graph.classes.graph import ClassGraph, Flags, Sets, members, set_of, walk


def member(graph: ClassGraph, first: Sequence[int]) -> Sets:
    """Parents in a DAG of the class; of nodes that undirected edges link, these come first.

    Nodes are visited by maximum cardinality: next is always one with the most visited neighbours,
    which never makes a v-structure. Among equals those in `first` go before others, in their order,
    so a clique at its head is visited before all others. Where no such node is near, edges are
    directed as in the DAG that the class carries.

    References
    ----------
    Tarjan and Yannakakis (1984), *Simple linear-time algorithms to test chordality of graphs*.
    """
    dag, done = list(graph.dag), 0
    for x in first:
        if not done >> x & 1:
            linked = walk(graph.neighbours, 1 << x, ~0)
            done |= linked
            visited = 0
            for y in _visit(graph, linked, first):
                dag[y] = graph.parents[y] | graph.neighbours[y] & visited
                visited |= 1 << y
    return dag


def _visit(graph: ClassGraph, nodes: int, first: Sequence[int]) -> list[int]:
    """The nodes by maximum cardinality."""
    rank = {x: k - len(first) for k, x in enumerate(first)}
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
    """The class of a DAG given by the parents of every node.

    References
    ----------
    Chickering (1995), *A transformational characterization of equivalent Bayesian network
    structures*, algorithm Label-Edges. There the last parent of y decides about all edges into y
    at once, so one look per node is enough.
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
    """Nodes that have parents, those above first, each with the parent that comes last."""
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
    """The class of a completed PDAG, undirected edges in both directions; None if it is none."""
    into = [set_of(map(int, column.nonzero()[0])) for column in joined.T]
    out = [set_of(map(int, row.nonzero()[0])) for row in joined]
    parents = [a & ~b for a, b in zip(into, out, strict=True)]
    children = [b & ~a for a, b in zip(into, out, strict=True)]
    neighbours = [a & b for a, b in zip(into, out, strict=True)]
    adjacent = [a | b for a, b in zip(into, out, strict=True)]
    given = ClassGraph(parents, children, neighbours, adjacent, parents)
    found = class_of(member(given, range(len(into))))
    return found if np.array_equal(found.matrix, joined) else None
