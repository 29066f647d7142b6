"""The dialect of a text file: its separator and its decimal sign, found where not given."""

import csv
import io
import re
from collections.abc import Collection, Sequence
from itertools import dropwhile, islice
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jensen.exceptions import DataError, FileError, warn
from jensen.support.text import option, some

SEPARATORS = ",;\t|"
"""Possible separators, the most usual first."""

SELDOM = " :^~"
"""Separators of some files, which also occur in names and texts."""

SAMPLE_BYTES = 1 << 16
SAMPLE_ROWS = 30
"""How much of a file is read to choose between separators."""


class TextChoices(NamedTuple):
    """How a text file is written; None where the file itself tells."""

    separator: str | None = None
    decimal: str | None = None
    usual: str | None = None  # the usual separator of files of this kind

    def check(self) -> None:
        """Refuse what cannot be a separator or a decimal sign."""
        sign, decimal = self.separator, self.decimal
        if sign is not None and not (
            isinstance(sign, str) and len(sign) == 1 and sign.isascii() and sign not in '"\r\n\0'
        ):
            raise DataError(
                f"separator must be one character that stands between fields, such as ';', "
                f"not {sign!r}"
            )
        if decimal not in (None, ".", ","):
            raise DataError(f"decimal must be '.' or ',', not {decimal!r}")

    def refuse_for(self, what: str) -> None:
        """Refuse these choices for a source that is no text file."""
        for name in ("separator", "decimal"):
            if getattr(self, name) is not None:
                raise DataError(f"{name} is for text files (CSV, TSV), and {what} is none")


AS_IT_TELLS = TextChoices()

NAMED = re.compile(rb"sep=([^\w\"\r\n\0\x80-\xff])\1*[ \t]*(?:\r\n|\r|\n|\Z)", re.IGNORECASE)
"""A first line that names the separator for spreadsheets."""

QUOTED_NAMES = re.compile(r'"[^"]*"(?: "[^"]*")+')
"""A header whose names are in quotes, with spaces between them."""


class NamedSeparator(NamedTuple):
    """The separator that a first line such as `sep=;` names."""

    separator: str
    stop: int  # where the header starts, in bytes


def read_named_separator(
    content: pa.Buffer, start: int, said: str | None, where: str
) -> NamedSeparator | None:
    """Read a first line such as `sep=;`, which spreadsheets write; None if there is none.

    Parameters
    ----------
    content, start
        The text, and the byte at which its first line begins.
    said
        The separator that the caller gave. If the line names another one, it is refused.
    where
        How messages name the file.
    """
    found = NAMED.match(content, start)
    if found is None:
        return None
    named = found.group(1).decode()
    if said is not None and said != named:
        raise DataError(
            f"{where}, line 1: sep={named} names the separator {named!r}, but "
            f"{option('separator', said)} was said: leave that out, or correct the line"
        )
    return NamedSeparator(named, found.end())


def find_separator(content: pa.Buffer, start: int, usual: str, spaces: bool = False) -> str:
    """Find the separator for which most of the first rows have as many fields as the header.

    Parameters
    ----------
    content, start
        The text, and the byte at which its header begins.
    usual
        What is returned if the header holds no possible separator.
    spaces
        Whether a space may be the separator, if nothing else is.
    """
    first = re.compile(rb"[^\r\n]*").match(content, start)
    line = first.group() if first else b""
    if b'"' not in line:
        held = [mark for mark in SEPARATORS if mark.encode() in line]
        if len(held) <= 1 and not (spaces and not held):
            return held[0] if held else usual
    sample = content[start : start + SAMPLE_BYTES].to_pybytes()
    is_cut = start + SAMPLE_BYTES < content.size
    text = sample.decode("utf-8", errors="replace")
    shapes = {mark: _field_counts(text, mark, is_cut) for mark in SEPARATORS}
    wide = [mark for mark, counts in shapes.items() if counts[0] > 1]
    if wide:
        # In a tie it is no comma: these stand in names and decimals, the others hardly ever do.
        return max(wide, key=lambda m: (_share_alike(shapes[m]), m != ",", shapes[m][0]))
    return " " if spaces and _field_counts(text, " ", is_cut)[0] > 1 else usual


