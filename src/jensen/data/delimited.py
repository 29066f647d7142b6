"""Delimited text (CSV, TSV): labels stay as written, and every fault is told with its line."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from jensen.data.dialect import (
    AS_IT_TELLS,
    TextChoices,
    find_separator,
    read_decimals,
    read_named_separator,
    refuse_commas_of_both_kinds,
    refuse_unseparated,
)
from jensen.data.distinct_values import RawColumn
from jensen.data.encode import MISSING_WORDS
from jensen.data.variable import parse_number
from jensen.exceptions import DataError, FileError, warn
from jensen.support.text import plural, some

BLOCK = 1 << 22
"""Bytes of text that are parsed at a time."""

PART = 1 << 18
"""Bytes of text that are searched at a time."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ROW_NAMES = (
    ": if the first field names the row, as R's write.table has it, name it in the header, or "
    "write the file with row.names = FALSE"
)
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

NO_UTF_8 = "not UTF-8 text; save the file as UTF-8 (in a spreadsheet: CSV UTF-8)"


class Header(NamedTuple):
    """The first record of a file, which may span lines if a name holds a line break."""

    names: list[str]
    delimiter: str
    stop: int  # where the rows start, in bytes
    lines: int  # before the rows
    skipped: int = 0  # lines before the text, where it is a later piece of a file

    def before_piece(self, lines: int) -> "Header":
        """The same names before a later piece: a line break, and the rows after so many lines."""
        return self._replace(stop=1, lines=lines, skipped=lines - 1)


def read_delimited(
    content: pa.Buffer,
    where: str,
    missing: Sequence[str],
    choices: TextChoices = AS_IT_TELLS,
    *,
    spaces: bool = False,
    keep_missing: bool = False,
) -> list[RawColumn]:
    """Parse a text to dictionary-encoded columns; the empty field is null.

    Parameters
    ----------
    content
        The text in UTF-8, with or without a byte order mark.
    where
        How messages name the source.
    missing
        Labels that are null too.
    choices
        The separator and the decimal sign, where the caller gives them.
    spaces
        Whether a space may separate fields, where nothing else does.
    keep_missing
        Labels that mean missing stay texts, for those who write the columns again.
    """
    header = read_header(content, where, choices, spaces)
    table = parse_rows(content, header, where, choices, missing, keep_missing=keep_missing)
    if table.num_rows == 0:
        refuse_no_rows(where)
    return [RawColumn(name, table[name], written=True) for name in header.names]


def refuse_no_rows(where: str) -> NoReturn:
    """Refuse a text that is a header alone."""
    raise FileError(f"{where} has no rows: its first line names columns, and nothing follows")


def parse_rows(
    content: pa.Buffer,
    header: Header,
    where: str,
    choices: TextChoices,
    missing: Sequence[str],
    *,
    keep_missing: bool = False,
) -> pa.Table:
    """The rows behind a header as dictionary-encoded texts, with points as decimal signs."""
    quoted = _check_quotes(content.slice(header.stop), where, header)
    if not quoted:
        refuse_commas_of_both_kinds(header.delimiter, choices.decimal, where)
    try:
        table = _parse_anyhow(content, header, quoted)
    except pa.ArrowException as error:
        raise FileError(_explain(error, content, where, header)) from None
    table = _without_labels(table, ["", *(() if keep_missing else missing)])
    if table.num_rows and (quoted or header.delimiter != ","):  # else no field holds a comma
        table = read_decimals(
            table, choices.decimal, MISSING_WORDS.union(missing), where, header.delimiter
        )
    return table


def _warn_of_numbers(names: Sequence[str], where: str) -> None:
    """Warn of a first line that is probably a row; whole numbers in turn are names of columns."""
    numbers = [parse_number(name.strip()) for name in names]
    in_turn = any(numbers == [*range(k, k + len(names))] for k in (0, 1))
    if len(names) > 1 and None not in numbers and not in_turn:
        warn(
            f"{where}: the names of the columns are read from this line, and all are numbers "
            f"({some(names)}): if it is a row, put a line with names before it"
        )


