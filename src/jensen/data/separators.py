"""Finding the separator of a text file, if the caller does not give it."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import pyarrow as pa

from jensen.exceptions import DataError, FileError
from jensen.support.wording import option

SEPARATORS = ",;\t|"
"""Possible separators, the most usual first."""

SELDOM = " :"
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
    """The separator that the first line names, if any; refused if the caller gave another."""
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
    """The separator for which the first rows have as many fields as the header; `usual` if none.

    `spaces`: a space may be the separator, if nothing else is.
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


def refuse_unseparated(
    header: str, names: Sequence[str], separator: str, where: str, content: pa.Buffer
) -> None:
    """Refuse one name that looks like several, unless it stands in quotes.

    `where` is the file and the line, `content` the text from the header on.
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
    even = [mark for mark, n in shapes.items() if len(n) > 2 and len({*n}) == 1 < n[0]]
    found += [mark for mark in even if mark in SELDOM]
    if found:
        raise FileError(
            f"{where}: the header {names[0]!r:.80} looks separated by {found[0]!r}, but "
            f"was read as one column, separated by {separator!r}: say "
            f"{option('separator', found[0])}, or put the name in quotes if it is one name"
        )
