"""Statistics of rows as they are: families counted where a row shows them, moments of columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jensen.data import RowSource, Table
from jensen.data.moments import coordinates_of, moments_of
from jensen.data.statistics import Coordinates, Family, FamilyCounts, Moments
from jensen.data.variable import Variable
from jensen.scores.constant_columns import constant_columns
from jensen.scores.counts import family_counts


@dataclass(frozen=True, eq=False)
class Counted:
    """The statistics of rows from anywhere; implements `FamilyStatistics`.

    Rows that miss a member of a family are left out of its counts. Moments are of complete columns.
    """

    source: RowSource

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, sorted by name."""
        return tuple(sorted(self.source.variables, key=lambda variable: variable.name))

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.source.total_weight

    @property
    def rows(self) -> Table | None:
        """The rows, if they are in memory."""
        return self.source if isinstance(self.source, Table) else None

    @property
    def is_whole(self) -> bool:
        """Whether every row counts a whole number of times."""
        if not self.source.is_weighted:
            return True
        blocks = self.source.blocks()
        return all(bool(np.all(block.weights == np.floor(block.weights))) for block in blocks)

    def counts(self, families: Sequence[Family]) -> list[FamilyCounts]:
        """Counts of many families in one pass over the rows."""
        return family_counts(self.source, families)

    @cached_property
    def coordinates(self) -> Coordinates:
        """In which the columns have ranges of about 1."""
        return coordinates_of(self.source, self._names)

    @cached_property
    def constant(self) -> frozenset[int]:
        """The places of columns that are constant, as far as their digits tell."""
        return frozenset(constant_columns(self.source, self._names))

    def moments(self, coordinates: Coordinates | None = None) -> Moments:
        """Weight, means and scatter of all columns."""
        here = self.coordinates if coordinates is None else coordinates
        return moments_of(self.source, self._names, here)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)
