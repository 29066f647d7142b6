"""The table: typed columns, missing anywhere, optional row weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.data import blocks, convert
from jensen.data.blocks import Block, Range, RowsInBlocks
from jensen.data.column_warnings import warn_of_labels
from jensen.data.convert import describe
from jensen.data.dialect import TextChoices
from jensen.data.encode import Column, recode
from jensen.data.packed import Packed
from jensen.data.table_choices import (
    Reader,
    check_rows,
    check_weights,
    columns_to_write,
    encode_again,
    list_of_columns,
    no_column,
    open_columns,
    read_declared,
    read_declared_columns,
)
from jensen.data.variable import Variable
from jensen.exceptions import DataError
from jensen.support.arguments import check_whole

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from jensen.data.table_scan import TableScan


class Table(RowsInBlocks):
    """Rows and typed columns; anything may be missing, and rows may carry weights.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet; also .gz), a pandas, polars or pyarrow dataframe, a dict of
        columns, a 2-D NumPy array, or a `Table`.
    names
        Names of the columns of an array (default x0, x1, ...).
    categorical, counts, continuous
        Columns whose kind the caller fixes. ``continuous="all"``: every other column that holds
        nothing but numbers, also few and whole ones. Otherwise text is categorical, whole numbers
        are categorical up to 20 distinct values and counts beyond (continuous if some are
        negative), other numbers are continuous.
    states
        Labels of categorical columns in their order; states that never occur are kept.
        Otherwise the labels that occur, sorted naturally (2 before 10).
    missing
        Labels that mean missing, besides empty fields, None and NaN. What looks so (`NA`, `null`,
        `?`, -999, ...) is kept as it stands with a warning; ``missing=[]`` says that it is none,
        and there is no warning.
    weights
        How often each row counts: an array, or the name of a column, which is then no variable.
    separator, decimal
        Of text files, as in `read_table`.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"rain": ["no", "yes", None], "drops": [0.0, 2.5, 1.5]})
    >>> table
    Table: 3 rows, 2 columns, 1 value missing
      rain   categorical  no, yes  1 missing
      drops  continuous
    """

    source: str  # the kind of dataframe that came in

    def __init__(
        self,
        data: Any,
        *,
        names: Sequence[str] | None = None,
        categorical: Iterable[str] = (),
        counts: Iterable[str] = (),
        continuous: Iterable[str] | Literal["all"] = (),
        states: Mapping[str, Sequence[object]] | None = None,
        missing: Iterable[object] | None = None,
        weights: ArrayLike | str | None = None,
        separator: str | None = None,
        decimal: str | None = None,
    ) -> None:
        if names is not None and not isinstance(data, np.ndarray):
            raise DataError("names=[...] goes with a 2-D array: this table names its own columns")
        told = read_declared(categorical, counts, continuous, states, missing)
        text = TextChoices(separator, decimal)
        readers: list[tuple[str, Reader]]
        if isinstance(data, Table):
            weights = data.weights if weights is None else weights
            text.refuse_for("this Table")
            readers = [(c.variable.name, partial(encode_again, c)) for c in data._columns.values()]
            self.source, coded = data.source, list(data.names)
        else:
            self.source, readers, coded = open_columns(data, names, told.absent, text)
        columns, weights, kinds = read_declared_columns(readers, told, weights)
        self._set(columns, weights)
        for check in ("names rows", "are many"):
            self.checks_done.update((name, check) for name in [*kinds, *told.states])
        numbers = [c for x, c in self._columns.items() if x not in {*told.states, *coded}]
        inferred = [column for column in numbers if column.variable.name not in kinds]
        warn_of_labels(inferred, numbers, data, text, with_words=told.has_words)

    @classmethod
    def from_columns(
        cls, columns: Iterable[Column], weights: ArrayLike | None = None, source: str = "pandas"
    ) -> Table:
        """A table of columns that are encoded already."""
        table = cls.__new__(cls)
        table.source = source
        table._set(columns, weights)
        return table

    def _set(self, columns: Iterable[Column], weights: ArrayLike | None) -> None:
        self._columns: dict[str, Column] = {}
        for column in columns:
            if column.variable.name in self._columns:
                raise DataError(f"two columns are named {column.variable.name!r}: rename one")
            self._columns[column.variable.name] = column
        lengths = {name: len(column.data) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"the columns differ in length: {lengths}")
        self.n_rows = next(iter(lengths.values()), 0)
        self.weights = None if weights is None else check_weights(weights, self.n_rows)
        self.checks_done: set[tuple[str, str]] = set()  # (column, check): each warning comes once
        self.incomplete: Collection[str] = ()  # columns that miss values in other blocks

    # --- what is in it ---

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in the order in which they came."""
        return tuple(self._columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The same as `names`, as dataframes call them."""
        return self.names

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns."""
        return self.n_rows, len(self._columns)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """One variable per column."""
        return tuple(column.variable for column in self._columns.values())

    def variable(self, name: str) -> Variable:
        """The variable of a column."""
        return self.column(name).variable

    def column(self, name: str) -> Column:
        """A variable with its codes (missing is `n_states`) or floats (missing is NaN)."""
        if name not in self._columns:
            raise DataError(no_column(name, self.names))
        return self._columns[name]

    @cached_property
    def total_weight(self) -> float:
        """How many rows there are, each counted as often as its weight says."""
        return float(self.n_rows if self.weights is None else self.sum(lambda b: b.weights.sum()))

    @property
    def is_weighted(self) -> bool:
        """Whether rows carry weights."""
        return self.weights is not None

    def range_of(self, name: str) -> Range:
        """The first, the least and the largest of the values of a column of numbers."""
        data = self.column(name).data
        if not len(data):
            return Range(np.nan, np.nan, np.nan)
        return Range(float(data[0]), float(np.fmin.reduce(data)), float(np.fmax.reduce(data)))

    def n_missing(self, names: Iterable[str] | None = None) -> dict[str, int]:
        """How many values are missing, for the columns that miss any."""
        chosen = self.names if names is None else list_of_columns(names, "names")
        counts = {name: self._count_missing(self.column(name)) for name in chosen}
        return {name: count for name, count in counts.items() if count}

    def _count_missing(self, column: Column) -> int:
        """Packing has looked at all codes, so columns of labels that miss nothing are known."""
        name, kind = column.variable.name, column.variable.kind
        if kind == "categorical" and self.packed.size_of(name) == column.variable.n_states:
            return 0
        return int(np.count_nonzero(column.missing()))

    def _repr_html_(self) -> str:
        from jensen.plots.html import table_html

        return table_html(self)

    def __repr__(self) -> str:
        return describe(self)

    # --- tables from tables ---

    def select(self, names: Iterable[str]) -> Table:
        """The same rows with these columns only."""
        chosen = [self.column(name) for name in list_of_columns(names, "names")]
        return self._with(chosen, self.weights)

    def head(self, n: int = 5) -> Table:
        """The first n rows."""
        check_whole("n", n, at_least=0)
        return self.rows(0, min(n, self.n_rows))

    def tail(self, n: int = 5) -> Table:
        """The last n rows."""
        check_whole("n", n, at_least=0)
        return self.rows(max(self.n_rows - n, 0), self.n_rows)

    def __getitem__(self, chosen: Any) -> Any:
        """A column by its name, columns by a list of names, rows by a slice, positions or a mask.

        A column is an array: labels as text with None where one is missing, numbers with NaN.

        Examples
        --------
        >>> import jensen as jn
        >>> table = jn.Table({"rain": ["no", "yes", None], "drops": [0.0, 2.5, 1.5]})
        >>> table["rain"].tolist(), table["drops"].tolist()
        (['no', 'yes', None], [0.0, 2.5, 1.5])
        >>> table[["drops"]].shape, table[:2].shape, table[table["drops"] > 1].shape
        ((3, 1), (2, 2), (2, 2))
        """
        if isinstance(chosen, str):
            return self.column(chosen).shown()
        found = np.asarray(np.arange(self.n_rows)[chosen] if isinstance(chosen, slice) else chosen)
        if found.dtype.kind in "UO" or not found.size:
            return self.select(found.tolist()) if found.dtype.kind != "i" else self.take(found)
        check_rows(found, chosen, self.n_rows)
        return self.take(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Table:
        """These rows (positions, or a mask), with the same variables."""
        columns = [Column(c.variable, c.data[rows]) for c in self._columns.values()]
        weights = None if self.weights is None else self.weights[rows]
        return self._with(columns, weights)

    def rows(self, start: int, stop: int) -> Table:
        """Neighbouring rows, which share memory with this table."""
        columns = [Column(c.variable, c.data[start:stop]) for c in self._columns.values()]
        weights = None if self.weights is None else self.weights[start:stop]
        return self._with(columns, weights)

    def counted(self) -> Table:
        """The rows that have a weight."""
        return self if self.weights is None else self.take(self.weights > 0.0)

    def complete_rows(self, names: Iterable[str] | None = None) -> Table:
        """The rows that miss nothing (in these columns): dropping rows is the caller's decision."""
        chosen = self.names if names is None else list_of_columns(names, "names")
        incomplete = [self.column(name).missing() for name in chosen]
        return self.take(~np.any(incomplete, axis=0)) if incomplete else self

    def with_weights(self, weights: ArrayLike | None) -> Table:
        """The same columns, other weights."""
        return self._with(self._columns.values(), weights)

    def _with(self, columns: Iterable[Column], weights: ArrayLike | None) -> Table:
        table = Table.from_columns(columns, weights, self.source)
        table.checks_done = self.checks_done
        return table

    def read_as(self, variables: Iterable[Variable]) -> tuple[Table, NDArray[np.bool_]]:
        """Read the columns as a model's own variables, never inferring again.

        Returns
        -------
        table
            Columns encoded as `variables` say; this very table if it agrees already.
        unknown
            Rows that hold a label no state of the model has; it is coded as missing there.
        """
        wanted = list(variables)
        if all(self.variable(v.name) == v for v in wanted):
            return self, np.zeros(self.n_rows, bool)
        pairs = [recode(self.column(v.name), v) for v in wanted]
        unknown = np.any([mask for _, mask in pairs], axis=0)
        return self._with([c for c, _ in pairs], self.weights), unknown

    # --- sums over rows ---

    @cached_property
    def packed(self) -> Packed:
        """The categorical columns as the kernels read them."""
        return Packed(self._columns, self.n_rows, self.incomplete)

    def blocks(self, size: int | None = None) -> list[Block]:
        """The rows in blocks of that many, the last of which may be shorter; at least one."""
        size = size or blocks.UNIT_ROWS
        starts = range(0, max(self.n_rows, 1), size)
        return [Block(self, start, min(start + size, self.n_rows)) for start in starts]

    def tables(self) -> list[Table]:
        """A list with this table alone."""
        return [self]

    def sight(self) -> Table:
        """All rows."""
        return self

    def gather(self, names: Iterable[str]) -> Table:
        """These columns, in memory."""
        return self.select(names)

    # --- out again ---

    def to_arrow(self) -> pyarrow.Table:
        """As a pyarrow table; categorical columns become dictionaries, missing becomes null."""
        return convert.to_arrow(self._columns.values())

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas dataframe; categorical columns become Categoricals."""
        return convert.to_pandas(self._columns.values())

    def to_polars(self) -> polars.DataFrame:
        """As a polars dataframe; categorical columns become Enums."""
        return convert.to_polars(self._columns.values())

    def to_native(self) -> Any:
        """As the kind of dataframe that came in; pandas, else pyarrow, where none did."""
        return convert.to_native(self._columns.values(), self.source)

    def write_csv(self, stream: BinaryIO, weights: str | None = None) -> None:
        """Write CSV to an open binary stream; `weights` as in `write`."""
        convert.write_csv(columns_to_write(self._columns, self.weights, weights), stream)

    def write(self, path: str | Path, weights: str | None = None) -> None:
        """Write CSV, TSV or Parquet, by the suffix (also .gz); `weights` names their column."""
        convert.write(columns_to_write(self._columns, self.weights, weights), path)


def read_table(
    path: str | PathLike[str],
    *,
    separator: str | None = None,
    decimal: str | None = None,
    **choices: Any,
) -> Table:
    """Read a CSV, TSV or Parquet file, plain or compressed.

    In text files a label is the text as written (`TRUE`, `01` and `None` are labels); only the
    empty field, and what `missing=[...]` lists, is missing. A column of numbers holds numbers,
    however they are written (`1.0` is 1), unless `states=` lists its labels.

    Parameters
    ----------
    path
        A file that ends in .csv, .tsv, .tab, .txt, .dat, .parquet or .pq, also with .gz, .bz2,
        .zst, .lz4 or .br behind it; "-" is CSV on standard input.
    separator
        What stands between fields. None: what a first line `sep=;` names; else a tab in .tsv and
        .tab, and elsewhere the one of , ; tab and | by which the first rows fit the header.
    decimal
        "." or ",", with points after thousands or without. None: a point; but a column whose
        numbers have a comma in its place is read as numbers, and a warning says so.
    choices
        As in `Table`: `missing`, `categorical`, `counts`, `continuous`, `states`, `weights`.

    Examples
    --------
    >>> import jensen as jn
    >>> jn.read_table("export.csv", separator=";", missing=["?"])  # doctest: +SKIP
    """
    if not isinstance(path, (str, PathLike)):
        raise DataError(f"read_table reads a file, not {type(path).__name__}: use jn.Table")
    return Table(path, separator=separator, decimal=decimal, **choices)


def as_rows(data: Any) -> Table | TableScan:
    """A `Table` or a `TableScan` as it is; anything else through `Table`."""
    return cast("Table | TableScan", data) if isinstance(data, RowsInBlocks) else Table(data)


def as_table(data: Any) -> Table:
    """All rows in memory: columns of a scan are gathered, or refused if they are too large."""
    rows = as_rows(data)
    return rows if isinstance(rows, Table) else rows.gather(rows.names)
