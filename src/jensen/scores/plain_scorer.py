"""Local scores from counts: right for every score and all statistics of families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import is_complete
from jensen.data.statistics import CountStatistics
from jensen.exceptions import JensenError
from jensen.scores.by_name import Score
from jensen.scores.counted import Counted
from jensen.scores.registry import SPECS
from jensen.scores.set_functions import Progress
from jensen.scores.subset_scores import fill_by_families, score_subsets
from jensen.scores.superset_bounds import SupersetBound, bound_of_counts

if TYPE_CHECKING:
    from jensen.scores.counted_families import CountedFamilies

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlainScorer:
    """Scores of statistics, many families at once; implements `Scorer`."""

    statistics: CountStatistics
    score: Score
    score_name: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(variable.name for variable in self.statistics.variables)

    @property
    def is_set_function(self) -> bool:
        """As the score says."""
        return self.score.is_set_function

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.statistics.total_weight

    def score_families(self, families: Sequence[tuple[int, Sequence[int]]]) -> Array:
        """The scores of many families (child, parents)."""
        named = [(self.names[v], [self.names[p] for p in parents]) for v, parents in families]
        n_total = self.statistics.total_weight
        return np.array([self.score.local(c, n_total) for c in self.statistics.counts(named)])

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return float(self.score_families([(child, parents)])[0])

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return self.score_families([(child, [p for p in parents if p != x]) for x in parents])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        others = [u for u in range(len(self.names)) if u != child and u not in parents]
        return self.with_some(child, parents, others, np.full(len(self.names), np.nan))

    def with_some(
        self, child: int, parents: Sequence[int], others: Sequence[int], out: Array
    ) -> Array:
        """The same for some of the others, filled in."""
        if len(others):
            out[others] = self.score_families([(child, sorted((*parents, u))) for u in others])
        return out

    # --- quicker ways, where the statistics are counts of rows ---

    @property
    def table(self) -> Table:
        """The rows that are counted, for those who count them in a quicker way."""
        rows = self.statistics.rows
        if rows is None:
            raise JensenError("these statistics are expected ones, and have no rows of their own")
        return rows

    def counted_for(self, child: int) -> PlainScorer:
        """Itself, for every child."""
        return self

    def fill_rows(
        self, out: Array, children: Sequence[int], max_parents: int, progress: Progress
    ) -> None:
        """Fill rows of out (n, 2^(n-1)) with the scores of their families up to a size."""
        counted = self._all_families()
        if counted is None:
            fill_by_families(self, out, children, max_parents, progress)
        else:
            counted.fill(out, children, max_parents, progress)

    def subset_scores(self, child: int, candidates: Sequence[int], max_parents: int) -> Array:
        """(2^K,): the score of a child with every subset of its candidates, which are sorted."""
        if self.statistics.rows is None:
            return score_subsets(self, child, candidates, max_parents)
        names = [self.names[v] for v in sorted((*candidates, child))]
        part = PlainScorer(Counted(self.table.select(names)), self.score, self.score_name)
        counted = part._all_families()
        if counted is None:
            return score_subsets(self, child, candidates, max_parents)
        place = part.names.index(self.names[child])
        out = np.empty((len(part.names), 1 << len(candidates)))
        counted.fill(out, [place], max_parents)
        return np.asarray(out[place])

    def superset_bound(self, child: int) -> SupersetBound | None:
        """What no larger set of parents can exceed, if every row counts once and misses nothing."""
        rows, spec = self.statistics.rows, SPECS.get(self.score_name)
        if spec is None or rows is None or rows.weights is not None or not is_complete(rows):
            return None
        return bound_of_counts(spec, rows, self.names, child)

    def _all_families(self) -> CountedFamilies | None:
        """All families of the rows at once, if they are rows and the score is known there."""
        from jensen.scores.counted_families import CountedFamilies  # which reads this class

        return None if self.statistics.rows is None else CountedFamilies.of(self)
