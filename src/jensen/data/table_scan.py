"""Rows that are read again in every pass, block by block, and never held all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import blocks, number_rows
from jensen.data.blocks import Block, Range, RowsInBlocks, TreeSum
from jensen.data.convert import describe
from jensen.data.encode import Column, smallest_code_type
from jensen.data.number_rows import NumberBlock, Sketch, numbers_of
from jensen.data.packed import Packed
from jensen.data.table import Table
from jensen.data.table_choices import list_of_columns, no_column
from jensen.data.variable import Variable
from jensen.exceptions import DataError
from jensen.support.machine import check_memory, ordered_map

Part = tuple[int, Table]
"""How many rows come before, and a table with the next ones."""


@dataclass(frozen=True, eq=False)
class TableScan(RowsInBlocks):
    """A table whose rows come in blocks, anew in every pass.

    Parameters
    ----------
    variables
        The variables of the columns, with all their states.
    read
        Begins a pass: yields tables of these variables, of any sizes.
    is_weighted
        Whether the tables have weights.
    source
        The kind of dataframe that answers come back as.
    checks_done
        Pairs of a column and a check of it that was done.
    known
        Gives the sketch, where the same rows are looked at by another scan.
    whole
        The same rows as a table whose columns are mapped to memory, where there is one.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.examples.load("asia").sample(1000, random_state=0)
    >>> def read():
    ...     return (table.rows(start, start + 300) for start in range(0, 1000, 300))
    >>> scan = TableScan(table.variables, read)
    >>> scan.n_rows
    1000
    """

    variables: tuple[Variable, ...]
    read: Callable[[], Iterable[Table]]
    is_weighted: bool = False
    source: str = "pandas"
    checks_done: set[tuple[str, str]] = field(default_factory=set)
    known: Callable[[], SourceSketch] | None = None
    whole: Table | None = None

    def __repr__(self) -> str:
        return describe(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in the order in which they came."""
        return tuple(v.name for v in self.variables)

    def variable(self, name: str) -> Variable:
        """The variable of a column."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise DataError(no_column(name, self.names))

    # --- sizes and ranges, from one pass ---

    @cached_property
    def sketch(self) -> SourceSketch:
        """What one pass over the rows tells."""
        return sketch_blocks(self._blocks(), self.variables) if self.known is None else self.known()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.sketch.numbers.n_rows

    @property
    def total_weight(self) -> float:
        """How many rows there are, each counted as often as its weight says."""
        return self.sketch.weight

    def n_missing(self, names: Iterable[str] | None = None) -> dict[str, int]:
        """How many values are missing, for the columns that miss any."""
        chosen = self.names if names is None else list_of_columns(names, "names")
        missing = self.sketch.missing
        return {name: missing[name] for name in chosen if missing[name]}

    def range_of(self, name: str) -> Range:
        """The first, the least and the largest of the values of a column of numbers."""
        v, found = self.sketch.names.index(name), self.sketch.numbers
        return Range(float(found.first[v]), float(found.least[v]), float(found.most[v]))

    @cached_property
    def packed(self) -> Packed:
        """How the categorical columns of every block are packed, as a table without rows."""
        return _empty(self.variables, self.is_weighted, tuple(self.n_missing())).packed

    # --- scans with fewer rows or columns ---

    def select(self, names: Iterable[str]) -> TableScan:
        """The same rows with these columns only."""
        chosen = list_of_columns(names, "names")
        found = self._map([self.variable(x) for x in chosen], lambda part: part[1].select(chosen))
        whole = None if self.whole is None else self.whole.select(chosen)
        return replace(found, known=lambda: self.sketch.select(chosen), whole=whole)

    def take(self, rows: NDArray[np.bool_]) -> TableScan:
        """The rows that a mask chooses."""
        if rows.dtype != bool or len(rows) != self.n_rows:
            raise DataError("rows of a scan are chosen by a mask of all of them")
        return self._map(self.variables, lambda part: part[1].take(rows[part[0] :][: len(part[1])]))

    def where(self, name: str, state: int) -> TableScan:
        """The rows in which a column has a state, by number."""

        def chosen(part: Part) -> Table:
            return part[1].take(part[1].column(name).data == state)

        return self._map(self.variables, chosen)

    def counted(self) -> TableScan:
        """The rows that have a weight."""
        if not self.is_weighted:
            return self
        return self._map(self.variables, lambda part: part[1].counted())

    def complete_rows(self, names: Iterable[str] | None = None) -> TableScan:
        """The rows that miss nothing (in these columns)."""
        chosen = None if names is None else list_of_columns(names, "names")
        return self._map(self.variables, lambda part: part[1].complete_rows(chosen))

    def with_weights(self, weights: NDArray[np.float64] | None) -> TableScan:
        """The same rows, other weights."""

        def weighted(part: Part) -> Table:
            start, table = part
            return table.with_weights(None if weights is None else weights[start:][: len(table)])

        return TableScan(
            self.variables, lambda: map(weighted, self._parts()), weights is not None, self.source
        )

    def _map(self, variables: Sequence[Variable], f: Callable[[Part], Table]) -> TableScan:
        return TableScan(
            tuple(variables),
            lambda: map(f, self._parts()),
            self.is_weighted,
            self.source,
            self.checks_done,
        )

    def _parts(self) -> Iterator[Part]:
        """All tables of a pass, each with the number of rows before it."""
        start = 0
        for k, table in enumerate(self.read()):
            if table.variables != self.variables or table.is_weighted != self.is_weighted:
                raise DataError(
                    f"block {k + 1} of a scan has other columns, states or weights than the first: "
                    f"declare them for all blocks"
                )
            yield start, table
            start += table.n_rows

    # --- sums over rows ---

    def blocks(self, size: int | None = None) -> Iterator[Block]:
        """The rows in blocks of that many, the last of which may be shorter; at least one."""
        return self._blocks(tuple(self.n_missing()), size)

    def _blocks(self, incomplete: Sequence[str] = (), size: int | None = None) -> Iterator[Block]:
        tables = (table for _, table in self._parts())
        for table in recut(tables, size or blocks.UNIT_ROWS, self._nothing):
            table.incomplete = incomplete
            yield Block(table, 0, table.n_rows)

    @property
    def _nothing(self) -> Table:
        return _empty(self.variables, self.is_weighted)

    def tables(self) -> Iterator[Table]:
        """Some rows each."""
        return (block.table for block in self.blocks())

    def sight(self) -> Table:
        """The first block."""
        return next(self._blocks()).table

    def gather(self, names: Iterable[str]) -> Table:
        """These columns in memory, for methods that need them there; refused if too large."""
        chosen = self.select(names)
        if chosen.whole is not None:
            return chosen.whole
        widths = [_dtype(v).itemsize for v in chosen.variables]
        check_memory(
            float(sum(widths)) * self.n_rows,
            f"holding {len(widths)} columns of {self.n_rows:,} rows at once",
            "choose fewer columns, or a method that learns from sums over rows",
        )
        return joined([self._nothing.select(chosen.names), *(t for _, t in chosen._parts())])


def recut(tables: Iterable[Table], size: int, nothing: Table) -> Iterator[Table]:
    """The same rows in tables of that many, the last of which may be shorter; at least one."""
    held, n, is_first = [nothing], 0, True
    for table in tables:
        held.append(table)
        n += table.n_rows
        if n < size:
            continue
        whole = joined(held)
        for start in range(0, n - n % size, size):
            yield whole.rows(start, start + size)
        held, n, is_first = [whole.rows(n - n % size, n)], n % size, False
    if n or is_first:
        yield joined(held)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of some tables of the same variables, one after the other."""
    some = [table for table in tables if table.n_rows] or list(tables[:1])
    if len(some) == 1:
        return some[0]
    columns = [
        Column(v, np.concatenate([table.column(v.name).data for table in some]))
        for v in some[0].variables
    ]
    weights = [table.weights for table in some if table.weights is not None]
    return Table.from_columns(columns, np.concatenate(weights) if weights else None, some[0].source)


