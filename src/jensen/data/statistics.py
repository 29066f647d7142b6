"""What structure scores are computed from: counts of families, or moments of columns.

Statistics come from rows (`jensen.scores.row_statistics`), or from a fitted model and rows with
missing values (`jensen.inference.expected`). A score reads these and nothing else.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from jensen.data.blocks import Block, RowSource
from jensen.data.table import Table
from jensen.data.variable import Variable

Array = NDArray[np.float64]
Family = tuple[str, Sequence[str]]
"""A variable and its parents, by name."""


class FamilyCounts(NamedTuple):
    """Counts of the states of a variable for each configuration of its parents."""

    table: Array | csr_array  # (q', r): configurations that occur, states of the variable
    n_configs: float  # how many configurations the parents can have
    total: float  # rows in which neither the variable nor a parent is missing, by weight
    family: tuple[str, ...]  # the parents, then the variable
    configs: NDArray[np.intp] | None  # (q',) numbers of those that occur; None if they are too many

    @property
    def n_states(self) -> int:
        """The number of states of the variable."""
        return int(self.table.shape[1])

    @property
    def above(self) -> Array:
        """(q',): the count of each configuration."""
        return np.asarray(self.table.sum(1), np.float64)

    def stored(self) -> tuple[Array, NDArray[np.int64]]:
        """Nonzero counts, configuration by configuration, and how many each configuration has."""
        if isinstance(self.table, csr_array):
            return self.table.data, np.diff(self.table.indptr).astype(np.int64)
        is_there = self.table != 0.0
        return self.table[is_there], is_there.sum(1)

    def cells(self) -> tuple[Array, Array]:
        """Nonzero counts, and for each the count of its configuration."""
        cells, lengths = self.stored()
        return cells, np.repeat(self.above, lengths)


class Coordinates(NamedTuple):
    """Columns as y = (x - origin) / unit, which keeps digits far from 0 and in any units.

    Units are powers of two, so dividing by them is exact: columns times powers of two have the
    same y, to the last bit.
    """

    origin: Array  # (n,): a value of each column
    unit: Array  # (n,): about its range

    def values(self, rows: Array) -> Array:
        """(N, n): rows of numbers in these coordinates."""
        return np.asarray((rows - self.origin) / self.unit)


class Moments(NamedTuple):
    """Weight, mean and scatter of rows; the scatter is about the mean, so it keeps its digits."""

    weight: float
    mean: Array  # (n,)
    scatter: Array  # (n, n): Σ w (x - mean)(x - mean)ᵀ

    def about(self, centre: Array) -> Array:
        """The scatter about another point."""
        away = self.mean - centre
        return np.asarray(self.scatter + self.weight * np.outer(away, away))


class Statistics(Protocol):
    """Sums over rows of some variables."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, sorted by name."""

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""


@runtime_checkable
class CountStatistics(Statistics, Protocol):
    """Counts of any families of categorical variables."""

    def counts(self, families: Sequence[Family]) -> list[FamilyCounts]:
        """Counts of many families at once, in their order."""

    @property
    def is_whole(self) -> bool:
        """Whether all counts are whole numbers."""

    @property
    def rows(self) -> Table | None:
        """The counted rows, for faster ways to the same scores; None for expected counts."""


@runtime_checkable
class MomentStatistics(Statistics, Protocol):
    """Moments of continuous variables: all that linear regressions need of the rows."""

    @property
    def coordinates(self) -> Coordinates:
        """Coordinates in which the columns have ranges of about 1."""

    @property
    def constant(self) -> frozenset[int]:
        """Positions of the constant columns."""

    def moments(self, coordinates: Coordinates | None = None) -> Moments:
        """Weight, means and scatter of all variables, in these coordinates or in those above."""


class FamilyStatistics(CountStatistics, MomentStatistics, Protocol):
    """Counts and moments."""


def coordinates_of(table: RowSource, names: Sequence[str]) -> Coordinates:
    """Coordinates in which the columns of a table have ranges of about 1."""
    if not table.n_rows:
        return Coordinates(np.zeros(len(names)), np.ones(len(names)))
    origin = np.array([table.range_of(name).first for name in names], np.float64)
    exponents = np.frexp([spread(table, name) for name in names])[1]
    return Coordinates(origin, np.ldexp(1.0, np.clip(exponents, -1000, 1000)))


def spread(table: RowSource, name: str) -> float:
    """The largest value of a complete column less the smallest."""
    _, least, most = table.range_of(name)
    return most - least


def moments_of(
    table: RowSource, names: Sequence[str], coordinates: Coordinates | None = None
) -> Moments:
    """The moments of complete continuous columns; rows of weight 0 must be left out before.

    Parameters
    ----------
    coordinates
        Those of the moments; the units of the columns by default.
    """
    weight = table.total_weight
    if weight == 0.0:
        return Moments(0.0, np.zeros(len(names)), np.zeros((len(names), len(names))))
    here = coordinates
    if here is None:
        # Relative to the first row: a constant column then has a scatter of exactly 0.
        first = np.array([table.range_of(name).first for name in names], np.float64)
        here = Coordinates(first, np.ones(len(names)))

    def totals(block: Block) -> Array:
        weights = block.weights
        return np.array([np.sum(weights * row) for row in _rows(block, names, here)])

    mean = table.sum(totals) / weight

    def scatters(block: Block) -> Array:
        from jensen.kernels.gaussians import add_moments

        rows, second = _rows(block, names, here), np.zeros((1, len(names), len(names)))
        rows -= mean[:, None]
        unused = np.zeros((1, len(names)))
        add_moments(
            rows, 0, block.n_rows, np.ascontiguousarray(block.weights)[None], unused, second
        )
        return np.asarray(second[0])

    lower = table.sum(scatters)
    if coordinates is None:
        mean = here.origin + mean
    return Moments(weight, mean, np.tril(lower) + np.tril(lower, -1).T)


def merged(parts: Iterable[Moments], size: int) -> Moments:
    """The moments of the rows of all parts; a sum of positive terms, so that nothing cancels."""
    some = [part for part in parts if part.weight > 0.0]
    weight = sum(part.weight for part in some)
    if weight == 0.0:
        return Moments(0.0, np.zeros(size), np.zeros((size, size)))
    start = some[0].mean
    mean = start + sum(part.weight / weight * (part.mean - start) for part in some)
    return Moments(weight, mean, np.sum([part.about(mean) for part in some], axis=0))


def _rows(block: Block, names: Sequence[str], coordinates: Coordinates) -> Array:
    """(n, rows): the columns of a block in these coordinates."""
    rows = np.empty((len(names), block.n_rows))
    for k, name in enumerate(names):
        np.subtract(block.values(name), coordinates.origin[k], out=rows[k])
        if coordinates.unit[k] != 1.0:
            rows[k] *= 1.0 / coordinates.unit[k]
    return rows
