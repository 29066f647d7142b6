"""The table: typed columns, missing anywhere, optional row weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.data import convert
from jensen.data.encode import Column, encode
from jensen.data.files import read_columns
from jensen.data.packed import Packed
from jensen.data.recode import recode
from jensen.data.scan import Raw
from jensen.data.sources import kind_of_source, raw_columns
from jensen.data.threads import ordered_map
from jensen.data.variable import Kind, Variable, label_text
from jensen.data.weights import check_weights
from jensen.exceptions import DataError
from jensen.fields import add

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

UNIT_ROWS = 1 << 17
"""Rows of one unit of work, a multiple of 64; fixed, so that sums never depend on threads."""


class Block(NamedTuple):
    """Rows start..stop of a table: what one thread works on at a time."""

    table: Table
    start: int
    stop: int


class Table:
    """Rows and typed columns; anything may be missing, and rows may carry weights.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet; also .gz), a pandas, polars or pyarrow dataframe, a dict of
        columns, a 2-D NumPy array, or a `Table`.
    names
        Names of the columns of an array (default x0, x1, ...).
    categorical, counts, continuous
        Columns whose kind the caller fixes. Otherwise text is categorical, whole numbers are
        categorical up to 20 distinct values and counts beyond (continuous if some are negative),
        other numbers are continuous.
    states
        Labels of categorical columns in their order; states that never occur are kept.
        Otherwise the labels that occur, sorted naturally (2 before 10).
    missing
        Labels that mean missing, besides empty fields, None and NaN.
    weights
        How often each row counts: an array, or the name of a column, which is then no variable.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"rain": ["no", "yes", None], "drops": [0.0, 2.5, 1.5]})
    >>> table
    Table: 3 rows, 2 columns, 1 value missing
      rain   categorical  no, yes  1 missing
      drops  continuous
    """

    def __init__(
        self,
        data: Any,
        *,
        names: Sequence[str] | None = None,
        categorical: Iterable[str] = (),
        counts: Iterable[str] = (),
        continuous: Iterable[str] = (),
        states: Mapping[str, Sequence[object]] | None = None,
        missing: Iterable[object] = (),
        weights: ArrayLike | str | None = None,
    ) -> None:
        absent = _missing_labels(missing)
        if isinstance(data, Table):
            weights = data.weights if weights is None else weights
            data = data.to_arrow()
        self.source = kind_of_source(data)
        if isinstance(data, (str, Path)):
            raws = read_columns(data, absent)
        else:
            raws = raw_columns(data, names)
        kinds = _kinds(categorical, counts, continuous)
        known = {raw.name for raw in raws}
        for name in [*kinds, *(states or {})]:
            if name not in known:
                raise DataError(_no_column(name, [raw.name for raw in raws]))
        if isinstance(weights, str):
            weights, raws = _take_weights(weights, raws)
        declared = {raw.name: _states_of(raw.name, states, kinds) for raw in raws}
        self._set(
            ordered_map(lambda r: encode(r, kinds.get(r.name), declared[r.name], absent), raws),
            weights,
        )

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

    # --- what is in it ---

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in the order in which they came."""
        return tuple(self._columns)

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
            raise DataError(_no_column(name, self.names))
        return self._columns[name]

    @property
    def total_weight(self) -> float:
        """How many rows there are, each counted as often as its weight says."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    def n_missing(self, names: Iterable[str] | None = None) -> dict[str, int]:
        """How many values are missing, for the columns that miss any."""
        chosen = self.names if names is None else names
        counts = {name: int(self.column(name).missing().sum()) for name in chosen}
        return {name: count for name, count in counts.items() if count}

    def __len__(self) -> int:
        return self.n_rows

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __repr__(self) -> str:
        lost = sum(self.n_missing().values())
        head = f"Table: {_count(self.n_rows, 'row')}, {_count(len(self._columns), 'column')}"
        head += f", {_count(lost, 'value')} missing" if lost else ""
        head += f", total weight {self.total_weight:g}" if self.weights is not None else ""
        return "\n".join([head, *_describe_columns(self)])

    # --- tables from tables ---

    def select(self, names: Iterable[str]) -> Table:
        """The same rows with these columns only."""
        chosen = [self.column(name) for name in names]
        return Table.from_columns(chosen, self.weights, self.source)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Table:
        """These rows (positions, or a mask), with the same variables."""
        columns = [Column(c.variable, c.data[rows]) for c in self._columns.values()]
        weights = None if self.weights is None else self.weights[rows]
        return Table.from_columns(columns, weights, self.source)

    def complete_rows(self, names: Iterable[str] | None = None) -> Table:
        """The rows that miss nothing (in these columns): dropping rows is the caller's decision."""
        chosen = self.names if names is None else names
        incomplete = [self.column(name).missing() for name in chosen]
        return self.take(~np.any(incomplete, axis=0)) if incomplete else self

    def with_weights(self, weights: ArrayLike | None) -> Table:
        """The same columns, other weights."""
        return Table.from_columns(self._columns.values(), weights, self.source)

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
        return Table.from_columns([c for c, _ in pairs], self.weights, self.source), unknown

    # --- sums over rows ---

    @cached_property
    def packed(self) -> Packed:
        """The categorical columns as the kernels read them."""
        return Packed(self._columns, self.n_rows)

    def sum(self, f: Callable[[Block], Any]) -> Any:
        """Σ f(block) over blocks of rows, on threads; added in order, so threads change nothing.

        `f` returns an array, a number, or a record or tuple of them.

        Examples
        --------
        >>> import jensen as jn
        >>> table = jn.Table({"x": [1.5, 2.5, 4.0]})
        >>> float(table.sum(lambda b: b.table.column("x").data[b.start:b.stop].sum()))
        8.0
        """
        starts = range(0, max(self.n_rows, 1), UNIT_ROWS)
        blocks = [Block(self, s, min(s + UNIT_ROWS, self.n_rows)) for s in starts]
        return reduce(add, ordered_map(f, blocks))

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

    def write_csv(self, stream: BinaryIO) -> None:
        """Write CSV to an open binary stream."""
        convert.write_csv(self._columns.values(), stream)

    def write(self, path: str | Path) -> None:
        """Write CSV, TSV or Parquet, by the suffix (also .gz); the file appears whole or not."""
        convert.write(self._columns.values(), path)


