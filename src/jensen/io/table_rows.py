"""Tables that a file gives row by row, as BIF and DSC do; errors say which row is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.inference.network import TOLERANCE
from jensen.io.declared_network import show_row
from jensen.io.lexer import LexerToken, Scanner, shorten
from jensen.support.text import plural, some


class NumberList(NamedTuple):
    """Probabilities, and where they begin in the text."""

    values: list[float]
    at: int


class TableRow(NamedTuple):
    """``(yes, no) 0.2, 0.8;``."""

    labels: list[LexerToken]
    numbers: NumberList
    at: int


class TableEntries(NamedTuple):
    """The entries of a probability block: rows, a whole table, a default row, properties."""

    rows: list[TableRow]
    table: NumberList | None
    default: NumberList | None
    properties: list[str]


@dataclass(frozen=True)
class TableReader:
    """Reads the table of one variable; errors name the place in the file."""

    scanner: Scanner  # for messages
    at: int  # where the block names its variable
    parents: Sequence[Variable]  # as listed
    variable: Variable

    @property
    def n_rows(self) -> int:
        """Number of rows: one per combination of the parents' states."""
        return prod(p.n_states for p in self.parents)

    def read(self, body: TableEntries) -> NDArray[np.float64]:
        """The table of a block; a row overrides the whole table, which overrides the default.

        Returns
        -------
        table : array, shape (states of every parent as listed ..., states of the variable)
        """
        rows = self._places(body.rows)
        rest = body.table or body.default
        if rest is None and len(rows) < self.n_rows:
            self._refuse_missing(rows)
        n = self.variable.n_states
        if body.default is not None:
            self._check_length(body.default, n, "default")
            self._check_sum(np.array(body.default.values), "the default", body.default.at)
        if body.table is not None:
            self._check_length(body.table, n * self.n_rows, "table")
        table = np.empty((self.n_rows, n))  # as large as what stands in the file, or checked above
        if body.table is not None:
            table[:] = np.reshape(body.table.values, (n, self.n_rows)).T  # its states run slowest
        elif body.default is not None:
            table[:] = body.default.values
        for k, row in rows.items():
            table[k] = row.numbers.values
        for k in np.flatnonzero(np.abs(table.sum(1) - 1) > TOLERANCE)[:1].tolist():
            at = rows[k].at if k in rows else rest.at if rest else self.at
            self._check_sum(table[k], show_row(k, self.parents), at)
        return table.reshape([*(p.n_states for p in self.parents), n])

    def _places(self, rows: Sequence[TableRow]) -> dict[int, TableRow]:
        """Row number in the table → row; unknown labels and repeated rows are refused."""
        states = [{label: k for k, label in enumerate(p.states)} for p in self.parents]
        found: dict[int, TableRow] = {}
        for row in rows:
            if len(row.labels) != len(self.parents):
                names = some([p.name for p in self.parents]) or "none"
                self.scanner.refuse(
                    f"this row names {plural(len(row.labels), 'state')}, but "
                    f"{self.variable.name!r} has {plural(len(states), 'parent')}: {names}",
                    row.at,
                )
            place = 0
            for label, parent, index in zip(row.labels, self.parents, states, strict=True):
                if label.text not in index:
                    self.scanner.refuse(
                        f"{shorten(label.text)} is no state of {parent.name!r}, which has: "
                        f"{some(parent.states)}",
                        label.at,
                    )
                place = place * len(index) + index[label.text]
            if place in found:
                first = self.scanner.place(found[place].at)
                shown = show_row(place, self.parents)
                self.scanner.refuse(f"{shown} stands already at {first}", row.at)
            self._check_length(row.numbers, self.variable.n_states, "row")
            found[place] = row
        return found

    def _check_length(self, numbers: NumberList, n: int, what: str) -> None:
        if len(numbers.values) != n:
            self.scanner.refuse(
                f"this {what} of {self.variable.name!r} has {plural(len(numbers.values), 'number')}"
                f", but needs {n:,}",
                numbers.at,
            )

    def _check_sum(self, row: NDArray[np.float64], what: str, at: int) -> None:
        if abs(row.sum() - 1) > TOLERANCE:
            self.scanner.refuse(
                f"{what} of {self.variable.name!r} sums to {row.sum():.6g}, not to 1", at
            )

    def _refuse_missing(self, rows: dict[int, TableRow]) -> NoReturn:
        first = next(k for k in range(self.n_rows) if k not in rows)
        self.scanner.refuse(
            f"the block of {self.variable.name!r} has {len(rows):,} of {plural(self.n_rows, 'row')}"
            f" and no default: {show_row(first, self.parents)} is missing",
            self.at,
        )
