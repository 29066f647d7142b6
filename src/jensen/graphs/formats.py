"""Graphs read from other forms and written in them.

Text: arrows (``A -> B <- C; D``) and bnlearn's brackets (``[A][B|A]``). Objects: networkx graphs
and adjacency matrices. Pictures by other programs: Graphviz.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.exceptions import GraphError
from jensen.graphs.indexed_graph import (
    BARE,
    Edge,
    GraphDraft,
    IndexedGraph,
    check_names,
    quote_name,
    show_edge,
    show_name,
    unquote_name,
)

if TYPE_CHECKING:
    import networkx as nx

TOKEN = re.compile(
    rf"""(?P<space> [^\S\n]+)
    | (?P<end> [;,\n])
    | (?P<glued> (?<={BARE}) - (?={BARE}))  # e-mail: a name that needs quotes, or an edge?
    | (?P<mark> <-> | -> | <- | --?)
    | (?P<quoted> "(?: [^"\\] | \\. )*")
    | (?P<name> {BARE}+)
    | (?P<other> .)""",
    re.VERBOSE | re.DOTALL,
)
BRACKET = re.compile(r"\s*\[([^][|:]+)(?:\|([^][|:]+(?::[^][|:]+)*))?\]\s*")
BNLEARN_SPECIAL = re.compile(r"[][|:]")


class NotationToken(NamedTuple):
    """A token of the arrow notation and its position."""

    kind: str
    text: str
    at: int


def parse(text: str) -> GraphDraft:
    """Read either notation; bnlearn's is the one that begins with a bracket."""
    return _parse_brackets(text) if text.lstrip().startswith("[") else _parse_arrows(text)


def statements(indexed: IndexedGraph) -> list[str]:
    """Write the edges, then the nodes that have none, each as one statement."""
    joined = {i for pair in indexed.pairs for i in pair}
    alone = [show_name(name) for i, name in enumerate(indexed.nodes) if i not in joined]
    return [*map(show_edge, indexed.edges), *alone]


def brackets(nodes: Sequence[str], parents: Sequence[Sequence[int]], order: Sequence[int]) -> str:
    """Write a directed graph in bnlearn's notation, the nodes in the given order."""
    for name in nodes:
        if BNLEARN_SPECIAL.search(name):
            raise GraphError(
                f"the name {name!r} cannot be written in bnlearn's notation, where '[', ']', '|' "
                f"and ':' have a meaning; rename the node, or use str() for the arrow notation"
            )
    given = [":".join(nodes[p] for p in ps) for ps in parents]
    return "".join(f"[{nodes[i]}|{given[i]}]" if given[i] else f"[{nodes[i]}]" for i in order)


def _parse_arrows(text: str) -> GraphDraft:
    """Read statements of names joined by marks."""
    nodes: list[str] = []
    edges: list[Edge] = []
    left = mark = ""
    for token in _tokens(text):
        if token.kind == "end":
            if mark:
                raise _unexpected(text, token, f"the name after '{mark}'")
            left = ""
        elif token.kind == "mark":
            if mark or not left:
                raise _unexpected(text, token, "a name")
            mark = token.text
        else:
            if left and not mark:
                raise _unexpected(text, token, f"an edge or a separator after {left!r}")
            name = _name(text, token)
            nodes.append(name)
            if mark:
                edges.append(_edge(left, mark, name))
            left, mark = name, ""
    return GraphDraft(nodes, edges)


def _tokens(text: str) -> Iterator[NotationToken]:
    """Cut a text into names, marks and separators; the last token is always a separator."""
    for match in TOKEN.finditer(text):
        token = NotationToken(str(match.lastgroup), match.group(), match.start())
        if token.kind == "glued":
            raise GraphError(
                f"the '-' at character {token.at + 1} of {_short(text)} touches a name on both "
                f'sides: put spaces around it for an edge, or the name in double quotes ("e-mail")'
            )
        if token.kind == "other" and token.text == '"':
            raise GraphError(
                f"the quote at character {token.at + 1} of {_short(text)} is never closed"
            )
        if token.kind == "other":
            raise _unexpected(text, token, "a name, an edge or a separator")
        if token.kind != "space":
            yield token
    yield NotationToken("end", "", len(text))


def _name(text: str, token: NotationToken) -> str:
    """Read the name that a token holds."""
    if token.kind == "name":
        return token.text
    if token.text == '""':
        raise _unexpected(text, token, "a name that is not empty")
    return unquote_name(token.text)


def _edge(left: str, mark: str, right: str) -> Edge:
    """Turn an edge as written into one of the three kinds."""
    if mark == "<-":
        return right, "->", left
    if mark == "<->":
        return left, "<->", right
    return left, "->" if mark == "->" else "--", right


