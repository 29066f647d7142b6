"""Rows from anywhere, in blocks: all that is learned is learned from sums over blocks of rows.

A block refers to rows of a table, which owns their packing. Blocks have one fixed size, wherever
the rows come from, and their sums are dyadic (`TreeSum`), so that no bit of a result depends on
files or threads. What a model encodes of blocks are its units, which are summed in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from functools import reduce
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.data.packed import Packed
from jensen.data.variable import Variable
from jensen.support.fields import add
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import one_blas_thread, ordered_map

if TYPE_CHECKING:
    from jensen.data.table import Table
    from jensen.data.table_scan import SourceSketch

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

    def sight(self) -> Table:
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


class RowsInBlocks:
    """What rows in memory and rows that are read again do alike, from their blocks."""

    def __len__(self: RowSource) -> int:
        return self.n_rows

    def __contains__(self: RowSource, name: object) -> bool:
        return name in self.names

    def n_seen(self: RowSource, name: str) -> int:
        """How many values of a column are not missing."""
        return self.n_rows - self.n_missing([name]).get(name, 0)

    def sum(self: RowSource, f: Callable[[Block], Any]) -> Any:
        """Σ f(block) over blocks of rows, on threads, which change nothing (see `TreeSum`).

        `f` returns an array, a number, or a record or tuple of them.

        Examples
        --------
        >>> import jensen as jn
        >>> table = jn.Table({"x": [1.5, 2.5, 4.0]})
        >>> float(table.sum(lambda block: block.values("x").sum()))
        8.0
        """
        return sum_blocks(self.blocks(), f)

    def digest(self: RowSource) -> str:
        """A hash of all rows, however they are cut into blocks."""
        return digest_blocks(self)


# --- units ---

FEW = 2
"""With so few units no threads are used; one of them may be just counts."""


class TreeSum:
    """A sum as a dyadic tree over the numbers of its terms, in whatever order they arrive.

    Neighbours 2i and 2i + 1 are added first, then the sums of such pairs, and so on. So the bits of
    the total depend on the numbers of the terms alone, not on how the work is split, and rounding
    grows with the logarithm of their number. Only about so many partial sums are held at a time.

    Parameters
    ----------
    join
        Adds two neighbouring terms; by default leaf by leaf through records and tuples.

    Examples
    --------
    >>> tree = TreeSum()
    >>> for number, term in enumerate([1e16, 1.0, 1.0, 1.0]):
    ...     tree.put(number, term)
    >>> tree.total()
    1.0000000000000002e+16
    """

    def __init__(self, join: Callable[[Any, Any], Any] = add) -> None:
        self._join = join
        self._nodes: dict[tuple[int, int], Any] = {}  # (level, number) → a sum of 2^level terms

    def put(self, number: int, term: Any, level: int = 0) -> None:
        """Add a term, or with a `level` the sum of 2^level terms; each once, in any order."""
        while (level, number ^ 1) in self._nodes:
            other = self._nodes.pop((level, number ^ 1))
            term = self._join(other, term) if number & 1 else self._join(term, other)
            level, number = level + 1, number >> 1
        self._nodes[level, number] = term

    def merge(self, other: TreeSum) -> None:
        """Add the terms of another tree; the two must have no term in common."""
        for (level, number), term in other._in_order():
            self.put(number, term, level)

    def total(self) -> Any:
        """The sum; None if there are no terms."""
        terms = [term for _, term in self._in_order()]
        return reduce(self._join, terms) if terms else None

    def _in_order(self) -> list[tuple[tuple[int, int], Any]]:
        return sorted(self._nodes.items(), key=lambda node: node[0][1] << node[0][0])


class Units(NamedTuple):
    """Encoded rows in units, which are cut by size, never by the number of threads."""

    items: Iterable[Any]  # units; or blocks of rows, which are read again in every pass
    total_weight: float  # of the rows
    is_complete: bool  # whether nothing is hidden, so that the first statistics are the last
    encode: Callable[[Any], Any] | None = None  # makes a unit of a block, in the thread that sums

    def __len__(self) -> int:
        return len(tuple(self.items))

    @one_blas_thread()
    def sum(
        self, f: Callable[[int, Any, Any], tuple[Any, Any]], kept: Iterable[Any] = ()
    ) -> tuple[Any, tuple[Any, ...]]:
        """Σ over units of f(number, unit, kept) → (what to add, what to keep).

        `kept` holds what the last pass kept of every unit; without it each unit gets None.
        """
        before = tuple(kept)
        pairs = zip(self.items, before, strict=True) if before else zip(self.items, repeat(None))
        jobs: Iterable[tuple[int, tuple[Any, Any]]] = enumerate(pairs)
        run: Callable[..., Iterator[tuple[Any, Any]]] = ordered_map
        if isinstance(self.items, Sized):
            jobs = list(jobs)
            run = ordered_map if len(jobs) > FEW else map

        def visit(job: tuple[int, tuple[Any, Any]]) -> tuple[Any, Any]:
            number, (item, memory) = job
            return f(number, self._unit(item), memory)

        tree, after = TreeSum(), []
        for number, (term, keep) in enumerate(run(visit, jobs)):
            tree.put(number, term)  # added while others are still at work
            after.append(keep)
        return tree.total(), tuple(after)

    def each(self) -> Iterator[Any]:
        """The units, in order."""
        return map(self._unit, self.items)

    def _unit(self, item: Any) -> Any:
        return item if self.encode is None else self.encode(item)


ENTRIES = 1 << 18
"""Rows times states of one segment; fixed, so that sums never depend on the machine."""


def segments(n_rows: int, n_states: int) -> Iterator[tuple[int, int]]:
    """Where each segment of the rows begins and ends."""
    size = segment_rows(n_states)
    for start in range(0, n_rows, size):
        yield start, min(start + size, n_rows)


def segment_rows(n_states: int) -> int:
    """How many rows a segment has."""
    return max(64, ENTRIES // n_states)


class Passes:
    """An iterable that begins a new pass whenever it is iterated."""

    def __init__(self, begin: Callable[[], Iterable[Any]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[Any]:
        return iter(self._begin())


@runtime_checkable
class Sketched(RowSource, Protocol):
    """Rows that are looked at as a whole, once."""

    @property
    def sketch(self) -> SourceSketch:
        """What one pass tells."""
