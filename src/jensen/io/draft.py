"""A network as a file declares it, block by block, and the checks that most formats share.

In every one of them a table runs through the states of the first parent slowest, and of the
variable itself fastest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import FileError, JensenError
from jensen.inference.network import TOLERANCE, assemble
from jensen.io.lexer import NUMBER, Scanner, Token, shorten
from jensen.io.source import Source, check_parents, make_graph, show_row
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

_WHOLE = rf"{NUMBER.pattern}(?=[\s,;)])"
_RUN = re.compile(rf"{_WHOLE}(?:(?:\s*+,\s*+|\s++){_WHOLE})*+")


class Block(NamedTuple):
    """P(child | parents)."""

    child: Token
    parents: list[Token]
    values: NDArray[np.float64]
    at: int  # where the numbers begin


@dataclass(frozen=True)
class Draft:
    """Variables, tables and properties in the order of the file; `finish` makes the network."""

    source: Source
    variables: dict[str, Variable] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)  # of the variables
    blocks: dict[str, Block] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    variable_properties: dict[str, dict[str, str]] = field(default_factory=dict)

    def declare(self, name: Token, states: Sequence[Token], properties: dict[str, str]) -> None:
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
        child: Token,
        parents: list[Token],
        values: Sequence[float] | NDArray[np.float64],
        at: int,
    ) -> None:
        """Add a table; its names are looked up at the end."""
        if child.text in self.blocks:
            first = self.source.place(self.blocks[child.text].child.at)
            self.source.refuse(
                f"the table of {child.text!r} is given already, at {first}", child.at
            )
        self.blocks[child.text] = Block(child, parents, np.asarray(values, np.float64), at)

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
            raise FileError(f"{self.source.file}: {error}") from None
        return BayesianNetwork.from_network(network)

    def _table(self, block: Block, names: list[str]) -> NDArray[np.float64]:
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


def parse_numbers(words: Sequence[str], source: Source, at: int) -> NDArray[np.float64]:
    """Words as numbers; the first that is none is refused, at the place of them all."""
    if not all(map(NUMBER.fullmatch, words)):
        wrong = next(word for word in words if not NUMBER.fullmatch(word))
        source.refuse(f"expected a number, but found {shorten(wrong)}", at)
    return np.fromiter(map(float, words), np.float64, len(words))


def take_numbers(scanner: Scanner, values: list[float], expected: str) -> None:
    """Pass one probability or a run of them, with or without commas, or refuse the text."""
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
