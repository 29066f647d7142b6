"""Numbers that are read as labels: a few of the column are none, or signs stand beside them."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from jensen.data.decimals import NUMBERS_PER_MISFIT
from jensen.data.encode import MAX_INTEGER_STATES, Column
from jensen.data.files import is_text_file, line_of_row, name_of
from jensen.data.missing_words import (
    MISSING_WORDS,
    warn_of_missing_codes,
    warn_of_missing_words,
    words_for_missing,
)
from jensen.data.separators import TextChoices
from jensen.data.variable import is_number, parse_number
from jensen.exceptions import warn
from jensen.support.text import plural, some
from jensen.support.wording import of_file, of_frame

MOST_LISTED = 8

SHORTEST_WORD = 3
"""Letters in labels that mean the same whatever their case; Aa and aA may be genotypes."""

_AMOUNT = r"[+-]?(?:\d{1,3}(?:[ \u00a0\u202f'.,]\d{3})+|\d+)(?:[.,]\d+)?"
SIGNED = re.compile(rf"[$€£¥]?\s*{_AMOUNT}\s*(?:[%$€£¥]|EUR|USD|GBP|CHF)?")
"""Amounts of money, shares in percent, and numbers with spaces after thousands."""


class Misfits(NamedTuple):
    """What is no number in a column that holds numbers else."""

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
) -> None:
    """Warn of labels in columns of a file or dataframe that were probably meant otherwise.

    `with_words`: also of words for missing, of which nothing was said, and in `numbers` of numbers.
    """
    is_file = isinstance(data, (str, PathLike))
    where = name_of(data) if is_file else f"this {type(data).__name__}"
    say = of_file if is_file else of_frame
    is_text = is_file and is_text_file(data)

    def place(row: int) -> str:
        line = line_of_row(data, row, choices) if is_text else None
        return f"row {row + 1}" if line is None else f"line {line}"

    if with_words:
        warn_of_missing_words(columns, where, say)
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
    told = {c.variable.name: found for c in columns if (found := find_misfits(c)) is not None}
    if told:
        labels = list(dict.fromkeys(label for each in told.values() for label in each.labels))
        mend = {"missing": labels[:MOST_LISTED]}  # texts of other sources are never numbers
        mend |= {} if is_text else {"continuous": list(told)}
        more = f" and {len(labels) - MOST_LISTED:,} more" if len(labels) > MOST_LISTED else ""
        warn(
            f"{where}: a few values that are no numbers make labels of all numbers in "
            f"{_shown(told, place)}: correct them, or say {say(**mend)}{more} if they mean "
            f"missing, or {say(categorical=list(told))} if all are labels"
        )


def _shown(told: dict[str, Misfits], place: Callable[[int], str]) -> str:
    return some(
        f"{name!r} ({plural(each.n_numbers, 'number')} and {plural(each.n_rows, 'other value')}, "
        f"the first {each.first!r:.40} in {place(each.row)})"
        for name, each in told.items()
    )


def find_misfits(column: Column) -> Misfits | None:
    """What is no number, if there is little of it, and the numbers are no labels themselves."""
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


def _spaced_twins(column: Column) -> tuple[str, str] | None:
    """Two states that are the same but for spaces around them, or for capitals in a word."""
    seen: dict[str, str] = {}
    for state in column.variable.states:
        plain = state.strip()
        other = seen.setdefault(plain.casefold() if len(plain) >= SHORTEST_WORD else plain, state)
        if other is not state:
            return other, state
    return None


def _signed_number(column: Column, is_text: bool) -> str | None:
    """The first state, if all are many numbers with a sign of money or percent, or with spaces.

    Commas between digits are such signs too, where they are no matter of a text file.
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
    """Whether texts would be labels were they all: few whole numbers, or numbers like 01."""
    texts = list(numbers)
    if not all(map(is_number, texts)):
        return True
    values = {float(text) for text in texts}
    return len(values) <= MAX_INTEGER_STATES and all(x == np.floor(x) for x in values)
