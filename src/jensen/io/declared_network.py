"""A network as a file declares it, block by block, and the checks that most formats share.

Variables and tables are collected in the order of the file; names are looked up and tables checked
at the end. In all these formats the states of the first parent run slowest in a table, and those of
the variable itself fastest.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import FileError, GraphError, JensenError
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import find_cycle, show_path
from jensen.inference.network import TOLERANCE, assemble
from jensen.io.lexer import NUMBER, LexerToken, Scanner, shorten
from jensen.support.machine import check_memory
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

_WHOLE = rf"{NUMBER.pattern}(?=[\s,;)])"
_RUN = re.compile(rf"{_WHOLE}(?:(?:\s*+,\s*+|\s++){_WHOLE})*+")


class DeclaredTable(NamedTuple):
    """P(child | parents)."""

    child: LexerToken
    parents: list[LexerToken]
    values: NDArray[np.float64]
    at: int  # where the numbers begin


@dataclass(frozen=True)
class DeclaredNetwork:
    """Variables, tables and properties in the order of the file; `finish` makes the network."""

    source: TextSource
    variables: dict[str, Variable] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)  # of the variables
    blocks: dict[str, DeclaredTable] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    variable_properties: dict[str, dict[str, str]] = field(default_factory=dict)

    def declare(
        self, name: LexerToken, states: Sequence[LexerToken], properties: dict[str, str]
    ) -> None:
        """Add a variable."""
        if not name.text:
            self.source.refuse("the name of a variable must not be empty", name.at)
        if name.text in self.variables:
            first = self.source.place(self.places[name.text])
            self.source.refuse(
                f"the variable {name.text!r} is declared already, at {first}", name.at
            )
        if not states:
            self.source.refuse(f"{name.text!r} has no states; it needs one at least", name.at)
        seen: set[str] = set()
        for label in states:
            if label.text in seen:
                self.source.refuse(f"the states of {name.text!r} repeat {label.text!r}", label.at)
            seen.add(label.text)
        labels = tuple(label.text for label in states)
        self.variables[name.text] = Variable(name.text, "categorical", labels)
        self.places[name.text] = name.at
        if properties:
            self.variable_properties[name.text] = properties

    def define(
        self,
        child: LexerToken,
        parents: list[LexerToken],
        values: Sequence[float] | NDArray[np.float64],
        at: int,
    ) -> None:
        """Add a table; its names are looked up at the end."""
        if child.text in self.blocks:
            first = self.source.place(self.blocks[child.text].child.at)
            self.source.refuse(
                f"the table of {child.text!r} is given already, at {first}", child.at
            )
        self.blocks[child.text] = DeclaredTable(child, parents, np.asarray(values, np.float64), at)

    def finish(self) -> BayesianNetwork:
        """The network, or a refusal that says where the file is wrong."""
        from jensen.estimators.bayesian_network import BayesianNetwork

        parents = {
            name: check_parents(self.source, block.child, block.parents, self.variables)
            for name, block in self.blocks.items()
        }
        for name, at in self.places.items():
            if name not in parents:
                self.source.refuse(f"the variable {name!r} has no table", at)
        children = {name: block.child for name, block in self.blocks.items()}
        graph = make_graph(self.source, parents, children)
        tables = {name: self._table(self.blocks[name], parents[name]) for name in parents}
        own = self.variable_properties
        try:
            network = assemble(graph, self.variables, tables, None, self.properties, own)
        except JensenError as error:
            raise FileError(f"{self.source.file}: {error.marked}") from None
        return BayesianNetwork.from_network(network)

    def _table(self, block: DeclaredTable, names: list[str]) -> NDArray[np.float64]:
        """The table of a variable, the axes of its parents sorted by name."""
        parents, variable = [self.variables[p] for p in names], self.variables[block.child.text]
        shape = [v.n_states for v in (*parents, variable)]
        values = block.values
        if len(values) != prod(shape):
            self.source.refuse(
                f"the table of {variable.name!r} has {plural(len(values), 'number')}, "
                f"but needs {prod(shape):,}",
                block.at,
            )
        for k in np.flatnonzero(~((values >= 0) & (values <= 1 + TOLERANCE)))[:1].tolist():
            self.source.refuse(
                f"number {k + 1:,} of the table of {variable.name!r} is {values[k]:g}, "
                f"which is no probability, between 0 and 1",
                block.at,
            )
        sums = values.reshape(-1, variable.n_states).sum(1)
        for k in np.flatnonzero(np.abs(sums - 1) > TOLERANCE)[:1].tolist():
            row = show_row(k, parents)
            self.source.refuse(
                f"{row} of {variable.name!r} sums to {sums[k]:.6g}, not to 1", block.at
            )
        by_name = sorted(range(len(names)), key=names.__getitem__)
        return values.reshape(shape).transpose([*by_name, len(names)])


def parse_numbers(words: Sequence[str], source: TextSource, at: int) -> NDArray[np.float64]:
    """Convert words to numbers; the first that is not a number is refused at `at`."""
    if not all(map(NUMBER.fullmatch, words)):
        wrong = next(word for word in words if not NUMBER.fullmatch(word))
        source.refuse(f"expected a number, but found {shorten(wrong)}", at)
    return np.fromiter(map(float, words), np.float64, len(words))


def take_numbers(scanner: Scanner, values: list[float], expected: str) -> None:
    """Read one probability or several, with or without commas, and append them to `values`."""
    run = _RUN.match(scanner.text, scanner.at)
    text, at = (run[0], scanner.at) if run else scanner.bare(expected, NUMBER.fullmatch)
    if run:
        scanner.move(run.end())
    numbers = list(map(float, text.replace(",", " ").split()))
    if not 0 <= min(numbers) <= max(numbers) <= 1 + TOLERANCE:
        for word in NUMBER.finditer(text):
            if not 0 <= float(word[0]) <= 1 + TOLERANCE:
                scanner.refuse(
                    f"{shorten(word[0])} is no probability, between 0 and 1", at + word.start()
                )
    values += numbers
    scanner.take(",")


MOST_PARENTS = 31
"""An array of NumPy has 32 axes at most, in its older versions."""

COPIES = 3
"""Copies of a table in memory: as read, in the network, and normalised."""

MOST_IMPLIED = 1 << 22
IMPLIED_PER_LETTER = 100
"""Limits of the table entries that a file may imply: in total, and per letter of the file."""


class TextSource(Protocol):
    """A text with places (an offset, or the number of a word) that can be named in messages."""

    file: str

    def place(self, at: int) -> str:
        """A place as a message names it, such as line and column."""

    def refuse(self, message: str, at: int) -> NoReturn:
        """Raise an error that names this place."""


def check_parents(
    source: TextSource, child: LexerToken, parents: Sequence[LexerToken], variables: Container[str]
) -> list[str]:
    """The names of the parents in the order listed; unknown and repeated names are refused."""
    for name in (child, *parents):
        if name.text not in variables:
            source.refuse(f"there is no variable {shorten(name.text)} in this file", name.at)
    seen = {child.text}
    for name in parents:
        if name.text in seen:
            source.refuse(f"{name.text!r} stands twice in this list of variables", name.at)
        seen.add(name.text)
    if len(parents) > MOST_PARENTS:
        source.refuse(
            f"{child.text!r} has {len(parents)} parents, more than {MOST_PARENTS}", child.at
        )
    return [name.text for name in parents]


def make_graph(
    source: TextSource, parents: Mapping[str, Sequence[str]], children: Mapping[str, LexerToken]
) -> DAG:
    """The graph; a cycle is refused at the table of its first node."""
    try:
        return DAG.from_parents(parents)
    except GraphError:
        names = sorted(parents)
        index = {name: k for k, name in enumerate(names)}
        cycle = [names[k] for k in find_cycle([[index[p] for p in parents[x]] for x in names])]
        source.refuse(
            f"a network has no cycles, but here is one: {show_path(cycle)}", children[cycle[0]].at
        )


def check_implied(
    source: TextSource, n_entries: int, n_letters: int, at: int, *, what: str, way_out: str
) -> None:
    """Refuse tables that a short text would make too large for memory, or for the file's length."""
    try:
        check_memory(8 * COPIES * n_entries, what, way_out)
    except JensenError as error:
        source.refuse(str(error), at)
    if n_entries > max(MOST_IMPLIED, IMPLIED_PER_LETTER * n_letters):
        source.refuse(
            f"{what} brings the entries that the file implies to {n_entries:,}, out of proportion "
            f"to its length: {way_out}",
            at,
        )


def show_row(place: int, parents: Sequence[Variable]) -> str:
    """The row at this place of a table, as a message names it."""
    if not parents:
        return "the table"
    labels = []
    for parent in reversed(parents):
        place, k = divmod(place, parent.n_states)
        labels.append(parent.states[k])
    return f"the row ({', '.join(reversed(labels))})"
