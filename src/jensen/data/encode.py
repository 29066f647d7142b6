"""From an Arrow column to a Jensen column: which kind it is, which states it has, its codes."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.scan import Raw, Scan, labels_of, merge_numbers, occurring, scan_column
from jensen.data.variable import (
    EXACT,
    Kind,
    Variable,
    canonical,
    label_text,
    match_labels,
    parse_number,
    sort_naturally,
)
from jensen.exceptions import DataError
from jensen.support.text import some
from jensen.support.wording import option

MAX_INTEGER_STATES = 20
"""Whole numbers with more distinct values than this are counts, not categories."""


class Column(NamedTuple):
    """A variable and its rows: codes (missing is n_states), or floats (missing is NaN)."""

    variable: Variable
    data: NDArray[np.unsignedinteger] | NDArray[np.float64]

    def missing(self) -> NDArray[np.bool_]:
        """Which rows are missing."""
        if self.variable.kind == "categorical":
            return np.asarray(self.data == self.variable.n_states)
        return np.isnan(self.data)


def encode(
    raw: Raw, kind: Kind | None, states: Sequence[str] | None, missing: Collection[str]
) -> Column:
    """Encode one column; `kind` and `states` are the caller's word, which overrides all."""
    scan = scan_column(raw, missing, keep_texts=states is not None)
    if states is not None:
        kind = kind or "categorical"
    if kind is None:
        kind = "categorical" if raw.declared is not None else _infer(scan)
    if kind == "categorical":
        return _categorical(raw, scan, states, missing)
    return _numeric(raw.name, scan, kind)


def smallest_code_type(n_states: int) -> type[np.unsignedinteger]:
    """Codes run to n_states, which stands for missing."""
    for dtype in (np.uint8, np.uint16):
        if n_states <= np.iinfo(dtype).max:
            return dtype
    return np.uint32


def _infer(scan: Scan) -> Kind:
    if scan.numbers is None:
        return "categorical"
    numbers = scan.numbers if scan.codes is None else scan.numbers[occurring(scan)]
    numbers = numbers[~np.isnan(numbers)]
    if np.any(np.abs(numbers) > EXACT) or np.any(numbers != np.floor(numbers)):
        return "continuous"
    if len(numbers) <= MAX_INTEGER_STATES or len(np.unique(numbers)) <= MAX_INTEGER_STATES:
        return "categorical"
    return "count" if numbers.min() >= 0 else "continuous"


def _categorical(
    raw: Raw, scan: Scan, states: Sequence[str] | None, missing: Collection[str]
) -> Column:
    if scan.codes is None:  # many distinct numbers, and the caller wants labels
        assert scan.numbers is not None
        scan = merge_numbers(scan.numbers, np.arange(len(scan.numbers), dtype=np.int32))
    labels, used = labels_of(scan), occurring(scan)
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
            f"{some(map(repr, declared))}: declare them, or list them in missing=[...]"
        )
    n_states = len(declared)
    lookup = np.full(len(labels) + 1, n_states, smallest_code_type(n_states))
    lookup[:-1][used] = np.array(position)[used]
    return Column(Variable(raw.name, "categorical", declared), lookup[scan.codes])


def _numeric(name: str, scan: Scan, kind: Kind) -> Column:
    if scan.numbers is None:
        scan = _texts_to_numbers(name, scan, kind)
    assert scan.numbers is not None
    values = scan.numbers
    if scan.codes is not None:
        values = np.append(values, np.nan)[scan.codes]
    if kind == "count":
        check_counts(name, values)
    return Column(Variable(name, kind), np.ascontiguousarray(values, np.float64))


def check_counts(name: str, values: NDArray[np.float64]) -> None:
    """Refuse what no count can be."""
    wrong = ~np.isnan(values) & ((values < 0) | (values > EXACT) | (values != np.floor(values)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"column {name!r} cannot be counts: row {row + 1} holds "
            f"{label_text(float(values[row]))}, and a count is a whole number from 0 to 2**53"
        )


def _texts_to_numbers(name: str, scan: Scan, kind: Kind) -> Scan:
    assert scan.texts is not None
    assert scan.codes is not None
    return Scan(None, numbers_of(name, kind, scan.texts, occurring(scan), scan.codes), scan.codes)


def numbers_of(
    name: str,
    kind: Kind,
    texts: Sequence[str],
    used: NDArray[np.int64],
    codes: NDArray[np.integer],
) -> NDArray[np.float64]:
    """The texts that some row holds as numbers, or an error that names the first such row."""
    numbers, plural = np.full(len(texts), np.nan), "counts" if kind == "count" else kind
    for k in used:
        number = parse_number(texts[k])
        if number is None:
            row = int(np.argmax(codes == k)) + 1
            raise DataError(
                f"column {name!r} cannot be {plural}: row {row} holds {texts[k]!r}, which is "
                f"no number; if it means missing, say {option('missing', [texts[k]])}"
            )
        numbers[k] = number
    return numbers