def find_line(content: pa.Buffer, row: int, choices: TextChoices, *, spaces: bool) -> int:
    """The line on which a row ends, rows counted from 0; `read_delimited` has read this text."""
    header = read_header(content, "the file", choices, spaces)
    rows = _rows_of(content.slice(header.stop), header)
    kept = (line for line, fields in rows if fields or len(header.names) == 1)
    return next(islice(kept, row, None))


def _parse_anyhow(content: pa.Buffer, header: Header, quoted: bool) -> pa.Table:
    """Parse in blocks, which are quick; in one piece if a row is longer than a block."""
    try:
        return _parse(content, header, quoted, max(BLOCK, 4 * header.stop))
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise
    return _parse(content, header, quoted, min(content.size, (1 << 31) - 1))


def _parse(content: pa.Buffer, header: Header, quoted: bool, block: int) -> pa.Table:
    """Texts as they stand, dictionary-encoded block by block.

    Whether they are UTF-8 is asked of the distinct texts, which takes less than asking it of all.
    """
    text = pa.dictionary(pa.int32(), pa.string())
    if content.size == header.stop:
        return pa.table({name: pa.array([], text) for name in header.names})
    table = pa.csv.read_csv(
        # From the line break before the rows: where a text starts, Arrow drops a byte order mark.
        pa.BufferReader(content.slice(header.stop - 1)),
        read_options=pa.csv.ReadOptions(column_names=header.names, skip_rows=1, block_size=block),
        parse_options=pa.csv.ParseOptions(
            delimiter=header.delimiter,
            newlines_in_values=quoted,
            ignore_empty_lines=len(header.names) > 1,  # in one column it is a missing value
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(header.names, text), null_values=[], check_utf8=False
        ),
    )
    for chunk in chain.from_iterable(column.chunks for column in table.columns):
        chunk.dictionary.validate(full=True)
    return table


def _without_labels(table: pa.Table, labels: Sequence[str]) -> pa.Table:
    """These labels become null; looking at the distinct ones is quicker than Arrow's own way."""
    gone = pa.array(labels, pa.string())
    columns = [
        pa.chunked_array([_chunk_without(chunk, gone) for chunk in column.chunks], column.type)
        for column in table.columns
    ]
    return pa.table(columns, table.column_names)


def _chunk_without(chunk: pa.DictionaryArray, gone: pa.Array) -> pa.DictionaryArray:
    is_gone = pc.is_in(chunk.dictionary, gone).to_numpy(zero_copy_only=False)
    if not is_gone.any():
        return chunk
    place = pa.array(np.cumsum(~is_gone, dtype=np.int32) - 1, mask=is_gone)
    kept = chunk.dictionary.filter(pa.array(~is_gone))
    return pa.DictionaryArray.from_arrays(place.take(chunk.indices), kept)


# --- the first record ---


def read_header(content: pa.Buffer, where: str, choices: TextChoices, spaces: bool) -> Header:
    """The names of the columns, what separates them, and where the rows begin."""
    start = len(BYTE_ORDER_MARK) if content[:3].to_pybytes() == BYTE_ORDER_MARK else 0
    refuse_binary(content, where)
    named = read_named_separator(content, start, choices.separator, where)
    delimiter, line = choices.separator or choices.usual, 1
    if named is not None:
        delimiter, start, line = named.separator, named.stop, 2
    first = re.compile(rb"[^\r\n]*").match(content, start)
    which = "first" if line == 1 else "second"
    if first is None or not first.group().strip():
        raise FileError(f"{where}: the {which} line is empty, and must name the columns")
    is_said = choices.separator is not None or named is not None
    delimiter = delimiter or find_separator(content, start, ",", spaces)
    record = _record(delimiter).match(content, start)
    where_it_stands = f"{where}, line {line}"
    if record is None:
        raise FileError(f"{where_it_stands}: a quote is never closed")
    try:
        text = record.group(1).decode()
    except UnicodeDecodeError:
        raise FileError(f"{where_it_stands}: {NO_UTF_8}") from None
    names = next(csv.reader([text], delimiter=delimiter))
    if delimiter == " " and "" in names:
        raise FileError(f"{where_it_stands}: several spaces in a row; use one, a tab or a comma")
    refuse_unseparated(text, names, delimiter, where_it_stands, content.slice(start), is_said)
    _warn_of_numbers(names, where_it_stands)
    names = [name.strip() or f"column {k}" for k, name in enumerate(names, 1)]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise DataError(f"{where} names the column {twice[0]!r} twice: rename one")
    lines = len(record.group().splitlines()) + line - 1
    return Header(names, delimiter, record.end(), lines)


