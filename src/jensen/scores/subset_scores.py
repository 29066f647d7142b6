"""Scores of every variable given every set of the others: what exact learning begins with.

A table (n, 2^(n-1)) has a row for each variable. Its columns are sets of the others, as numbers:
bit k stands for the k-th of the others, in the order of names.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.scores.count_scorer import CountScorer
from jensen.scores.counted_families import CountedFamilies
from jensen.scores.interventions import PerChild
from jensen.scores.plain_scorer import PlainScorer
from jensen.scores.scorer import Scorer
from jensen.scores.set_functions import Progress, between, differences

Array = NDArray[np.float64]

MOST_FAMILIES = 1 << 22
"""Families that are scored one by one: a few minutes."""


@runtime_checkable
class FillsTables(Protocol):
    """A scorer that knows a faster way than family by family."""

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)); what stands at sets of more than `max_parents` means nothing."""


@runtime_checkable
class HasSetValues(Protocol):
    """A scorer that gives its set function for all sets at once."""

    def all_set_values(self) -> Array:
        """(2^n,): L of every set."""


def fill_family_scores(
    scorer: Scorer, out: Array, max_parents: int, progress: Progress = None
) -> None:
    """Fill out (n, 2^(n-1)) with the scores of all families up to a size.

    What stands at larger sets means nothing.
    """
    if isinstance(scorer, FillsTables):
        scorer.fill_family_scores(out, max_parents, progress)
    elif isinstance(scorer, PerChild):
        own = scorer.where_not_set
        shared = [v for v in range(len(out)) if v not in own]
        jobs = [(scorer.everywhere, shared), *((own[v], [v]) for v in sorted(own))]
        done = 0
        for part, children in jobs:
            share = between(progress, done / len(out), (done + len(children)) / len(out))
            _fill_rows(part, out, children, max_parents, share)
            done += len(children)
    else:
        _fill_rows(scorer, out, range(len(out)), max_parents, progress)


def _fill_rows(
    scorer: Scorer, out: Array, children: Sequence[int], max_parents: int, progress: Progress
) -> None:
    """Fill the rows of some children, in the quickest way that the scorer knows."""
    if not len(children):
        return
    plain = scorer.plain if isinstance(scorer, CountScorer) else scorer
    counted = CountedFamilies.of(plain) if isinstance(plain, PlainScorer) else None
    if counted is not None:
        counted.fill(out, children, max_parents, progress)
    elif scorer.is_set_function:
        values = _set_values(scorer, max_parents, progress)
        for child in children:
            out[child] = differences(values, values, child)
    else:
        _fill_one_by_one(scorer, out, children, max_parents, progress)


def _fill_one_by_one(
    scorer: Scorer, out: Array, children: Sequence[int], max_parents: int, progress: Progress
) -> None:
    n = len(out)
    _check_work(len(children) * sum(math.comb(n - 1, k) for k in range(max_parents + 1)))
    for done, child in enumerate(children):
        others = [v for v in range(n) if v != child]
        for number, places in sets_up_to(n - 1, max_parents):
            out[child, number] = scorer.family(child, [others[k] for k in places])
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
    if isinstance(scorer, HasSetValues) and n_sets > 1 << (n - 1):
        return scorer.all_set_values()
    _check_work(n_sets)
    values = np.full(1 << n, -np.inf)
    values[0] = 0.0
    for done, (number, chosen) in enumerate(sets_up_to(n, max_parents + 1)):
        if chosen:  # L(P + v) = L(P) + score(v, P)
            *parents, child = chosen
            values[number] = values[number ^ 1 << child] + scorer.family(child, parents)
        if progress is not None and done & 0xFFF == 0xFFF:
            progress(done / n_sets)
    return values


def _check_work(n_families: int) -> None:
    if n_families > MOST_FAMILIES:
        raise JensenError(
            f"the exact optimum would score {n_families:,} families one by one, more than "
            f"{MOST_FAMILIES:,}: choose max_parents, leave out variables, or use a search "
            f"(method='hill-climb')"
        )
