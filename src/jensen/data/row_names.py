"""Columns that name or number the rows, from which nothing can be learned about other rows.

Whole numbers that are taken for labels, and hardly come back either, are told as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import MAX_INTEGER_STATES, Column
from jensen.exceptions import warn
from jensen.support.text import plural, some
from jensen.support.wording import leave_out, of_frame

if TYPE_CHECKING:
    from jensen.data.blocks import RowSource
    from jensen.data.variable import Variable

FEW_LABELS = 5
"""So few whole numbers are labels, however few rows there are."""

FEWEST = MAX_INTEGER_STATES + 1
"""Fewer labels, or fewer rows, may be anything."""

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]m)?(?:Z| ?[+-]\d{2}:?\d{2})?"
_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{4}-\d{2}"
_NAMED = r"\d{1,2}[-. ]{1,2}[a-z]{3,9}[-. ]{1,2}\d{2,4}|[a-z]{3,9} \d{1,2}, ?\d{4}"
DATE = re.compile(rf"(?:{_DAY}|{_NAMED})(?:[T ,]{{1,2}}{_CLOCK})?|{_CLOCK}", re.IGNORECASE)
"""Dates and times as they are usually written."""


def warn_of_row_names(
    table: RowSource,
    names: Iterable[str] | None = None,
    advice: str | None = None,
    *,
    counts: bool = False,
    numbers: bool = True,
) -> None:
    """Warn, once for a table, of columns in which hardly any label comes back, or that count rows.

    Parameters
    ----------
    names
        The columns that are learned from; all unless given.
    advice
        What to do, where leaving out the columns is not it.
    counts
        Whether the learner takes counts; others refuse them.
    numbers
        Whether whole numbers that are taken for labels are told.
    """
    chosen = not_looked_at(table, names, "names rows")
    head = table.head()  # of a scan some rows are enough to see it
    columns = {name: head.column(name) for name in chosen}
    found = {
        name: what_names_rows(column, head.weights)
        for name, column in columns.items()
        if counts or column.variable.kind != "count"
    }
    _tell({name: what for name, what in found.items() if what is not None}, advice)
    many = [name for name in chosen if numbers and _are_many(table.variable(name), table)]
    if many:
        warn(
            f"the whole numbers of {some(map(repr, many), most=20)} are taken for labels, and "
            f"there are many for so few rows: say {of_frame(continuous=many)} if they measure "
            f"something, or {of_frame(categorical=many)} if they are labels"
        )


def _are_many(variable: Variable, table: RowSource) -> bool:
    """Whether labels are whole numbers, and each stands in three rows or fewer, on average."""
    labels = variable.states
    is_long = FEW_LABELS < len(labels) < FEWEST and 3 * len(labels) > table.total_weight
    return (
        is_long
        and variable.cuts is None
        and all(label.removeprefix("-").isdecimal() for label in labels)
    )


def not_looked_at(table: RowSource, names: Iterable[str] | None, what: str) -> list[str]:
    """The columns of a table that nobody has asked this of; now somebody has."""
    asked = table.names if names is None else names
    chosen = [name for name in asked if (name, what) not in table.looked_at]
    table.looked_at.update((name, what) for name in chosen)
    return chosen


def warn_of_row_numbers(values: NDArray[np.float64], names: Sequence[str]) -> None:
    """The same of a matrix whose columns have names."""
    counters = {name: _numbered(values[:, k]) for k, name in enumerate(names)}
    _tell({name: what for name, what in counters.items() if what is not None}, None)


def _tell(found: dict[str, str], advice: str | None) -> None:
    if found:
        shown = some((f"{name!r} {what}" for name, what in found.items()), most=4)
        warn(
            f"{shown}: what names rows tells nothing of other rows. "
            f"{advice or f'Leave it out, {leave_out(list(found))}'}, or make of it what comes "
            f"back, as the month of a date does"
        )


def what_names_rows(column: Column, weights: NDArray[np.float64] | None = None) -> str | None:
    """How a column names the rows, in words; None if it does not."""
    variable, data = column
    if variable.kind != "categorical":
        return _numbered(data) if variable.kind == "count" else None
    if variable.cuts is not None or variable.n_states < FEWEST:
        return None
    known = data < variable.n_states
    n_values = int(known.sum()) if weights is None else float(weights[known].sum())
    used = np.unique(data[known])
    if len(used) < FEWEST:
        return None
    is_date = all(DATE.fullmatch(variable.states[k].strip()) for k in used)
    if not is_date and 2 * len(used) <= n_values:
        return None
    what = "dates or times" if is_date else "labels that hardly ever come back"
    example = variable.states[int(data[int(known.argmax())])]
    rows = plural(int(n_values), "row")
    return f"holds {what} ({len(used):,} labels in {rows}, such as {example!r:.40})"


def _numbered(values: NDArray[Any]) -> str | None:
    n = len(values)
    if n < FEWEST or values[0] % 1.0 or values[-1] - values[0] != n - 1:  # most are not
        return None
    if np.any(np.diff(values) != 1.0):
        return None
    return f"counts the rows ({values[0]:g}, {values[1]:g}, {values[2]:g}, ...)"
