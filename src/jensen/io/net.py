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
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from jensen.data.variable import Variable
from jensen.inference import Network
from jensen.io.declared_network import DeclaredNetwork, take_numbers
from jensen.io.lexer import LexerToken, Scanner
from jensen.io.properties import (
    IDENTIFIER,
    check_identifier,
    read_point,
    show_point,
    warn_of_losses,
)

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


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
    return NetScanner.begins(text, _BEGIN)


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
    declared = DeclaredNetwork(scanner)
    scanner.keyword("net")
    declared.properties.update(_fields(scanner, {}))
    while not scanner.at_end():
        kind = scanner.keyword("node", "discrete", "potential").text
        if kind == "potential":
            _potential(scanner, declared)
        else:
            if kind == "discrete":
                scanner.keyword("node")
            name = scanner.word("the name of a node")
            lists: dict[str, list[LexerToken]] = {"states": []}
            properties = _fields(scanner, lists)
            if "position" in properties:
                properties["position"] = show_point(properties["position"])
            declared.declare(name, lists["states"], properties)
    return declared.finish()


def _fields(scanner: Scanner, lists: dict[str, list[LexerToken]]) -> dict[str, str]:
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


def _words(scanner: Scanner) -> Iterator[LexerToken]:
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


def _potential(scanner: Scanner, declared: DeclaredNetwork) -> None:
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
    declared.define(child, parents, values, at)


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


# --- writing ---

UNQUOTED = ("node_size", "position", "state_values", "subtype")
"""Fields that hold numbers or words; Hugin wants the others in quotes."""

_BARE = re.compile(r"[\w.+-]+|\([\w\s.+-]*\)")
_PARENTHESES = str.maketrans("[]", "()", ",")


def dumps(net: BayesianNetwork) -> str:
    """The network as NET text; numbers read back to the same bits."""
    network = net.require_network()
    lost: list[str] = []
    lines = ["net", "{", *_lines(network.properties, lost, ()), "}"]
    for variable in network.variables:
        lines += _node(variable, network.variable_properties.get(variable.name, {}), lost)
    for variable in network.variables:
        lines += _table(network, variable)
    warn_of_losses(network, "NET", lost)
    return "\n".join([*lines, ""])


def _node(variable: Variable, properties: Mapping[str, str], lost: list[str]) -> Iterator[str]:
    yield f"node {check_identifier(variable.name, 'NET')}"
    yield "{"
    yield f"  states = ({' '.join(map(quote, variable.states))});"
    yield from _lines(properties, lost, ("states",))
    yield "}"


def _lines(properties: Mapping[str, str], lost: list[str], taken: tuple[str, ...]) -> Iterator[str]:
    """Properties as fields; those that cannot be are added to `lost`."""
    for key, value in properties.items():
        point = read_point(value)
        if key in taken or not IDENTIFIER.fullmatch(key):
            lost.append(key)
        elif key == "position" and point:
            yield f"  {key} = ({point[0]} {point[1]});"
        else:
            bare = key in UNQUOTED and _BARE.fullmatch(value)
            yield f"  {key} = {value if bare else quote(value)};"


def _table(network: Network, variable: Variable) -> Iterator[str]:
    parents = " ".join(parent.name for parent in network.parents(variable.name))
    yield (
        f"potential ( {variable.name} | {parents} )" if parents else f"potential ({variable.name})"
    )
    yield "{"
    values = str(network.part(variable.name, network.tables).tolist())  # prints floats exactly
    rows = values.translate(_PARENTHESES).replace(") (", ")\n          (")
    yield f"  data = {rows};"
    yield "}"


def quote(text: str) -> str:
    """A text in quotes, with escapes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'
