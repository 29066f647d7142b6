"""The distinct values of an Arrow column, as texts or numbers, before anything is decided."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from jensen.data.variable import EXACT, canonical, is_number, label_text, parse_number, time_text
from jensen.exceptions import DataError

ODD_NUMBER = r"^[+-]?0[0-9]|^[+]"
"""Texts that parse as numbers but are written as labels: 01, -007, +1."""

IDENTIFIER = r"^\s*-?[0-9]+\s*$"
"""Whole numbers, which stay text where they have more digits than a float."""

FEW = 4096
"""Up to this many distinct numbers a column is kept as codes into them, else row by row."""


class RawColumn(NamedTuple):
    """A column as it came from its source."""

    name: str
    values: pa.ChunkedArray
    written: bool  # from a text file: texts may be numbers
    declared: tuple[str, ...] | None = None  # states that the source lists in order

    @property
    def is_coded(self) -> bool:
        """Whether the source itself makes states of its values, texts that repeat left aside."""
        kind = self.values.type
        is_dictionary = pa.types.is_dictionary(kind) and not self.written
        return self.declared is not None or (
            is_dictionary and pa.types.is_primitive(kind.value_type)
        )


class DistinctValues(NamedTuple):
    """The distinct values of a column, as texts or numbers, and each row's position among them."""

    texts: list[str] | None
    numbers: NDArray[np.float64] | None
    codes: NDArray[np.int32] | None  # -1 is missing; None: `numbers` holds one number per row
    all_occur: bool = False  # whether every distinct value is known to stand in some row


def find_distinct(
    raw: RawColumn, missing: Collection[str], keep_texts: bool = False
) -> DistinctValues:
    """Find the distinct values; what is in `missing` becomes missing.

    `keep_texts`: texts of a file stay texts ("1.10" is not "1.1"), also where all are numbers.
    """
    return _without(_distinct(raw, keep_texts), missing)


def _distinct(raw: RawColumn, keep_texts: bool) -> DistinctValues:
    kind = raw.values.type
    if raw.written:  # whose dictionaries were made of the rows
        read = _distinct_dictionary if keep_texts else _distinct_written
        return read(raw.values)._replace(all_occur=True)
    if not _holds_labels(kind.value_type if pa.types.is_dictionary(kind) else kind):
        raise DataError(
            f"column {raw.name!r} holds {kind}: a column holds labels or numbers, one per row"
        )
    if pa.types.is_dictionary(kind):
        return _distinct_dictionary(raw.values)
    if _holds_numbers(raw):
        return _distinct_numbers(pc.cast(raw.values, pa.float64()))
    if pa.types.is_temporal(kind):
        distinct = _distinct_dictionary(pc.cast(raw.values, pa.string()).dictionary_encode())
        return distinct._replace(texts=[time_text(text) for text in distinct.texts or ()])
    if pa.types.is_null(kind):
        return _distinct_dictionary(pc.cast(raw.values, pa.string()).dictionary_encode())
    return _distinct_dictionary(raw.values.dictionary_encode())


def _holds_labels(kind: pa.DataType) -> bool:
    """Text, numbers, truth values and times; durations have no text, only a unit."""
    return bool(
        pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_date(kind)
        or pa.types.is_time(kind)
        or pa.types.is_timestamp(kind)
    )


def _holds_numbers(raw: RawColumn) -> bool:
    kind = raw.values.type
    if pa.types.is_integer(kind):
        bounds = pc.min_max(raw.values).as_py()
        return all(abs(bound or 0) <= EXACT for bound in bounds.values())
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _distinct_written(values: pa.ChunkedArray) -> DistinctValues:
    """Columns of a text file arrive dictionary-encoded, so only distinct texts are looked at."""
    chunks = [chunk for chunk in values.chunks if len(chunk)]
    parsed = [_parse_numbers(chunk.dictionary) for chunk in chunks]
    numbers = [part for part in parsed if part is not None]
    if len(numbers) < len(chunks) or _are_identifiers(chunks, numbers):
        return _distinct_dictionary(values)
    if sum(map(len, numbers)) > FEW:
        parts = [part.take(c.indices) for part, c in zip(numbers, chunks, strict=True)]
        return DistinctValues(None, _to_floats(pa.chunked_array(parts)), None)
    distinct = _distinct_dictionary(values)
    return merge_numbers(np.array(distinct.texts, np.float64), distinct.codes)


def _parse_numbers(texts: pa.Array) -> pa.Array | None:
    """The texts as floats; None if one of them is a label."""
    if len(texts) and parse_number(texts[0].as_py()) is None:  # a glance tells most
        return None
    texts = pc.utf8_trim_whitespace(texts)
    try:
        numbers = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        return None
    values = numbers.to_numpy(zero_copy_only=False)
    if np.isnan(values).any() or _any_match(texts, ODD_NUMBER):
        return None
    return numbers


