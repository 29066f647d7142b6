"""Tables in files: CSV, TSV and Parquet, plain or compressed, through Arrow."""

import os
import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from jensen.data.delimited import find_line, read_delimited
from jensen.data.dialect import AS_IT_TELLS, NAMED, SELDOM, SEPARATORS, TextChoices
from jensen.data.distinct_values import RawColumn
from jensen.data.sources import raw_columns
from jensen.exceptions import FileError, JensenError
from jensen.support.atomic import check_name, show_path
from jensen.support.machine import check_memory, show_bytes
from jensen.support.text import for_reader

DELIMITERS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
"""What separates fields by the suffix; None: what the header and the first rows tell."""

WITH_SPACES = {".txt", ".dat"}
"""Files in which a space may separate fields."""

PARQUET = {".parquet", ".pq"}
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
STANDARD_INPUT = "-"
CHUNK = 1 << 20
"""Bytes that are unpacked at a time."""

COPIES_OF_TEXT = 4.0
"""Memory that a text takes while it is read, beside its size: the text, its parts and its codes."""

WRITTEN_ROWS = 1 << 16
"""Rows of text that are written at a time."""


def read_columns(
    path: str | PathLike[str],
    missing: Sequence[str] = (),
    choices: TextChoices = AS_IT_TELLS,
    *,
    keep_missing: bool = False,
) -> list[RawColumn]:
    """Read the columns of a file; columns of texts keep every label as it is written.

    Parameters
    ----------
    path
        CSV, TSV or Parquet, also compressed; "-" is CSV on standard input.
    missing
        Labels that mean missing in a text file, besides the empty field. They become null.
    choices
        The separator and the decimal sign of a text file, where the caller gives them.
    keep_missing
        Whether labels that mean missing stay as texts, for callers who write the columns again.
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
        raise FileError(f"cannot read {show_path(path)}: {first_line(error)}") from None
    kind = table_suffix(path)
    if kind in PARQUET:
        choices.refuse_for(str(path))
        return _read_parquet(content, path)
    choices = choices._replace(usual=DELIMITERS[kind])
    spaces = kind in WITH_SPACES
    return read_delimited(
        content, str(path), missing, choices, spaces=spaces, keep_missing=keep_missing
    )


def line_of_row(
    path: str | PathLike[str], row: int, choices: TextChoices = AS_IT_TELLS
) -> int | None:
    """The line of a text file on which a row ends; None if the source has no lines.

    The file is read once more, so this is for error texts only.

    Parameters
    ----------
    path
        As in `read_columns`; standard input cannot be read again.
    row
        The number of the row, from 0.
    choices
        As in `read_columns`.
    """
    if str(path) == STANDARD_INPUT or not is_text_file(path):
        return None
    kind = table_suffix(Path(path))
    choices = choices._replace(usual=DELIMITERS[kind])
    return find_line(_read_content(Path(path)), row, choices, spaces=kind in WITH_SPACES)


def name_of(path: str | PathLike[str]) -> str:
    """How messages name a file."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def is_text_file(path: str | PathLike[str]) -> bool:
    """Whether a table of that name is text: CSV, TSV, or standard input."""
    return str(path) == STANDARD_INPUT or table_suffix(Path(path)) not in PARQUET


def _read_content(path: Path) -> pa.Buffer:
    if path.is_dir():
        way = for_reader("jn.scan_table reads the files in it", "--scan reads the files in it")
        raise FileError(f"{show_path(path)} is a folder: give a file; {way}")
    if not path.exists():
        check_name(path)
        table_suffix(path)
        raise FileError(f"there is no file {show_path(path)}")
    compression = COMPRESSED.get(path.suffix.lower())
    if compression is None:
        return _read_whole(path)
    # Arrow itself opens no file whose name is not UTF-8.
    with path.open("rb") as file, pa.input_stream(file, compression=compression) as stream:
        return _unpack(stream, path)


