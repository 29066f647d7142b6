"""The class of directed acyclic graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

from jensen.exceptions import GraphError
from jensen.graphs import formats, markov
from jensen.graphs.base import Graph, Named
from jensen.graphs.indexed_graph import (
    Edge,
    GraphDraft,
    IndexedGraph,
    find_cycle,
    inverse,
    reach,
    show_edge,
    show_path,
    topological_order,
)
from jensen.graphs.linear_extensions import count_linear_extensions
from jensen.graphs.markov import d_separated
from jensen.graphs.undirected import UndirectedGraph

if TYPE_CHECKING:
    from jensen.graphs.pdag import CPDAG, PDAG


class DAG(Graph):
    """A directed acyclic graph over named variables; it is never changed once made.

    Nodes are kept sorted by name, so the order in which they are given changes nothing.

    Parameters
    ----------
    edges
        Pairs of names (from, to); or a text like ``"A -> B <- C; D"`` (names with spaces or
        special characters in double quotes) or like bnlearn's ``"[A][B|A:C][C][D]"``; or another
        DAG; or a networkx DiGraph.
    nodes
        Names of further nodes, which may be without edges.

    Examples
    --------
    >>> from jensen.graphs import DAG
    >>> dag = DAG("A -> B <- C; B -> D")
    >>> dag == DAG([("A", "B"), ("C", "B"), ("B", "D")])
    True
    >>> dag.parents("B"), dag.topological_order()
    (('A', 'C'), ('A', 'C', 'B', 'D'))
    >>> dag.d_separated("A", "C"), dag.d_separated("A", "C", given="D")
    (True, False)
    >>> DAG("A -> B -> C -> A")
    Traceback (most recent call last):
    jensen.exceptions.GraphError: a DAG has no cycles, but here is one: A -> B -> C -> A
    """

    _fold = False

    @classmethod
    def from_parents(cls, parents: Mapping[str, Iterable[str]]) -> Self:
        """Make a graph from the parents of each node; a name that occurs only as a parent has none.

        Examples
        --------
        >>> DAG.from_parents({"C": ["A", "B"], "D": []})
        DAG('A -> C; B -> C; D')
        """
        edges: list[Edge] = []
        for child, names in parents.items():
            if isinstance(names, str):
                raise GraphError(f"the parents of {child!r} must be a list; write [{names!r}]")
            edges.extend((parent, "->", child) for parent in names)
        return cls(GraphDraft(list(parents), edges))

    @property
    def edges(self) -> tuple[Named, ...]:
        """The edges as pairs (from, to), sorted."""
        return self._named(self._indexed.directed)

    @cached_property
    def parent_indices(self) -> tuple[tuple[int, ...], ...]:
        """For each node, by index, the indices of its parents, ascending.

        Examples
        --------
        >>> DAG("A -> C <- B").parent_indices
        ((), (), (0, 1))
        """
        return self._indexed.parents

    def parents(self, x: str) -> tuple[str, ...]:
        """Name the nodes with an edge to x.

        Examples
        --------
        >>> DAG("A -> C <- B").parents("C")
        ('A', 'B')
        """
        return self._names(self.parent_indices[self._at(x)])

    def children(self, x: str) -> tuple[str, ...]:
        """Name the nodes with an edge from x.

        Examples
        --------
        >>> DAG("A -> C <- B").children("B")
        ('C',)
        """
        return self._names(self._children[self._at(x)])

    def ancestors(self, x: str) -> tuple[str, ...]:
        """Name the nodes from which a directed path leads to x, without x.

        Examples
        --------
        >>> DAG("A -> B -> C").ancestors("C")
        ('A', 'B')
        """
        here = self._at(x)
        return self._names(reach(self.parent_indices, [here]) - {here})

    def descendants(self, x: str) -> tuple[str, ...]:
        """Name the nodes to which a directed path leads from x, without x.

        Examples
        --------
        >>> DAG("A -> B -> C").descendants("A")
        ('B', 'C')
        """
        here = self._at(x)
        return self._names(reach(self._children, [here]) - {here})

    def markov_blanket(self, x: str) -> tuple[str, ...]:
        """Name the parents, the children and the children's other parents of x.

        Examples
        --------
        >>> DAG("A -> B -> C <- D; E -> D").markov_blanket("B")
        ('A', 'C', 'D')
        """
        here = self._at(x)
        children = self._children[here]
        others = (p for child in children for p in self.parent_indices[child])
        return self._names({*self.parent_indices[here], *children, *others} - {here})

    def topological_order(self) -> tuple[str, ...]:
        """Order parents before children; of those that could come next the smallest name first.

        Examples
        --------
        >>> DAG("C -> A; B").topological_order()
        ('B', 'C', 'A')
        """
        return tuple(self.nodes[i] for i in topological_order(self.parent_indices))

    def d_separated(
        self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Tell whether the graph makes a and b independent given the third set.

        Parameters
        ----------
        a, b, given
            A name or several; no name may stand in two of them.

        Examples
        --------
        >>> dag = DAG("Rain -> Wet <- Sprinkler; Wet -> Slippery")
        >>> dag.d_separated("Rain", "Sprinkler")
        True
        >>> dag.d_separated("Rain", "Sprinkler", given="Slippery")
        False
        >>> dag.d_separated(["Rain", "Sprinkler"], "Slippery", given=["Wet"])
        True
        """
        return d_separated(self.parent_indices, self._children, *self._disjoint(a, b, given))

    def moral(self) -> UndirectedGraph:
        """Join the parents of each node, and forget the directions.

        Examples
        --------
        >>> DAG("A -> C <- B").moral()
        UndirectedGraph('A -- B; A -- C; B -- C')
        """
        married = {pair for up in self.parent_indices for pair in combinations(up, 2)}
        joined = {(min(pair), max(pair)) for pair in self._indexed.directed}
        return UndirectedGraph._of(
            IndexedGraph(self.nodes, undirected=tuple(sorted(married | joined)))
        )

    def skeleton(self) -> UndirectedGraph:
        """Forget the directions.

        Examples
        --------
        >>> DAG("A -> C <- B").skeleton()
        UndirectedGraph('A -- C; B -- C')
        """
        return UndirectedGraph._of(self._indexed.skeleton)

    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """List a -> c <- b with a and b not joined, as (a, c, b) with a < b, sorted.

        Examples
        --------
        >>> DAG("A -> C <- B; C -> D").v_structures()
        (('A', 'C', 'B'),)
        """
        names = self.nodes
        found = markov.v_structures(self.parent_indices)
        return tuple((names[a], names[c], names[b]) for a, c, b in found)

    def cpdag(self) -> CPDAG:
        """Describe all graphs that imply the same independences: the completed PDAG.

        Examples
        --------
        >>> DAG("A -> B -> C").cpdag()
        CPDAG('A -- B; B -- C')
        >>> DAG("A -> C <- B; C -> D").cpdag()
        CPDAG('A -> C; B -> C; C -> D')
        """
        from jensen.graphs.pdag import CPDAG  # a CPDAG extends to a DAG and so needs this file

        return CPDAG._of(markov.completed(self.nodes, self.parent_indices))

    def is_equivalent(self, other: DAG) -> bool:
        """Tell whether both graphs have the same nodes and imply the same independences.

        Examples
        --------
        >>> DAG("A -> B -> C").is_equivalent(DAG("A <- B <- C"))
        True
        >>> DAG("A -> B -> C").is_equivalent(DAG("A -> B <- C"))
        False
        """
        return self.cpdag() == other.cpdag()

    def shd(self, other: DAG | PDAG) -> int:
        """Count the pairs of nodes that the two CPDAGs join differently.

        A missing edge, an additional edge and another direction count one each.

        Examples
        --------
        >>> DAG("A -> B -> C").shd(DAG("A -> B <- C"))
        2
        >>> DAG("A -> B -> C").shd(DAG("A <- B <- C"))
        0
        """
        return self.cpdag().shd(other)

    def n_linear_extensions(self) -> int:
        """Count the orders of the nodes in which parents precede children, exactly.

        Examples
        --------
        >>> DAG("A -> B; C").n_linear_extensions()
        3
        """
        return count_linear_extensions(self.parent_indices)

    def with_edge(self, parent: str, child: str) -> DAG:
        """Add an edge.

        Examples
        --------
        >>> DAG("A -> B; C").with_edge("B", "C")
        DAG('A -> B; B -> C')
        """
        self._indices([parent, child])
        return DAG((*self.edges, (parent, child)), self.nodes)

    def without_edge(self, parent: str, child: str) -> DAG:
        """Take an edge away; its nodes stay.

        Examples
        --------
        >>> DAG("A -> B -> C").without_edge("B", "C")
        DAG('A -> B; C')
        """
        edge = self._at(parent), self._at(child)
        if edge not in self._indexed.directed:
            raise GraphError(f"there is no edge '{show_edge((parent, '->', child))}' in the graph")
        rest = tuple(pair for pair in self._indexed.directed if pair != edge)
        return DAG._of(IndexedGraph(self.nodes, rest))

    def with_reversed(self, parent: str, child: str) -> DAG:
        """Turn an edge round.

        Examples
        --------
        >>> DAG("A -> B -> C").with_reversed("A", "B")
        DAG('B -> A; B -> C')
        """
        return self.without_edge(parent, child).with_edge(child, parent)

    def subgraph(self, names: Iterable[str]) -> DAG:
        """Keep only these nodes and the edges between them.

        Examples
        --------
        >>> DAG("A -> B -> C; A -> C").subgraph(["A", "C"])
        DAG('A -> C')
        """
        kept = set(self._names(self._indices(names)))
        return DAG([(a, b) for a, b in self.edges if a in kept and b in kept], kept)

    def to_bnlearn(self) -> str:
        """Write bnlearn's model string, the nodes in topological order.

        Examples
        --------
        >>> DAG("A -> C <- B; C -> D").to_bnlearn()
        '[A][B][C|A:B][D|C]'
        """
        order = topological_order(self.parent_indices)
        return formats.brackets(self.nodes, self.parent_indices, order)

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        return tuple(map(tuple, inverse(self.parent_indices)))

    def _check(self, indexed: IndexedGraph) -> None:
        for edge in indexed.edges:
            if edge[1] != "->":
                raise GraphError(
                    f"a DAG cannot hold '{show_edge(edge)}'; write '->' or '<-', "
                    f"or take the extension() of a CPDAG or a PDAG"
                )
        cycle = find_cycle(indexed.parents)
        if cycle:
            path = show_path([indexed.nodes[i] for i in cycle])
            raise GraphError(f"a DAG has no cycles, but here is one: {path}")


def as_dag(graph: Any) -> DAG:
    """A DAG as it is, a (C)PDAG extended consistently, anything else through `DAG`.

    Examples
    --------
    >>> as_dag("A -> B")
    DAG('A -> B')
    """
    if isinstance(graph, DAG):
        return graph
    extension = getattr(graph, "extension", None) if isinstance(graph, Graph) else None
    return DAG(graph) if extension is None else extension()
