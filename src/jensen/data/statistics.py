"""What structure scores are computed from: counts of families, or moments of columns.

Statistics come from rows (`jensen.scores.counted`), or from a fitted model and rows with holes
(`jensen.inference.expected`). A score reads these and nothing else.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from jensen.data.table import Table
from jensen.data.variable import Variable

Array = NDArray[np.float64]
Family = tuple[str, Sequence[str]]
"""A variable and its parents, by name."""


class FamilyCounts(NamedTuple):
    """Counts of a variable's states given its parents."""

    table: Array | csr_array  # (q', r): configurations that occur, states of the variable
    n_configs: float  # how many configurations the parents have
    total: float  # rows in which neither the variable nor a parent is missing, by weight
    family: tuple[str, ...]  # the parents, then the variable
    configs: NDArray[np.intp] | None  # (q',) which occur; None where they are too many to number

    @property
    def n_states(self) -> int:
        """Of the variable."""
        return int(self.table.shape[1])

    @property
    def above(self) -> Array:
        """(q',): counts of the configurations."""
        return np.asarray(self.table.sum(1), np.float64)

    def stored(self) -> tuple[Array, NDArray[np.int64]]:
        """The counts that are not 0, configuration after configuration, and how many each has."""
        if isinstance(self.table, csr_array):
            return self.table.data, np.diff(self.table.indptr).astype(np.int64)
        is_there = self.table != 0.0
        return self.table[is_there], is_there.sum(1)

    def cells(self) -> tuple[Array, Array]:
        """The counts that are not 0, and for each that of its configuration."""
        cells, lengths = self.stored()
        return cells, np.repeat(self.above, lengths)


class Coordinates(NamedTuple):
    """Columns as y = (x - origin) / unit: digits are kept far from 0, and in any units.

    Units are powers of two, so dividing by them is exact: columns times powers of two have the
    same y, to the last bit.
    """

    origin: Array  # (n,): a value of each column
    unit: Array  # (n,): about its range

    def values(self, rows: Array) -> Array:
        """(N, n): rows of numbers in these coordinates."""
        return np.asarray((rows - self.origin) / self.unit)


class Moments(NamedTuple):
    """Of weighted rows; the scatter is about the mean, so it keeps its digits far from 0."""

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
    """Counts of families of categorical variables, in the graph of a model or not."""

    def counts(self, families: Sequence[Family]) -> list[FamilyCounts]:
        """Counts of many families at once, in their order."""

    @property
    def is_whole(self) -> bool:
        """Whether all counts are whole numbers."""

    @property
    def rows(self) -> Table | None:
        """The rows that are counted, for quicker ways to the same scores; None: there are none."""


@runtime_checkable
class MomentStatistics(Statistics, Protocol):
    """Moments of continuous variables: all that regressions, whatever their graph, ask of rows."""

    @property
    def coordinates(self) -> Coordinates:
        """In which the columns have ranges of about 1."""

    @property
    def constant(self) -> frozenset[int]:
        """The places of columns that do not vary."""

    def moments(self, coordinates: Coordinates | None = None) -> Moments:
        """Weight, means and scatter of all variables, in these coordinates or in those above."""


class FamilyStatistics(CountStatistics, MomentStatistics, Protocol):
    """Both."""
