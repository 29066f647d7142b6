"""Scores of categorical families from counts: any score, any statistics, one family or all.

`CategoricalScorer` counts the families that it is asked for. `AllFamilies` scores all sets of
parents at once, by functions of sets: every score but bds is A(P + v) - B(P), where A and B are
sums over cells. For a set function A is B; for k2 and fnml B depends only on how many states the
child has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jensen.data import Table
from jensen.data.counting import is_complete
from jensen.data.statistics import CountStatistics, FamilyCounts
from jensen.exceptions import JensenError
from jensen.scores import categorical
from jensen.scores.categorical import DirichletScore
from jensen.scores.parent_sets import (
    SupersetBound,
    bound_of_counts,
    fill_by_families,
    score_subsets,
)
from jensen.scores.registry import SPECS, Score, available_case
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.scorer import Progress
from jensen.scores.set_functions import (
    Array,
    CellFunction,
    DistinctRows,
    Integers,
    between,
    constant_rising,
    differences,
    entropy,
    members,
    number_rests,
    one,
    read_rows,
    regret,
    rising,
    set_values,
    spread_evenly,
    weight,
)


@dataclass(frozen=True, eq=False)
class CategoricalScorer:
    """Scores of families of categorical variables, from their counts; implements `Scorer`."""

    statistics: CountStatistics
    score: Score
    score_name: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(variable.name for variable in self.statistics.variables)

    @property
    def is_set_function(self) -> bool:
        """Whether the score is a difference of one function of sets."""
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
        """Fill out (n,) with the scores for some further parents, `others`; return it."""
        if len(others):
            out[others] = self.score_families([(child, sorted((*parents, u))) for u in others])
        return out

    # --- quicker ways, where the statistics are counts of rows ---

    @property
    def table(self) -> Table:
        """The rows that are counted, for faster ways of counting them."""
        rows = self.statistics.rows
        if rows is None:
            raise JensenError("these statistics are expected ones, and have no rows of their own")
        return rows

    def counted_for(self, child: int) -> CategoricalScorer:
        """The scorer itself: all children have the same rows."""
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
        part = CategoricalScorer(
            RowStatistics(self.table.select(names)), self.score, self.score_name
        )
        counted = part._all_families()
        if counted is None:
            return score_subsets(self, child, candidates, max_parents)
        place = part.names.index(self.names[child])
        out = np.empty((len(part.names), 1 << len(candidates)))
        counted.fill(out, [place], max_parents)
        return np.asarray(out[place])

    def superset_bound(self, child: int) -> SupersetBound | None:
        """A bound on the scores of supersets, if every row counts once and misses nothing."""
        rows, spec = self.statistics.rows, SPECS.get(self.score_name)
        if spec is None or rows is None or rows.weights is not None or not is_complete(rows):
            return None
        return bound_of_counts(spec, rows, self.names, child)

    def _all_families(self) -> AllFamilies | None:
        """How to score all families at once, if there are rows and the score allows it."""
        is_known = self.score_name in SPECS and SPECS[self.score_name].has_sums
        return AllFamilies.of(self) if is_known and self.statistics.rows is not None else None


NAMED: Mapping[str, Score] = {
    "loglik": categorical.loglik,
    "aic": categorical.aic,
    "bic": categorical.bic,
    "k2": categorical.k2,
    "fnml": categorical.FactorisedNML(),
}
"""Scores without a sample size; bdeu and bds have one."""


class ChildGroup(NamedTuple):
    """Children whose families are counted in the same rows."""

    codes: Integers  # (n, U)
    weights: Array  # (U,)
    children: list[int]


@dataclass(frozen=True)
class AllFamilies:
    """Scores of all families of a table, from functions of sets.

    Parameters
    ----------
    names
        The variables, sorted.
    score
        "loglik", "aic", "bic", "bdeu", "bds", "k2" or "fnml".
    equivalent_sample_size
        Of bdeu and bds.
    is_available_case
        Whether a family counts the rows that miss none of its variables, in proportion.
    """

    table: Table
    names: tuple[str, ...]
    score: str
    equivalent_sample_size: float = 1.0
    is_available_case: bool = False

    @classmethod
    def of(cls, scorer: CategoricalScorer) -> AllFamilies | None:
        """The families of a scorer, if its score is a sum over cells."""
        score = scorer.score
        for known, is_available in ((NAMED, False), (available_case(), True)):
            for name in known:
                if score == known[name]:
                    return cls(scorer.table, scorer.names, name, 1.0, is_available)
        if not isinstance(score, DirichletScore):
            return None
        single = FamilyCounts(np.ones((1, 1)), 1.0, 1.0, (), None)
        name = "bdeu" if score.is_set_function else "bds"
        # A family with a single cell has the whole equivalent sample in it.
        return cls(scorer.table, scorer.names, name, score.concentration(single))

    def fill(
        self, out: Array, children: Sequence[int], max_parents: int, progress: Progress = None
    ) -> None:
        """Fill rows of out (n, 2^(n-1)) with the scores of their families up to a size."""
        done = 0
        for group in self._groups(children):
            start, stop = done / len(children), (done + len(group.children)) / len(children)
            fill = self._fill_sparse if self.score == "bds" else self._fill_differences
            fill(group, out, max_parents, between(progress, start, stop))
            done += len(group.children)

    @property
    def _cards(self) -> list[int]:
        return [self.table.variable(name).n_states for name in self.names]

    def _groups(self, children: Sequence[int]) -> Iterator[ChildGroup]:
        shared: list[int] = []
        for child in children:
            known = ~self.table.column(self.names[child]).missing()
            if known.all():
                shared.append(child)
            else:
                yield ChildGroup(*read_rows(self.table, self.names, known), [child])
        if shared:
            yield ChildGroup(*read_rows(self.table, self.names), shared)

    def _fill_differences(
        self, group: ChildGroup, out: Array, max_parents: int, progress: Progress
    ) -> None:
        """Scores that are A(P + child) - B(P)."""
        rows = number_rests(group.codes, group.weights, self._cards)
        sizes = sorted({rows.cards[child] for child in group.children})
        has_own_parts = self.score in ("k2", "fnml")
        n_runs = 1 + has_own_parts * len(sizes) + self.is_available_case
        both = set_values(
            rows, self._joint(rows), max_parents + 1, between(progress, 0, 1 / n_runs)
        )
        counted = None
        if self.is_available_case:
            counted = set_values(rows, weight(rows), max_parents + 1)
        for k, size in enumerate(sizes):
            parents = both
            if has_own_parts:
                share = between(progress, (k + 1) / n_runs, (k + 2) / n_runs)
                parents = set_values(rows, self._parents(rows, size), max_parents, share)
            for child in group.children:
                if rows.cards[child] == size:
                    out[child] = differences(both, parents, child)
                    self._finish(out[child], child, rows, counted)

    def _joint(self, rows: DistinctRows) -> CellFunction:
        """A: the function whose sum over the cells of parents and child is added."""
        if self.score == "bdeu":
            return spread_evenly(rows, self.equivalent_sample_size)
        return constant_rising(rows, 1.0) if self.score == "k2" else entropy(rows)

    def _parents(self, rows: DistinctRows, size: int) -> CellFunction:
        """B: the function whose sum over the cells of the parents is subtracted, if not A."""
        return constant_rising(rows, float(size)) if self.score == "k2" else regret(rows, size)

    def _finish(self, scores: Array, child: int, rows: DistinctRows, counted: Array | None) -> None:
        """Scale likelihoods of available cases to all rows, and subtract the penalty."""
        n_total = self.table.total_weight
        if counted is not None:
            share = members(counted, child, True)
            with np.errstate(divide="ignore", invalid="ignore"):
                scores *= n_total / share
            if n_total > 0.0:
                scores[share == 0.0] = -np.inf
        price = SPECS[self.score].penalty
        penalty = 0.0 if price is None else price(n_total)
        if penalty > 0.0:
            others = [card for v, card in enumerate(rows.cards) if v != child]
            scores -= penalty * (rows.cards[child] - 1) * _products(others)

    def _fill_sparse(
        self, group: ChildGroup, out: Array, max_parents: int, progress: Progress
    ) -> None:
        """Bds: the sample is spread over the parent configurations that occur, child by child."""
        cards, size = self._cards, self.equivalent_sample_size
        rows = number_rests(group.codes, group.weights, cards)
        # Sets that were not gone through have -inf cells, and sets without rows 0.
        index = np.maximum(set_values(rows, one(rows), max_parents), 1.0).astype(np.int32)
        numbers = np.maximum(np.arange(index.max() + 1.0), 1.0)
        parents = set_values(rows, rising(rows, size / numbers, index), max_parents)
        for k, child in enumerate(group.children):
            mine = number_rests(group.codes, group.weights, cards, first=child)
            alphas = size / (numbers * cards[child])
            by_child = np.repeat(members(index, child, False).reshape(-1, 1 << child), 2, axis=0)
            f = rising(mine, alphas, by_child.ravel())
            share = between(progress, k / len(group.children), (k + 1) / len(group.children))
            values = set_values(mine, f, max_parents + 1, share, with_first=True)
            out[child] = differences(values, parents, child)


def _products(cards: Sequence[int]) -> Array:
    """(2^n,): how many configurations every set has."""
    products = np.ones(1)
    for card in cards:
        products = np.concatenate([products, products * card])
    return products
