"""Scores of all families of a categorical table, from functions of sets.

Every score but bds is A(P + v) - B(P), where A and B are sums over cells: for a set function A is
B, and for k2 and fnml B depends only on how many states the child has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jensen.data import Table
from jensen.scores import dirichlet, fnml, likelihood
from jensen.scores.by_name import AVAILABLE_CASE, Score
from jensen.scores.counts import FamilyCounts
from jensen.scores.dirichlet import DirichletScore
from jensen.scores.likelihood import PenalisedLikelihood
from jensen.scores.plain_scorer import PlainScorer
from jensen.scores.set_functions import (
    Array,
    CellFunction,
    Integers,
    Progress,
    Rows,
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

NAMED: Mapping[str, Score] = {
    "loglik": likelihood.loglik,
    "aic": likelihood.aic,
    "bic": likelihood.bic,
    "k2": dirichlet.k2,
    "fnml": fnml.FactorisedNML(),
}
"""Scores without a sample size; bdeu and bds have one."""


class Group(NamedTuple):
    """Children that count the same rows."""

    codes: Integers  # (n, U)
    weights: Array  # (U,)
    children: list[int]


@dataclass(frozen=True)
class CountedFamilies:
    """How the families of a table are scored.

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
    def of(cls, scorer: PlainScorer) -> CountedFamilies | None:
        """The families of a scorer, if its score is one of those known here."""
        score = scorer.score
        for known, is_available in ((NAMED, False), (AVAILABLE_CASE, True)):
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

    def _groups(self, children: Sequence[int]) -> Iterator[Group]:
        shared: list[int] = []
        for child in children:
            known = ~self.table.column(self.names[child]).missing()
            if known.all():
                shared.append(child)
            else:
                yield Group(*read_rows(self.table, self.names, known), [child])
        if shared:
            yield Group(*read_rows(self.table, self.names), shared)

    def _fill_differences(
        self, group: Group, out: Array, max_parents: int, progress: Progress
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

    def _joint(self, rows: Rows) -> CellFunction:
        """What the cells of parents and child add."""
        if self.score == "bdeu":
            return spread_evenly(rows, self.equivalent_sample_size)
        return constant_rising(rows, 1.0) if self.score == "k2" else entropy(rows)

    def _parents(self, rows: Rows, size: int) -> CellFunction:
        """What the cells of the parents take away, where that is another function."""
        return constant_rising(rows, float(size)) if self.score == "k2" else regret(rows, size)

    def _finish(self, scores: Array, child: int, rows: Rows, counted: Array | None) -> None:
        """Likelihoods in proportion to all rows, and less their penalty."""
        n_total = self.table.total_weight
        if counted is not None:
            share = members(counted, child, True)
            with np.errstate(divide="ignore", invalid="ignore"):
                scores *= n_total / share
            if n_total > 0.0:
                scores[share == 0.0] = -np.inf
        score = NAMED.get(self.score)
        penalty = score.penalty(n_total) if isinstance(score, PenalisedLikelihood) else 0.0
        if penalty > 0.0:
            others = [card for v, card in enumerate(rows.cards) if v != child]
            scores -= penalty * (rows.cards[child] - 1) * _products(others)

    def _fill_sparse(self, group: Group, out: Array, max_parents: int, progress: Progress) -> None:
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
