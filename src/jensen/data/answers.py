"""Answers for every row, asked block by block and written to a file as they come.

No more rows than those of a block are held. The file is written beside its target and renamed when
it is whole, so that an error, or a run that is killed, leaves what was there before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from jensen.data.convert import in_arrow
from jensen.data.encode import Column
from jensen.data.files import COMPRESSED, PARQUET, table_suffix, write_arrow
from jensen.data.table import Table, as_rows
from jensen.exceptions import DataError, JensenError
from jensen.support.atomic import check_writable, write_whole

Ask = Callable[[Table], "Mapping[str, Any] | Table"]
"""Some rows → columns of answers, one value a row; or a table, which is written whole."""


def write_answers(data: Any, out: str | PathLike[str], ask: Ask, *, beside: bool = False) -> Path:
    """Ask for some rows at a time, write the answers, and return the path of the file.

    Parameters
    ----------
    data
        Rows in memory, or a scan of more.
    out
        A CSV, TSV or Parquet file, also compressed, by its suffix.
    ask
        Answers blocks of rows, of which an error numbers the rows from 1 in each.
    beside
        Whether the columns of the rows are written, too, before the answers.
    """
    check_path(out)
    rows, start = as_rows(data), 0
    kept = rows.names if beside else ()
    told: dict[str, warnings.WarningMessage] = {}
    with row_writer(out) as write:
        for block in rows.blocks():
            part = block.table.rows(block.start, block.stop)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                answers = _asked(ask, part, start)
            for one in caught:
                told.setdefault(_kind(one), one)
            if isinstance(answers, Table):
                write(map(answers.column, answers.names), {})
            else:
                for name in set(kept).intersection(answers):
                    raise JensenError(
                        f"the table has a column {name!r} already, and the answer would need that "
                        f"name: rename it"
                    )
                write(map(part.column, kept), answers)
            start += part.n_rows
    for one in told.values():
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return Path(out)


def of_states(name: str, values: NDArray[Any], states: Iterable[object]) -> dict[str, Any]:
    """Probabilities (rows, states) as columns P(name=state)."""
    each = zip(states, np.transpose(values), strict=True)
    return {f"P({name}={state})": column for state, column in each}


def check_path(out: str | PathLike[str]) -> None:
    """Refuse, before any row is asked of, a file that cannot be written or tells no format."""
    if not isinstance(out, (str, PathLike)):
        raise JensenError(
            f"out must be the path of a CSV, TSV or Parquet file, not {out!r:.60}: without it the "
            f"answers are returned"
        )
    table_suffix(Path(out))
    check_writable(Path(out))


def _asked(ask: Ask, part: Table, start: int) -> Mapping[str, Any] | Table:
    try:
        return ask(part)
    except JensenError as error:
        raise error.after(
            f"in the rows after row {start:,}, counted anew: " if start else ""
        ) from None


def _kind(one: warnings.WarningMessage) -> str:
    """Warnings of blocks that differ in numbers only are one."""
    return one.category.__name__ + "".join(x for x in str(one.message) if not x.isdigit())


class _Lent:
    """A file that stays open when what writes to it is closed."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        """Leave it to its owner."""


@contextmanager
def row_writer(path: str | PathLike[str]) -> Iterator[Callable[..., None]]:
    """What appends columns and answers to a file, which appears when all goes well to the end."""
    target = Path(path)
    kind, codec = table_suffix(target), COMPRESSED.get(target.suffix.lower())
    with write_whole(target) as file:
        stream: Any = file
        if codec is not None:
            stream = pa.CompressedOutputStream(pa.PythonFile(_Lent(file), "w"), codec)
        parquet: pa.parquet.ParquetWriter | None = None
        is_begun = False

        def write(columns: Iterable[Column], answers: Mapping[str, Any]) -> None:
            nonlocal parquet, is_begun
            own = in_arrow(columns, plain=kind not in PARQUET)
            table = pa.table({**dict(zip(own.column_names, own.columns, strict=True)), **answers})
            if kind not in PARQUET:
                write_arrow(table, stream, kind, header=not is_begun)
                is_begun = True
                return
            if parquet is None:
                parquet = pa.parquet.ParquetWriter(stream, table.schema, write_page_checksum=True)
            if table.schema != parquet.schema:
                raise DataError(
                    "the columns that are written change from block to block (a column of numbers "
                    "that is filled with intervals): read the table with the network's variables "
                    "before, table.read_as(net.variables)"
                )
            parquet.write_table(table)

        try:
            yield write
        finally:
            if parquet is not None:
                parquet.close()
            if codec is not None:
                stream.close()
