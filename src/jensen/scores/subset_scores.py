"""Scores of every variable given every set of the others: what exact learning begins with.

A table (n, 2^(n-1)) has a row for each variable. Its columns are sets of the others, as numbers:
bit k stands for the k-th of the others, in the order of names.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.scores.abilities import (
    FillsRows,
    FillsTables,
    HasSetValues,
    ScoresMany,
    ScoresSubsets,
    offered,
)
from jensen.scores.scorer import Scorer
from jensen.scores.set_functions import Progress, differences

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
    """Fill the rows of some children, in the quickest way that the scorer knows."""
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
    """The same by the scores of families; of a set function fewer of them are asked for."""
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
    """The same, family by family."""
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
            f"{MOST_FAMILIES:,}: choose max_parents, leave out variables, or use a search "
            f"(method='hill-climb')"
        )
