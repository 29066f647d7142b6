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
from dataclasses import replace
from typing import TYPE_CHECKING

from jensen.io.bif_syntax import UNNAMED, Body, Numbers, Row
from jensen.io.bif_tables import TableReader
from jensen.io.draft import Draft, take_numbers
from jensen.io.dsc_writer import dumps
from jensen.io.lexer import Scanner, Token, shorten
from jensen.io.properties import IDENTIFIER, show_point
from jensen.io.source import MOST_PARENTS

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

__all__ = ["dumps", "loads", "looks_like"]


_BEGIN = re.compile(r"belief\s+network\b")
_RAW = re.compile(r'(?!")[^;{}]*+')
_BLOCK = re.compile(r"(?:node|properties|probability)\b")


class DscScanner(Scanner):
    """Tokens of DSC: colons and signs of equality stand for themselves."""

    WORD = re.compile(r'(?:[^\s\x00-\x1f{}()\[\]|,;"/:=]++|/(?![/*]))++')


def looks_like(text: str) -> bool:
    """Whether the text begins as a DSC file does."""
    head = text[:4000]
    start = DscScanner.SPACE.match(head)
    return _BEGIN.match(head, start.end() if start else 0) is not None


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
    draft = Draft(scanner)
    bodies: dict[str, list[Row]] = {}
    scanner.keyword("belief")
    scanner.keyword("network")
    if not _BLOCK.match(text, scanner.at):
        name = scanner.word("the name of the network, or 'node'").text
        if name != UNNAMED:
            draft.properties["name"] = name
    while not scanner.at_end():
        kind = scanner.keyword("node", "probability", "properties").text
        if kind == "node":
            _node(scanner, draft)
        elif kind == "probability":
            _probability(scanner, draft, bodies)
        else:
            _skip(scanner)
    for name, rows in bodies.items():
        _fill(scanner, draft, name, rows)
    return draft.finish()


def _skip(scanner: Scanner) -> None:
    """Properties of the network, which belong to the program that wrote them."""
    scanner.expect("{")
    while not scanner.take("}"):
        if not any(map(scanner.take, "()[]|,;:=")):
            scanner.word("a property or '}'")


def _node(scanner: Scanner, draft: Draft) -> None:
    """``node X { type : discrete[2] = { "no", "yes" }; ... }``."""
    name = scanner.word("the name of a node")
    states: list[Token] = []
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
    draft.declare(name, states, fields)


def _states(scanner: Scanner, name: str) -> list[Token]:
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


def _probability(scanner: Scanner, draft: Draft, bodies: dict[str, list[Row]]) -> None:
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
    rows: list[Row] = []
    values: list[float] = []
    while not scanner.take("}"):
        if not values and scanner.text.startswith("(", scanner.at):
            rows.append(_row(scanner))
        elif rows:
            scanner.fail("'(' or '}'")
        else:
            values += _numbers(scanner)
    draft.define(child, parents, values, at)
    if rows:
        bodies[child.text] = rows


def _row(scanner: Scanner) -> Row:
    at, labels = scanner.at, []
    scanner.expect("(")
    while not scanner.take(")"):
        labels.append(scanner.bare("the number of a state or ')'", str.isdecimal))
        scanner.take(",")
    scanner.expect(":")
    first = scanner.at
    return Row(labels, Numbers(_numbers(scanner), first), at)


def _numbers(scanner: Scanner) -> list[float]:
    """Probabilities up to a semicolon, with or without commas between them."""
    values: list[float] = []
    while not values or not scanner.take(";"):
        take_numbers(scanner, values, "a number or ';'" if values else "a number")
    return values


def _fill(scanner: Scanner, draft: Draft, name: str, rows: list[Row]) -> None:
    """Put the rows of a variable in order; what is unknown is left, and refused at the end."""
    block = draft.blocks[name]
    names = [token.text for token in (*block.parents, block.child)]
    if len(block.parents) > MOST_PARENTS or not draft.variables.keys() >= set(names):
        return
    *parents, variable = [draft.variables[x] for x in names]
    numbered = [replace(p, states=tuple(map(str, range(p.n_states)))) for p in parents]
    reader = TableReader(scanner, block.child.at, numbered, variable)
    table = reader.read(Body(rows, None, None, []))
    draft.blocks[name] = block._replace(values=table.ravel())
