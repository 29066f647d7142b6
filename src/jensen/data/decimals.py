"""Numbers with a decimal comma, as most of Europe writes them."""

from collections.abc import Collection
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jensen.exceptions import DataError, warn
from jensen.support.text import some
from jensen.support.wording import option

EXPONENT = r"(?:[eE][+-]?[0-9]+)?\s*$"
WHOLE = r"^\s*[+-]?[0-9]+" + EXPONENT
COMMA = r"^\s*[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)" + EXPONENT
POINT = r"^\s*[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)" + EXPONENT
GROUPED = (
    r"^\s*[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]*)?)\s*$"
)
"""Thousands stand apart: 1,234,567.8 or 1.234.567,8; also 1,234, which may be a little over 1."""

THOUSANDS = r"^\s*[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]*)?\s*$"
"""Points after thousands; 1.234 may be a little over 1, unless a comma or a point follows."""

BOTH = r"\..*[.,]"

NUMBERS_PER_MISFIT = 10
"""A text that is no number beside so many distinct numbers is probably a slip."""


class DecimalTexts(NamedTuple):
    """The distinct texts of a column that holds nothing but numbers, by how they are written."""

    commas: pa.Array  # a decimal comma, or a comma after thousands
    points: pa.Array  # a decimal point, or points after thousands
    is_decimal_comma: bool  # all are whole or have one comma
    is_unclear: bool  # all that have a comma may be thousands
    is_mixed: bool  # some have a decimal comma, others a point
    has_thousands: bool  # a decimal comma, and points after thousands, beyond doubt


def read_decimals(
    table: pa.Table, decimal: str | None, neutral: Collection[str], where: str
) -> pa.Table:
    """Columns of numbers with a decimal comma as columns of numbers with a point.

    Parameters
    ----------
    table
        Dictionary-encoded texts.
    decimal
        "," or "."; None: column by column what all its numbers allow, and a warning says so.
    neutral
        Texts that stand for missing, so they do not make a column of numbers one of labels.
    where
        The file, for messages.
    """
    changed: dict[str, str] = {}
    unclear: dict[str, str] = {}
    mixed: dict[str, str] = {}
    pointed: dict[str, str] = {}
    for k, name in enumerate(table.column_names if decimal != "." else ()):
        found = _look(table[name], neutral, always=decimal is not None)
        if found is None:
            if decimal is None and (example := _may_be_thousands(table[name], neutral)):
                pointed[name] = example
            continue
        if decimal == "," and len(found.points) and not found.has_thousands:
            raise DataError(
                f"{where}: {option('decimal', ',')} was said, but column {name!r} holds "
                f"{found.points[0].as_py()!r}: take out points between thousands, or leave "
                f"decimal out if the columns are written in different ways"
            )
        if not len(found.commas) and not found.has_thousands:
            continue
        example = (found.commas if len(found.commas) else found.points)[0].as_py().strip()
        is_clear = found.is_decimal_comma and (decimal == "," or not found.is_unclear)
        if is_clear or found.has_thousands:
            changed[name] = example
            table = table.set_column(k, name, _with_points(table[name]))
        elif not found.is_mixed or found.is_unclear:
            unclear[name] = example
        elif len(found.commas) * NUMBERS_PER_MISFIT > len(found.points):  # else they are slips
            mixed[name] = f"{example} and {found.points[0].as_py().strip()}"
    if decimal is None:
        _tell(changed, unclear, mixed, where)
        if pointed and (changed or mixed):
            warn(
                f"{where}: beside decimal commas, the points in {_columns(pointed)} may separate "
                f"thousands, and are read as they stand: take the points out if they do, or write "
                f"commas in their place"
            )
    return table


def refuse_commas_of_both_kinds(separator: str, decimal: str | None, where: str) -> None:
    """Refuse a decimal comma where commas separate fields, and no number is quoted."""
    if separator == decimal == ",":
        raise DataError(
            f"{where}: {option('decimal', ',')} was said, but commas separate the fields, and no "
            f"number with one is in quotes: leave decimal out if decimals follow a point, or write "
            f"the file with another separator, such as ';'"
        )


