"""Graphs as text: arrows (``A -> B <- C; D``) and bnlearn's brackets (``[A][B|A]``)."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jensen.exceptions import GraphError
from jensen.graphs.content import Content, Draft, Edge, show_edge
from jensen.graphs.names import BARE, show, unquote

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


class Token(NamedTuple):
    """A piece of the arrow notation and where it begins."""

    kind: str
    text: str
    at: int


def parse(text: str) -> Draft:
    """Read either notation; bnlearn's is the one that begins with a bracket."""
    return _parse_brackets(text) if text.lstrip().startswith("[") else _parse_arrows(text)


def statements(content: Content) -> list[str]:
    """Write the edges, then the nodes that have none, each as one statement."""
    joined = {i for pair in content.pairs for i in pair}
    alone = [show(name) for i, name in enumerate(content.nodes) if i not in joined]
    return [*map(show_edge, content.edges), *alone]


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


def _parse_arrows(text: str) -> Draft:
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
    return Draft(nodes, edges)


def _tokens(text: str) -> Iterator[Token]:
    """Cut a text into names, marks and separators; the last token is always a separator."""
    for match in TOKEN.finditer(text):
        token = Token(str(match.lastgroup), match.group(), match.start())
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
    yield Token("end", "", len(text))


def _name(text: str, token: Token) -> str:
    """Read the name that a token holds."""
    if token.kind == "name":
        return token.text
    if token.text == '""':
        raise _unexpected(text, token, "a name that is not empty")
    return unquote(token.text)


def _edge(left: str, mark: str, right: str) -> Edge:
    """Turn an edge as written into one of the three kinds."""
    if mark == "<-":
        return right, "->", left
    if mark == "<->":
        return left, "<->", right
    return left, "->" if mark == "->" else "--", right


def _parse_brackets(text: str) -> Draft:
    """Read one bracket per node, with its parents after the bar."""
    parents: dict[str, list[str]] = {}
    at = 0
    while at < len(text):
        match = BRACKET.match(text, at)
        if match is None:
            token = Token("other", text[at : at + 10], at)
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
    return Draft(list(parents), edges)


def _unexpected(text: str, token: Token, expected: str) -> GraphError:
    """Build the error for a token that cannot stand where it does."""
    found = repr(token.text) if token.text else "the end"
    return GraphError(
        f"found {found} at character {token.at + 1} of {_short(text)}, "
        f"where {expected} should stand"
    )


def _short(text: str) -> str:
    """Quote a text for an error, cut if it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