def as_table(data: Any) -> Table:
    """A `Table` as it is; anything else through `Table`."""
    return data if isinstance(data, Table) else Table(data)


def read_table(path: str | Path, **choices: Any) -> Table:
    """Read a CSV, TSV or Parquet file, plain or compressed; `choices` as in `Table`.

    In text files a label is the text as written (`TRUE`, `01` and `None` are labels); only the
    empty field, and what `missing=[...]` lists, is missing.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.read_table("patients.csv", missing=["?"])  # doctest: +SKIP
    """
    return Table(Path(path) if str(path) != "-" else "-", **choices)


def _kinds(
    categorical: Iterable[str], counts: Iterable[str], continuous: Iterable[str]
) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    said: list[tuple[Kind, Iterable[str]]] = [
        ("categorical", categorical),
        ("count", counts),
        ("continuous", continuous),
    ]
    for kind, chosen in said:
        if isinstance(chosen, str):
            raise DataError(f"give a list of columns, [{chosen!r}], not the text {chosen!r}")
        for name in chosen:
            if kinds.setdefault(name, kind) != kind:
                raise DataError(f"column {name!r} is declared {kinds[name]} and {kind}: choose one")
    return kinds


def _states_of(
    name: str, states: Mapping[str, Sequence[object]] | None, kinds: Mapping[str, Kind]
) -> Sequence[str] | None:
    if states is None or name not in states:
        return None
    if kinds.get(name, "categorical") != "categorical":
        raise DataError(f"column {name!r} is declared {kinds[name]}, which has no states")
    if isinstance(states[name], str):
        raise DataError(f"the states of {name!r} must be a list, not the text {states[name]!r}")
    return tuple(map(label_text, states[name]))


def _missing_labels(missing: Iterable[object]) -> list[str]:
    if isinstance(missing, str):
        raise DataError(f"missing must be a list of labels, [{missing!r}], not the text itself")
    return [label_text(label) for label in missing]


def _take_weights(name: str, raws: list[Raw]) -> tuple[NDArray[np.float64], list[Raw]]:
    """Weights from a column, which is then no variable."""
    chosen = [raw for raw in raws if raw.name == name]
    if not chosen:
        raise DataError(_no_column(name, [raw.name for raw in raws]))
    weights = np.asarray(encode(chosen[0], "continuous", None, ()).data, np.float64)
    return weights, [raw for raw in raws if raw.name != name]


def _no_column(name: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"there is no column {name!r}; the columns are: {shown}"


def _describe_columns(table: Table, most: int = 20) -> list[str]:
    shown, lost = table.variables[:most], table.n_missing(table.names[:most])
    rows = []
    for v in shown:
        states = ", ".join(v.states[:6]) + (f", ... ({v.n_states})" if v.n_states > 6 else "")
        absent = f"{lost[v.name]:,} missing" if v.name in lost else ""
        rows.append([v.name, v.kind, states, absent])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    rest = len(table.names) - len(shown)
    return [*lines, f"  ... and {_count(rest, 'column')} more"] if rest else lines


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
