"""Scores of a child with every set of parents, and bounds on the scores of larger sets.

A table (n, 2^(n-1)) has a row for each variable. Its columns are sets of the others, as numbers:
bit k stands for the k-th of the others, in the order of names. Exact learning begins with it.

A bound holds for all supersets of a set. A likelihood of categories is at most 1, and what BIC and
AIC take off only grows with the parents. Under a symmetric Dirichlet prior the first row in each
configuration of the parents is predicted with probability 1 / r, if the child has r states, and a
further parent can only make more configurations.

References: de Campos and Ji (2011), *Efficient structure learning of Bayesian networks using
constraints*, JMLR 12. Correia, Cussens and de Campos (2020), *On pruning for score-based Bayesian
network structure learning*, AISTATS.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.exceptions import JensenError
from jensen.scores.registry import ScoreSpec
from jensen.scores.scorer import (
    BoundsSupersets,
    FillsRows,
    FillsTables,
    HasSetValues,
    Progress,
    Scorer,
    ScoresMany,
    ScoresSubsets,
    offered,
)
from jensen.scores.set_functions import differences
from jensen.support.text import bare, option

Array = NDArray[np.float64]

TOGETHER = 1 << 10
"""Families that a scorer is asked for at once: it may count them together."""

MOST_FAMILIES = 1 << 22
"""Families that are scored one by one: a few minutes."""


def fill_family_scores(
    scorer: Scorer, out: Array, max_parents: int, progress: Progress = None
) -> None:
    """Fill out (n, 2^(n-1)) with the scores of all families up to a size.

    Entries for larger sets are undefined.
    """
    able = offered(scorer, FillsTables)
    if able is None:
        fill_rows(scorer, out, range(len(out)), max_parents, progress)
    else:
        able.fill_family_scores(out, max_parents, progress)


def fill_rows(
    scorer: Scorer, out: Array, children: Sequence[int], max_parents: int, progress: Progress
) -> None:
    """Fill the rows of some children in out (n, 2^(n-1)), in the fastest way of the scorer."""
    able = offered(scorer, FillsRows)
    if not len(children):
        return
    if able is None:
        fill_by_families(scorer, out, children, max_parents, progress)
    else:
        able.fill_rows(out, children, max_parents, progress)


def fill_by_families(
    scorer: Scorer, out: Array, children: Sequence[int], max_parents: int, progress: Progress
) -> None:
    """Fill the same rows family by family; a set function needs fewer families."""
    if scorer.is_set_function:
        values = _set_values(scorer, max_parents, progress)
        for child in children:
            out[child] = differences(values, values, child)
    else:
        _fill_one_by_one(scorer, out, children, max_parents, progress)


def candidate_scores(
    scorer: Scorer, child: int, candidates: Sequence[int], max_parents: int
) -> Array:
    """(2^K,): the score of the child with every subset of its candidates, which are sorted.

    Bit k of a position stands for candidate k; entries for sets of more than `max_parents` are
    undefined.
    """
    able = offered(scorer, ScoresSubsets)
    if able is None:
        return score_subsets(scorer, child, candidates, max_parents)
    return able.subset_scores(child, candidates, max_parents)


def score_subsets(scorer: Scorer, child: int, candidates: Sequence[int], max_parents: int) -> Array:
    """(2^K,): the scores of `candidate_scores`, computed family by family."""
    scores, sets = np.full(1 << len(candidates), -np.inf), sets_up_to(len(candidates), max_parents)
    while some := list(islice(sets, TOGETHER)):
        numbers = [number for number, _ in some]
        scores[numbers] = _score_many(
            scorer, [(child, [candidates[k] for k in chosen]) for _, chosen in some]
        )
    return scores


def _score_many(scorer: Scorer, families: Sequence[tuple[int, Sequence[int]]]) -> Array:
    """The scores of some families (child, parents)."""
    able = offered(scorer, ScoresMany)
    if able is None:
        return np.array([scorer.family(child, parents) for child, parents in families])
    return able.score_families(families)


def _fill_one_by_one(
    scorer: Scorer, out: Array, children: Sequence[int], max_parents: int, progress: Progress
) -> None:
    n = len(out)
    _check_work(len(children) * sum(math.comb(n - 1, k) for k in range(max_parents + 1)))
    for done, child in enumerate(children):
        others = [v for v in range(n) if v != child]
        out[child] = score_subsets(scorer, child, others, max_parents)
        if progress is not None:
            progress((done + 1) / len(children))


def sets_up_to(n: int, largest: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Sets of 0 .. n - 1, the small ones first: the number of each, and its members."""
    for size in range(min(largest, n) + 1):
        for chosen in combinations(range(n), size):
            yield sum(1 << k for k in chosen), chosen


