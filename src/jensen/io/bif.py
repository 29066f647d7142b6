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
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import FileError, JensenError
from jensen.inference import Network
from jensen.inference.network import assemble
from jensen.io.bif_syntax import UNNAMED, Document, parse, parse_body
from jensen.io.bif_tables import TableReader, is_plain, regular_table
from jensen.io.bif_writer import dumps
from jensen.io.lexer import Scanner
from jensen.io.properties import read_pairs
from jensen.io.source import check_implied, check_parents, make_graph

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

__all__ = ["dumps", "loads", "looks_like"]

_BEGINNING = re.compile(rf"{Scanner.SPACE.pattern}(?:network|variable)\b", re.DOTALL)


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
    from jensen.estimators.bayesian_network import BayesianNetwork

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
        raise FileError(f"{file}: {error}") from None


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


def _properties(document: Document) -> dict[str, str]:
    """The properties of the network; its name is one, unless it is none."""
    pairs = read_pairs(document.properties)
    return pairs if document.name == UNNAMED else {"name": document.name, **pairs}
