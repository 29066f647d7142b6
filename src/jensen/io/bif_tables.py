"""Tables out of the blocks of a BIF file: in bulk where the file is regular, else row by row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.inference.network import TOLERANCE
from jensen.io.bif_syntax import PLAIN, Body, Numbers, ProbabilityBlock, Row
from jensen.io.lexer import Scanner, shorten
from jensen.io.source import show_row
from jensen.support.text import plural, some

_ROW = re.compile(r"\(([^)]*+)\)([^;]*+);")
_TABLE = re.compile(r"table()([^;]*+);")


def is_plain(variable: Variable) -> bool:
    """Whether a text between parentheses can be cut at its commas into labels of this variable."""
    return all(map(PLAIN.fullmatch, variable.states))


def regular_table(
    text: str, block: ProbabilityBlock, parents: Sequence[Variable], n_states: int
) -> NDArray[np.float64] | None:
    """The table of a regular body; None unless every row stands there once, as it should.

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
    """Runs of n numbers each, all with commas or all without; None if there is anything else."""
    comma = "," if "," in runs[0] else None
    words = [run.split(comma) for run in runs]
    if any(len(row) != n for row in words):
        return None
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return None


@dataclass(frozen=True)
class TableReader:
    """Reads the table of one variable; what is wrong with it is refused with its place."""

    scanner: Scanner  # for messages
    at: int  # where the block names its variable
    parents: Sequence[Variable]  # as listed
    variable: Variable

    @property
    def n_rows(self) -> int:
        """How many combinations the states of the parents have."""
        return prod(p.n_states for p in self.parents)

    def read(self, body: Body) -> NDArray[np.float64]:
        """The table of any body: rows before the table before the default.

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

    def _places(self, rows: Sequence[Row]) -> dict[int, Row]:
        """The rows by their place in the table."""
        states = [{label: k for k, label in enumerate(p.states)} for p in self.parents]
        found: dict[int, Row] = {}
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

    def _check_length(self, numbers: Numbers, n: int, what: str) -> None:
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

    def _refuse_missing(self, rows: dict[int, Row]) -> NoReturn:
        first = next(k for k in range(self.n_rows) if k not in rows)
        self.scanner.refuse(
            f"the block of {self.variable.name!r} has {len(rows):,} of {plural(self.n_rows, 'row')}"
            f" and no default: {show_row(first, self.parents)} is missing",
            self.at,
        )