def _parse_brackets(text: str) -> GraphDraft:
    """Read one bracket per node, with its parents after the bar."""
    parents: dict[str, list[str]] = {}
    at = 0
    while at < len(text):
        match = BRACKET.match(text, at)
        if match is None:
            token = NotationToken("other", text[at : at + 10], at)
            raise _unexpected(text, token, "a bracket like [A] or [C|A:B]")
        child, given = match.groups()
        if child in parents:
            raise GraphError(f"{child!r} has two brackets in {_short(text)}; write it once")
        parents[child] = given.split(":") if given else []
        at = match.end()
    edges: list[Edge] = [(parent, "->", child) for child in parents for parent in parents[child]]
    for parent, _, child in edges:
        if parent not in parents:
            raise GraphError(
                f"{parent!r} is a parent of {child!r} but has no bracket of its own in "
                f"{_short(text)}; add [{parent}]"
            )
    return GraphDraft(list(parents), edges)


def _unexpected(text: str, token: NotationToken, expected: str) -> GraphError:
    """Build the error for a token that cannot stand where it does."""
    found = repr(token.text) if token.text else "the end"
    return GraphError(
        f"found {found} at character {token.at + 1} of {_short(text)}, "
        f"where {expected} should stand"
    )


def _short(text: str) -> str:
    """Quote a text for an error, cut if it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


@runtime_checkable
class NetworkXGraph(Protocol):
    """What is read of a networkx graph; networkx itself is not needed for that."""

    @property
    def nodes(self) -> Any: ...  # noqa: D102
    @property
    def edges(self) -> Any: ...  # noqa: D102
    def is_directed(self) -> bool: ...  # noqa: D102
    def is_multigraph(self) -> bool: ...  # noqa: D102


def from_networkx(graph: NetworkXGraph, fold: bool) -> GraphDraft:
    """Read a networkx graph; `fold`: arrows in both directions are one undirected edge."""
    if graph.is_multigraph():
        raise GraphError(
            "a networkx multigraph can join two nodes several times; "
            "convert it with networkx.DiGraph(g) or networkx.Graph(g) first"
        )
    nodes = check_names(graph.nodes)
    if not graph.is_directed():
        return GraphDraft(nodes, [(a, "--", b) for a, b in graph.edges])
    both_ways = {
        frozenset((a, b)) for a, b, kind in graph.edges(data="kind") if kind == "conflicting"
    }
    return GraphDraft(nodes, _marked(graph.edges, fold, both_ways))


def to_networkx(indexed: IndexedGraph, directed: bool) -> nx.Graph:
    """Write a networkx graph; what is not simply directed goes both ways and carries `kind`."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("to_networkx() needs networkx: pip install networkx") from error
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(indexed.nodes)
    for a, mark, b in indexed.edges:
        if mark == "->" or not directed:
            graph.add_edge(a, b)
        else:
            kind = "undirected" if mark == "--" else "conflicting"
            graph.add_edges_from([(a, b), (b, a)], kind=kind)
    return graph


def from_adjacency(matrix: ArrayLike, names: Iterable[str], fold: bool) -> GraphDraft:
    """Read a square matrix; `fold`: entries in both directions are one undirected edge."""
    entries = np.asarray(matrix)
    nodes = check_names(names)
    n = len(nodes)
    if entries.shape != (n, n):
        raise GraphError(
            f"an adjacency matrix of {n} names must have shape ({n}, {n}), not {entries.shape}"
        )
    if entries.dtype.kind == "f" and np.isnan(entries).any():
        raise GraphError("the adjacency matrix contains NaN; write 0 where there is no edge")
    arrows = [(nodes[i], nodes[j]) for i, j in np.argwhere(entries).tolist()]
    return GraphDraft(nodes, _marked(arrows, fold))


def to_adjacency(indexed: IndexedGraph) -> NDArray[np.bool_]:
    """Write a matrix; what is not simply directed stands in both directions."""
    matrix = np.zeros((len(indexed.nodes),) * 2, dtype=np.bool_)
    for i, j in indexed.pairs:
        matrix[i, j] = True
    for i, j in indexed.undirected + indexed.conflicting:
        matrix[j, i] = True
    return matrix


def to_dot(indexed: IndexedGraph, directed: bool) -> str:
    """Write Graphviz's language."""
    arrow = "->" if directed else "--"
    style = {"->": "", "--": " [dir=none]" if directed else "", "<->": " [dir=both]"}
    nodes = [f"  {quote_name(name)};\n" for name in indexed.nodes]
    edges = [
        f"  {quote_name(a)} {arrow} {quote_name(b)}{style[mark]};\n" for a, mark, b in indexed.edges
    ]
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