def _field_counts(text: str, separator: str, is_cut: bool) -> list[int]:
    """How many fields the first records have, the header first; [0] if it cannot be read so."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        counts = [len(row) for row in islice(reader, SAMPLE_ROWS + 2)]
    except csv.Error:
        return [0]
    if is_cut and 1 < len(counts) < SAMPLE_ROWS + 2:
        counts.pop()  # the last record may go on beyond the sample
    return counts or [0]


def _share_alike(counts: Sequence[int]) -> float:
    """The share of rows that have as many fields as the header."""
    rows = [n for n in counts[1:] if n]
    return sum(n == counts[0] for n in rows) / len(rows) if rows else 1.0


def _is_titled(counts: Sequence[int]) -> bool:
    """Whether rows of several fields, all alike, stand below lines of one field or none."""
    rows = [n for n in dropwhile(lambda n: n < 2, counts) if n]
    return counts[0] == 1 and len(rows) > 1 and len({*rows}) == 1


def refuse_unseparated(
    header: str,
    names: Sequence[str],
    separator: str,
    where: str,
    content: pa.Buffer,
    is_said: bool,
) -> None:
    """Refuse a title, and one name that looks like several names, unless it stands in quotes.

    Parameters
    ----------
    header, names
        The line of the header, and the names that were read from it.
    separator
        The separator by which it was read.
    where
        The file and the line, for messages.
    content
        The text from the header on: its rows show whether another separator fits.
    is_said
        Whether the separator was given by the caller or by the file.
    """
    if len(names) > 1:
        return
    text = content[:SAMPLE_BYTES].to_pybytes().decode("utf-8", errors="replace")
    marks = [mark for mark in SEPARATORS + SELDOM if mark != separator]
    shapes = {mark: _field_counts(text, mark, len(content) > SAMPLE_BYTES) for mark in marks}
    found = [mark for mark, n in shapes.items() if mark in SEPARATORS and n[0] > 1]
    found.sort(key=lambda mark: -_share_alike(shapes[mark]))
    if QUOTED_NAMES.fullmatch(header):
        found.append(" ")
    even = [mark for mark, n in shapes.items() if len(n) > 2 and len({*n[1:]}) == 1 < n[0]]
    # R's write.table names the rows in a further field that the header lacks.
    found += [
        mark for mark in even if mark in SELDOM and shapes[mark][1] - shapes[mark][0] in (0, 1)
    ]
    if found:
        raise FileError(
            f"{where}: the header {names[0]!r:.80} looks separated by {found[0]!r}, but "
            f"was read as one column, separated by {separator!r}: say "
            f"{option('separator', found[0])}, or put the name in quotes if it is one name"
        )
    below = [] if is_said else [m for m in SEPARATORS if m in shapes and _is_titled(shapes[m])]
    if below:
        raise FileError(
            f"{where}: the header {names[0]!r:.80} names one column, but the lines below look "
            f"separated by {below[0]!r}: if it is a title, delete what stands above the names of "
            f"the columns; if there is one column, say {option('separator', separator)}"
        )


# --- decimal commas, as most of Europe writes them ---

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
    table: pa.Table,
    decimal: str | None,
    neutral: Collection[str],
    where: str,
    separator: str = ";",
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
    separator
        Where it is a semicolon, numbers were probably written by a program that has decimal commas.
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
        if pointed and (changed or mixed or separator == ";"):
            beside = "beside decimal commas, " if changed or mixed else ""
            other = "write commas in their place" if beside else f"say {option('decimal', '.')}"
            warn(
                f"{where}: {beside}the points in {_columns(pointed)} may separate thousands, and "
                f"are read as they stand: take the points out if they do, or {other}"
            )
    return table


def refuse_untold_commas(table: pa.Table, neutral: Collection[str], where: str) -> None:
    """Refuse numbers with commas in a piece of a file: only all rows tell what they mean."""
    for name in table.column_names:
        found = _look(table[name], neutral, always=False)
        if found is not None and len(found.commas):
            raise DataError(
                f"{where}: column {name!r} holds numbers with commas, such as "
                f"{found.commas[0].as_py().strip()!r}: say {option('decimal', ',')} if these are "
                f"decimals, or {option('decimal', '.')} if they stay as they are written"
            )


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
