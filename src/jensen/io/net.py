"""NET, the format of Hugin.

The fields of a node are kept as properties of its variable (``label``, ``position``, ``HR_...``),
those of the net as properties of the network. Names of variables must be such as Hugin allows,
states may be any text. A potential must have its ``data``; its other fields (``experience``,
``model_data``) are passed over. Nodes that are no discrete chance nodes are refused.

References
----------
Hugin Expert A/S, *Hugin API Reference Manual*, chapter "The NET language": a table lists the
states of the first parent slowest and those of the variable itself fastest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jensen.io.draft import Draft, take_numbers
from jensen.io.lexer import Scanner, Token
from jensen.io.net_writer import dumps, quote
from jensen.io.properties import IDENTIFIER, show_point

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

__all__ = ["dumps", "loads", "looks_like"]


_BEGIN = re.compile(r"net\s*\{")
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)


class NetScanner(Scanner):
    """Tokens of NET: ``%`` begins a comment too, and quoted texts have escapes."""

    SPACE = re.compile(r"(?:\s++|%[^\r\n]*+|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
    WORD = re.compile(r'(?:[^\s\x00-\x1f{}()\[\]|,;"/=%]++|/(?![/*]))++')
    QUOTED = re.compile(r'"((?:[^"\\\r\n]++|\\(?:\r\n|.))*+)"', re.DOTALL)

    def unquote(self, text: str) -> str:
        r"""Undo escapes: ``\"``, ``\\``, ``\n``, and a line broken after a backslash."""
        return _ESCAPE.sub(_meaning, text)


def _meaning(match: re.Match[str]) -> str:
    letter = match[1]
    if letter in ("\n", "\r\n"):
        return ""
    return {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}.get(letter, match[0])


def looks_like(text: str) -> bool:
    """Whether the text begins as a NET file does."""
    head = text[:4000]
    start = NetScanner.SPACE.match(head)
    return _BEGIN.match(head, start.end() if start else 0) is not None


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from NET text; `file` is for messages.

    Examples
    --------
    >>> net = loads(
    ...     'net {} node x { states = ("no" "yes"); } potential (x) { data = (0.8 0.2); }', "x.net"
    ... )
    >>> net.states
    {'x': ('no', 'yes')}
    """
    scanner = NetScanner(text, file)
    draft = Draft(scanner)
    scanner.keyword("net")
    draft.properties.update(_fields(scanner, {}))
    while not scanner.at_end():
        kind = scanner.keyword("node", "discrete", "potential").text
        if kind == "potential":
            _potential(scanner, draft)
        else:
            if kind == "discrete":
                scanner.keyword("node")
            name = scanner.word("the name of a node")
            lists: dict[str, list[Token]] = {"states": []}
            properties = _fields(scanner, lists)
            if "position" in properties:
                properties["position"] = show_point(properties["position"])
            draft.declare(name, lists["states"], properties)
    return draft.finish()


def _fields(scanner: Scanner, lists: dict[str, list[Token]]) -> dict[str, str]:
    """``{ key = value; ... }``; the lists that are asked for are filled, the rest comes as text."""
    fields: dict[str, str] = {}
    filled = set()
    scanner.expect("{")
    while not scanner.take("}"):
        key = scanner.bare("the name of a field or '}'", IDENTIFIER.fullmatch)
        if key.text in fields or key.text in filled:
            scanner.refuse(f"the field {key.text!r} stands here already", key.at)
        scanner.expect("=")
        if key.text in lists:
            lists[key.text].extend(_words(scanner))
            scanner.finish()
            filled.add(key.text)
        else:
            fields[key.text] = _value(scanner)
    return fields


def _words(scanner: Scanner) -> Iterator[Token]:
    """``( "no" "yes" )``."""
    scanner.expect("(")
    while not scanner.take(")"):
        yield scanner.word("a state or ')'")
        scanner.take(",")


def _value(scanner: Scanner) -> str:
    """A quoted text, or else all that stands before a semicolon."""
    if scanner.text.startswith('"', scanner.at):
        text = scanner.word("a text in quotes").text
        scanner.finish()
        return text
    pieces: list[str] = []
    while not scanner.take(";"):
        start = scanner.text[scanner.at : scanner.at + 1]
        if start in tuple("()[]|,="):
            scanner.expect(start)
            pieces.append(start)
        else:
            word = scanner.word("a value or ';'").text
            pieces.append(quote(word) if start == '"' else word)
    return re.sub(r"(?<=[(\[]) | (?=[)\],])", "", " ".join(pieces))


def _potential(scanner: Scanner, draft: Draft) -> None:
    """``potential ( child | parents ) { data = ( ... ); }``."""
    scanner.expect("(")
    child = scanner.word("the name of a node")
    parents = []
    if scanner.take("|"):
        while not scanner.take(")"):
            parents.append(scanner.word("the name of a parent or ')'"))
    elif not scanner.take(")"):
        scanner.fail("'|' or ')'")
    scanner.expect("{")
    values, at = None, child.at
    while not scanner.take("}"):
        key = scanner.bare("the name of a field or '}'", IDENTIFIER.fullmatch)
        scanner.expect("=")
        if key.text != "data":
            _value(scanner)
        elif values is not None:
            scanner.refuse("this potential has a second 'data'; one is enough", key.at)
        else:
            at = scanner.at
            values = _data(scanner)
    if values is None:
        scanner.refuse(
            f"the potential of {child.text!r} has no 'data': no table is given", child.at
        )
    draft.define(child, parents, values, at)


def _data(scanner: Scanner) -> list[float]:
    """Numbers in parentheses, nested in any way, up to a semicolon."""
    values: list[float] = []
    depth = 0
    while depth or not scanner.take(";"):
        if scanner.take("("):
            depth += 1
        elif depth and scanner.take(")"):
            depth -= 1
        elif depth:
            take_numbers(scanner, values, "a number, '(' or ')'")
        else:
            scanner.fail("'(' or ';'")
    return values
