"""Rows from anywhere, in blocks: all that is learned is learned from sums over blocks of rows.

A block refers to rows of a table, which owns their packing. Blocks have one fixed size, wherever
the rows come from, and their sums are dyadic (`TreeSum`), so that no bit of a result depends on
files or threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.data.packed import Packed
from jensen.data.threads import one_blas_thread, ordered_map
from jensen.data.units import TreeSum
from jensen.data.variable import Variable
from jensen.support.fields import add
from jensen.support.fingerprint import fingerprint

if TYPE_CHECKING:
    from jensen.data.table import Table

UNIT_ROWS = 1 << 17
"""Rows of one unit of work, a multiple of 64; fixed, so that sums never depend on threads."""


class Block(NamedTuple):
    """Rows start..stop of a table: what one thread works on at a time."""

    table: Table
    start: int
    stop: int

    @property
    def n_rows(self) -> int:
        """How many rows the block has."""
        return self.stop - self.start

    def values(self, name: str) -> NDArray[Any]:
        """(rows,): the codes or numbers of a column."""
        return self.table.column(name).data[self.start : self.stop]

    def missing(self, name: str) -> NDArray[np.bool_]:
        """(rows,): where a column is missing."""
        return Column(self.table.variable(name), self.values(name)).missing()

    @property
    def weights(self) -> NDArray[np.float64]:
        """(rows,): how often each row counts."""
        weights = self.table.weights
        return np.ones(self.n_rows) if weights is None else weights[self.start : self.stop]


class Range(NamedTuple):
    """The range of a column of numbers; NaN if it has no values."""

    first: float  # in the first row
    least: float
    most: float


class RowSource(Protocol):
    """Rows of known variables, in memory or read again in every pass; all that learners need."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """One variable per column."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    def variable(self, name: str) -> Variable:
        """The variable of a column."""

    def __contains__(self, name: object) -> bool: ...

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def is_weighted(self) -> bool:
        """Whether rows carry weights."""

    @property
    def total_weight(self) -> float:
        """How many rows there are, each counted as often as its weight says."""

    def n_missing(self, names: Iterable[str] | None = None) -> dict[str, int]:
        """How many values are missing, for the columns that miss any."""

    def n_seen(self, name: str) -> int:
        """How many values of a column are not missing."""

    def range_of(self, name: str) -> Range:
        """The first, the least and the largest of the values of a column of numbers."""

    @property
    def packed(self) -> Packed:
        """How the categorical columns of every block are packed."""

    def select(self, names: Iterable[str]) -> Self:
        """The same rows with these columns only."""

    def take(self, rows: NDArray[np.bool_]) -> Self:
        """These rows."""

    def counted(self) -> Self:
        """The rows that have a weight."""

    def complete_rows(self, names: Iterable[str] | None = None) -> Self:
        """The rows that miss nothing (in these columns)."""

    def with_weights(self, weights: None) -> Self:
        """The same rows, each counted once."""

    def blocks(self, size: int | None = None) -> Iterable[Block]:
        """The rows in blocks of that many, the last of which may be shorter; at least one."""

    def sum(self, f: Callable[[Block], Any]) -> Any:
        """Σ f(block) over blocks of rows."""

    @property
    def checks_done(self) -> set[tuple[str, str]]:
        """Pairs of a column and a check of it that was done, so that each warning comes once."""

    def tables(self) -> Iterable[Table]:
        """The rows as one table, or as several with some rows each."""

    def head(self) -> Table:
        """Rows for a quick look at columns: all rows in memory, or the first block."""

    def gather(self, names: Iterable[str]) -> Table:
        """These columns in memory, for methods that cannot learn from sums."""

    def digest(self) -> str:
        """A hash of all rows, however they are cut into blocks."""


@one_blas_thread()
def sum_blocks(
    blocks: Iterable[Block], f: Callable[[Block], Any], join: Callable[[Any, Any], Any] = add
) -> Any:
    """Σ f(block) over blocks, on threads; `join` adds two neighbouring terms."""
    tree = TreeSum(join)
    for number, term in enumerate(ordered_map(f, blocks)):
        tree.put(number, term)
    return tree.total()


def digest_blocks(rows: RowSource) -> str:
    """A hash of the hashes of all blocks."""

    def of_block(block: Block) -> str:
        columns = {name: np.ascontiguousarray(block.values(name)) for name in rows.names}
        return fingerprint(columns, block.weights if rows.is_weighted else None)

    kinds = [(v.name, v.kind, v.states) for v in rows.variables]
    return fingerprint(kinds, list(ordered_map(of_block, rows.blocks())))
