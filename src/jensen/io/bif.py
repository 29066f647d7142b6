"""BIF, the interchange format that most programs for Bayesian networks read and write.

In one block rows win over a table, and a table over a default. A property ``key = text`` ends on
its line and is kept under its key, of a probability block with its variable; the name of the
network is the property "name". Names are written without quotes where that can be, because pyAgrum
reads no others; nor does it read a property whose text holds a semicolon, which needs them.

References
----------
Cozman (1998), *The interchange format for Bayesian networks*, version 0.15: names and texts in
quotes or bare, commas that may be left out, and tables in which the variable's own states run
slowest and those of the last parent fastest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import FileError, JensenError
from jensen.inference import Network
from jensen.inference.network import assemble
from jensen.io.bif_syntax import (
    KEYWORDS,
    PLAIN,
    PROPERTY_END,
    BifDocument,
    ProbabilityBlock,
    parse,
    parse_body,
)
from jensen.io.declared_network import check_implied, check_parents, make_graph
from jensen.io.lexer import Scanner
from jensen.io.properties import UNNAMED, read_pairs, warn_of_losses, write_pair
from jensen.io.table_rows import TableReader

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

_BEGIN = re.compile(r"(?:network|variable)\b")


def looks_like(text: str) -> bool:
    """Whether a text begins with a block of BIF, after comments."""
    return Scanner.begins(text, _BEGIN)


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from BIF text; `file` is for messages.

    Examples
    --------
    >>> net = loads(
    ...     "network n {} variable x { type discrete [2] {no, yes}; }"
    ...     "probability (x) { table 0.8, 0.2; }",
    ...     "x.bif",
    ... )
    >>> net.states
    {'x': ('no', 'yes')}
    """
    from jensen.estimators.bayesian_network import BayesianNetwork

    try:
        network = read(text, file, bulk=True)
    except JensenError:
        network = read(text, file, bulk=False)  # which knows what is wrong, and where
    return BayesianNetwork.from_network(network)


def read(text: str, file: str, *, bulk: bool) -> Network:
    """The network of a BIF text; `bulk` reads regular tables faster, with the same result."""
    document = parse(text, file, bulk=bulk)
    scanner = Scanner(text, file)
    variables = {
        name: Variable(name, "categorical", tuple(block.states))
        for name, block in document.variables.items()
    }
    parents = {
        name: check_parents(scanner, block.child, block.parents, variables)
        for name, block in document.probabilities.items()
    }
    for name, block in document.variables.items():
        if name not in parents:
            scanner.refuse(f"the variable {name!r} has no probability block", block.name.at)
    children = {name: block.child for name, block in document.probabilities.items()}
    graph = make_graph(scanner, parents, children)
    tables, properties = _tables(scanner, document, variables, parents)
    try:
        return assemble(graph, variables, tables, None, _properties(document), properties)
    except JensenError as error:
        raise FileError(f"{file}: {error.marked}") from None


def _tables(
    scanner: Scanner,
    document: BifDocument,
    variables: Mapping[str, Variable],
    parents: Mapping[str, list[str]],
) -> tuple[dict[str, NDArray[np.float64]], dict[str, dict[str, str]]]:
    """The tables, their axes sorted by name, and the properties of each variable that has any."""
    tables, properties = {}, {}
    plain = {name for name, variable in variables.items() if is_plain(variable)}
    filled = 0
    for name, block in document.probabilities.items():
        above, variable = [variables[p] for p in parents[name]], variables[name]
        table, body = None, block.body
        if body is None and plain.issuperset(parents[name]):
            table = regular_table(scanner.text, block, above, variable.n_states)
        if table is None:
            reader = TableReader(scanner, block.child.at, above, variable)
            body = body or parse_body(Scanner(scanner.text, scanner.file, block.start))
            if body.default is not None:
                filled += reader.n_rows * variable.n_states
                check_implied(
                    scanner,
                    filled,
                    len(scanner.text),
                    body.default.at,
                    what="the table that this default fills",
                    way_out="give it fewer parents",
                )
            table = reader.read(body)
        by_name = sorted(range(len(above)), key=parents[name].__getitem__)
        tables[name] = table.transpose([*by_name, len(above)])
        texts = [*document.variables[name].properties, *(body.properties if body else [])]
        if texts:
            properties[name] = read_pairs(texts)
    return tables, properties


def _properties(document: BifDocument) -> dict[str, str]:
    """The properties of the network; its name is one, unless it is "unknown"."""
    pairs = read_pairs(document.properties)
    return pairs if document.name == UNNAMED else {"name": document.name, **pairs}


# --- tables read in bulk ---

_ROW = re.compile(r"\(([^)]*+)\)([^;]*+);")
_TABLE = re.compile(r"table()([^;]*+);")


