"""DSC, the format of Microsoft's MSBN, which bnlearn and GeNIe write too.

Of the properties it holds the name of the network, and of a variable the label (there called
``name``) and the position; other fields of a node are read, but not written. Names of variables
must be identifiers. States may be any text without quotes and line breaks; the rows of a table
name them by their numbers, from zero.

References
----------
Microsoft Research (about 1996), *Bayesian Network Interchange Format*; read here as bnlearn and
GeNIe write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.inference import Network
from jensen.io.declared_network import MOST_PARENTS, DeclaredNetwork, take_numbers
from jensen.io.lexer import LexerToken, Scanner, shorten
from jensen.io.properties import (
    IDENTIFIER,
    UNNAMED,
    check_identifier,
    read_point,
    show_point,
    warn_of_losses,
)
from jensen.io.table_rows import NumberList, TableEntries, TableReader, TableRow

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


_BEGIN = re.compile(r"belief\s+network\b")
_RAW = re.compile(r'(?!")[^;{}]*+')
_BLOCK = re.compile(r"(?:node|properties|probability)\b")


class DscScanner(Scanner):
    """Tokens of DSC: colons and signs of equality stand for themselves."""

    WORD = re.compile(r'(?:[^\s\x00-\x1f{}()\[\]|,;"/:=]++|/(?![/*]))++')


def looks_like(text: str) -> bool:
    """Whether the text begins as a DSC file does."""
    return DscScanner.begins(text, _BEGIN)


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from DSC text; `file` is for messages.

    Examples
    --------
    >>> net = loads(
    ...     'belief network "n" node x { type : discrete[2] = { "no", "yes" }; }'
    ...     "probability (x) { 0.8, 0.2; }",
    ...     "x.dsc",
    ... )
    >>> net.states
    {'x': ('no', 'yes')}
    """
    scanner = DscScanner(text, file)
    declared = DeclaredNetwork(scanner)
    bodies: dict[str, list[TableRow]] = {}
    scanner.keyword("belief")
    scanner.keyword("network")
    if not _BLOCK.match(text, scanner.at):
        name = scanner.word("the name of the network, or 'node'").text
        if name != UNNAMED:
            declared.properties["name"] = name
    while not scanner.at_end():
        kind = scanner.keyword("node", "probability", "properties").text
        if kind == "node":
            _node(scanner, declared)
        elif kind == "probability":
            _probability(scanner, declared, bodies)
        else:
            _skip(scanner)
    for name, rows in bodies.items():
        _fill(scanner, declared, name, rows)
    return declared.finish()


def _skip(scanner: Scanner) -> None:
    """Properties of the network, which belong to the program that wrote them."""
    scanner.expect("{")
    while not scanner.take("}"):
        if not any(map(scanner.take, "()[]|,;:=")):
            scanner.word("a property or '}'")


def _node(scanner: Scanner, declared: DeclaredNetwork) -> None:
    """``node X { type : discrete[2] = { "no", "yes" }; ... }``."""
    name = scanner.word("the name of a node")
    states: list[LexerToken] = []
    fields: dict[str, str] = {}
    scanner.expect("{")
    while not scanner.take("}"):
        key = scanner.bare("the name of a field or '}'", IDENTIFIER.fullmatch)
        if key.text in fields or (key.text == "type" and states):
            scanner.refuse(f"the field {key.text!r} stands here already", key.at)
        scanner.expect(":")
        if key.text == "type":
            states = _states(scanner, name.text)
        else:
            fields[key.text] = _value(scanner)
    if "name" in fields:
        fields = {"label": fields.pop("name"), **fields}
    if "position" in fields:
        fields["position"] = show_point(fields["position"])
    declared.declare(name, states, fields)


def _states(scanner: Scanner, name: str) -> list[LexerToken]:
    """``discrete[2] = { "no", "yes" };`` after the word type."""
    scanner.keyword("discrete")
    scanner.expect("[")
    declared = scanner.bare("the number of states", str.isdecimal)
    scanner.expect("]")
    scanner.expect("=")
    scanner.expect("{")
    states = []
    while not scanner.take("}"):
        states.append(scanner.word("a state or '}'"))
        scanner.take(",")
    if declared.text.lstrip("0") != str(len(states)):
        scanner.refuse(
            f"{name!r} is declared with {shorten(declared.text)} states, but {len(states)} are "
            f"listed",
            declared.at,
        )
    scanner.finish()
    return states


def _value(scanner: Scanner) -> str:
    """A quoted text, or else all that stands before a semicolon."""
    raw = _RAW.match(scanner.text, scanner.at)
    if raw is None:
        text = scanner.word("a text in quotes").text
    else:
        text = raw[0].strip()
        scanner.move(scanner.at + len(raw[0].rstrip()))
    scanner.finish("';' after the value of a field")
    return text