def _look(column: pa.ChunkedArray, neutral: Collection[str], always: bool) -> DecimalTexts | None:
    """How the numbers of a column are written; None if it holds labels, or no comma."""
    parts = [chunk.dictionary for chunk in column.chunks]
    if not always and not any(pc.any(pc.match_substring(p, ",")).as_py() for p in parts):
        return None
    texts = pc.unique(pa.chunked_array(parts, pa.string()))
    words = pa.array(sorted({text.strip().casefold() for text in neutral} | {""}), pa.string())
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    texts = texts.filter(pc.invert(pc.is_in(plain, words)))
    whole, comma, point, grouped = (
        pc.match_substring_regex(texts, pattern) for pattern in (WHOLE, COMMA, POINT, GROUPED)
    )
    if not pc.all(pc.or_(pc.or_(whole, comma), pc.or_(point, grouped))).as_py():
        return None
    commas = texts.filter(pc.match_substring(texts, ","))
    thousands = pc.match_substring_regex(texts, THOUSANDS)
    is_plain = bool(pc.all(pc.or_(pc.or_(whole, comma), thousands)).as_py())
    return DecimalTexts(
        commas,
        texts.filter(pc.match_substring(texts, ".")),
        is_decimal_comma=bool(pc.all(pc.or_(whole, comma)).as_py()),
        is_unclear=bool(pc.all(pc.match_substring_regex(commas, GROUPED)).as_py()),
        is_mixed=bool(pc.all(pc.or_(pc.or_(whole, comma), point)).as_py()),
        has_thousands=is_plain and bool(pc.any(pc.match_substring_regex(texts, BOTH)).as_py()),
    )


def _may_be_thousands(column: pa.ChunkedArray, neutral: Collection[str]) -> str | None:
    """A number with a point, if every point of the column stands before three digits."""
    parts = [chunk.dictionary for chunk in column.chunks]
    texts = pc.unique(pa.chunked_array(parts, pa.string()))
    known = {text.strip().casefold() for text in neutral} | {""}
    pointed = texts.filter(pc.match_substring(texts, "."))
    others = texts.filter(pc.invert(pc.match_substring(texts, "."))).to_pylist()
    are_numbers = pc.all(pc.match_substring_regex(pointed, THOUSANDS)).as_py()
    if not len(pointed) or not are_numbers:
        return None
    if not all(text.strip().casefold() in known or text.strip().isdigit() for text in others):
        return None
    return str(pointed[0].as_py()).strip()


def _with_points(column: pa.ChunkedArray) -> pa.ChunkedArray:
    chunks = []
    for chunk in column.chunks:
        texts = chunk.dictionary
        plain = pc.replace_substring(texts, ".", "")
        texts = pc.if_else(pc.match_substring_regex(texts, THOUSANDS), plain, texts)
        points = pc.replace_substring(texts, ",", ".")
        texts = pc.if_else(pc.match_substring_regex(texts, COMMA), points, texts)
        chunks.append(pa.DictionaryArray.from_arrays(chunk.indices, texts))
    return pa.chunked_array(chunks, column.type)


def _tell(
    changed: dict[str, str], unclear: dict[str, str], mixed: dict[str, str], where: str
) -> None:
    """Say once which columns were read with a decimal comma, and which are not clear."""
    texts = []
    if changed:
        texts.append(
            f"numbers with a decimal comma stand in {_columns(changed)}, which are read as "
            f"numbers: say {option('decimal', ',')} if that is right, {option('decimal', '.')} "
            f"to keep them as labels"
        )
    if unclear:
        texts.append(
            f"numbers whose commas may separate thousands stand in {_columns(unclear)}, which are "
            f"read as labels: take out what separates thousands, and say "
            f"{option('decimal', ',')} if the commas separate decimals, or "
            f"{option('decimal', '.')} if these are labels"
        )
    if mixed:
        texts.append(
            f"numbers with a decimal comma and numbers with a point stand in {_columns(mixed)}, "
            f"which are read as labels: write all of them alike, or say {option('decimal', '.')} "
            f"if these are labels"
        )
    if texts:
        warn(f"{where}: {'; '.join(texts)}")


def _columns(found: dict[str, str]) -> str:
    return some(f"{name!r} ({example})" for name, example in found.items())
