"""Delimited text (CSV, TSV): labels stay as written, and every fault is told with its line."""

import csv
import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from jensen.data.scan import Raw
from jensen.exceptions import DataError, FileError

BLOCK = 1 << 22
"""Bytes of text that are parsed at a time."""

CANDIDATES = "\t;, "
"""What may part the fields of .txt and .dat; the first that the header holds."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Header(NamedTuple):
    """The first record of a file, which may span lines if a name holds a line break."""

    names: list[str]
    delimiter: str
    stop: int  # where the rows start, in bytes
    lines: int


def read_delimited(
    content: pa.Buffer, where: str, delimiter: str | None, missing: Sequence[str]
) -> list[Raw]:
    """Columns of a text, dictionary-encoded; the empty field and what `missing` lists is null."""
    header = _read_header(content, where, delimiter)
    rows = content.slice(header.stop)
    quoted = _check_quotes(rows, where, header)
    try:
        table = _parse(rows, header, missing, quoted, max(BLOCK, 4 * header.stop))
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise FileError(_explain(error, content, where, header)) from None
        table = _parse(rows, header, missing, quoted, min(rows.size, (1 << 31) - 1))
    if table.num_rows == 0:
        raise FileError(f"{where} has no rows: its first line names columns, and nothing follows")
    return [Raw(name, table[name], written=True) for name in header.names]


def _parse(
    rows: pa.Buffer, header: Header, missing: Sequence[str], quoted: bool, block: int
) -> pa.Table:
    text = pa.dictionary(pa.int32(), pa.string())
    if rows.size == 0:
        return pa.table({name: pa.array([], text) for name in header.names})
    return pa.csv.read_csv(
        pa.BufferReader(rows),
        read_options=pa.csv.ReadOptions(column_names=header.names, block_size=block),
        parse_options=pa.csv.ParseOptions(
            delimiter=header.delimiter,
            newlines_in_values=quoted,
            ignore_empty_lines=len(header.names) > 1,  # in one column it is a missing value
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(header.names, text),
            null_values=["", *missing],
            strings_can_be_null=True,
        ),
    )


# --- the first record ---


def _read_header(content: pa.Buffer, where: str, delimiter: str | None) -> Header:
    start = len(BYTE_ORDER_MARK) if content[:3].to_pybytes() == BYTE_ORDER_MARK else 0
    first = re.compile(rb"[^\r\n]*").match(content, start)
    if first is None or not first.group().strip():
        raise FileError(f"{where}: the first line is empty, and must name the columns")
    delimiter = delimiter or _guess_delimiter(first.group())
    record = _record(delimiter).match(content, start)
    if record is None:
        raise FileError(f"{where}, line 1: a quote is never closed")
    try:
        text = record.group(1).decode()
    except UnicodeDecodeError:
        raise FileError(f"{where}, line 1: not UTF-8 text; save the file as UTF-8") from None
    names = next(csv.reader([text], delimiter=delimiter))
    if delimiter == " " and "" in names:
        raise FileError(f"{where}, line 1: several spaces in a row; use one, a tab or a comma")
    names = [name.strip() or f"column {k}" for k, name in enumerate(names, 1)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{where} names the column {repeated[0]!r} twice: rename one")
    return Header(names, delimiter, record.end(), len(record.group().splitlines()))


def _record(delimiter: str) -> re.Pattern[bytes]:
    """One record with its line break: fields are plain or in quotes."""
    d = re.escape(delimiter.encode())
    field = rb'(?:"(?:[^"]|"")*"[^%b\r\n]*|[^"%b\r\n][^%b\r\n]*|)' % (d, d, d)
    return re.compile(rb"(%b(?:%b%b)*)(?:\r\n|\r|\n|\Z)" % (field, d, field))


def _guess_delimiter(line: bytes) -> str:
    """What parts the fields, where the suffix does not tell."""
    plain = re.sub(rb'"[^"]*"', b"", line)
    return next((d for d in CANDIDATES if d.encode() in plain), ",")


# --- what can be wrong ---


def _check_quotes(rows: pa.Buffer, where: str, header: Header) -> bool:
    """Whether there are quotes; refuse one that never closes, which would swallow rows."""
    if re.search(b'"', rows) is None:
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
    reader = _rows_of(rows, header, strict=True)
    line = header.lines + 1
    try:
        for _ in reader:
            line = header.lines + reader.line_num + 1
    except csv.Error:
        raise FileError(
            f"{where}, line {line}: a quote is never closed, or text follows the closing quote"
        ) from None


def _explain(error: Exception, content: pa.Buffer, where: str, header: Header) -> str:
    try:
        content.to_pybytes().decode()
    except UnicodeDecodeError as wrong:
        line = len(re.split(rb"\r\n|\r|\n", content[: wrong.start].to_pybytes()))
        return f"{where}, line {line}: not UTF-8 text; save the file as UTF-8"
    reader, n = _rows_of(content.slice(header.stop), header), len(header.names)
    for row in reader:
        if row and len(row) != n:
            line = header.lines + reader.line_num
            return f"{where}, line {line}: {len(row)} fields, but the header names {n} columns"
    return f"{where}: {str(error).strip().splitlines()[0]}"


def _rows_of(rows: pa.Buffer, header: Header, strict: bool = False) -> Any:
    lines = io.TextIOWrapper(pa.BufferReader(rows), "utf-8", errors="replace", newline="")
    return csv.reader(lines, delimiter=header.delimiter, strict=strict)