def _record(delimiter: str) -> re.Pattern[bytes]:
    """One record with its line break: fields are plain or in quotes."""
    d = re.escape(delimiter.encode())
    field = rb'(?:"(?:[^"]|"")*"[^%b\r\n]*|[^"%b\r\n][^%b\r\n]*|)' % (d, d, d)
    return re.compile(rb"(%b(?:%b%b)*)(?:\r\n|\r|\n|\Z)" % (field, d, field))


# --- what can be wrong ---


def refuse_binary(content: pa.Buffer, where: str, skipped: int = 0) -> None:
    """Refuse texts of two bytes a letter, and what is no text at all: both hold zero bytes."""
    if content[:2].to_pybytes() in UTF_16_MARKS:
        raise FileError(f"{where} is UTF-16 text: save it as UTF-8 (in a spreadsheet: CSV UTF-8)")
    if _holds(content, b"\0"):
        line = skipped + _line_at(content, content.to_pybytes().index(b"\0"))
        raise FileError(
            f"{where}, line {line}: a zero byte, which no text holds: the file is damaged, of "
            f"another format, or UTF-16 text, to be saved as UTF-8"
        )


def _holds(content: pa.Buffer, byte: bytes) -> bool:
    """Whether a text holds this byte; small parts are looked at, which stay in the cache."""
    text = np.frombuffer(content, np.uint8)
    return any(np.any(text[k : k + PART] == byte[0]) for k in range(0, len(text), PART))


def _line_at(content: pa.Buffer, position: int) -> int:
    return len(re.split(rb"\r\n|\r|\n", content[:position].to_pybytes()))


def _check_quotes(rows: pa.Buffer, where: str, header: Header) -> bool:
    """Whether there are quotes; refuse one that never closes, which would swallow rows."""
    if not _holds(rows, b'"'):
        return False
    text = np.frombuffer(rows, np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    edge = np.zeros(256, bool)
    edge[list(b'"\r\n' + header.delimiter.encode())] = True
    opens, closes = quotes[0::2], quotes[1::2]
    in_order = (
        len(opens) == len(closes)
        and np.all((opens == 0) | edge[text[opens - 1]])
        and np.all((closes == len(text) - 1) | edge[text[(closes + 1) % len(text)]])
    )
    if not in_order:  # a quote inside a plain field, which is fine, or a fault: go through it
        _check_each_quote(rows, where, header)
    return True


def _check_each_quote(rows: pa.Buffer, where: str, header: Header) -> None:
    last = header.lines
    try:
        for line, _ in _rows_of(rows, header, strict=True):
            last = line
    except csv.Error:
        raise FileError(
            f"{where}, line {last + 1}: a quote is never closed, or text follows the closing quote"
        ) from None


def _explain(error: Exception, content: pa.Buffer, where: str, header: Header) -> str:
    try:
        content.to_pybytes().decode()
    except UnicodeDecodeError as wrong:
        return f"{where}, line {header.skipped + _line_at(content, wrong.start)}: {NO_UTF_8}"
    n, is_first = len(header.names), True
    for line, row in _rows_of(content.slice(header.stop), header):
        if row and len(row) != n:
            text = f"{plural(len(row), 'field')}, but the columns that the header names are {n}"
            names_row = is_first and len(row) == n + 1
            return f"{where}, line {line}: {text}{ROW_NAMES if names_row else ''}"
        is_first = is_first and not row
    return f"{where}: {str(error).strip().splitlines()[0]}"


def _rows_of(
    rows: pa.Buffer, header: Header, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Rows and the line that each ends on, by Python's reader: slow, but it knows where it is."""
    lines = io.TextIOWrapper(pa.BufferReader(rows), "utf-8", errors="replace", newline="")
    limit = csv.field_size_limit(rows.size + 1)
    try:
        reader = csv.reader(lines, delimiter=header.delimiter, strict=strict)
        for row in reader:
            yield header.lines + reader.line_num, row
    finally:
        csv.field_size_limit(limit)
