"""The class of undirected graphs, and a test of chordality."""

from collections.abc import Iterable
from functools import cached_property
from heapq import heapify, heappop, heappush

from jensen.exceptions import GraphError
from jensen.graphs.base import Graph, Named
from jensen.graphs.indexed_graph import IndexedGraph, Links, reach, show_edge


class UndirectedGraph(Graph):
    """An undirected graph over named variables.

    Parameters
    ----------
    edges
        Pairs of names, or a text like ``"A - B - C; D"`` (also ``--``; names with spaces or
        special characters in double quotes), or a networkx graph.
    nodes
        Names of further nodes, which may be without edges.

    Examples
    --------
    >>> from jensen.graphs import UndirectedGraph
    >>> graph = UndirectedGraph("A - B - C; D")
    >>> graph.edges
    (('A', 'B'), ('B', 'C'))
    >>> graph.separated("A", "C", given="B")
    True
    """

    _mark = "--"

    @property
    def edges(self) -> tuple[Named, ...]:
        """The edges as pairs (a, b) with a < b, sorted."""
        return self._named(self._indexed.undirected)

    def neighbours(self, x: str) -> tuple[str, ...]:
        """Name the nodes that are joined to x.

        Examples
        --------
        >>> UndirectedGraph("A - B - C").neighbours("B")
        ('A', 'C')
        """
        return self._names(self._neighbours[self._at(x)])

    def separated(
        self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Tell whether every path from a to b meets a node of given.

        Examples
        --------
        >>> graph = UndirectedGraph("A - B - C - D - A")
        >>> graph.separated("A", "C", "B"), graph.separated("A", "C", ["B", "D"])
        (False, True)
        """
        sources, targets, blocked = self._disjoint(a, b, given)
        return reach(self._neighbours, sources, blocked).isdisjoint(targets)

    def components(self) -> tuple[tuple[str, ...], ...]:
        """Name the nodes of each connected part, by their first names.

        Examples
        --------
        >>> UndirectedGraph("A - C; B").components()
        (('A', 'C'), ('B',))
        """
        parts: list[set[int]] = []
        seen: set[int] = set()
        for x in range(len(self)):
            if x not in seen:
                parts.append(reach(self._neighbours, [x]))
                seen |= parts[-1]
        return tuple(self._names(part) for part in parts)

    def is_chordal(self) -> bool:
        """Tell whether every cycle of four or more nodes has a chord.

        Examples
        --------
        >>> UndirectedGraph("A - B - C - D - A").is_chordal()
        False
        >>> UndirectedGraph("A - B - C - D - A - C").is_chordal()
        True
        """
        return is_chordal(self._neighbours)

    @cached_property
    def _neighbours(self) -> tuple[frozenset[int], ...]:
        near: list[set[int]] = [set() for _ in self.nodes]
        for i, j in self._indexed.undirected:
            near[i].add(j)
            near[j].add(i)
        return tuple(map(frozenset, near))

    def _check(self, indexed: IndexedGraph) -> None:
        for edge in indexed.edges:
            if edge[1] != "--":
                raise GraphError(
                    f"an UndirectedGraph cannot hold '{show_edge(edge)}'; write '--', or take the "
                    f"skeleton() or the moral() graph of a directed one"
                )


def is_chordal(neighbours: Links) -> bool:
    """Tell whether every cycle of four or more nodes has a chord.

    References
    ----------
    Tarjan and Yannakakis (1984), *Simple linear-time algorithms to test chordality of graphs*.
    """
    near = [set(ns) for ns in neighbours]
    order = _maximum_cardinality_order(near)
    rank = {x: place for place, x in enumerate(order)}
    for x in order:
        earlier = {y for y in near[x] if rank[y] < rank[x]}
        if earlier:
            last = max(earlier, key=rank.__getitem__)
            if not earlier <= near[last] | {last}:
                return False
    return True


def _maximum_cardinality_order(near: list[set[int]]) -> list[int]:
    """Order nodes so that each next one has the most neighbours among those before it."""
    visited_near = [0] * len(near)
    queue = [(0, x) for x in range(len(near))]
    heapify(queue)
    order: list[int] = []
    done: set[int] = set()
    while queue:
        _, x = heappop(queue)
        if x in done:  # an outdated entry
            continue
        done.add(x)
        order.append(x)
        for y in near[x] - done:
            visited_near[y] += 1
            heappush(queue, (-visited_near[y], y))
    return order
