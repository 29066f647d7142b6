"""Warnings about labels and numbers that probably mean missing, such as NA or -999."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import MAX_INTEGER_STATES, Column
from jensen.data.variable import is_number, label_text, parse_number, sort_naturally
from jensen.exceptions import warn
from jensen.support.text import some
from jensen.support.wording import Say, of_file

_OF_SPREADSHEETS = {"#n/a", "#na", "#nv", "#n/d", "#div/0!", "#ref!", "#name?", "#null!"} | {
    *("#value!", "#wert!", "#valeur!", "#num!", "#zahl!", "#nombre!")
}
BESIDE_LABELS = _OF_SPREADSHEETS | {
    *("na", "n/a", "n.a.", "<na>", "nan", "-nan", "null", "(null)", "\\n", "?", "missing")
}
"""Words for missing that are seldom labels, in lower case; `none` and `-` often are labels."""

MISSING_WORDS = BESIDE_LABELS | {"", "none", "nil", "unknown", "-", "--", "\u2013", ".", "*"}
"""Words for missing in a column of numbers."""

LONGEST = 12
"""The longest word for missing, with spaces around it; longer labels are skipped."""

NINES = frozenset(
    sign * float(f"{'9' * whole}.{'9' * decimals}0")
    for whole in range(1, 10)
    for decimals in range(3)
    for sign in (1.0, -1.0)
    if sign < 0.0 or whole > 1
)
"""Numbers that stand for missing in many files: -9, -99, -999.9, 99, 9999, 99999, ..."""

FEWEST_TIMES = 3
"""A number that occurs less often is not reported."""


class Code(NamedTuple):
    """A number that probably means missing."""

    value: float
    times: int
    least: float  # of the other numbers in the column
    most: float


def warn_of_missing_words(
    columns: Iterable[Column], where: str, say: Say = of_file, *, blanks: bool = False
) -> None:
    """Warn if states of these columns are words for missing; they stay labels.

    `say` writes keywords as the caller would write them; `blanks`: spaces alone are such words.
    """
    found = {
        column.variable.name: words_for_missing(column.variable.states, blanks=blanks)
        for column in columns
    }
    found = {name: words for name, words in found.items() if words}
    if not found:
        return
    words = sort_naturally(word for each in found.values() for word in each)
    shown = some(
        f"{name!r} ({', '.join(word if word.strip() else repr(word) for word in each)})"
        for name, each in found.items()
    )
    warn(
        f"{where}: labels that may mean missing are read as states, in {shown}: if they mean "
        f"missing, say {say(missing=words)}; if they are labels, say {say(missing=[])}"
    )


def warn_of_missing_codes(columns: Iterable[Column], where: str, say: Say = of_file) -> None:
    """Warn of numbers that probably mean missing, such as -999; they stay numbers."""
    found = {column.variable.name: find_codes(_numbers(column)) for column in columns}
    if text := show_codes(found):
        labels = sort_naturally({label_text(x.value) for codes in found.values() for x in codes})
        warn(
            f"{where}: {text}: if they mean missing, say {say(missing=labels)}; if they are "
            f"numbers, say {say(missing=[])}"
        )


def show_codes(found: dict[str, list[Code]]) -> str:
    """A text about numbers that probably mean missing; empty if there are none."""
    shown = some(
        f"{name!r} ({', '.join(f'{x.value:g}, {x.times:,} times' for x in codes)}, beside "
        f"{codes[0].least:g} to {codes[0].most:g})"
        for name, codes in found.items()
        if codes
    )
    return f"numbers that may mean missing are read as they stand, in {shown}" if shown else ""


def find_codes(values: NDArray[np.float64]) -> list[Code]:
    """Numbers made of nines that occur several times and lie apart from all others.

    Apart: further away than the range of the others, or the only ones below 0.
    """
    if not {float(np.fmin.reduce(values, initial=np.inf)),
            float(np.fmax.reduce(values, initial=-np.inf))} & NINES:  # fmt: skip
        return []
    is_odd = np.isin(values, list(NINES))
    rest = values[~is_odd & ~np.isnan(values)]
    least, most = (float(rest.min()), float(rest.max())) if len(rest) else (0.0, 0.0)
    found, times = np.unique(values[is_odd], return_counts=True)
    return [
        Code(value, n, least, most)
        for value, n in zip(found.tolist(), times.tolist(), strict=True)
        if n >= FEWEST_TIMES
        and most > least
        and (max(least - value, value - most) > most - least or value < 0.0 <= least)
    ]


def _numbers(column: Column) -> NDArray[np.float64]:
    """The values of a column of numbers; empty for a column of labels."""
    variable, data = column
    if variable.kind != "categorical":
        return np.asarray(data, np.float64)
    if variable.n_states > MAX_INTEGER_STATES + 2 or variable.cuts is not None:
        return np.empty(0)
    numbers = [parse_number(state) for state in variable.states]
    if None in numbers or not NINES.intersection(numbers):
        return np.empty(0)
    return np.asarray(np.array([*numbers, np.nan], np.float64)[data])


def words_for_missing(states: Sequence[str], *, blanks: bool = False) -> list[str]:
    """The states that are words for missing; beside numbers there are more of them."""
    words = [s for s in states if len(s) <= LONGEST and _plain(s) in MISSING_WORDS]
    if words and all(is_number(s.strip()) for s in states if s not in words):
        return words if len(words) < len(states) else _sure(words, blanks)
    return _sure(words, blanks)


def _sure(words: Sequence[str], blanks: bool) -> list[str]:
    return [x for x in words if _plain(x) in BESIDE_LABELS or (blanks and not _plain(x))]


def _plain(label: str) -> str:
    return label.strip().casefold()
