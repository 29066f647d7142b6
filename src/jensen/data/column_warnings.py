"""Warnings about columns that were probably meant otherwise.

Columns of a file or dataframe that hold numbers, but are read as labels because a few values are no
numbers or signs stand beside them. Columns that name or number the rows, from which nothing can be
learned about other rows; and whole numbers that are taken for labels though most occur in few rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.dialect import NUMBERS_PER_MISFIT, TextChoices
from jensen.data.encode import (
    MAX_INTEGER_STATES,
    MISSING_WORDS,
    Column,
    warn_of_missing_codes,
    warn_of_missing_words,
    words_for_missing,
)
from jensen.data.files import is_text_file, line_of_row, name_of
from jensen.data.variable import is_number, parse_number
from jensen.exceptions import warn
from jensen.support.text import leave_out, of_file, of_frame, plural, some

if TYPE_CHECKING:
    from jensen.data.blocks import RowSource
    from jensen.data.variable import Variable

FEW_LABELS = 5
"""So few distinct whole numbers are labels, however few rows there are."""

FEWEST = MAX_INTEGER_STATES + 1
"""With fewer labels or rows nothing is reported."""

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
    """Warn, once per table, of columns whose labels hardly ever repeat, or that number the rows.

    Parameters
    ----------
    names
        The columns that are learned from; all unless given.
    advice
        What to do, if not leaving out the columns.
    counts
        Whether the learner takes count columns.
    numbers
        Whether to warn of whole numbers that are taken for labels.
    """
    asked = table.names if names is None else list(names)
    tell_row_names(table, row_names(table, asked, counts=counts), advice)
    chosen = columns_to_check(table, asked if numbers else (), "are many")
    many = [name for name in chosen if _are_many(table.variable(name), table)]
    if many:
        warn(
            f"the whole numbers of {some(map(repr, many), most=20)} are taken for labels, and "
            f"there are many for so few rows: say {of_frame(continuous=many)} if they measure "
            f"something, or {of_frame(categorical=many)} if they are labels"
        )


def row_names(table: RowSource, names: Iterable[str], *, counts: bool = True) -> list[str]:
    """Columns that name or number the rows; what the caller declared does not.

    What was found stays known of all tables that are made of this one.
    """
    asked = [name for name in names if counts or table.variable(name).kind != "count"]
    told = _names_in(table, columns_to_check(table, asked, "names rows"))
    table.checks_done.update((name, "does name rows") for name in told)
    return [name for name in asked if (name, "does name rows") in table.checks_done]


def tell_row_names(table: RowSource, names: Iterable[str], advice: str | None = None) -> None:
    """Warn, once for a table, of columns that name or number the rows, and what becomes of them."""
    _warn_of(_names_in(table, columns_to_check(table, names, advice or "is told")), advice)


def _names_in(table: RowSource, names: Sequence[str]) -> dict[str, str]:
    """How columns name the rows, those of them that do."""
    if not names:
        return {}
    head = table.sight()  # of a scan some rows are enough to see it
    found = {name: what_names_rows(head.column(name), head.weights) for name in names}
    return {name: what for name, what in found.items() if what is not None}


def _are_many(variable: Variable, table: RowSource) -> bool:
    """Whether labels are whole numbers that occur in three rows or fewer, on average."""
    labels = variable.states
    is_long = FEW_LABELS < len(labels) < FEWEST and 3 * len(labels) > table.total_weight
    return (
        is_long
        and variable.cuts is None
        and all(label.removeprefix("-").isdecimal() for label in labels)
    )


def columns_to_check(table: RowSource, names: Iterable[str] | None, what: str) -> list[str]:
    """Columns of which this check was not done yet; they are marked as done."""
    asked = table.names if names is None else names
    chosen = [name for name in asked if (name, what) not in table.checks_done]
    table.checks_done.update((name, what) for name in chosen)
    return chosen


def warn_of_row_numbers(values: NDArray[np.float64], names: Sequence[str]) -> None:
    """Warn of columns of a matrix that number the rows."""
    counters = {name: _numbered(values[:, k]) for k, name in enumerate(names)}
    _warn_of({name: what for name, what in counters.items() if what is not None}, None)


def _warn_of(found: dict[str, str], advice: str | None) -> None:
    if found:
        shown = some((f"{name!r} {what}" for name, what in found.items()), most=4)
        warn(
            f"{shown}: what names rows tells nothing of other rows. "
            f"{advice or f'Leave it out, {leave_out(list(found))}'}, or make of it what comes "
            f"back, as the month of a date does"
        )


def what_names_rows(column: Column, weights: NDArray[np.float64] | None = None) -> str | None:
    """A text that says how a column names the rows; None if it does not."""
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


MOST_LISTED = 8

TOP_ROWS = 5
"""The names of columns stand among the first rows, below titles."""

ROWS_PER_LABEL = 4
"""Labels that occur as often on average come back."""

SHORTEST_WORD = 3
"""Labels of so many letters mean the same in any case; Aa and aA may be genotypes."""

_AMOUNT = r"[+-]?(?:\d{1,3}(?:[ \u00a0\u202f'.,]\d{3})+|\d+)(?:[.,]\d+)?"
SIGNED = re.compile(rf"[$€£¥]?\s*{_AMOUNT}\s*(?:[%$€£¥]|EUR|USD|GBP|CHF)?")
"""Amounts of money, percentages, and numbers with spaces after thousands."""


class Misfits(NamedTuple):
    """Values that are no numbers in a column of numbers."""

    labels: list[str]
    n_rows: int  # that hold them
    n_numbers: int  # rows that hold numbers
    row: int  # the first that holds one of them, from 0
    first: str


def warn_of_labels(
    columns: Sequence[Column],
    numbers: Sequence[Column],
    data: Any,
    choices: TextChoices,
    with_words: bool,
    files: Sequence[str] = (),
) -> None:
    """Warn of labels in columns of a file or dataframe that were probably meant otherwise.

    `with_words`: also warn of words for missing in `columns` and of numbers for missing in
    `numbers`, because the caller did not list any. `files`: the rows come from several ones.
    """
    data = files[0] if files else data
    is_file = isinstance(data, (str, PathLike))
    where = name_of(data) if is_file else f"this {type(data).__name__}"
    where += f" and {len(files) - 1} more" if len(files) > 1 else ""
    say = of_file if is_file else of_frame
    is_text = is_file and is_text_file(data)

    def place(row: int) -> str:
        line = line_of_row(data, row, choices) if is_text and len(files) < 2 else None
        return f"row {row + 1}" if line is None else f"line {line}"

    if with_words:
        warn_of_missing_words(columns, where, say, blanks=is_text)
        warn_of_missing_codes(numbers, where, say)
    spaced = {c.variable.name: pair for c in columns if (pair := _spaced_twins(c)) is not None}
    if spaced and is_text:
        shown = some(f"{name!r} ({a!r}, {b!r})" for name, (a, b) in spaced.items())
        warn(
            f"{where}: labels that differ only by spaces around them or by capital letters are "
            f"different states, in {shown}: write them alike if they mean the same"
        )
    with_signs = {c.variable.name: _signed_number(c, is_text) for c in columns}
    signed = {name: text for name, text in with_signs.items() if text is not None}
    if signed:
        shown = some(f"{name!r} ({text})" for name, text in signed.items())
        warn(
            f"{where}: numbers beside other signs stand in {shown}, which are read as labels: take "
            f"out the signs, or say {say(categorical=list(signed))} if these are labels"
        )
    if with_words and not is_text:
        _warn_of_number_texts(columns, where, say)
    if is_text and (row := find_header_row(columns, len(numbers))) is not None:
        held = some(repr(c.variable.states[k]) for c in columns if (k := _code(c, row)) is not None)
        warn(
            f"{where}: {place(row)} holds labels that occur in no other row ({held}): if it names "
            f"the columns, delete what stands above it; if it holds units or the like, delete it"
        )
        return
    misfits = {c.variable.name: found for c in columns if (found := find_misfits(c)) is not None}
    if misfits:
        labels = list(dict.fromkeys(label for each in misfits.values() for label in each.labels))
        mend = {"missing": labels[:MOST_LISTED]}  # texts of other sources are never numbers
        mend |= {} if is_text else {"continuous": list(misfits)}
        more = f" and {len(labels) - MOST_LISTED:,} more" if len(labels) > MOST_LISTED else ""
        warn(
            f"{where}: a few values that are no numbers make labels of all numbers in "
            f"{_shown(misfits, place)}: correct them, or say {say(**mend)}{more} if they mean "
            f"missing, or {say(categorical=list(misfits))} if all are labels"
        )


def _warn_of_number_texts(columns: Sequence[Column], where: str, say: Callable[..., str]) -> None:
    """Warn of numbers that a dataframe holds as texts; in a text file they would be numbers."""
    texts = {c.variable.name: c.variable.states[0] for c in columns if _are_number_texts(c)}
    if texts:
        shown = some(f"{name!r} ({text!r})" for name, text in texts.items())
        warn(
            f"{where}: numbers written as texts stand in {shown}, which are read as labels: say "
            f"{say(continuous=list(texts))} if they are numbers, "
            f"{say(categorical=list(texts))} if they are labels"
        )


def _shown(misfits: dict[str, Misfits], place: Callable[[int], str]) -> str:
    return some(
        f"{name!r} ({plural(each.n_numbers, 'number')} and {plural(each.n_rows, 'other value')}, "
        f"the first {each.first!r:.40} in {place(each.row)})"
        for name, each in misfits.items()
    )


def find_header_row(columns: Sequence[Column], n_columns: int) -> int | None:
    """The first row with values, if it probably names the columns; None if it does not.

    Then no column of the table is one of numbers, and each label of the row occurs in no other one,
    though labels of other rows come back, or are numbers.
    """
    if n_columns < 2 or len(columns) < n_columns:
        return None
    if any(c.variable.kind != "categorical" or c.variable.cuts is not None for c in columns):
        return None
    first = [c.data[:TOP_ROWS] < c.variable.n_states for c in columns]
    row = int(np.logical_or.reduce(first).argmax())
    heads = [c for c in columns if _code(c, row) is not None]
    return row if len(heads) > 1 and all(_is_head(c, row) for c in heads) else None


def _code(column: Column, row: int) -> int | None:
    """The position of the state in a row; None where it is missing."""
    code = int(column.data[row])
    return code if code < column.variable.n_states else None


def _is_head(column: Column, row: int) -> bool:
    """Whether the label of a row stands there alone, among numbers or labels that come back."""
    variable, codes = column
    states = list(variable.states)
    head = states.pop(int(codes[row]))
    n_others = int((codes < variable.n_states).sum()) - 1
    if parse_number(head) is not None or not states or np.sum(codes == codes[row]) > 1:
        return False
    return ROWS_PER_LABEL * len(states) <= n_others or (
        len(states) > NUMBERS_PER_MISFIT and all(map(is_number, states))
    )


def find_misfits(column: Column) -> Misfits | None:
    """Values that are no numbers, if they are few and the numbers would not be labels anyway."""
    variable, codes = column
    if variable.kind != "categorical" or variable.n_states <= NUMBERS_PER_MISFIT:
        return None
    most = variable.n_states // (NUMBERS_PER_MISFIT + 1) + len(MISSING_WORDS)
    others = (k for k, label in enumerate(variable.states) if parse_number(label) is None)
    strange = list(islice(others, most + 1))  # of labels of all kinds, these come soon
    if not strange or len(strange) > most:
        return None
    words = words_for_missing(variable.states)
    odd = [k for k in strange if variable.states[k] not in words]
    skipped = set(strange)
    numbers = [variable.states[k].strip() for k in range(variable.n_states) if k not in skipped]
    if not odd or len(numbers) < NUMBERS_PER_MISFIT * len(odd) or _are_labels(numbers):
        return None
    is_odd = np.isin(codes, odd)
    row = int(is_odd.argmax())
    n_other = int(np.isin(codes, [*strange, variable.n_states]).sum())
    return Misfits(
        [variable.states[k] for k in odd],
        int(is_odd.sum()),
        len(codes) - n_other,
        row,
        variable.states[int(codes[row])],
    )


def _are_number_texts(column: Column) -> bool:
    """Whether all states are numbers that a text file would have read as numbers."""
    variable = column.variable
    if variable.kind != "categorical" or variable.cuts is not None or not variable.states:
        return False
    return all(map(is_number, variable.states)) and not _are_labels(variable.states)


def _spaced_twins(column: Column) -> tuple[str, str] | None:
    """Two states that differ only by spaces around them or by the case of a word."""
    seen: dict[str, str] = {}
    for state in column.variable.states:
        plain = state.strip()
        other = seen.setdefault(plain.casefold() if len(plain) >= SHORTEST_WORD else plain, state)
        if other is not state:
            return other, state
    return None


def _signed_number(column: Column, is_text: bool) -> str | None:
    """The first state, if all are many numbers with a sign of money or percent, or with spaces.

    In dataframes commas between digits are such signs too; text files have their own rule.
    """
    states = column.variable.states
    if len(states) <= MAX_INTEGER_STATES or column.variable.cuts is not None:
        return None
    words: set[str] | None = None
    for state in states:  # of labels the first tells
        if SIGNED.fullmatch(state.strip()) is None:
            words = set(words_for_missing(states)) if words is None else words
            if state not in words:
                return None
    numbers = [state for state in states if not (words and state in words)]
    plain = re.compile(r"[\d.,+-]+" if is_text else r"[\d.+-]+")
    signed = [state for state in numbers if plain.fullmatch(state.strip()) is None]
    return signed[0] if signed and (len(signed) == len(numbers) or not is_text) else None


def _are_labels(numbers: Iterable[str]) -> bool:
    """Whether a column of these texts would be labels: few whole numbers, or texts like 01."""
    texts = list(numbers)
    if not all(map(is_number, texts)):
        return True
    values = {float(text) for text in texts}
    return len(values) <= MAX_INTEGER_STATES and all(x == np.floor(x) for x in values)
