"""Local scores from tables of counts: right for every score, every table and every weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.scores.by_name import Score
from jensen.scores.counts import family_counts

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlainScorer:
    """Counts of families, many in one pass over the rows."""

    table: Table
    names: tuple[str, ...]
    score: Score

    @property
    def is_set_function(self) -> bool:
        """As the score says."""
        return self.score.is_set_function

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.table.total_weight

    def families(self, families: Sequence[tuple[int, Sequence[int]]]) -> Array:
        """The scores of many families (child, parents)."""
        named = [(self.names[v], [self.names[p] for p in parents]) for v, parents in families]
        n_total = self.table.total_weight
        counts = family_counts(self.table, named)
        return np.array([self.score.local(c, n_total) for c in counts])

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return float(self.families([(child, parents)])[0])

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return self.families([(child, [p for p in parents if p != x]) for x in parents])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        others = [u for u in range(len(self.names)) if u != child and u not in parents]
        return self.with_some(child, parents, others, np.full(len(self.names), np.nan))

    def with_some(
        self, child: int, parents: Sequence[int], others: Sequence[int], out: Array
    ) -> Array:
        """The same for some of the others, filled in."""
        if len(others):
            out[others] = self.families([(child, sorted((*parents, u))) for u in others])
        return out
