"""Constraints on a class of graphs: at least one of its DAGs obeys them all.

A class whose DAGs all break a rule is never entered. Whether one obeys is found by taking sinks
away, one after the other: of nodes that undirected edges link, one may come last if those that are
left of its neighbours are all joined to each other (else arrows would meet that do not in the
class) and it must lead to none of them. If any DAG of the class obeys, so does one in which that
node is last, so that it does not matter which of several is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jensen.graphs import CPDAG, PDAG
from jensen.q_graph.classes.graph import ClassGraph, Flags, Sets, members, set_of
from jensen.q_graph.constraints import Constraints


class Knowledge:
    """What is known of edges; one set for each node."""

    def __init__(self, constraints: Constraints) -> None:
        required, forbidden = constraints.required, constraints.forbidden
        self.joined = _rows(required | required.T)  # to these it must be joined
        self.apart = _rows(forbidden & forbidden.T)  # to these it must not be joined
        self.leads = _rows(required | forbidden.T & ~forbidden)  # to these, if they are joined
        self.is_directed = any(self.leads)

    def member(self, graph: ClassGraph) -> Sets | None:
        """Parents in a DAG of the class that obeys; None if there is none."""
        near = zip(self.joined, self.apart, graph.adjacent, strict=True)
        if any(must & ~has or never & has for must, never, has in near):
            return None
        if not self.is_directed:
            return graph.dag
        if any(above & leads for above, leads in zip(graph.parents, self.leads, strict=True)):
            return None
        dag, left = list(graph.parents), (1 << len(graph.dag)) - 1
        while left:
            last = next((x for x in members(left) if self._may_be_last(graph, x, left)), None)
            if last is None:
                return None
            left ^= 1 << last
            dag[last] |= graph.neighbours[last] & left
        return dag

    def _may_be_last(self, graph: ClassGraph, x: int, left: int) -> bool:
        near = graph.neighbours[x] & left
        if near & self.leads[x]:
            return False
        return all(not near & ~(graph.neighbours[y] | 1 << y) for y in members(near))


def as_known(joined: Flags, names: Sequence[str], constraints: Constraints) -> PDAG:
    """A class with the directions that its DAGs which obey agree on; a CPDAG if it says no more.

    Parameters
    ----------
    joined : (n, n) flags
        A completed PDAG, undirected edges in both directions.
    """
    known = constraints.required | constraints.forbidden.T
    graph = PDAG.from_adjacency(joined & ~known.T, names).meek()
    complete = CPDAG.from_adjacency(joined, names)
    return complete if graph == PDAG(complete) else graph


def _rows(flags: Flags) -> Sets:
    return [set_of(np.flatnonzero(row).tolist()) for row in flags]