def _read_whole(path: Path) -> pa.Buffer:
    """What a file holds, in an array of NumPy: its pages are large, and so filled sooner."""
    with path.open("rb") as file:
        content = np.empty(os.fstat(file.fileno()).st_size, np.uint8)
        content = content[: file.readinto(content.data)]
        rest = file.read()  # of a pipe, which has no size, or a file that grows
    return pa.py_buffer(content.tobytes() + rest if rest else content)


def _unpack(stream: pa.NativeFile, path: Path) -> pa.Buffer:
    """What a compressed file holds; a few bytes that would unpack to gigabytes are refused."""
    parts, size = pa.BufferOutputStream(), 0
    while True:
        part = stream.read_buffer(CHUNK)
        if not part.size:
            return parts.getvalue()
        size += part.size
        _check_size(COPIES_OF_TEXT * size, path, f"unpacks to {show_bytes(size)} and more")
        parts.write(part)


def _check_size(n_bytes: float, path: Path, why: str) -> None:
    """Refuse what would take more memory than the limit."""
    try:
        check_memory(n_bytes, "reading it", "give a smaller one")
    except JensenError as error:
        raise FileError(f"{show_path(path)} {why}: {error.marked}") from None


def table_suffix(path: Path) -> str:
    """The suffix that tells the format, under a suffix of compression if there is one."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = suffixes[-1] if suffixes else ""
    if kind not in DELIMITERS and kind not in PARQUET:
        raise FileError(
            f"cannot tell the format of {str(path)!r:.200}: a table ends in "
            f"{', '.join([*DELIMITERS, *sorted(PARQUET)])}, each also with "
            f"{', '.join(COMPRESSED)}"
        )
    return kind


def _read_parquet(content: pa.Buffer, path: Path) -> list[RawColumn]:
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(content))
        _check_size(_size_in_memory(file), path, f"has {file.metadata.num_rows:,} rows")
        table = pa.parquet.read_table(
            pa.BufferReader(content),
            read_dictionary=texts_of(file),
            page_checksum_verification=True,  # of pages that have one
        )
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
        raise FileError(
            f"{show_path(path)} is no whole Parquet file: {first_line(error)}"
        ) from None
    return raw_columns(table)


def _size_in_memory(file: pa.parquet.ParquetFile) -> float:
    """Bytes that a table takes: at least a number or a code in each cell, and its pages."""
    meta = file.metadata
    pages = sum(meta.row_group(k).total_byte_size for k in range(meta.num_row_groups))
    return float(max(pages, 8 * meta.num_rows * meta.num_columns))


def texts_of(file: pa.parquet.ParquetFile) -> list[str]:
    """Names of the text columns. Read as codes, each row takes a code and not its text."""
    return [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]


def first_line(error: Any) -> str:
    """The first line of what a library says of an error."""
    text = str(getattr(error, "strerror", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def write_arrow(table: pa.Table, target: BinaryIO, kind: str, *, header: bool = True) -> None:
    """Write an Arrow table as CSV, TSV or Parquet to a binary stream; of text also later rows."""
    if kind in PARQUET:
        pa.parquet.write_table(table, target, write_page_checksum=True)
        return
    delimiter = DELIMITERS[kind] or ","
    # Whoever reads the file may look for a separator in the names.
    marks = SEPARATORS + " " if kind in WITH_SPACES else SEPARATORS
    marks += SELDOM if table.num_columns == 1 else ""
    if header:
        names = _fields(pa.array(table.column_names, pa.string()), marks)
        line = f"{delimiter.join(names.to_pylist())}\n".encode()
        target.write(b'"%b"\n' % line[:-1] if NAMED.match(line) else line)
    signs = SEPARATORS if table.num_columns == 1 else delimiter  # one name may look like a title
    if not any(_needs_quotes(column, signs) for column in table.columns):
        plain = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
        pa.csv.write_csv(table, target, plain)
        return
    for batch in table.to_batches(max_chunksize=WRITTEN_ROWS):
        fields = [_fields(pc.cast(column, pa.string()), signs) for column in batch.columns]
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
