"""The graph of a Markov network, and the variables of each of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from jensen.exceptions import GraphError
from jensen.families.effects import Scope
from jensen.graphs import DAG, UndirectedGraph
from jensen.graphs.base import Graph
from jensen.graphs.cliques import maximal_cliques

PAIRWISE, CLIQUES = "pairwise", "cliques"


class Cliques(NamedTuple):
    """A graph, and the variables of each of its tables."""

    graph: UndirectedGraph
    scopes: tuple[Scope, ...]


def as_undirected(graph: Any, names: Sequence[str]) -> UndirectedGraph:
    """An undirected graph from what a caller writes; None joins all pairs of the names."""
    if graph is None:
        return UndirectedGraph(list(combinations(sorted(names), 2)), names)
    if isinstance(graph, DAG):
        return graph.moral()
    if isinstance(graph, UndirectedGraph):
        return graph
    if isinstance(graph, Graph):
        raise GraphError(
            f"a Markov network has an undirected graph, and this is a {type(graph).__name__}: take "
            f"its skeleton(), or the moral() graph of a DAG"
        )
    cliques = _listed(graph)
    if cliques is None:
        return UndirectedGraph(graph)
    pairs = {pair for clique in cliques for pair in combinations(sorted(clique), 2)}
    return UndirectedGraph(sorted(pairs), sorted({x for clique in cliques for x in clique}))


def _listed(graph: Any) -> list[tuple[str, ...]] | None:
    """Cliques, if that is what was given: a list of lists of names."""
    if isinstance(graph, str) or not isinstance(graph, Iterable) or hasattr(graph, "nodes"):
        return None
    cliques = list(graph)
    if not all(isinstance(c, list | tuple | set | frozenset) for c in cliques):
        raise GraphError(f"the graph must be a list of cliques of names, not {cliques!r:.80}")
    found = [tuple(sorted(clique)) for clique in cliques if _are_names(clique)]
    for clique in found:
        if len(set(clique)) < len(clique):
            raise GraphError(f"the clique {list(clique)} names a variable twice")
    return found


def _are_names(clique: Any) -> bool:
    if not clique or not all(isinstance(x, str) and x for x in clique):
        raise GraphError(f"a clique is a list of names, not {clique!r:.80}")
    return True


def read_cliques(graph: Any, names: Sequence[str], interactions: str) -> Cliques:
    """The graph and the scopes of its tables."""
    found = as_undirected(graph, names)
    n = len(found)
    if interactions == PAIRWISE:
        pairs = tuple(tuple(sorted(found.index[x] for x in edge)) for edge in found.edges)
        return Cliques(found, (*((v,) for v in range(n)), *sorted(pairs)))
    listed = None if isinstance(graph, Graph) else _listed(graph) if graph is not None else None
    if listed is None:
        return Cliques(found, maximal_cliques(found))
    scopes = {tuple(sorted(found.index[x] for x in clique)) for clique in listed}
    largest = [a for a in scopes if not any(set(a) < set(b) for b in scopes)]
    return Cliques(found, tuple(sorted(largest)))
