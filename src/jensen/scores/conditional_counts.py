"""Scores of counts given labels: a Poisson rate in every configuration of the labels.

With a prior every rate has the gamma distribution Gamma(1, 1 / mean of the column), as in mixtures:
then the score is the evidence, and a configuration without rows adds exactly 0. Without one it is
the maximised likelihood, less a penalty for every rate. A count has no children and no parents but
labels, so equivalent graphs have the same families of counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from jensen.data import RowSource, Table, as_table
from jensen.data.variable import Kind, kind_in_graphs
from jensen.exceptions import DataError
from jensen.families.gamma import LARGEST_COUNT, Gamma, log_partitions, weak_prior
from jensen.scores.conditional_gaussian import configuration_numbers
from jensen.scores.interventions import NONE, WasSet
from jensen.scores.parent_sets import bits_of, candidate_scores
from jensen.scores.registry import SPECS, check_mixed_score
from jensen.scores.scorer import (
    HasOwnRows,
    Progress,
    Scorer,
    isolated,
    log_jacobian_of_units,
    offered,
    unitless,
)
from jensen.scores.table_checks import complete_rows
from jensen.support.text import keyword, some

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = tuple[int, ...]

MOST_KEPT = 1 << 16
"""The most families whose scores are kept."""


def refuse_orphans(counts: Sequence[str], labels: Sequence[str]) -> None:
    """Refuse counts where there are no labels for them to depend on."""
    if counts and not labels:
        raise DataError(
            f"a count depends on labels only, and none of the columns holds labels: leave "
            f"{some(map(repr, counts))} out of {keyword('counts')}, so that they are numbers"
        )


def check_range(name: str, most: float) -> None:
    """Refuse counts whose likelihood has no digits left."""
    if most > LARGEST_COUNT:
        raise DataError(
            f"the counts {name!r} go up to {most:g}, and beyond {LARGEST_COUNT:g} a likelihood "
            f"loses its digits: divide the column, or leave it out of {keyword('counts')}, so "
            f"that it is a number"
        )


@dataclass(frozen=True, eq=False)
class ConditionalCounts:
    """Scores of columns of counts, by their place, given labels, by theirs.

    Parameters
    ----------
    rows : (N, m) array
        The counts; NaN where one is missing, which then says nothing.
    weights : (N,) array
        How often each row counts, above 0.
    labels : sequence of (N,) arrays
        The codes of the labels.
    cards
        How many states each label has.
    priors
        (m,): shape - 1 and rate of the gamma prior of each column; None: the maximised likelihood.
    price
        What is taken off for every rate, by the weight of all rows; None: nothing.
    """

    rows: Array
    weights: Array
    labels: Sequence[Ints]
    cards: Sequence[int]
    priors: Gamma | None
    price: Callable[[float], float] | None

    @classmethod
    def of(
        cls,
        table: Table,
        labels: Sequence[str],
        counts: Sequence[str],
        price: Callable[[float], float] | None,
        *,
        has_prior: bool,
    ) -> ConditionalCounts:
        """The scores of columns of a complete table."""
        rows = np.empty((table.n_rows, len(counts)))
        for k, name in enumerate(counts):
            check_range(name, table.range_of(name).most)
            rows[:, k] = table.column(name).data
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        codes = [table.column(name).data.astype(np.int64) for name in labels]
        cards = [table.variable(name).n_states for name in labels]
        means = weights @ rows / weights.sum()
        priors = weak_prior(means) if has_prior else None
        return cls(rows, weights, codes, cards, priors, price)

    def without(self, rows: NDArray[np.bool_], name: str) -> ConditionalCounts:
        """The scores by the other rows, of a variable that was set in these."""
        if rows.all():
            raise DataError(f"{name!r} was set in every row, so none is left to score it by")
        codes = [each[~rows] for each in self.labels]
        return replace(self, rows=self.rows[~rows], weights=self.weights[~rows], labels=codes)

    @cached_property
    def penalty(self) -> float:
        """What is taken off for every rate."""
        return 0.0 if self.price is None else self.price(float(self.weights.sum()))

    @cached_property
    def _base(self) -> Array:
        """(m,): Σ -log x!."""
        return np.asarray(-self.weights @ np.nan_to_num(gammaln(self.rows + 1.0)))

    @cached_property
    def _scored(self) -> dict[Labels, Array]:
        return {}

    def values(self, labels: Labels) -> Array:
        """(m,): the score of every count given these labels, which are sorted."""
        found = self._scored.get(labels)
        if found is None:
            if len(self._scored) >= MOST_KEPT:
                self._scored.clear()
            found = self._scored[labels] = self._values(labels)
        return found

    def _values(self, labels: Labels) -> Array:
        number, n = configuration_numbers(self.labels, self.cards, labels, len(self.weights), 16)
        found = self._base.copy()
        for k, column in enumerate(self.rows.T):
            known = self.weights * ~np.isnan(column)
            exposure = np.bincount(number, known, n)
            total = np.bincount(number, known * np.nan_to_num(column), n)
            if self.priors is None:
                safe = np.where(exposure > 0.0, exposure, 1.0)
                found[k] += float((xlogy(total, total / safe) - total).sum())
                continue
            before = Gamma(*(np.full(n, part[k]) for part in self.priors))
            after = Gamma(before.total + total, before.exposure + exposure)
            found[k] += float((log_partitions(after) - log_partitions(before)).sum())
        return found - self.penalty * math.prod(float(self.cards[v]) for v in labels)


@dataclass(frozen=True, eq=False)
class WithCounts:
    """Scores of labels, numbers and counts: those of all others, and counts below labels.

    As in `MixedScorer` the family of a label with counts among its parents, which is outside the
    class of networks, has the difference of the same function of sets; in tables of all families
    such sets score -inf.
    """

    names: tuple[str, ...]  # of all variables, sorted
    kinds: tuple[Kind, ...]
    inner: Scorer  # of all others, in the order of their names
    counts: dict[int, ConditionalCounts]  # -1: by all rows; v: by those in which v was not set
    score_name: str

    @classmethod
    def of(
        cls,
        rows: RowSource,
        was_set: WasSet,
        score: str,
        others: Callable[[Table, WasSet], Scorer],
    ) -> WithCounts:
        """The scorer of a table; `others` makes that of all columns but the counts."""
        variables = sorted(rows.variables, key=lambda variable: variable.name)
        names, kinds = [v.name for v in variables], tuple(map(kind_in_graphs, variables))
        counts = [v for v, kind in enumerate(kinds) if kind == "count"]
        rest = [v for v, kind in enumerate(kinds) if kind != "count"]
        labels = [names[v] for v in rest if kinds[v] == "categorical"]
        refuse_orphans([names[v] for v in counts], labels)
        check_mixed_score(score, labels[0], names[counts[0]])
        complete, kept = complete_rows(rows, names, score)
        data, set_here, set_rest = as_table(complete), None, None
        if was_set is not None:
            set_here = was_set[kept]
            place = np.array([*(rest.index(v) if v in rest else NONE for v in range(len(names)))])
            set_rest = np.where(set_here == NONE, NONE, place[set_here])
        spec = SPECS[score]
        own = ConditionalCounts.of(
            data, labels, [names[v] for v in counts], spec.penalty, has_prior=spec.has_joint_prior
        )
        parts = {NONE: own}
        if set_here is not None:
            for v in [v for v in counts if v in set_here]:
                parts[v] = own.without(np.equal(set_here, v), names[v])
        inner = others(data.select([names[v] for v in rest]), set_rest)
        return cls(tuple(names), kinds, inner, parts, score)

    @cached_property
    def _place(self) -> list[int]:
        """Of each variable: its place among the counts, or among the others."""
        is_count = np.array([kind == "count" for kind in self.kinds])
        places = np.where(is_count, np.cumsum(is_count), np.cumsum(~is_count)) - 1
        return [int(place) for place in places]

    @cached_property
    def _others(self) -> list[int]:
        return [v for v, kind in enumerate(self.kinds) if kind != "count"]

    @cached_property
    def _labels(self) -> dict[int, int]:
        """Of each label its place among the labels."""
        labels = [v for v, kind in enumerate(self.kinds) if kind == "categorical"]
        return {v: k for k, v in enumerate(labels)}

    def _is_count(self, v: int) -> bool:
        return self.kinds[v] == "count"

    def _among(self, variables: Sequence[int]) -> Labels:
        """The places of the labels among some variables."""
        return tuple(sorted(self._labels[v] for v in variables if v in self._labels))

    def _inner(self, variables: Sequence[int]) -> list[int]:
        """The places of the others among some variables."""
        return [self._place[v] for v in variables if not self._is_count(v)]

    def _value(self, child: int, labels: Labels) -> float:
        """The score of a count given labels."""
        return float(self.counts.get(child, self.counts[-1]).values(labels)[self._place[child]])

    def _moved(self, child: int, parents: Sequence[int]) -> float:
        """How much a label adds to the counts among its parents."""
        counts = [self._place[v] for v in parents if self._is_count(v)]
        if child not in self._labels or not counts:
            return 0.0
        if self.has_own_rows():
            return -math.inf  # there is no function of sets then
        of = self.counts[-1].values
        gain = of(self._among([*parents, child])) - of(self._among(parents))
        return float(gain[counts].sum())

    # --- what a search needs ---

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.inner.total_weight

    @property
    def is_set_function(self) -> bool:
        """Whether score(x, parents) = L(parents + x) - L(parents): not with interventions."""
        return not self.has_own_rows()

    def has_own_rows(self) -> bool:
        """Whether a variable was set in some rows."""
        able = offered(self.inner, HasOwnRows)
        return len(self.counts) > 1 or (able is not None and able.has_own_rows())

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents; refused if it has no likelihood."""
        if self._is_count(child):
            return self._value(child, self._among(parents))
        alone = self.inner.family(self._place[child], self._inner(parents))
        return alone + self._moved(child, parents)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without the first parent, without the second, ..."""
        rest = [[p for p in parents if p != parent] for parent in parents]
        if self._is_count(child) or len(self._inner(parents)) < len(parents):
            return np.array([self.family(child, few) for few in rest])
        return self.inner.without_each(self._place[child], self._inner(parents))

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        Entries for the child and its current parents are undefined.
        """
        out = np.empty(len(self.names))
        further = [v for v in range(len(out)) if v != child and v not in parents]
        if self._is_count(child):
            out[:] = self.family(child, parents)
            for v in [v for v in further if v in self._labels]:
                out[v] = self.family(child, [*parents, v])
            return out
        inner = self._inner(parents)
        out[self._others] = self.inner.with_each(self._place[child], inner)
        alone = self.inner.family(self._place[child], inner)
        for v in further:
            moved = self._moved(child, [*parents, v])
            out[v] = alone + moved if self._is_count(v) else out[v] + moved
        return out

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)) with the scores of all families."""
        n = len(self.names)
        for child in range(n):
            others = [v for v in range(n) if v != child]
            out[child] = self.subset_scores(child, others, max_parents)
            if progress is not None:
                progress((child + 1) / n)

    def subset_scores(self, child: int, candidates: Sequence[int], max_parents: int) -> Array:
        """(2^K,): the score of a child with every subset of its candidates, which are sorted.

        -inf outside the class: with a count among the parents, or a number above a count.
        """
        found = np.full(1 << len(candidates), -np.inf)
        if not self._is_count(child):
            chosen = [v for v in candidates if not self._is_count(v)]
            places = self._inner(chosen)
            scores = candidate_scores(self.inner, self._place[child], places, max_parents)
            found[bits_of(candidates, chosen)] = scores
            return found
        labels = [v for v in candidates if v in self._labels]
        for k, at in enumerate(bits_of(candidates, labels).tolist()):
            above = [v for j, v in enumerate(labels) if k >> j & 1]
            if len(above) <= max_parents:
                found[at] = self._value(child, self._among(above))
        return found

    # --- units ---

    @property
    def isolated(self) -> frozenset[int]:
        """The constant columns of numbers."""
        return frozenset(self._others[v] for v in isolated(self.inner))

    def unitless(self) -> WithCounts:
        """The same scores without the log Jacobian of the units."""
        return replace(self, inner=unitless(self.inner))

    def log_jacobian_of_units(self) -> float:
        """The constant that `unitless` took off the score of every graph; 0 if nothing."""
        return log_jacobian_of_units(self.inner)
