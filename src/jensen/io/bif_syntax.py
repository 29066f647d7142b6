"""The grammar of BIF: from text to blocks, names not yet looked up and tables not yet checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from jensen.inference.network import TOLERANCE
from jensen.io.lexer import NUMBER, LexerToken, Scanner, shorten
from jensen.io.table_rows import NumberList, TableEntries, TableRow

KEYWORDS = frozenset(
    ("network", "variable", "probability", "property", "type", "discrete", "default", "table")
)
PLAIN = re.compile(r'[^\s\x00-\x1f{}()\[\]|,;"/]++')
"""A word that needs no quotes and holds no slash, which could begin a comment."""

PROPERTY_END = re.compile(r"[;}\r\n]")
"""What a property without quotes cannot hold."""

# A body that holds nothing but rows, or nothing but a table: labels without quotes or comments,
# and between them only what numbers are made of. It is read in bulk, see `bif.regular_table`.
_REGULAR = re.compile(
    r'\s*+(?:(?:\([^()"/|{}\[\];]*+\)[-+.0-9eE,\s]++;\s*+)++|table\s[-+.0-9eE,\s]++;\s*+)\}'
)
_WORDS = re.compile(rf"{PLAIN.pattern}(?:(?:\s*+,\s*+|\s++){PLAIN.pattern})*+\s*+(?=[)}}])")
_RUN = re.compile(rf"{NUMBER.pattern}(?:(?:\s*+,\s*+|\s++){NUMBER.pattern})*+\s*+;")


class VariableBlock(NamedTuple):
    """``variable X { type discrete [ 2 ] { yes, no }; }``."""

    name: LexerToken
    states: list[str]
    properties: list[str]


class ProbabilityBlock(NamedTuple):
    """``probability ( X | A, B ) { ... }``; a body that is regular is not parsed yet."""

    child: LexerToken
    parents: list[LexerToken]
    start: int  # of the body, after its brace
    end: int  # of a regular body
    body: TableEntries | None  # of any other


class BifDocument(NamedTuple):
    """A whole file."""

    name: str
    properties: list[str]
    variables: dict[str, VariableBlock]
    probabilities: dict[str, ProbabilityBlock]


def parse(text: str, file: str, *, bulk: bool) -> BifDocument:
    """Read a file; with `bulk` the regular bodies are left for `bif.regular_table`."""
    scanner = Scanner(text, file)
    scanner.keyword("network")
    name = scanner.word("the name of the network").text
    scanner.expect("{")
    properties = []
    while not scanner.take("}"):
        scanner.keyword("property", "}")
        properties.append(_property(scanner))
    document = BifDocument(name, properties, {}, {})
    while not scanner.at_end():
        if scanner.keyword("variable", "probability").text == "variable":
            _add_variable(scanner, document)
        else:
            _add_probability(scanner, document, bulk)
    return document


def parse_body(scanner: Scanner) -> TableEntries:
    """Read the entries of a probability block up to its closing brace."""
    rows: list[TableRow] = []
    lists: dict[str, NumberList] = {}
    properties: list[str] = []
    while not scanner.take("}"):
        at = scanner.at
        if scanner.take("("):
            labels = list(_words(scanner, ")", "a state"))
            rows.append(TableRow(labels, _numbers(scanner), at))
            continue
        kind = scanner.keyword("(", "table", "default", "property", "}").text
        if kind == "property":
            properties.append(_property(scanner))
        elif kind in lists:
            scanner.refuse(f"this block has a second {kind!r}; one is enough", at)
        else:
            lists[kind] = _numbers(scanner)
    return TableEntries(rows, lists.get("table"), lists.get("default"), properties)


def _add_variable(scanner: Scanner, document: BifDocument) -> None:
    name = _name(scanner)
    if name.text in document.variables:
        first = scanner.place(document.variables[name.text].name.at)
        scanner.refuse(f"the variable {name.text!r} is declared already, at {first}", name.at)
    scanner.expect("{")
    states: list[str] = []
    properties: list[str] = []
    while not scanner.take("}"):
        keyword = scanner.keyword("type", "property", "}")
        if keyword.text == "property":
            properties.append(_property(scanner))
        elif states:
            scanner.refuse(f"the variable {name.text!r} has a second type", keyword.at)
        else:
            states = _states(scanner, name.text)
    if not states:
        scanner.refuse(f"the variable {name.text!r} has no type; it lacks its states", name.at)
    document.variables[name.text] = VariableBlock(name, states, properties)


def _states(scanner: Scanner, name: str) -> list[str]:
    """``discrete [ 2 ] { yes, no };`` after the word type."""
    scanner.keyword("discrete")
    scanner.expect("[")
    declared = scanner.bare("the number of states", str.isdecimal)
    scanner.expect("]")
    scanner.expect("{")
    states: dict[str, None] = {}
    for label in _words(scanner, "}", "a state"):
        if label.text in states:
            scanner.refuse(f"the states of {name!r} repeat {label.text!r}", label.at)
        states[label.text] = None
    if not states:
        scanner.refuse(f"{name!r} has no states; it needs one at least", declared.at)
    if declared.text.lstrip("0") != str(len(states)):
        scanner.refuse(
            f"{name!r} is declared with {shorten(declared.text)} states, but {len(states)} are "
            f"listed; labels with spaces need quotes",
            declared.at,
        )
    scanner.finish()
    return list(states)


def _add_probability(scanner: Scanner, document: BifDocument, bulk: bool) -> None:
    scanner.expect("(")
    child = _name(scanner)
    more = scanner.take("|") or scanner.take(",")
    parents = list(_words(scanner, ")", "the name of a parent", more))
    if child.text in document.probabilities:
        first = scanner.place(document.probabilities[child.text].child.at)
        scanner.refuse(f"the table of {child.text!r} is given already, at {first}", child.at)
    scanner.expect("{")
    start, body = scanner.at, None
    regular = _REGULAR.match(scanner.text, start) if bulk else None
    if regular is None:
        body = parse_body(scanner)
    else:
        scanner.move(regular.end())
    end = start if regular is None else regular.end()
    document.probabilities[child.text] = ProbabilityBlock(child, parents, start, end, body)


def _name(scanner: Scanner) -> LexerToken:
    name = scanner.word("the name of a variable")
    if not name.text:
        scanner.refuse("the name of a variable must not be empty", name.at)
    return name


def _words(scanner: Scanner, end: str, expected: str, more: bool = False) -> Iterator[LexerToken]:
    """Words up to a symbol, with or without commas between them; `more`: one must come."""
    run = _WORDS.match(scanner.text, scanner.at)
    if run is not None:  # nothing but words: what follows would read the same, but slowly
        for match in PLAIN.finditer(scanner.text, run.start(), run.end()):
            yield LexerToken(match[0], match.start())
        scanner.move(run.end())
        more = False
    while more or not scanner.take(end):
        yield scanner.word(expected if more else f"{expected} or {end!r}")
        more = scanner.take(",")


def _numbers(scanner: Scanner) -> NumberList:
    """Probabilities up to a semicolon, with or without commas between them."""
    first = scanner.at
    run = _RUN.match(scanner.text, first)
    if run is not None:  # nothing but numbers: what follows would read the same, but slowly
        values = [float(word) for word in run[0][:-1].replace(",", " ").split()]
        if min(values) >= 0 and max(values) <= 1 + TOLERANCE:
            scanner.move(run.end())
            return NumberList(values, first)
    values = [_number(scanner, "a number")]
    while not scanner.take(";"):
        if scanner.take(","):
            values.append(_number(scanner, "a number"))
        else:
            values.append(_number(scanner, "a number or ';'", scanner.end))
    return NumberList(values, first)


def _number(scanner: Scanner, expected: str, at: int | None = None) -> float:
    word = scanner.bare(expected, NUMBER.fullmatch, at)
    value = float(word.text)
    if not 0 <= value <= 1 + TOLERANCE:
        scanner.refuse(f"{shorten(word.text)} is no probability, between 0 and 1", word.at)
    return value


def _property(scanner: Scanner) -> str:
    """The text of a property: in quotes, or all that stands before a semicolon on its line."""
    if scanner.text.startswith('"', scanner.at):
        text = scanner.word("the text of a property").text
        scanner.finish()
        return text.strip()
    start, end = scanner.at, PROPERTY_END.search(scanner.text, scanner.at)
    if end is None or end[0] != ";":
        _refuse_property(scanner, end)
    scanner.move(end.end())
    return scanner.text[start : end.start()].strip()


def _refuse_property(scanner: Scanner, end: re.Match[str] | None) -> NoReturn:
    """Say where the text of a property ends without a semicolon."""
    if end is None:
        found = "the end of the file"
    else:
        found = "'}'" if end[0] == "}" else "the end of the line"
    text = scanner.text[scanner.at : end.start() if end else None].rstrip()
    at = scanner.at + len(text) if text else scanner.end
    scanner.refuse(f"expected ';' after the text of a property, but found {found}", at)
