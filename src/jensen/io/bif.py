"""BIF, the interchange format that most programs for Bayesian networks read and write.

In one block rows win over a table, and a table over a default. A property ``key = text`` is kept
under its key, of a probability block with its variable; the name of the network is the property
"name". Names are written without quotes where that can be, because pyAgrum reads no others; nor
does it read a property whose text holds a semicolon, which needs them.

References
----------
Cozman (1998), *The interchange format for Bayesian networks*, version 0.15: names and texts in
quotes or bare, commas that may be left out, and tables in which the variable's own states run
slowest and those of the last parent fastest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import FileError, GraphError, JensenError
from jensen.graphs import DAG
from jensen.graphs.names import show
from jensen.graphs.order import find_cycle
from jensen.inference import Network
from jensen.inference.network import assemble
from jensen.io.bif_syntax import UNNAMED, Document, ProbabilityBlock, parse, parse_body
from jensen.io.bif_tables import COPIES, TableReader, is_plain, regular_table
from jensen.io.bif_writer import dumps
from jensen.io.lexer import Scanner, shorten
from jensen.io.properties import read_pairs
from jensen.memory import check_memory

if TYPE_CHECKING:
    from jensen.estimators import BayesianNetwork

__all__ = ["dumps", "loads", "looks_like"]

_BEGINNING = re.compile(rf"{Scanner.SPACE.pattern}(?:network|variable)\b", re.DOTALL)

MOST_FILLED = 1 << 22
FILLED_PER_LETTER = 100
"""Entries that defaults may fill in all tables together, whatever the file; and by its length."""

MOST_PARENTS = 31
"""An array of NumPy has 32 axes at most, in its older versions."""


def looks_like(text: str) -> bool:
    """Whether a text begins with a block of BIF, after comments."""
    return _BEGINNING.match(text) is not None


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
    from jensen.estimators import BayesianNetwork

    try:
        network = read(text, file, bulk=True)
    except JensenError:
        network = read(text, file, bulk=False)  # which knows what is wrong, and where
    return BayesianNetwork.from_network(network)


def read(text: str, file: str, *, bulk: bool) -> Network:
    """The network of a BIF text; with and without `bulk` the same, but for the time it takes."""
    document = parse(text, file, bulk=bulk)
    scanner = Scanner(text, file)
    variables = {
        name: Variable(name, "categorical", tuple(block.states))
        for name, block in document.variables.items()
    }
    parents = {
        name: _parents(scanner, block, variables) for name, block in document.probabilities.items()
    }
    for name, block in document.variables.items():
        if name not in parents:
            scanner.refuse(f"the variable {name!r} has no probability block", block.name.at)
    graph = _graph(scanner, document, parents)
    tables, properties = _tables(scanner, document, variables, parents)
    try:
        return assemble(graph, variables, tables, None, _properties(document), properties)
    except JensenError as error:
        raise FileError(f"{file}: {error}") from None


def _parents(
    scanner: Scanner, block: ProbabilityBlock, variables: Mapping[str, Variable]
) -> list[str]:
    """The names of the parents, as listed."""
    seen = {block.child.text}
    for name in (block.child, *block.parents):
        if name.text not in variables:
            scanner.refuse(f"there is no variable {shorten(name.text)} in this file", name.at)
    for name in block.parents:
        if name.text in seen:
            scanner.refuse(f"{name.text!r} stands twice in this list of variables", name.at)
        seen.add(name.text)
    if len(block.parents) > MOST_PARENTS:
        scanner.refuse(
            f"{block.child.text!r} has {len(block.parents)} parents, more than {MOST_PARENTS}",
            block.child.at,
        )
    return [name.text for name in block.parents]


def _graph(scanner: Scanner, document: Document, parents: Mapping[str, list[str]]) -> DAG:
    try:
        return DAG.from_parents(parents)
    except GraphError:
        names = sorted(parents)
        index = {name: k for k, name in enumerate(names)}
        cycle = find_cycle([[index[p] for p in parents[name]] for name in names])
        path = " -> ".join(show(names[k]) for k in cycle)
        at = document.probabilities[names[cycle[0]]].child.at
        scanner.refuse(f"a network has no cycles, but here is one: {path}", at)


def _tables(
    scanner: Scanner,
    document: Document,
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
                _check_size(scanner, filled, body.default.at)
            table = reader.read(body)
        by_name = sorted(range(len(above)), key=parents[name].__getitem__)
        tables[name] = table.transpose([*by_name, len(above)])
        texts = [*document.variables[name].properties, *(body.properties if body else [])]
        if texts:
            properties[name] = read_pairs(texts)
    return tables, properties


def _check_size(scanner: Scanner, n_entries: int, at: int) -> None:
    """Refuse tables that a few words of 'default' would make too large for memory, or the file."""
    try:
        check_memory(
            8 * COPIES * n_entries, "the table that this default fills", "give it fewer parents"
        )
    except JensenError as error:
        scanner.refuse(str(error), at)
    if n_entries > max(MOST_FILLED, FILLED_PER_LETTER * len(scanner.text)):
        scanner.refuse(
            f"this default brings the entries that no row gives to {n_entries:,}, out of "
            f"proportion to the file: give the variable fewer parents, or write its rows",
            at,
        )


def _properties(document: Document) -> dict[str, str]:
    """The properties of the network; its name is one, unless it is none."""
    pairs = read_pairs(document.properties)
    return pairs if document.name == UNNAMED else {"name": document.name, **pairs}
