"""Nodes and edges of a graph: as a draft by name, unchecked, and by index, checked and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from jensen.exceptions import GraphError
from jensen.graphs.names import checked, show

Mark: TypeAlias = Literal["->", "--", "<->"]  # directed, undirected, directed both ways
Edge: TypeAlias = tuple[str, Mark, str]
Pair: TypeAlias = tuple[int, int]


class GraphDraft(NamedTuple):
    """A graph as the caller wrote it; nothing is checked yet."""

    nodes: Sequence[str]  # nodes that may be without edges; edges name further ones
    edges: Sequence[Edge]


class IndexedGraph(NamedTuple):
    """Nodes and edges of a graph by index: node i is nodes[i], and a pair has at most one edge."""

    nodes: tuple[str, ...]  # sorted
    directed: tuple[Pair, ...] = ()  # (from, to), sorted
    undirected: tuple[Pair, ...] = ()  # smaller index first, sorted
    conflicting: tuple[Pair, ...] = ()  # smaller index first, sorted

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All edges, whatever their kind."""
        return self.directed + self.undirected + self.conflicting

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """For each node those with an arrow to it, ascending because the edges are sorted."""
        parents: list[list[int]] = [[] for _ in self.nodes]
        for i, j in self.directed:
            parents[j].append(i)
        return tuple(map(tuple, parents))

    @property
    def skeleton(self) -> IndexedGraph:
        """The same edges without directions."""
        pairs = sorted((min(pair), max(pair)) for pair in self.pairs)
        return IndexedGraph(self.nodes, undirected=tuple(pairs))

    @property
    def edges(self) -> list[Edge]:
        """All edges by name, sorted by their ends."""
        kinds: tuple[tuple[Mark, tuple[Pair, ...]], ...] = (
            ("->", self.directed),
            ("--", self.undirected),
            ("<->", self.conflicting),
        )
        return [
            (self.nodes[i], mark, self.nodes[j])
            for i, j, mark in sorted((i, j, mark) for mark, pairs in kinds for i, j in pairs)
        ]


def show_edge(edge: Edge) -> str:
    """Write one edge in the arrow notation."""
    a, mark, b = edge
    return f"{show(a)} {mark} {show(b)}"


def build(draft: GraphDraft) -> IndexedGraph:
    """Check a draft's names and pairs, sort them, and number the nodes."""
    named = {checked(name) for name in draft.nodes}
    edges: list[Edge] = [(checked(a), mark, checked(b)) for a, mark, b in draft.edges]
    nodes = tuple(sorted(named.union(*((a, b) for a, _, b in edges))))
    index = {name: i for i, name in enumerate(nodes)}
    kinds: dict[Mark, list[Pair]] = {"->": [], "--": [], "<->": []}
    seen: dict[Pair, Edge] = {}
    for edge in edges:
        a, mark, b = edge
        pair = index[a], index[b]
        low_high = min(pair), max(pair)
        _check_pair(edge, seen.get(low_high))
        seen[low_high] = edge
        kinds[mark].append(pair if mark == "->" else low_high)
    return IndexedGraph(nodes, *(tuple(sorted(pairs)) for pairs in kinds.values()))


def _check_pair(edge: Edge, earlier: Edge | None) -> None:
    """Refuse an edge from a node to itself, and a second edge between two nodes."""
    a, mark, b = edge
    if a == b:
        raise GraphError(f"'{show_edge(edge)}' joins {a!r} to itself; leave this edge out")
    if earlier is None:
        return
    if earlier == edge or (earlier == (b, mark, a) and mark != "->"):
        raise GraphError(f"the edge '{show_edge(edge)}' stands twice; give every edge once")
    reason = "a pair of nodes has one edge at most"
    if mark == earlier[1] == "->":
        reason = f"that is the cycle {show(b)} -> {show(a)} -> {show(b)}"
    raise GraphError(
        f"'{show_edge(earlier)}' and '{show_edge(edge)}' join the same two nodes; {reason}"
    )
