"""Rows of numbers (n, D), NaN where they are missing, in memory or read again in every pass."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Block, Passes, RowSource, Sketched, TreeSum, Units
from jensen.data.table import Table
from jensen.support.fields import add
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import check_memory, one_blas_thread, ordered_map

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SUMMED_ROWS = 1 << 14
"""Rows that are summed at once; fixed, so that sums never depend on threads."""


class NumberBlock(NamedTuple):
    """Neighbouring rows of numbers."""

    values: Array  # (n, D)
    weight: Array  # (n,)
    start: int  # how many rows come before


class Sketch(NamedTuple):
    """What one pass over rows tells of their columns, as numbers; labels are codes.

    Checks, priors, starts and units read it: sizes, ranges, gaps and sums.
    """

    n_rows: int
    weight: float  # of all rows
    n_weighted: int  # rows whose weight is not 1
    n_without_weight: int
    first: Array  # (D,): in the first row
    least: Array  # (D,), NaN of a column without values
    most: Array  # (D,)
    n_seen: Array  # (D,): values that are there
    seen: Array  # (D,): their weight
    total: Array  # (D,): Σ weight · value
    squares: Array  # (D,): Σ weight · value²

    @classmethod
    def of(cls, block: NumberBlock) -> Sketch:
        """The sketch of some rows, of which there may be none."""
        columns = np.ascontiguousarray(block.values.T)  # quicker along rows
        weight = block.weight
        return cls(
            len(weight),
            float(weight.sum()),
            int(np.count_nonzero(weight != 1.0)),
            int(np.count_nonzero(weight <= 0.0)),
            columns[:, 0].copy() if len(weight) else np.full(len(columns), np.nan),
            np.fmin.reduce(columns, axis=1, initial=np.nan),
            np.fmax.reduce(columns, axis=1, initial=np.nan),
            len(weight) - np.isnan(columns).sum(1).astype(np.float64),
            *column_sums(block, np.zeros(len(columns))),
        )

    def join(self, after: Sketch) -> Sketch:
        """The sketch of these rows and of those after them."""
        both = Sketch(*map(operator.add, self, after))
        return both._replace(
            first=self.first if self.n_rows else after.first,
            least=np.fmin(self.least, after.least),
            most=np.fmax(self.most, after.most),
        )

    def columns(self, chosen: Sequence[int]) -> Sketch:
        """The sketch of some of the columns."""
        some = list(chosen)  # of the fields after the first four, which tell of rows
        return Sketch(*self[:4], *(part[some] for part in self[4:]))


@dataclass(frozen=True, eq=False)
class NumberRows:
    """Rows of numbers and their weights; `NumberRows.of` and `NumberRows.scanned` make them.

    Parameters
    ----------
    n_rows, n_columns
        Numbers of rows and columns.
    cut
        Begins a pass: yields blocks that end before these rising row numbers; the last is n_rows.
    is_kept
        Whether the rows are in memory, so that units made of them may be kept there too.
    known
        The sketch, where a pass has been made already.
    """

    n_rows: int
    n_columns: int
    cut: Callable[[Ints], Iterable[NumberBlock]]
    is_kept: bool
    known: Sketch | None = None

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> NumberRows:
        """Rows in memory; each counts once unless weights say otherwise."""
        weight = np.ones(len(values)) if weight is None else weight

        def cut(ends: Ints) -> list[NumberBlock]:
            pairs = pairwise([0, *ends.tolist()])
            return [NumberBlock(values[a:b], weight[a:b], a) for a, b in pairs]

        return cls(values.shape[0], values.shape[1], cut, is_kept=True)

    @classmethod
    def scanned(cls, rows: RowSource, names: Sequence[str]) -> NumberRows:
        """Columns of numbers or codes, as numbers; a name without a column is missing."""
        if isinstance(rows, Table):
            return cls.of(numbers_of(rows, names), rows.weights)

        def cut(ends: Ints) -> Iterator[NumberBlock]:
            tables = ((numbers_of(t, names), Block(t, 0, t.n_rows).weights) for t in rows.tables())
            return _recut(tables, ends)

        found = cls(rows.n_rows, len(names), cut, is_kept=False)
        if isinstance(rows, Sketched) and {*names} <= {*rows.sketch.names}:
            return replace(found, known=rows.sketch.select(names).numbers)
        return found

    def read(self, size: int) -> Iterable[NumberBlock]:
        """The rows in blocks of that many, the last of which may be shorter."""
        return self.cut(np.append(np.arange(size, self.n_rows, size), self.n_rows)[: self.n_rows])

    def by_sequence(self, lengths: Ints, weight: Array) -> NumberRows:
        """The same rows, each with the weight of its sequence."""
        if self.counts_once and (weight == 1.0).all():
            return self
        ends = np.cumsum(lengths)

        def weigh(block: NumberBlock) -> NumberBlock:
            numbers = np.arange(block.start, block.start + len(block.weight))
            return block._replace(weight=weight[np.searchsorted(ends, numbers, "right")])

        def cut(at: Ints) -> Iterable[NumberBlock]:
            blocks = self.cut(at)
            return [*map(weigh, blocks)] if self.is_kept else map(weigh, blocks)

        return replace(self, cut=cut, known=None)

    @cached_property
    def sketch(self) -> Sketch:
        """Sizes, ranges and sums of the columns, from one pass."""
        if self.known is not None:
            return self.known
        found: Sketch | None = self.sum(Sketch.of, Sketch.join)
        nothing = NumberBlock(np.empty((0, self.n_columns)), np.empty(0), 0)
        return Sketch.of(nothing) if found is None else found

    @property
    def total_weight(self) -> float:
        """How many rows there are, each counted as often as its weight says."""
        return self.sketch.weight

    @property
    def counts_once(self) -> bool:
        """Whether every row has the weight 1."""
        return not self.sketch.n_weighted

    def values(self) -> Array:
        """All rows (n, D) in memory; refused if they are too large."""
        return self._whole().values

    def weights(self) -> Array:
        """The weights of all rows (n,)."""
        return self._whole().weight

    def _whole(self) -> NumberBlock:
        if not self.is_kept:
            check_memory(
                16.0 * self.n_rows * self.n_columns,
                f"holding {self.n_rows:,} rows of {self.n_columns} numbers at once",
                "leave out columns, or choices that need all rows",
            )
        (block,) = self.cut(np.array([self.n_rows]))
        return block

    def columns(self, chosen: Sequence[int] | NDArray[np.intp]) -> NumberRows:
        """Some of the columns."""
        some = list(chosen)

        def cut(ends: Ints) -> Iterable[NumberBlock]:
            return (block._replace(values=block.values[:, some]) for block in self.cut(ends))

        return replace(self, n_columns=len(some), cut=cut, known=self.sketch.columns(some))

    def counted(self) -> NumberRows:
        """The rows that have a weight, which are copied only if some are left out."""
        if not self.sketch.n_without_weight:
            return self
        block = self._whole()
        return NumberRows.of(block.values[block.weight > 0.0], block.weight[block.weight > 0.0])

    def showing(self) -> NumberRows:
        """The rows that show something: others integrate to one. Rows that are read again stay."""
        if not self.is_kept or not self.n_rows or not self.has_gaps:
            return self
        block = self._whole()
        shows = ~np.isnan(block.values).all(1)
        return self if shows.all() else NumberRows.of(block.values[shows], block.weight[shows])

    def digest(self) -> str:
        """A hash of all rows."""
        hashes = ordered_map(lambda b: fingerprint(b.values, b.weight), self.read(SUMMED_ROWS))
        return fingerprint(self.n_columns, list(hashes))

    @property
    def has_gaps(self) -> bool:
        """Whether anything is missing."""
        return bool((self.sketch.n_seen < self.n_rows).any())

    @one_blas_thread()
    def sum(
        self,
        f: Callable[[NumberBlock], Any],
        join: Callable[[Any, Any], Any] = add,
    ) -> Any:
        """Σ f(block) on threads, as a dyadic tree; None of no rows."""
        tree = TreeSum(join)
        for number, term in enumerate(ordered_map(f, self.read(SUMMED_ROWS))):
            tree.put(number, term)
        return tree.total()

    def take(self, chosen: NDArray[np.intp]) -> tuple[Array, Array]:
        """Values and weights of some rows, by their rising numbers."""

        def pick(block: NumberBlock) -> tuple[tuple[Array, Array], ...]:
            a, b = np.searchsorted(chosen, [block.start, block.start + len(block.weight)])
            some = chosen[a:b] - block.start
            return ((block.values[some], block.weight[some]),)

        parts = self.sum(pick, lambda a, b: a + b)
        values, weight = zip(*parts, strict=True)
        return np.concatenate(values), np.concatenate(weight)

    def units(
        self,
        encode: Callable[[NumberBlock], Any],
        begin: Callable[[], Iterable[NumberBlock]],
        *,
        total_weight: float,
        is_complete: bool,
    ) -> Units:
        """Units of blocks: kept in memory if the rows are, else encoded again in every pass."""
        if self.is_kept:
            return Units(tuple(ordered_map(encode, begin())), total_weight, is_complete)
        return Units(Passes(begin), total_weight, is_complete, encode)


def column_sums(block: NumberBlock, center: Array) -> Array:
    """(3, D): the weight of the values of each column, their sum and that of their squares.

    Values are taken relative to `center`.
    """
    from jensen.kernels.columns import add_column_sums

    own = np.array(block.values, np.float64, order="C")  # kernels need contiguous arrays
    sums = np.zeros((3, len(center)))
    add_column_sums(own, np.array(block.weight), center, sums)
    return sums


def _recut(tables: Iterable[tuple[Array, Array]], ends: Ints) -> Iterator[NumberBlock]:
    """Rows of tables of any sizes, in blocks that end before these row numbers."""
    pieces, start, n = iter(tables), 0, 0
    held: list[tuple[Array, Array]] = []
    for end in ends.tolist():
        while start + n < end:
            held.append(next(pieces))
            n += len(held[-1][1])
        values, weight = (np.concatenate(part) for part in zip(*held, strict=True))
        size = end - start
        yield NumberBlock(values[:size], weight[:size], start)
        held, n, start = [(values[size:], weight[size:])], n - size, end


def numbers_of(table: Table | Block, names: Sequence[str]) -> Array:
    """(rows, n): numbers or codes, NaN where they are missing; so is a name without a column."""
    block = table if isinstance(table, Block) else Block(table, 0, table.n_rows)
    out = np.full((block.n_rows, len(names)), np.nan)
    for v, name in enumerate(names):
        if name in block.table:
            out[:, v] = block.values(name)
            if block.table.variable(name).kind == "categorical":
                out[block.missing(name), v] = np.nan
    return out


# --- what columns look like as a whole, whatever is missing ---


SINGULAR = 1e-8
"""Correlations with a smaller eigenvalue than this have no inverse that could be trusted."""
SHRUNK = 1e-3
"""The smallest eigenvalue that such correlations are given."""


class ColumnSummary(NamedTuple):
    """What columns look like as a whole: all that emissions and their priors are made from."""

    weight: Array  # (D,): of the rows that have a value
    mean: Array  # (D,); 0 of a column without a value
    variance: Array  # (D,); 1 where values do not vary
    covariance: Array | None = None  # (D, D), positive definite; None where nobody asks for it

    @classmethod
    def at(cls, mean: Array) -> ColumnSummary:
        """Columns of which no more than the mean is known."""
        return cls(np.zeros_like(mean), mean, np.ones_like(mean))

    def of(self, columns: Sequence[int]) -> ColumnSummary:
        """Some of the columns."""
        some = list(columns)
        covariance = None if self.covariance is None else self.covariance[np.ix_(some, some)]
        return ColumnSummary(self.weight[some], self.mean[some], self.variance[some], covariance)


def summarise(rows: NumberRows, *, covariance: bool = False) -> ColumnSummary:
    """Rows as a whole; a row of weight 2 counts as two rows.

    Each pair of columns covaries as in the rows that have both. Correlations that are (nearly)
    singular, as those of columns that follow from others, of fewer rows than columns, or of pairs
    seen in different rows, are shrunk to the identity as far as needed. A column that does not
    vary has no correlation.
    """
    sketch = rows.sketch
    n = np.where(sketch.seen > 0, sketch.seen, 1.0)
    mean = sketch.total / n
    if covariance:
        products, together = _products(rows, mean)
        spread = np.diagonal(products)
    else:
        spread = _total(rows, lambda block: column_sums(block, mean)[2], mean.shape)
    varies = spread > 1e-24 * sketch.squares  # beyond rounding
    variance = np.where(varies, spread / n, 1.0)
    found = ColumnSummary(sketch.seen, mean, variance)
    if covariance:
        deviation = np.sqrt(variance)
        products = np.where(varies & varies[:, None], products, 0.0) / deviation
        joint = joint_covariance(products / deviation[:, None], together, deviation)
        found = found._replace(covariance=joint)
    return found


def column_moments(values: Array) -> tuple[Array, Array]:
    """Mean and variance of each column of rows in memory."""
    found = summarise(NumberRows.of(values))
    return found.mean, found.variance


def _products(rows: NumberRows, mean: Array) -> Array:
    """Σ weight · (x - mean)(x - mean)ᵀ (D, D), and the weight of rows that have both columns."""

    def add_up(block: NumberBlock) -> Array:
        x, here = block.values - mean, block.weight
        seen = ~np.isnan(x)
        x = np.where(seen, x, 0.0)
        both = (seen * here[:, None]).T @ seen if not seen.all() else np.full((1, 1), here.sum())
        return np.stack([(x * here[:, None]).T @ x, np.broadcast_to(both, 2 * mean.shape)])

    return _total(rows, add_up, (2, *2 * mean.shape))


def joint_covariance(products: Array, n: Array, deviation: Array) -> Array:
    """A positive definite covariance from sums of products of standardised values (D, D).

    n (D, D) is the weight of the rows that have both columns; see `summarise`.
    """
    n_columns = len(deviation)
    correlation = np.divide(products, n, out=np.zeros_like(products), where=n > 0.0)
    correlation[np.diag_indices(n_columns)] = 1.0
    least = float(np.linalg.eigvalsh(correlation).min(initial=1.0))
    if least < SINGULAR:
        kept = (1.0 - SHRUNK) / (1.0 - least)  # then the smallest eigenvalue is SHRUNK
        correlation = kept * correlation + (1.0 - kept) * np.eye(n_columns)
    return np.asarray(correlation * deviation * deviation[:, None])


def _total(rows: NumberRows, f: Callable[[NumberBlock], Array], shape: tuple[int, ...]) -> Array:
    found = rows.sum(f)
    return np.zeros(shape) if found is None else np.asarray(found)


def standardised(values: Array) -> Array:
    """Columns in units of their standard deviations; what is missing is at the mean."""
    mean, variance = column_moments(values)
    return np.asarray(np.nan_to_num((values - mean) / np.sqrt(variance)))
