"""The base class of all graphs: names, comparison, printing, conversion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.exceptions import GraphError
from jensen.graphs import formats
from jensen.graphs.indexed_graph import (
    Edge,
    GraphDraft,
    IndexedGraph,
    Mark,
    Pair,
    build,
    check_names,
    unknown_node,
)

if TYPE_CHECKING:
    import networkx as nx

MOST_DRAWN = 400  # notebooks draw a graph by themselves up to this many nodes
MOST_SHOWN = 12  # a longer graph is shown by its first statements

Named: TypeAlias = tuple[str, str]
GraphLike: TypeAlias = "str | Iterable[Named] | Graph | formats.NetworkXGraph | GraphDraft"


class Graph(ABC):
    """An immutable graph: nodes sorted by name, and at most one edge between two nodes."""

    _mark: ClassVar[Mark] = "->"  # the kind of edge that a plain pair of names stands for
    _fold: ClassVar[bool] = (
        True  # whether arrows both ways (matrix, networkx) are one undirected edge
    )
    _indexed: IndexedGraph

    def __init__(self, edges: GraphLike = (), nodes: Iterable[str] = ()) -> None:
        draft = self._read(edges)
        indexed = build(GraphDraft([*draft.nodes, *check_names(nodes)], draft.edges))
        self._check(indexed)
        self.__dict__["_indexed"] = indexed  # bypasses __setattr__, here and in _of only

    @classmethod
    def from_adjacency(cls, matrix: ArrayLike, names: Iterable[str]) -> Self:
        """Read a square matrix: ``matrix[i, j] != 0`` is an edge from names[i] to names[j].

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            In graphs that have undirected edges, entries at both (i, j) and (j, i) are one.
        names : iterable of str, length n
            In the order of rows and columns.

        Examples
        --------
        >>> from jensen.graphs import CPDAG, DAG
        >>> DAG.from_adjacency([[0, 1], [0, 0]], ["Y", "X"])
        DAG('Y -> X')
        >>> CPDAG.from_adjacency([[0, 1], [1, 0]], ["Y", "X"])
        CPDAG('X -- Y')
        """
        return cls(formats.from_adjacency(matrix, names, cls._fold))

    @classmethod
    def from_networkx(cls, graph: formats.NetworkXGraph) -> Self:
        """Read a networkx graph whose nodes are strings.

        In graphs that have undirected edges, arrows in both directions are one, or a conflicting
        edge if their attribute ``kind`` says "conflicting".

        Examples
        --------
        >>> import networkx as nx
        >>> from jensen.graphs import DAG
        >>> DAG.from_networkx(nx.DiGraph([("A", "B")]))
        DAG('A -> B')
        """
        return cls(graph)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes, sorted."""
        return self._indexed.nodes

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The place of each name in `nodes`.

        Examples
        --------
        >>> from jensen.graphs import DAG
        >>> dict(DAG("B -> A").index)
        {'A': 0, 'B': 1}
        """
        return MappingProxyType({name: i for i, name in enumerate(self.nodes)})

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """A fresh (n, n) matrix: [i, j] is True for an edge from node i to node j.

        Edges that are not simply directed stand in both directions.
        """
        return formats.to_adjacency(self._indexed)

    def to_networkx(self) -> nx.Graph:
        """Convert to networkx: a DiGraph, or a Graph if no edge can have a direction.

        Undirected edges in a DiGraph stand in both directions, with ``kind="undirected"``;
        conflicting ones likewise, with ``kind="conflicting"``.

        Examples
        --------
        >>> from jensen.graphs import DAG
        >>> DAG("A -> B").to_networkx().edges
        OutEdgeView([('A', 'B')])
        """
        return formats.to_networkx(self._indexed, directed=self._mark == "->")

    def to_dot(self) -> str:
        """Write the graph in Graphviz's language.

        Examples
        --------
        >>> from jensen.graphs import PDAG
        >>> print(PDAG("A -> B -- C").to_dot(), end="")
        digraph {
          "A";
          "B";
          "C";
          "A" -> "B";
          "B" -> "C" [dir=none];
        }
        """
        return formats.to_dot(self._indexed, directed=self._mark == "->")

    def rename(self, mapping: Mapping[str, str]) -> Self:
        """Give nodes other names; those that are not in the mapping keep theirs.

        Examples
        --------
        >>> from jensen.graphs import DAG
        >>> DAG("A -> B; A -> C").rename({"A": "Z"})
        DAG('Z -> B; Z -> C')
        """
        self._indices(mapping)
        new = {name: mapping.get(name, name) for name in self.nodes}
        edges: list[Edge] = [(new[a], mark, new[b]) for a, mark, b in self._indexed.edges]
        return self._of(build(GraphDraft(check_names(new.values()), edges)))

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, name: object) -> bool:
        return name in self.index

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Graph):
            return NotImplemented
        return self._indexed == other._indexed

    def __hash__(self) -> int:
        return hash((type(self), self._indexed))

    def __str__(self) -> str:
        return "; ".join(formats.statements(self._indexed))

    def _repr_svg_(self) -> str | None:
        """A picture for notebooks; graphs too large to read stay text."""
        from jensen.plots.svg import graph_svg  # drawing costs imports that graphs do not need

        return graph_svg(self) if len(self) <= MOST_DRAWN else None

    def __repr__(self) -> str:
        kind = type(self).__name__
        statements = formats.statements(self._indexed)
        if len(statements) <= MOST_SHOWN:
            return f"{kind}({'; '.join(statements)!r})"
        sizes = f"{len(self)} nodes, {len(self._indexed.pairs)} edges"
        return f"<{kind} with {sizes}: {'; '.join(statements[:4])}; ...>"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed; make a new one")

    def __getstate__(self) -> dict[str, object]:
        # cached properties are computed again
        return {"_indexed": self._indexed, **({"_info": self.info} if self.info else {})}

    @property
    def info(self) -> Any:
        """How the graph was learned: score, trace, whether it is optimal, ...; or None."""
        return self.__dict__.get("_info")

    def with_info(self, info: Any) -> Self:
        """The same graph with a record of how it was learned."""
        graph = self._of(self._indexed)
        graph.__dict__["_info"] = info
        return graph

    @classmethod
    def _of(cls, indexed: IndexedGraph) -> Self:
        """Make a graph without checks, of nodes and edges that are known to be right."""
        graph = cls.__new__(cls)
        graph.__dict__["_indexed"] = indexed
        return graph

    @abstractmethod
    def _check(self, indexed: IndexedGraph) -> None:
        """Raise a `GraphError` if these edges do not make a graph of this kind."""

    @classmethod
    def _read(cls, source: GraphLike) -> GraphDraft:
        """Read a graph in any of the forms that the constructors take."""
        if isinstance(source, GraphDraft):
            return source
        if isinstance(source, str):
            return formats.parse(source)
        if isinstance(source, Graph):
            return GraphDraft(source.nodes, source._indexed.edges)
        if isinstance(source, formats.NetworkXGraph):
            return formats.from_networkx(source, cls._fold)
        if not isinstance(source, Iterable):
            raise GraphError(
                f"a {type(source).__name__} is no graph: give a text like 'A -> B', or edges"
            )
        return GraphDraft((), marked(source, cls._mark))

    def _names(self, indices: Iterable[int]) -> tuple[str, ...]:
        """Name nodes, sorted."""
        return tuple(self.nodes[i] for i in sorted(indices))

    def _named(self, pairs: Iterable[Pair]) -> tuple[Named, ...]:
        """Name the ends of edges."""
        return tuple((self.nodes[i], self.nodes[j]) for i, j in pairs)

    def _at(self, name: str) -> int:
        """Find the index of a node."""
        if not isinstance(name, str) or name not in self.index:
            raise unknown_node(name, self.nodes)
        return self.index[name]

    def _indices(self, wanted: str | Iterable[str]) -> set[int]:
        """Find the indices of one node or several."""
        return {self._at(name) for name in ([wanted] if isinstance(wanted, str) else wanted)}

    def _disjoint(self, *groups: str | Iterable[str]) -> list[set[int]]:
        """Find the indices of several groups, none of which may share a node with another."""
        found = [self._indices(group) for group in groups]
        for one, other in combinations(found, 2):
            if not one.isdisjoint(other):
                raise GraphError(
                    f"{self.nodes[min(one & other)]!r} stands in two of the sets a, b and given; "
                    f"they must not overlap"
                )
        return found


def marked(pairs: Iterable[Named], mark: Mark) -> list[Edge]:
    """Read plain pairs of names as edges of one kind."""
    edges: list[Edge] = []
    for item in pairs:
        if isinstance(item, str) or not isinstance(item, Iterable) or len(ends := [*item]) != 2:
            raise GraphError(
                f"an edge must be a pair of names like ('A', 'B'), "
                f"but edge number {len(edges) + 1} is {item!r}"
            )
        edges.append((ends[0], mark, ends[1]))
    return edges
