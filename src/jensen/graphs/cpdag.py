"""Completed partially directed graphs: Markov equivalence classes of DAGs."""

from __future__ import annotations

from collections.abc import Iterable

from jensen.exceptions import GraphError
from jensen.graphs import markov, orientation
from jensen.graphs.base import GraphLike, Named
from jensen.graphs.indexed_graph import IndexedGraph, show_edge
from jensen.graphs.pdag import PDAG

ADVICE = "a PDAG holds any mixture of edges, and its cpdag() completes it"


class CPDAG(PDAG):
    """A completed PDAG: all DAGs that imply the same independences.

    An edge is directed if all these DAGs direct it alike, and undirected if they do not. A graph
    that is no such class is refused.

    Parameters
    ----------
    edges
        Directed edges as pairs of names (from, to); or all edges as a text like
        ``"A -> C <- B; D -- E"``; or another graph; or a networkx graph.
    nodes
        Names of further nodes, which may be without edges.
    undirected
        Pairs of names, besides those in `edges`.

    Examples
    --------
    >>> from jensen.graphs import CPDAG
    >>> graph = CPDAG("A -> C <- B; D -- E")
    >>> graph.directed, graph.undirected
    ((('A', 'C'), ('B', 'C')), (('D', 'E'),))
    >>> graph.extension()
    DAG('A -> C; B -> C; D -> E')
    >>> CPDAG("A -> B -- C")
    Traceback (most recent call last):
    jensen.exceptions.GraphError: this is not a completed PDAG: 'A -> B' should be \
undirected; a PDAG holds any mixture of edges, and its cpdag() completes it
    """

    def __init__(
        self,
        edges: GraphLike = (),
        nodes: Iterable[str] = (),
        *,
        undirected: Iterable[Named] = (),
    ) -> None:
        super().__init__(edges, nodes, undirected=undirected)

    def _check(self, indexed: IndexedGraph) -> None:
        """Refuse what is not the completed PDAG of its own extension."""
        try:
            parents = orientation.extension(indexed).parents
        except GraphError as error:
            raise GraphError(f"this is not a completed PDAG: {error}; {ADVICE}") from None
        complete = set(markov.completed(indexed.nodes, parents).edges)
        for edge in indexed.edges:
            if edge not in complete:
                kind = "undirected" if edge[1] == "->" else "directed"
                raise GraphError(
                    f"this is not a completed PDAG: '{show_edge(edge)}' should be {kind}; {ADVICE}"
                )
