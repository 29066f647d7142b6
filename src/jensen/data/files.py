"""Tables in files: CSV, TSV and Parquet, plain or compressed, through Arrow."""

import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from jensen.data.scan import Raw
from jensen.exceptions import DataError, FileError

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
PARQUET = {".parquet", ".pq"}
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".br"}
STANDARD_INPUT = "-"
BLOCK = 1 << 22
"""Bytes of text that are parsed at a time."""


def read_columns(path: str | Path, missing: Sequence[str]) -> list[Raw]:
    """Columns of a file; `-` is CSV on standard input. Text columns keep every label as written."""
    if str(path) == STANDARD_INPUT:
        content = pa.py_buffer(sys.stdin.buffer.read())
        return _read_text(content, "standard input", ",", missing)
    path = Path(path)
    kind = table_suffix(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder: give a file")
    if not path.exists():
        raise FileError(f"there is no file {path}")
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            content = stream.read_buffer()
    except (OSError, EOFError) as error:
        raise FileError(f"cannot read {path}: {_first_line(error)}") from None
    if kind in PARQUET:
        return _read_parquet(content, path)
    return _read_text(content, str(path), DELIMITERS[kind], missing)


def table_suffix(path: Path) -> str:
    """The suffix that tells the format, under a suffix of compression if there is one."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = suffixes[-1] if suffixes else ""
    if kind not in DELIMITERS and kind not in PARQUET:
        raise FileError(
            f"cannot tell the format of {path}: a table ends in "
            f"{', '.join([*DELIMITERS, *sorted(PARQUET)])}, each also with .gz"
        )
    return kind


def _read_parquet(content: pa.Buffer, path: Path) -> list[Raw]:
    try:
        table = pa.parquet.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{path} is no whole Parquet file: {_first_line(error)}") from None
    from jensen.data.sources import raw_columns

    return raw_columns(table, None)


def _read_text(
    content: pa.Buffer, where: str, delimiter: str | None, missing: Sequence[str]
) -> list[Raw]:
    header = re.match(rb"[^\n]*", content).group()  # type: ignore[union-attr]
    if not header.strip():
        raise FileError(f"{where} is empty: the first line must name the columns")
    delimiter = delimiter or _guess_delimiter(header)
    names = _header_names(header, delimiter, where)
    text = pa.dictionary(pa.int32(), pa.string())
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(content),
            read_options=pa.csv.ReadOptions(
                column_names=names, skip_rows=1, block_size=max(BLOCK, 4 * len(header))
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=re.search(b'"', content) is not None,
                ignore_empty_lines=len(names) > 1,  # in one column an empty line is a missing value
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, text),
                null_values=["", *missing],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        raise FileError(f"{where}: {_explain(error)}") from None
    return [Raw(name, table[name], written=True) for name in names]


def _guess_delimiter(header: bytes) -> str:
    """For .txt and .dat: a tab, semicolon, comma or space, the first that the header holds."""
    return next((d for d in "\t;, " if d.encode() in header), ",")


def _header_names(header: bytes, delimiter: str, where: str) -> list[str]:
    try:
        line = header.decode("utf-8-sig").rstrip("\r")
    except UnicodeDecodeError:
        raise FileError(f"{where}: the first line is not UTF-8 text; is it a table?") from None
    names = next(csv.reader([line], delimiter=delimiter))
    names = [name.strip() or f"column {k}" for k, name in enumerate(names, 1)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{where} names the column {repeated[0]!r} twice: rename one")
    return names


def _explain(error: Exception) -> str:
    return _first_line(error).removeprefix("CSV parse error: ")


def _first_line(error: Any) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def write_arrow(table: pa.Table, target: str | Path | BinaryIO, kind: str) -> None:
    """Write an Arrow table as CSV, TSV or Parquet to a path or a binary stream."""
    if kind in PARQUET:
        pa.parquet.write_table(table, target)
    else:
        options = pa.csv.WriteOptions(delimiter=DELIMITERS[kind] or ",", quoting_style="needed")
        pa.csv.write_csv(table, target, options)