def read_numbers(texts: pa.Array) -> NDArray[np.float64] | None:
    """Texts of a file that are all numbers, and no labels or identifiers; else None."""
    numbers = _parse_numbers(texts)
    rows = pa.DictionaryArray.from_arrays(pa.array(np.arange(len(texts), dtype=np.int32)), texts)
    if numbers is None or _are_identifiers([rows], [numbers]):
        return None
    return _to_floats(pa.chunked_array([numbers]))


def _are_identifiers(chunks: Sequence[pa.Array], numbers: Sequence[pa.Array]) -> bool:
    """Whether all are whole, and some have more digits than a float keeps."""
    values = [part.to_numpy(zero_copy_only=False) for part in numbers]
    large = [np.abs(part) > EXACT for part in values]
    if not any(part.any() for part in large):
        return False
    texts = [c.dictionary.filter(pa.array(k)) for c, k in zip(chunks, large, strict=True)]
    whole = all(np.all(part == np.floor(part)) for part in values)
    return whole and any(_any_match(part, IDENTIFIER) for part in texts)


def _any_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _distinct_dictionary(values: pa.ChunkedArray) -> DistinctValues:
    unified = values.unify_dictionaries()
    codes = _to_codes([chunk.indices for chunk in unified.chunks])
    labels = unified.chunks[0].dictionary.to_pylist() if unified.num_chunks else []
    gone = [label is None or label != label for label in labels]  # null or NaN in the dictionary
    if any(gone):
        codes = np.where(np.array([*gone, True])[codes], np.int32(-1), codes)
    return DistinctValues(
        ["" if g else label_text(x) for x, g in zip(labels, gone, strict=True)], None, codes
    )


def _to_codes(parts: Sequence[pa.Array]) -> NDArray[np.int32]:
    filled = [_filled(pc.cast(part, pa.int32())).to_numpy() for part in parts]
    return np.concatenate(filled) if filled else np.empty(0, np.int32)


def _filled(codes: pa.Array) -> pa.Array:
    return pc.fill_null(codes, -1) if codes.null_count else codes


def _to_floats(values: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.array(pc.fill_null(values, float("nan")).to_numpy(), np.float64)


def _distinct_numbers(values: pa.ChunkedArray) -> DistinctValues:
    """Keep distinct numbers and codes if they are few; the first rows usually decide."""
    head = pc.count_distinct(values.slice(0, 4 * FEW)).as_py()
    if head > FEW:
        return DistinctValues(None, _to_floats(values), None)
    encoded = pc.fill_null(values, float("nan")).dictionary_encode().unify_dictionaries()
    numbers = encoded.chunks[0].dictionary.to_numpy() if encoded.num_chunks else np.empty(0)
    return merge_numbers(numbers, _to_codes([chunk.indices for chunk in encoded.chunks]))


def merge_numbers(numbers: NDArray[np.float64], codes: NDArray[np.int32] | None) -> DistinctValues:
    """Texts that are the same number ("1", "1.0") become one; NaN becomes missing."""
    known = ~np.isnan(numbers)
    distinct, position = np.unique(numbers[known] + 0.0, return_inverse=True)
    lookup = np.full(len(numbers) + 1, -1, np.int32)  # the last entry is read by code -1
    lookup[:-1][known] = position
    return DistinctValues(None, distinct, lookup[codes])


def _without(distinct: DistinctValues, missing: Collection[str]) -> DistinctValues:
    """Make the labels missing that the caller lists as such."""
    if not missing:
        return distinct
    keys = {canonical(text) for text in missing}
    if distinct.codes is None and distinct.numbers is not None:
        absent = np.isin(distinct.numbers, [float(key) for key in keys if is_number(key)])
        return DistinctValues(None, np.where(absent, np.nan, distinct.numbers), None)
    assert distinct.codes is not None
    labels = labels_of(distinct)
    gone = np.array([canonical(label) in keys for label in labels] + [True])
    if not gone[:-1].any():
        return distinct
    codes = np.where(gone[distinct.codes], np.int32(-1), distinct.codes)
    return distinct._replace(codes=codes, all_occur=False)


def labels_of(distinct: DistinctValues) -> list[str]:
    """The distinct values as label texts."""
    if distinct.texts is not None:
        return distinct.texts
    assert distinct.numbers is not None
    return [label_text(float(number)) for number in distinct.numbers]


def occurring(distinct: DistinctValues) -> NDArray[np.int64]:
    """Positions of the distinct values that some row holds."""
    assert distinct.codes is not None
    if distinct.all_occur:
        return np.arange(len(labels_of(distinct)))
    seen = np.zeros(len(labels_of(distinct)) + 1, bool)
    seen[distinct.codes] = True
    return np.flatnonzero(seen[:-1])
