"""Tables in files: CSV, TSV and Parquet, plain or compressed, through Arrow."""

import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from jensen.data.delimited import read_delimited
from jensen.data.scan import Raw
from jensen.data.separators import SEPARATORS, TextChoices
from jensen.data.sources import raw_columns
from jensen.exceptions import FileError

DELIMITERS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
"""What separates fields by the suffix; None: what the header and the first rows tell."""

WITH_SPACES = {".txt", ".dat"}
"""Files in which a space may separate fields."""

PARQUET = {".parquet", ".pq"}
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
STANDARD_INPUT = "-"
WRITTEN_ROWS = 1 << 16
"""Rows of text that are written at a time."""


def read_columns(
    path: str | PathLike[str],
    missing: Sequence[str] = (),
    choices: TextChoices = TextChoices(),
    *,
    keep_missing: bool = False,
) -> list[Raw]:
    """Columns of a file; `-` is CSV on standard input. Text columns keep every label as written.

    `keep_missing`: what `missing` lists stays in columns of text files.
    """
    choices.check()
    if str(path) == STANDARD_INPUT:
        content = pa.py_buffer(sys.stdin.buffer.read())
        return read_delimited(
            content, "standard input", missing, choices, keep_missing=keep_missing
        )
    path = Path(path)
    try:
        content = _read_content(path)
    except (OSError, EOFError, pa.ArrowException) as error:
        raise FileError(f"cannot read {path!s:.200}: {_first_line(error)}") from None
    kind = table_suffix(path)
    if kind in PARQUET:
        choices.refuse_for(str(path))
        return _read_parquet(content, path)
    choices = choices._replace(separator=choices.separator or DELIMITERS[kind])
    spaces = kind in WITH_SPACES
    return read_delimited(
        content, str(path), missing, choices, spaces=spaces, keep_missing=keep_missing
    )


def name_of(path: str | PathLike[str]) -> str:
    """A file as messages name it."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def is_text_file(path: str | PathLike[str]) -> bool:
    """Whether a table of that name is text: CSV, TSV, or standard input."""
    return str(path) == STANDARD_INPUT or table_suffix(Path(path)) not in PARQUET


def _read_content(path: Path) -> pa.Buffer:
    if path.is_dir():
        raise FileError(f"{path} is a folder: give a file")
    table_suffix(path)
    if not path.exists():
        raise FileError(f"there is no file {path}")
    compression = COMPRESSED.get(path.suffix.lower())
    with pa.input_stream(str(path), compression=compression) as stream:
        return stream.read_buffer()


def table_suffix(path: Path) -> str:
    """The suffix that tells the format, under a suffix of compression if there is one."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = suffixes[-1] if suffixes else ""
    if kind not in DELIMITERS and kind not in PARQUET:
        raise FileError(
            f"cannot tell the format of {str(path)!r:.200}: a table ends in "
            f"{', '.join([*DELIMITERS, *sorted(PARQUET)])}, each also with .gz"
        )
    return kind


def _read_parquet(content: pa.Buffer, path: Path) -> list[Raw]:
    try:
        table = pa.parquet.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{path} is no whole Parquet file: {_first_line(error)}") from None
    return raw_columns(table)


def _first_line(error: Any) -> str:
    text = str(getattr(error, "strerror", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def write_arrow(table: pa.Table, target: BinaryIO, kind: str) -> None:
    """Write an Arrow table as CSV, TSV or Parquet to a binary stream."""
    if kind in PARQUET:
        pa.parquet.write_table(table, target)
        return
    delimiter = DELIMITERS[kind] or ","
    # Whoever reads the file may look for a separator in the names.
    marks = SEPARATORS + " " if kind in WITH_SPACES else SEPARATORS
    names = _fields(pa.array(table.column_names, pa.string()), marks)
    target.write(f"{delimiter.join(names.to_pylist())}\n".encode())
    if not any(_needs_quotes(column, delimiter) for column in table.columns):
        plain = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
        pa.csv.write_csv(table, target, plain)
        return
    for batch in table.to_batches(max_chunksize=WRITTEN_ROWS):
        fields = [_fields(pc.cast(column, pa.string()), delimiter) for column in batch.columns]
        rows = pc.binary_join_element_wise(*fields, delimiter, null_handling="replace")
        target.write("\n".join([*rows.to_pylist(), ""]).encode())


def _needs_quotes(texts: pa.ChunkedArray | pa.Array, delimiter: str) -> bool:
    if not pa.types.is_string(texts.type):
        return False
    special = f'[{delimiter}"\r\n]'
    return bool(pc.any(pc.match_substring_regex(texts.unique(), special)).as_py())


def _fields(texts: pa.Array, delimiter: str) -> pa.Array:
    """Texts as they stand in a file: in quotes only if they hold a delimiter, quote or line end."""
    if not _needs_quotes(texts, delimiter):
        return texts
    special = f'[{delimiter}"\r\n]'
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
    return pc.if_else(pc.match_substring_regex(texts, special), quoted, texts)
