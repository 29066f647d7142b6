"""Rows that come piece by piece: of text files, Parquet files, and whatever streams Arrow.

A piece is a list of columns of some rows. No more than one piece of a source is held at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from jensen.data.delimited import Header, parse_rows, read_header, refuse_binary, refuse_no_rows
from jensen.data.dialect import TextChoices, refuse_untold_commas
from jensen.data.distinct_values import RawColumn
from jensen.data.encode import MISSING_WORDS
from jensen.data.files import (
    COMPRESSED,
    DELIMITERS,
    PARQUET,
    WITH_SPACES,
    first_line,
    table_suffix,
    texts_of,
)
from jensen.data.sources import raw_columns
from jensen.data.variable import sort_naturally
from jensen.exceptions import DataError, FileError, JensenError
from jensen.support.atomic import show_path

TEXT_BYTES = 1 << 24
"""Bytes of text that are parsed at a time."""

LONGEST_RECORD = 64 * TEXT_BYTES
"""Text without an end of a row: a quote was probably never closed."""

PIECE_ROWS = 1 << 17
"""Rows of Parquet files and Arrow streams that are read at a time."""

Piece = list[RawColumn]


class Piecewise(NamedTuple):
    """A source that can be read piece by piece."""

    where: str  # how messages name it
    source: Any  # a path, or an object that streams Arrow

    def batches(self) -> Iterable[pa.RecordBatch]:
        """The rows of what streams Arrow."""
        found = _batches(self.source)
        assert found is not None
        return found

    def pieces(self, choices: TextChoices, missing: Sequence[str]) -> Iterator[Piece]:
        """The rows of a file, from the first to the last; refused if it changes meanwhile."""
        before = self.state()
        try:
            if table_suffix(self.source) in PARQUET:
                choices.refuse_for(self.where)
                yield from _of_parquet(self.source)
            else:
                yield from _of_text(self.source, choices, missing)
        except JensenError:
            self.check_unchanged(before)
            raise
        self.check_unchanged(before)

    def state(self) -> tuple[int, int]:
        """What tells that a file is the same: its size, and when it was written."""
        try:
            found = self.source.stat()
        except OSError as error:
            raise FileError(
                f"cannot read {show_path(self.where)}: {first_line(error)}; it was there when the "
                f"scan began"
            ) from None
        return found.st_size, found.st_mtime_ns

    def check_unchanged(self, before: tuple[int, int]) -> None:
        """Refuse a file that was written while it was read."""
        if self.state() != before:
            raise FileError(
                f"{show_path(self.where)} changed while it was read: scan it again when nothing "
                f"writes to it"
            )


def find_sources(data: Any) -> list[Piecewise]:
    """Files behind a path, a pattern, a folder or a list of them; or one object that streams."""
    if isinstance(data, (str, PathLike)):
        return _files(fsdecode(data))
    if isinstance(data, Sequence) and all(isinstance(x, (str, PathLike)) for x in data):
        return [one for path in data for one in _files(fsdecode(path))]
    if _batches(data) is None:
        raise DataError(
            f"cannot scan a {type(data).__name__}: give paths of CSV, TSV or Parquet files, a "
            f"folder or a pattern such as 'rows/*.parquet', an Arrow dataset or anything that "
            f"streams Arrow; what is in memory already is a jn.Table"
        )
    return [Piecewise(f"this {type(data).__name__}", data)]


def _files(path: str) -> list[Piecewise]:
    """The files that a path names, in the natural order of their names: 2 before 10."""
    file = Path(path)
    if file.is_dir():
        names = [x.name for x in file.iterdir() if _is_table(x)]
        found = [file / name for name in sort_naturally(names)]
        empty = f"the folder {show_path(file)} holds no CSV, TSV or Parquet file"
    elif file.exists() or not re.search(r"[*?\[]", path):
        found, empty = [file], ""
    else:
        root = Path(file.anchor) if file.anchor else Path()
        pattern = path[len(file.anchor) :]
        found = [Path(x) for x in sort_naturally(str(x) for x in root.glob(pattern))]
        found = [x for x in found if x.is_file()]
        empty = f"no file fits the pattern {path!r}"
    if not found:
        raise FileError(empty)
    for each in found:
        table_suffix(each)
        if not each.exists():
            raise FileError(f"there is no file {show_path(each)}")
    return [Piecewise(str(each), each) for each in found]


def _is_table(file: Path) -> bool:
    try:
        return file.is_file() and not file.name.startswith(".") and bool(table_suffix(file))
    except FileError:
        return False


# --- Parquet, and whatever streams Arrow ---


def _of_parquet(path: Path) -> Iterator[Piece]:
    try:
        with pa.parquet.ParquetFile(path) as file:
            texts = texts_of(file)
        with pa.parquet.ParquetFile(
            path, read_dictionary=texts, page_checksum_verification=True
        ) as file:
            yield from _of_batches(file.iter_batches(PIECE_ROWS), str(path))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"{show_path(path)} is no whole Parquet file: {first_line(error)}"
        ) from None


def _of_batches(batches: Iterable[pa.RecordBatch], where: str) -> Iterator[Piece]:
    try:
        for batch in batches:
            batch.validate(full=True)
            if batch.num_rows:
                yield raw_columns(batch)
    except pa.ArrowException as error:
        raise FileError(f"{where} cannot be read to its end: {first_line(error)}") from None


def _batches(data: Any) -> Iterable[pa.RecordBatch] | None:
    """What streams Arrow: datasets, readers, relations, frames; None for anything else."""
    found: Iterator[pa.RecordBatch]
    if hasattr(data, "scanner") and hasattr(data, "to_batches"):  # an Arrow dataset
        found = data.to_batches(batch_size=PIECE_ROWS)
        return found
    if hasattr(data, "collect_batches"):  # a lazy frame of polars
        return (
            batch for frame in data.collect_batches() for batch in frame.to_arrow().to_batches()
        )
    if hasattr(data, "__arrow_c_stream__"):
        found = pa.RecordBatchReader.from_stream(data)
        return found
    return None


# --- text ---


def _of_text(path: Path, choices: TextChoices, missing: Sequence[str]) -> Iterator[Piece]:
    kind, where = table_suffix(path), str(path)
    choices = choices._replace(usual=DELIMITERS[kind])
    header: Header | None = None
    n_rows = 0
    for text in _texts(path):
        if header is None:
            content = pa.py_buffer(text)
            header = read_header(content, where, choices, kind in WITH_SPACES)
            lines = header.lines + _count_lines(text[header.stop :])
        else:
            content, header = pa.py_buffer(b"\n" + text), header.before_piece(lines)
            refuse_binary(content, where, header.skipped)
            lines += _count_lines(text)
        told = choices._replace(decimal=choices.decimal or ".")
        table = parse_rows(content, header, where, told, missing)
        if choices.decimal is None:
            refuse_untold_commas(table, MISSING_WORDS.union(missing), where)
        n_rows += table.num_rows
        yield [RawColumn(name, table[name], written=True) for name in header.names]
    if not n_rows:
        refuse_no_rows(where)


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") or text.count(b"\r")


def _texts(path: Path) -> Iterator[bytes]:
    """The text in pieces that end where a row does."""
    held = b""
    with _opened(path) as file:
        while True:
            try:
                part = file.read(TEXT_BYTES)
            except (OSError, EOFError, pa.ArrowException) as error:
                raise FileError(f"cannot read {show_path(path)}: {first_line(error)}") from None
            held += part
            stop = _end_of_rows(held) if part else len(held)
            if stop or not part:
                yield held[:stop]
                held = held[stop:]
            if not part:
                return
            if len(held) > LONGEST_RECORD:
                raise FileError(f"{show_path(path)}: a row never ends; is a quote not closed?")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | pa.NativeFile]:
    codec = COMPRESSED.get(path.suffix.lower())
    try:
        file = path.open("rb")
    except OSError as error:
        raise FileError(f"cannot read {show_path(path)}: {first_line(error)}") from None
    with file:
        yield file if codec is None else pa.input_stream(file, compression=codec)


def _end_of_rows(text: bytes) -> int:
    """Where the last whole row ends; a line break between quotes ends none."""
    end = b"\n" if b"\n" in text else b"\r"
    if b'"' not in text:
        return text.rfind(end) + 1
    letters = np.frombuffer(text, np.uint8)
    is_open = np.logical_xor.accumulate(letters == ord('"'))
    ends = np.flatnonzero((letters == ord(end)) & ~is_open)
    return int(ends[-1]) + 1 if len(ends) else 0