def is_plain(variable: Variable) -> bool:
    """Whether all labels are plain words, so that a row can be split at its commas."""
    return all(map(PLAIN.fullmatch, variable.states))


def regular_table(
    text: str, block: ProbabilityBlock, parents: Sequence[Variable], n_states: int
) -> NDArray[np.float64] | None:
    """The table of a regular body, read in bulk; None unless every row occurs exactly once.

    Returns
    -------
    table : array, shape (states of every parent as listed ..., n_states), or None
        Whether the rows sum to one is not checked here. The labels of `parents` must be plain.
    """
    n_rows = prod(p.n_states for p in parents)
    rows = (_ROW if parents else _TABLE).findall(text, block.start, block.end)
    if len(rows) != n_rows:
        return None
    combinations = product(*(p.states for p in parents))
    index = {", ".join(labels): k for k, labels in enumerate(combinations)}
    places = [index.pop(labels.strip(), -1) for labels, _ in rows]
    values = _floats([run for _, run in rows], n_states)
    if index or values is None:  # a row is missing, so another one is unknown or stands twice
        return None
    table = np.empty((n_rows, n_states))
    table[places] = values
    return table.reshape([*(p.n_states for p in parents), n_states])


def _floats(runs: list[str], n: int) -> NDArray[np.float64] | None:
    """Texts of n numbers each, all with commas or all without; None for anything else."""
    comma = "," if "," in runs[0] else None
    words = [run.split(comma) for run in runs]
    if any(len(row) != n for row in words):
        return None
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return None


# --- writing ---

_BARE = re.compile(r"[+-]?[A-Za-z0-9_][A-Za-z0-9_.?%-]*")  # what needs no quotes anywhere


class _Texts(dict[bytes, str]):
    """Cache of table rows as text, by their bytes: many rows repeat, and printing is slow."""

    def __missing__(self, row: bytes) -> str:
        text = str(memoryview(row).cast("d").tolist())[1:-1]  # Python prints a float exactly
        self[row] = text
        return text


def dumps(net: BayesianNetwork) -> str:
    """The network as BIF text; numbers read back to the same bits."""
    network = net.require_network()
    lost: list[str] = []
    states = {v.name: [_quote(label) for label in v.states] for v in network.variables}
    texts = _Texts()
    lines = [*_head(network, lost)]
    for name, labels in states.items():
        lines += _declaration(name, labels, network.variable_properties.get(name, {}), lost)
    for name in states:
        lines += _block(network, name, states, texts)
    warn_of_losses(network, "BIF", lost)
    return "\n".join([*lines, ""])


def _head(network: Network, lost: list[str]) -> Iterator[str]:
    properties = dict(network.properties)
    name = UNNAMED
    if properties.get("name", UNNAMED) != UNNAMED and _is_writable(properties["name"]):
        name = properties.pop("name")
    yield f"network {_quote(name)} {{"
    yield from _property_lines(properties, lost)
    yield "}"


def _declaration(
    name: str, labels: list[str], properties: Mapping[str, str], lost: list[str]
) -> Iterator[str]:
    yield f"variable {_quote(name)} {{"
    yield f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};"
    yield from _property_lines(properties, lost)
    yield "}"


def _block(
    network: Network, name: str, states: Mapping[str, list[str]], texts: _Texts
) -> list[str]:
    parents = network.graph.parents(name)
    table = network.part(name, network.tables).view(f"V{8 * len(states[name])}")
    rows = [texts[row] for row in table.ravel().tolist()]
    if not parents:
        return [f"probability ( {_quote(name)} ) {{", f"  table {rows[0]};", "}"]
    heads, *others = [states[parent] for parent in parents]
    for labels in others:
        heads = [f"{head}, {label}" for head in heads for label in labels]
    lines = [f"  ({head}) {row};" for head, row in zip(heads, rows, strict=True)]
    names = ", ".join(map(_quote, parents))
    return [f"probability ( {_quote(name)} | {names} ) {{", *lines, "}"]


def _quote(name: str) -> str:
    """A name or a label, in quotes where it needs them."""
    if _BARE.fullmatch(name) and name not in KEYWORDS:
        return name
    if not _is_writable(name):
        raise JensenError(
            f"BIF cannot hold the name {name!r}, because of a quote or a line break in it; "
            f"a file that ends in .json can"
        )
    return f'"{name}"'


def _is_writable(name: str) -> bool:
    return not any(letter in name for letter in '"\r\n')


def _property_lines(properties: Mapping[str, str], lost: list[str]) -> Iterator[str]:
    """Properties, in quotes where they need them; those that no quotes can hold are `lost`."""
    for key, value in properties.items():
        text = write_pair(key, value)
        if not PROPERTY_END.search(text) and not text.startswith(('"', "//", "/*")):
            yield f"  property {text};"
        elif _is_writable(text):
            yield f'  property "{text}";'
        else:
            lost.append(key)
