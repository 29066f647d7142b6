"""Partially directed graphs, and those that describe Markov equivalence classes (CPDAGs)."""

from __future__ import annotations

from collections.abc import Iterable

from jensen.exceptions import GraphError
from jensen.graphs import markov, orientation
from jensen.graphs.base import Graph, GraphLike, Named, marked
from jensen.graphs.dag import DAG
from jensen.graphs.indexed_graph import GraphDraft, IndexedGraph, show_edge
from jensen.graphs.undirected import UndirectedGraph

ADVICE = "a PDAG holds any mixture of edges, and its cpdag() completes it"


class PDAG(Graph):
    """A partially directed graph over named variables, such as independence tests give.

    Nothing is asked of it but that each pair of nodes is joined once at most; it may even have
    directed cycles. A pair that was oriented both ways is a conflicting edge, ``A <-> B``.

    Parameters
    ----------
    edges
        Directed edges as pairs of names (from, to); or all edges as a text like
        ``"A -> B -- C; C <-> D"``; or another graph; or a networkx graph.
    nodes
        Names of further nodes, which may be without edges.
    undirected, conflicting
        Pairs of names, besides those in `edges`.

    Examples
    --------
    >>> from jensen.graphs import PDAG
    >>> graph = PDAG("A -> B -- C")
    >>> graph == PDAG([("A", "B")], undirected=[("B", "C")])
    True
    >>> graph.meek()
    PDAG('A -> B; B -> C')
    """

    def __init__(
        self,
        edges: GraphLike = (),
        nodes: Iterable[str] = (),
        *,
        undirected: Iterable[Named] = (),
        conflicting: Iterable[Named] = (),
    ) -> None:
        draft = self._read(edges)
        further = [*marked(undirected, "--"), *marked(conflicting, "<->")]
        super().__init__(GraphDraft(draft.nodes, [*draft.edges, *further]), nodes)

    @property
    def directed(self) -> tuple[Named, ...]:
        """The directed edges as pairs (from, to), sorted."""
        return self._named(self._indexed.directed)

    @property
    def undirected(self) -> tuple[Named, ...]:
        """The undirected edges as pairs (a, b) with a < b, sorted."""
        return self._named(self._indexed.undirected)

    @property
    def conflicting(self) -> tuple[Named, ...]:
        """The edges that were oriented both ways, as pairs (a, b) with a < b, sorted."""
        return self._named(self._indexed.conflicting)

    @property
    def edges(self) -> tuple[Named, ...]:
        """All edges as pairs, sorted: (from, to), and (a, b) with a < b where there is no one way.

        Which are which say `directed`, `undirected` and `conflicting`.

        Examples
        --------
        >>> PDAG("C -> A; A -- B").edges
        (('A', 'B'), ('C', 'A'))
        """
        return tuple(sorted((*self.directed, *self.undirected, *self.conflicting)))

    def skeleton(self) -> UndirectedGraph:
        """Forget the directions.

        Examples
        --------
        >>> PDAG("A -> B -- C <-> D").skeleton()
        UndirectedGraph('A -- B; B -- C; C -- D')
        """
        return UndirectedGraph._of(self._indexed.skeleton)

    def meek(self) -> PDAG:
        """Orient the undirected edges that Meek's rules 1 to 4 force, and no others.

        Where the directed edges come from v-structures and background knowledge that some DAG
        agrees with, these are exactly the edges that all such DAGs direct alike. Otherwise the
        rules can force an edge both ways, which makes it a conflicting one.

        References
        ----------
        Meek (1995), *Causal inference and causal explanation with background knowledge*.

        Examples
        --------
        >>> PDAG("A -> C <- B; C -- D").meek()
        PDAG('A -> C; B -> C; C -> D')
        """
        return PDAG._of(orientation.meek(self._indexed))

    def extension(self) -> DAG:
        """Direct all undirected edges, without a cycle and without a new v-structure.

        The same graph always gives the same DAG. There may be none: then a `GraphError` says why.

        References
        ----------
        Dor and Tarsi (1992), *A simple algorithm to construct a consistent extension of a
        partially oriented graph*.

        Examples
        --------
        >>> PDAG("A -> B -- C").extension()
        DAG('A -> B; B -> C')
        """
        return DAG._of(orientation.extension(self._indexed))

    def labels_first(self, labels: Iterable[str]) -> DAG:
        """The extension in which undirected edges between `labels` and other nodes leave them.

        In a network of labels and numbers edges lead from labels to numbers. There may be no such
        extension: then a `GraphError` names the numbers that stand between labels.

        Examples
        --------
        >>> PDAG("age -- sex; age -- height").labels_first(["sex"])
        DAG('age -> height; sex -> age')
        """
        at = {self.index[name] for name in labels}
        return DAG._of(orientation.labels_first(self._indexed, at))

    def cpdag(self) -> CPDAG:
        """Describe the Markov equivalence class of the extensions.

        Directions that are no consequence of v-structures are forgotten.

        Examples
        --------
        >>> PDAG("A -> B -- C").cpdag()
        CPDAG('A -- B; B -- C')
        """
        return self.extension().cpdag()

    def shd(self, other: DAG | PDAG) -> int:
        """Count the pairs of nodes that two graphs join differently; of a DAG its CPDAG is taken.

        A missing edge, an additional edge and another direction count one each.

        Examples
        --------
        >>> PDAG("A -> B -- C").shd(PDAG("A -- B; C"))
        2
        """
        pattern = other.cpdag() if isinstance(other, DAG) else other
        return markov.hamming_distance(self._indexed, pattern._indexed)

    def _check(self, indexed: IndexedGraph) -> None:
        """Accept any mixture."""


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
            raise GraphError(f"this is not a completed PDAG: {error.marked}; {ADVICE}") from None
        complete = set(markov.completed(indexed.nodes, parents).edges)
        for edge in indexed.edges:
            if edge not in complete:
                kind = "undirected" if edge[1] == "->" else "directed"
                raise GraphError(
                    f"this is not a completed PDAG: '{show_edge(edge)}' should be {kind}; {ADVICE}"
                )
