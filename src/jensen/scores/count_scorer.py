"""Local scores of categorical tables by compiled counting: all further parents in one pass."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.scores.categorical_scorer import CategoricalScorer
from jensen.scores.set_counter import MOST_COUNTS, SetCounter
from jensen.scores.set_counts import Counts, FamilyCells, SetCounts
from jensen.support.machine import n_parts, run_all

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class CountScorer:
    """Scores of one categorical table without weights or missing values.

    Parameters
    ----------
    plain
        The same scores by plain counting, for families that are too large to be counted in tables.
    table
        The rows that it counts.
    kind, amount
        Which score, as `kernels.local_terms` reads it.
    """

    def __init__(self, plain: CategoricalScorer, table: Table, kind: int, amount: float) -> None:
        self.plain = plain
        self.table = table
        self.names = tuple(sorted(table.names))
        self.kind, self.amount = kind, amount
        from jensen.kernels import further_scores, local_terms

        self.score_set = further_scores.score_set
        self.score_family = local_terms.score_family
        self.counter = SetCounter(self.table, self.names)
        self.size = self.counter.size
        self._unknown = np.full(len(self.names), np.nan)
        self._last: tuple[int, tuple[int, ...], float, Array] | None = None

    @property
    def is_set_function(self) -> bool:
        """As the score says."""
        return self.plain.score.is_set_function

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(self.table.n_rows)

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return self._family(child, parents)[0]

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return self._family(child, parents)[1]

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        Scores the family itself too, for its table comes with the others.
        """
        if not len(parents) and self._pairs is not None:
            self._last = child, (), float(self._pairs[child, child]), np.empty(0)
            return np.array(self._pairs[child])
        family, out = (child, *parents), self._unknown.copy()
        found = self.counter.find(family)
        left: Sequence[int] = range(len(self.names))
        if isinstance(found, SetCounts):
            self._read(found, family, out)
            left = found.left
        elif found is not None:
            self._remember(child, parents, self._score_columns(found, out))
            left = ()
        if left:
            self.plain.with_some(child, parents, [u for u in left if u not in family], out)
        return out

    def _read(self, found: SetCounts, family: tuple[int, ...], out: Array) -> None:
        """Score what was counted: the family, its child first, with and without each parent."""
        less = np.empty(len(family) - 1)
        here = self.score_set(
            found.counts, found.at, self.size, found.others, found.table, found.n_cells,
            found.family, np.array(family, np.int64), self.kind, self.amount, found.joint, out,
            less,
        )  # fmt: skip
        self._last = family[0], family[1:], here, less

    def _score_columns(self, cells: FamilyCells, out: Array) -> Counts:
        """Score all, one after the other; the table of the family."""
        from jensen.kernels.further_rows import score_with_columns

        counter, n, family = self.counter, n_parts(), cells.family
        plane, stride = counter.strides(family)
        is_other = np.ones(len(self.names), bool)
        is_other[list(family)] = False
        others = counter.by_size[is_other[counter.by_size]]
        parts = [np.ascontiguousarray(others[k::n]) for k in range(n)]
        planes, columns = counter.planes, counter.columns
        r = counter.sizes[family[0]]
        n_configs = math.prod(counter.sizes[v] for v in family[1:])

        def score(k: int) -> None:
            score_with_columns(
                planes, plane, stride, cells.place, columns, parts[k], r, cells.n_cells,
                float(n_configs), self.kind, self.amount, out,
            )  # fmt: skip

        run_all(score, range(n))
        return counter.count_index(family) if cells.table is None else cells.table

    @cached_property
    def _pairs(self) -> Array | None:
        """(n, n): the score of each variable given each other, and alone; None: one by one."""
        from jensen.kernels.pair_information import score_pairs

        counter, n = self.counter, len(self.names)
        if counter.meetings is None:
            return None
        out = np.empty((n, n))
        rows = self.table.n_rows
        score_pairs(counter.meetings, counter.size, rows, self.kind, self.amount, out)
        return out

    def _family(self, child: int, parents: Sequence[int]) -> tuple[float, Array]:
        """The score of a family and of those with a parent less; the last is remembered."""
        key = (child, tuple(parents))
        if self._last is not None and self._last[:2] == key:
            return self._last[2:]
        family, counter = (child, *parents), self.counter
        cells = math.prod(counter.sizes[v] for v in family)
        if cells > min(MOST_COUNTS, max(1 << 16, self.table.n_rows)):
            found = self.plain.family(*key), self.plain.without_each(*key)
            self._last = (*key, *found)
            return found
        return self._remember(child, parents, counter.count_index(family))

    def _remember(self, child: int, parents: Sequence[int], table: Counts) -> tuple[float, Array]:
        """Score a family from its table, in which the child comes first, and then the parents."""
        less, size = np.empty(len(parents)), self.counter.sizes
        sizes = np.array([size[v] for v in (child, *parents)], np.int64)
        here = self.score_family(table, sizes, 0, self.kind, self.amount, less)
        self._last = (child, tuple(parents), here, less)
        return here, less