def _probability(
    scanner: Scanner, declared: DeclaredNetwork, bodies: dict[str, list[TableRow]]
) -> None:
    """``probability ( X | A, B ) { ... }``: rows, or nothing but numbers."""
    scanner.expect("(")
    child = scanner.word("the name of a node")
    parents = []
    if scanner.take("|"):
        while not scanner.take(")"):
            parents.append(scanner.word("the name of a parent or ')'"))
            scanner.take(",")
    elif not scanner.take(")"):
        scanner.fail("'|' or ')'")
    scanner.expect("{")
    at = scanner.at
    rows: list[TableRow] = []
    values: list[float] = []
    while not scanner.take("}"):
        if not values and scanner.text.startswith("(", scanner.at):
            rows.append(_row(scanner))
        elif rows:
            scanner.fail("'(' or '}'")
        else:
            values += _numbers(scanner)
    declared.define(child, parents, values, at)
    if rows:
        bodies[child.text] = rows


def _row(scanner: Scanner) -> TableRow:
    at, labels = scanner.at, []
    scanner.expect("(")
    while not scanner.take(")"):
        labels.append(scanner.bare("the number of a state or ')'", str.isdecimal))
        scanner.take(",")
    scanner.expect(":")
    first = scanner.at
    return TableRow(labels, NumberList(_numbers(scanner), first), at)


def _numbers(scanner: Scanner) -> list[float]:
    """Probabilities up to a semicolon, with or without commas between them."""
    values: list[float] = []
    while not values or not scanner.take(";"):
        take_numbers(scanner, values, "a number or ';'" if values else "a number")
    return values


def _fill(scanner: Scanner, declared: DeclaredNetwork, name: str, rows: list[TableRow]) -> None:
    """Put the rows of a variable in order; what is unknown is left, and refused at the end."""
    block = declared.blocks[name]
    names = [token.text for token in (*block.parents, block.child)]
    if len(block.parents) > MOST_PARENTS or not declared.variables.keys() >= set(names):
        return
    *parents, variable = [declared.variables[x] for x in names]
    numbered = [replace(p, states=tuple(map(str, range(p.n_states)))) for p in parents]
    reader = TableReader(scanner, block.child.at, numbered, variable)
    table = reader.read(TableEntries(rows, None, None, []))
    declared.blocks[name] = block._replace(values=table.ravel())


# --- writing ---


def dumps(net: BayesianNetwork) -> str:
    """The network as DSC text; numbers read back to the same bits."""
    network = net.require_network()
    name = network.properties.get("name", UNNAMED)
    lost = [key for key in network.properties if key != "name"]
    lines = [f"belief network {_quote(name)}"]
    for variable in network.variables:
        properties = network.variable_properties.get(variable.name, {})
        lines += _node_lines(variable, properties)
        lost += [key for key in properties if not _can_hold(key, properties[key])]
    for variable in network.variables:
        lines += _table_lines(network, variable)
    warn_of_losses(network, "DSC", lost)
    return "\n".join([*lines, ""])


def _can_hold(key: str, value: str) -> bool:
    return key == "label" or (key == "position" and read_point(value) is not None)


def _node_lines(variable: Variable, properties: Mapping[str, str]) -> Iterator[str]:
    yield f"node {check_identifier(variable.name, 'DSC')} {{"
    if "label" in properties:
        yield f"  name : {_quote(properties['label'])};"
    yield (
        f"  type : discrete [ {variable.n_states} ] = "
        f"{{ {', '.join(map(_quote, variable.states))} }};"
    )
    if "position" in properties and read_point(properties["position"]):
        yield f"  position : {show_point(properties['position'])};"
    yield "}"


def _table_lines(network: Network, variable: Variable) -> Iterator[str]:
    parents = network.parents(variable.name)
    names = ", ".join(parent.name for parent in parents)
    yield f"probability ( {variable.name}{' | ' if names else ''}{names} ) {{"
    values = network.part(variable.name, network.tables).reshape(-1, variable.n_states).tolist()
    places = product(*(range(parent.n_states) for parent in parents))
    for place, numbers in zip(places, values, strict=True):
        label = f"({', '.join(map(str, place))}) : " if parents else ""
        yield f"  {label}{str(numbers)[1:-1]};"  # Python prints a float exactly
    yield "}"


def _quote(text: str) -> str:
    if any(letter in text for letter in '"\r\n'):
        raise JensenError(
            f"DSC cannot hold the text {text!r}, because of a quote or a line break in it; "
            f"a file that ends in .json can"
        )
    return f'"{text}"'
