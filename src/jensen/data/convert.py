"""Tables written as Arrow, pandas, polars, files, and as text for people."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jensen.data.encode import Column
from jensen.data.files import COMPRESSED, PARQUET, table_suffix, write_arrow
from jensen.data.variable import sort_naturally
from jensen.exceptions import DataError, JensenError
from jensen.support.atomic import check_name, write_whole
from jensen.support.text import grid, plural

if TYPE_CHECKING:
    import pandas
    import polars

    from jensen.data.table import Table
    from jensen.data.table_scan import TableScan


def to_arrow(columns: Iterable[Column]) -> pa.Table:
    """One Arrow column per variable; missing becomes null."""
    chosen = list(columns)
    return pa.table([_arrow(c) for c in chosen], names=[c.variable.name for c in chosen])


def in_arrow(columns: Iterable[Column], *, plain: bool) -> pa.Table:
    """Some rows of columns, in types that do not depend on which rows these are.

    `plain` labels are texts, as in text files.
    """
    chosen = list(columns)
    if plain:
        return _with_plain_labels(chosen)
    return pa.table([_arrow(c, by_states=True) for c in chosen], [c.variable.name for c in chosen])


def _arrow(column: Column, *, by_states: bool = False) -> pa.Array:
    kind, absent = column.variable.kind, column.missing()
    if kind == "categorical":
        states = column.variable.states
        codes = np.where(absent, 0, column.data).astype(np.int32)
        # An order that nobody could find again from the labels travels as an ordered dictionary.
        seen = states if by_states else [states[k] for k in np.unique(column.data[~absent])]
        natural = states == sort_naturally(seen)
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=absent), pa.array(states, pa.string()), ordered=not natural
        )
    values = np.where(absent, 0.0, column.data)
    return pa.array(values.astype(np.int64) if kind == "count" else values, mask=absent)


def to_pandas(columns: Iterable[Column]) -> pandas.DataFrame:
    """A pandas dataframe."""
    _need("pandas")
    return to_arrow(columns).to_pandas()


def to_polars(columns: Iterable[Column]) -> polars.DataFrame:
    """A polars dataframe; states become Enums, whose order polars keeps."""
    _need("polars")
    import polars

    chosen = list(columns)
    return polars.DataFrame({c.variable.name: _polars(c) for c in chosen})


def _polars(column: Column) -> polars.Series:
    import polars

    if column.variable.kind != "categorical":
        return polars.Series(polars.from_arrow(_arrow(column)))
    states = column.variable.states
    lookup = polars.Series([*states, None], dtype=polars.Enum(states))
    return lookup.gather(column.data)


def to_native(columns: Iterable[Column], source: str) -> Any:
    """A dataframe of the library `source`; pandas, else pyarrow, if the table came from none."""
    if source == "polars":
        return to_polars(columns)
    if source == "pyarrow":
        return to_arrow(columns)
    try:
        return to_pandas(columns)
    except JensenError:
        return to_arrow(columns)


def write(columns: Iterable[Column], path: str | Path) -> None:
    """Write a table file by its suffix; text formats get plain labels, and nothing for missing."""
    check_name(path)
    kind = table_suffix(Path(path))
    write_file(to_arrow(columns) if kind in PARQUET else _with_plain_labels(columns), path)


def write_file(table: pa.Table, path: str | Path) -> None:
    """Write an Arrow table of numbers and texts to a file, by its suffix."""
    kind, target = table_suffix(Path(path)), Path(path)
    codec = COMPRESSED.get(target.suffix.lower())
    with write_whole(target) as file:
        if codec is None:
            write_arrow(table, file, kind)
        else:
            file.write(_compressed(table, kind, codec))


def _compressed(table: pa.Table, kind: str, codec: str) -> pa.Buffer:
    content = pa.BufferOutputStream()
    with pa.CompressedOutputStream(content, codec) as stream:  # closes what it writes to
        write_arrow(table, stream, kind)
    return content.getvalue()


def write_csv(columns: Iterable[Column], stream: BinaryIO) -> None:
    """Write CSV to an open stream."""
    write_arrow(_with_plain_labels(columns), stream, ".csv")


def _with_plain_labels(columns: Iterable[Column]) -> pa.Table:
    chosen = list(columns)
    for variable, codes in chosen:
        if any("\0" in label for label in variable.states):
            raise DataError(
                f"column {variable.name!r} holds a label with a zero byte, which no text file "
                f"holds: rename it, or write Parquet"
            )
        if "" in variable.states and np.any(codes == variable.states.index("")):
            raise DataError(
                f"column {variable.name!r} holds the empty label, which reads as missing in a "
                f"text file: rename it, or write Parquet"
            )
    table = to_arrow(chosen)
    plain = [
        pc.cast(c, pa.string()) if pa.types.is_dictionary(c.type) else c for c in table.columns
    ]
    return pa.table(plain, names=table.column_names)


def _need(package: str) -> None:
    try:
        __import__(package)
    except ImportError:
        raise JensenError(f"this needs {package}: pip install {package}") from None


MOST_COLUMNS = 20
MOST_STATES = 6
WIDEST = 60


def describe(table: Table | TableScan) -> str:
    """The text that a table prints as."""
    lost = sum(table.n_missing().values())
    head = f"{type(table).__name__}: {plural(table.n_rows, 'row')}, "
    head += plural(len(table.names), "column")
    head += f", {plural(lost, 'value')} missing" if lost else ""
    head += f", total weight {table.total_weight:g}" if table.is_weighted else ""
    return "\n".join([head, *_columns(table)])


def _columns(table: Table | TableScan) -> list[str]:
    shown, lost = table.variables[:MOST_COLUMNS], table.n_missing(table.names[:MOST_COLUMNS])
    rows = []
    for v in shown:
        more = f", ... ({v.n_states})" if v.n_states > MOST_STATES else ""
        states = ", ".join(v.states[:MOST_STATES]) + more
        absent = f"{lost[v.name]:,} missing" if v.name in lost else ""
        short = states if len(states) <= WIDEST else f"{states[: WIDEST - 3]}..."
        rows.append([v.name, v.kind, short, absent])
    lines = [f"  {line}" for line in grid(rows, left=4).splitlines()]
    rest = len(table.names) - len(shown)
    return [*lines, f"  ... and {plural(rest, 'column')} more"] if rest else lines
