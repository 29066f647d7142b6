"""Columns of codes or numbers: encoded from Arrow columns, or read as the variable of a model.

Encoding decides which kind a column is and which states it has. Reading it as a model's own
variable decides nothing: labels match by their text, and numbers fall between the cuts of the
variable. Labels and numbers that probably mean missing, such as NA or -999, are warned of.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.distinct_values import (
    DistinctValues,
    RawColumn,
    find_distinct,
    labels_of,
    merge_numbers,
    occurring,
)
from jensen.data.variable import (
    EXACT,
    Kind,
    Variable,
    canonical,
    find_states,
    is_number,
    label_text,
    match_labels,
    parse_number,
    sort_naturally,
)
from jensen.exceptions import DataError, warn
from jensen.support.text import Say, of_file, option, some

MAX_INTEGER_STATES = 20
"""Whole numbers with more distinct values than this are counts, not categories."""


class Column(NamedTuple):
    """A variable and its values: codes (missing is n_states), or floats (missing is NaN)."""

    variable: Variable
    data: NDArray[np.unsignedinteger] | NDArray[np.float64]

    def missing(self) -> NDArray[np.bool_]:
        """(rows,): where the value is missing."""
        if self.variable.kind == "categorical":
            return np.asarray(self.data == self.variable.n_states)
        return np.isnan(self.data)

    def shown(self) -> NDArray[Any]:
        """(rows,): labels as text, None where one is missing; numbers, NaN where one is."""
        if self.variable.kind != "categorical":
            return self.data.copy()
        return np.asarray(np.array([*self.variable.states, None], object)[self.data])


def encode(
    raw: RawColumn, kind: Kind | None, states: Sequence[str] | None, missing: Collection[str]
) -> Column:
    """Encode one column; `kind` and `states`, if the caller gave them, override all else."""
    distinct = find_distinct(raw, missing, keep_texts=states is not None)
    if states is not None:
        kind = kind or "categorical"
    if kind is None:
        kind = "categorical" if raw.declared is not None else infer_kind(distinct)
    if kind == "categorical":
        return encode_labels(raw, distinct, states, missing)
    return _numeric(raw.name, distinct, kind)


def smallest_code_type(n_states: int) -> type[np.unsignedinteger]:
    """The smallest type for codes 0..n_states, of which the last means missing."""
    for dtype in (np.uint8, np.uint16):
        if n_states <= np.iinfo(dtype).max:
            return dtype
    return np.uint32


def infer_kind(distinct: DistinctValues) -> Kind:
    """What the values of a column make of it, where the caller did not say."""
    if distinct.numbers is None:
        return "categorical"
    numbers = distinct.numbers if distinct.codes is None else distinct.numbers[occurring(distinct)]
    numbers = numbers[~np.isnan(numbers)]
    if np.any(np.abs(numbers) > EXACT) or np.any(numbers != np.floor(numbers)):
        return "continuous"
    if len(numbers) <= MAX_INTEGER_STATES or len(np.unique(numbers)) <= MAX_INTEGER_STATES:
        return "categorical"
    return "count" if numbers.min() >= 0 else "continuous"


def encode_labels(
    raw: RawColumn, distinct: DistinctValues, states: Sequence[str] | None, missing: Collection[str]
) -> Column:
    """Encode a column of labels; the states are those that were declared, else all that occur."""
    if distinct.codes is None:  # many distinct numbers, and the caller wants labels
        assert distinct.numbers is not None
        distinct = merge_numbers(distinct.numbers, np.arange(len(distinct.numbers), dtype=np.int32))
    labels, used = labels_of(distinct), occurring(distinct)
    declared = states
    if declared is None and raw.declared is not None:
        gone = {canonical(label) for label in missing}
        declared = tuple(state for state in raw.declared if canonical(state) not in gone)
    if declared is None:
        declared = sort_naturally(labels[k] for k in used)
    declared = tuple(declared)
    position = match_labels(labels, declared)
    unknown = [labels[k] for k in used if position[k] < 0]
    if unknown:
        raise DataError(
            f"column {raw.name!r} holds {some(map(repr, unknown))}, not among its declared states "
            f"{some(map(repr, declared))}: declare them, or say {option('missing', unknown[:8])}"
        )
    assert distinct.codes is not None
    n_states = len(declared)
    lookup = np.full(len(labels) + 1, n_states, smallest_code_type(n_states))
    lookup[:-1][used] = np.array(position)[used]
    return Column(Variable(raw.name, "categorical", declared), lookup.take(distinct.codes))


def _numeric(name: str, distinct: DistinctValues, kind: Kind) -> Column:
    if distinct.numbers is None:
        distinct = _texts_to_numbers(name, distinct, kind)
    assert distinct.numbers is not None
    values = distinct.numbers
    if distinct.codes is not None:
        values = np.append(values, np.nan)[distinct.codes]
    if kind == "count":
        check_counts(name, values)
    return Column(Variable(name, kind), np.ascontiguousarray(values, np.float64))


def check_counts(name: str, values: NDArray[np.float64], before: int = 0) -> None:
    """Refuse values that are no counts: negative, fractional, or above 2**53.

    `before` rows come before these.
    """
    wrong = ~np.isnan(values) & ((values < 0) | (values > EXACT) | (values != np.floor(values)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"column {name!r} cannot be counts: row {before + row + 1} holds "
            f"{label_text(float(values[row]))}, and a count is a whole number from 0 to 2**53"
        )


def _texts_to_numbers(name: str, distinct: DistinctValues, kind: Kind) -> DistinctValues:
    assert distinct.texts is not None
    assert distinct.codes is not None
    return DistinctValues(
        None,
        numbers_of(name, kind, distinct.texts, occurring(distinct), _first_of(distinct.codes)),
        distinct.codes,
    )


def numbers_of(
    name: str,
    kind: Kind,
    texts: Sequence[str],
    used: NDArray[np.int64],
    first_row: Callable[[int], int],
) -> NDArray[np.float64]:
    """The texts that occur, as numbers; an error names the first row whose text is no number.

    `first_row` finds the first row, from 0, that holds the text at a position.
    """
    numbers, plural = np.full(len(texts), np.nan), "counts" if kind == "count" else kind
    for k in used:
        number = parse_number(texts[k])
        if number is None:
            row = first_row(int(k)) + 1
            raise DataError(
                f"column {name!r} cannot be {plural}: row {row} holds {texts[k]!r}, which is "
                f"no number; if it means missing, say {option('missing', [texts[k]])}"
            )
        numbers[k] = number
    return numbers


def _first_of(codes: NDArray[np.integer]) -> Callable[[int], int]:
    """The first row of a code."""
    return lambda k: int(np.argmax(codes == k))


def recode(column: Column, target: Variable) -> tuple[Column, NDArray[np.bool_]]:
    """The column as `target`, and the rows with an unknown label (coded as missing)."""
    source = column.variable
    if source == target:
        return column, np.zeros(len(column.data), bool)
    if target.kind == "categorical":
        if target.cuts is not None and source.kind != "categorical":
            return cut(column, target), np.zeros(len(column.data), bool)
        return _to_states(column, target)
    return _to_numbers(column, target), np.zeros(len(column.data), bool)


def cut(column: Column, target: Variable) -> Column:
    """Continuous values as states of a discretised variable."""
    codes = np.searchsorted(np.array(target.cuts, np.float64), column.data, side="left")
    codes[column.missing()] = target.n_states
    return Column(target, codes.astype(smallest_code_type(target.n_states)))


def _to_states(column: Column, target: Variable) -> tuple[Column, NDArray[np.bool_]]:
    if column.variable.kind == "categorical":
        labels, codes = list(column.variable.states), column.data
    else:
        numbers, codes = np.unique(column.data, return_inverse=True)  # NaN, if any, comes last
        labels = [label_text(float(x)) for x in numbers if not np.isnan(x)]
    position = np.array([*find_states(target, labels), target.n_states])
    unknown = position < 0
    codes_type = smallest_code_type(target.n_states)
    lookup = np.where(unknown, target.n_states, position).astype(codes_type)
    return Column(target, lookup[codes]), unknown[codes]


def _to_numbers(column: Column, target: Variable) -> Column:
    values = np.asarray(column.data, np.float64)
    if column.variable.kind == "categorical":
        states, codes = column.variable.states, column.data.astype(np.int64)
        used = np.unique(codes[~column.missing()])
        numbers = numbers_of(target.name, target.kind, states, used, _first_of(codes))
        values = np.append(numbers, np.nan)[codes]
    if target.kind == "count":
        check_counts(target.name, values)
    return Column(target, values)


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
    if not any(found.values()):
        return ""
    shown = some(
        f"{name!r} ({', '.join(f'{x.value:g}, {x.times:,} times' for x in codes)}, beside "
        f"{codes[0].least:g} to {codes[0].most:g})"
        for name, codes in found.items()
        if codes
    )
    return f"numbers that may mean missing are read as they stand, in {shown}"


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