def _set_values(scorer: Scorer, max_parents: int, progress: Progress) -> Array:
    """(2^n,): L of every set up to a size."""
    n = len(scorer.names)
    n_sets = sum(math.comb(n, k) for k in range(1, max_parents + 2))
    able = offered(scorer, HasSetValues)
    if able is not None and n_sets > 1 << (n - 1):
        return able.all_set_values()
    _check_work(n_sets)
    values = np.full(1 << n, -np.inf)
    values[0] = 0.0
    sets, done = sets_up_to(n, max_parents + 1), 0
    next(sets)  # the empty one
    while some := list(islice(sets, TOGETHER)):
        scores = _score_many(scorer, [(chosen[-1], chosen[:-1]) for _, chosen in some])
        for (number, chosen), score in zip(some, scores, strict=True):
            # L(P + v) = L(P) + score(v, P)
            values[number] = values[number ^ 1 << chosen[-1]] + score
        done += len(some)
        if progress is not None:
            progress(done / n_sets)
    return values


def _check_work(n_families: int) -> None:
    if n_families > MOST_FAMILIES:
        raise JensenError(
            f"the exact optimum would score {n_families:,} families one by one, more than "
            f"{MOST_FAMILIES:,}: choose {bare('max_parents')}, leave out variables, or use a "
            f"search ({option('method', 'hill-climb', 'structure')})"
        )


Ints = NDArray[np.int64]

MOST_CELLS = 1 << 22
"""The most configurations that are counted in a table; beyond, distinct rows are counted."""


class SupersetBound(Protocol):
    """A bound on the scores of one child with supersets of given sets."""

    def __call__(self, sets: Ints, reached: Array) -> Array:
        """(m,): for each of sets (m, k) a bound on the scores of all its proper supersets.

        Where it exceeds `reached` (m,), the scores reached so far, the number itself means
        nothing but that supersets may do better.
        """


def superset_bound(scorer: Scorer, child: int) -> SupersetBound | None:
    """The bound of a scorer for one child; None if it has none."""
    able = offered(scorer, BoundsSupersets)
    return None if able is None else able.superset_bound(child)


def bound_of_counts(
    spec: ScoreSpec, rows: Table, names: Sequence[str], child: int
) -> SupersetBound | None:
    """The bound for a score of complete rows, each of which counts once; None if there is none."""
    sizes = np.array([rows.variable(name).n_states for name in names], np.int64)
    if spec.penalty is not None:
        return _Penalty(sizes, spec.penalty(rows.total_weight), child)
    return None if spec.prior is None else _Configurations(sizes, rows, names, child)


class _Penalty:
    """The least penalty of a superset: no log-likelihood of categories is above 0."""

    def __init__(self, sizes: Ints, penalty: float, child: int) -> None:
        self.sizes = sizes.astype(float)
        smallest = np.delete(self.sizes, child).min(initial=self.sizes.max())
        self.price = penalty * (self.sizes[child] - 1.0) * smallest

    def __call__(self, sets: Ints, reached: Array) -> Array:
        return np.asarray(-self.price * self.sizes[sets].prod(axis=1))


class _Configurations:
    """Each configuration of parents that occurs costs the log of the number of child states."""

    def __init__(self, sizes: Ints, rows: Table, names: Sequence[str], child: int) -> None:
        self.sizes, self.rows, self.names = sizes, rows, names
        self.log_states = float(np.log(sizes[child]))

    def __call__(self, sets: Ints, reached: Array) -> Array:
        possible = np.minimum(self.sizes[sets].astype(float).prod(axis=1), float(self.rows.n_rows))
        bound = -self.log_states * possible  # below the bound: if it is not reached, all is open
        for i in np.flatnonzero(bound <= reached):
            bound[i] = -self.log_states * self._n_occurring(sets[i])
        return np.asarray(bound)

    def _n_occurring(self, parents: Ints) -> int:
        """How many configurations occur in the rows."""
        position = np.zeros(self.rows.n_rows, np.int64)
        cells = 1
        for v in parents:
            cells *= int(self.sizes[v])
            position = position * self.sizes[v] + self._codes[v]
            if cells > MOST_CELLS:
                found, position = np.unique(position, return_inverse=True)
                cells = len(found)
        return int(np.count_nonzero(np.bincount(position, minlength=1)))

    @cached_property
    def _codes(self) -> list[Ints]:
        return [self.rows.column(name).data.astype(np.int64) for name in self.names]


def bits_of(candidates: Sequence[int], chosen: Sequence[int]) -> NDArray[np.int64]:
    """(2^k,): for every subset of the chosen its number among the subsets of the candidates."""
    found = np.zeros(1, np.int64)
    for v in chosen:
        found = np.concatenate([found, found + (1 << candidates.index(v))])
    return found