def _empty(
    variables: Iterable[Variable], is_weighted: bool, incomplete: Sequence[str] = ()
) -> Table:
    columns = [Column(v, np.empty(0, _dtype(v))) for v in variables]
    table = Table.from_columns(columns, np.empty(0) if is_weighted else None)
    table.incomplete = incomplete
    return table


def _dtype(variable: Variable) -> np.dtype[Any]:
    is_code = variable.kind == "categorical"
    return np.dtype(smallest_code_type(variable.n_states) if is_code else np.float64)


class SourceSketch(NamedTuple):
    """What one pass over a source tells: sizes, gaps, and the sketch of its columns of numbers."""

    weight: float  # of all rows, as a `Table` adds it up
    missing: Mapping[str, int]  # how many values each column misses
    names: tuple[str, ...]  # of the columns of numbers
    numbers: Sketch  # of these columns

    def select(self, names: Sequence[str]) -> SourceSketch:
        """The same of some columns."""
        kept = tuple(name for name in names if name in self.names)
        numbers = self.numbers.columns([self.names.index(name) for name in kept])
        return SourceSketch(self.weight, {x: self.missing[x] for x in names}, kept, numbers)


def sketch_blocks(blocks: Iterable[Block], variables: Sequence[Variable]) -> SourceSketch:
    """One pass over all rows of a source."""
    names = tuple(v.name for v in variables if v.kind != "categorical")

    def look(block: Block) -> tuple[tuple[float, NDArray[np.int64]], list[Sketch]]:
        values, weight = numbers_of(block, names), block.weights
        pieces = range(0, max(block.n_rows, 1), number_rows.SUMMED_ROWS)
        ends = ((start, start + number_rows.SUMMED_ROWS) for start in pieces)
        found = [Sketch.of(NumberBlock(values[a:b], weight[a:b], a)) for a, b in ends]
        missing = np.array([block.missing(v.name).sum() for v in variables], np.int64)
        return (float(weight.sum()), missing), found

    sizes, sketches, numbers = TreeSum(), TreeSum(Sketch.join), count()
    for number, (size, parts) in enumerate(ordered_map(look, blocks)):
        sizes.put(number, size)
        for part in parts:
            sketches.put(next(numbers), part)
    weight, missing = sizes.total()
    by_name = {v.name: int(n) for v, n in zip(variables, missing, strict=True)}
    return SourceSketch(weight, by_name, names, sketches.total())
