"""Graphs to and from others: networkx, adjacency matrices, Graphviz."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.exceptions import GraphError
from jensen.graphs.content import Content, Draft, Edge
from jensen.graphs.names import distinct, quote

if TYPE_CHECKING:
    import networkx as nx


@runtime_checkable
class NetworkXGraph(Protocol):
    """What is read of a networkx graph; networkx itself is not needed for that."""

    @property
    def nodes(self) -> Any: ...  # noqa: D102
    @property
    def edges(self) -> Any: ...  # noqa: D102
    def is_directed(self) -> bool: ...  # noqa: D102
    def is_multigraph(self) -> bool: ...  # noqa: D102


def from_networkx(graph: NetworkXGraph, fold: bool) -> Draft:
    """Read a networkx graph; `fold`: arrows in both directions are one undirected edge."""
    if graph.is_multigraph():
        raise GraphError(
            "a networkx multigraph can join two nodes several times; "
            "convert it with networkx.DiGraph(g) or networkx.Graph(g) first"
        )
    nodes = distinct(graph.nodes)
    if not graph.is_directed():
        return Draft(nodes, [(a, "--", b) for a, b in graph.edges])
    both_ways = {
        frozenset((a, b)) for a, b, kind in graph.edges(data="kind") if kind == "conflicting"
    }
    return Draft(nodes, _marked(graph.edges, fold, both_ways))


def to_networkx(content: Content, directed: bool) -> nx.Graph:
    """Write a networkx graph; what is not simply directed goes both ways and carries `kind`."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("to_networkx() needs networkx: pip install networkx") from error
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(content.nodes)
    for a, mark, b in content.edges:
        if mark == "->" or not directed:
            graph.add_edge(a, b)
        else:
            kind = "undirected" if mark == "--" else "conflicting"
            graph.add_edges_from([(a, b), (b, a)], kind=kind)
    return graph


def from_adjacency(matrix: ArrayLike, names: Iterable[str], fold: bool) -> Draft:
    """Read a square matrix; `fold`: entries in both directions are one undirected edge."""
    entries = np.asarray(matrix)
    nodes = distinct(names)
    n = len(nodes)
    if entries.shape != (n, n):
        raise GraphError(
            f"an adjacency matrix of {n} names must have shape ({n}, {n}), not {entries.shape}"
        )
    if entries.dtype.kind == "f" and np.isnan(entries).any():
        raise GraphError("the adjacency matrix contains NaN; write 0 where there is no edge")
    arrows = [(nodes[i], nodes[j]) for i, j in np.argwhere(entries).tolist()]
    return Draft(nodes, _marked(arrows, fold))


def to_adjacency(content: Content) -> NDArray[np.bool_]:
    """Write a matrix; what is not simply directed stands in both directions."""
    matrix = np.zeros((len(content.nodes),) * 2, dtype=np.bool_)
    for i, j in content.pairs:
        matrix[i, j] = True
    for i, j in content.undirected + content.conflicting:
        matrix[j, i] = True
    return matrix


def to_dot(content: Content, directed: bool) -> str:
    """Write Graphviz's language."""
    arrow = "->" if directed else "--"
    style = {"->": "", "--": " [dir=none]" if directed else "", "<->": " [dir=both]"}
    nodes = [f"  {quote(name)};\n" for name in content.nodes]
    edges = [f"  {quote(a)} {arrow} {quote(b)}{style[mark]};\n" for a, mark, b in content.edges]
    return f"{'digraph' if directed else 'graph'} {{\n{''.join(nodes + edges)}}}\n"


def _marked(
    arrows: Collection[tuple[str, str]],
    fold: bool,
    both_ways: Collection[frozenset[str]] = (),
) -> list[Edge]:
    """Mark single arrows as directed and, if they are to be folded, those that go both ways."""
    if not fold:
        return [(a, "->", b) for a, b in arrows]
    present = set(arrows)
    edges: list[Edge] = []
    for a, b in arrows:
        if (b, a) not in present:
            edges.append((a, "->", b))
        elif a <= b:
            edges.append((a, "<->" if frozenset((a, b)) in both_ways else "--", b))
    return edges
