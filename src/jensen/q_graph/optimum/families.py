"""Candidate families: the parent sets that an optimal network can contain.

A family is a candidate if it scores more than every family of the same child with some of its
parents left out. Parent sets grow by one member at a time; a set is skipped if a bound shows that
no superset of one of its subsets can score more than what was reached without it.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.q_graph.constraints import Constraints
from jensen.scores.parent_sets import SupersetBound, superset_bound
from jensen.scores.scorer import ListsFamilies, Progress, Scorer, offered
from jensen.scores.set_functions import between
from jensen.support.machine import check_memory
from jensen.support.text import option

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

Scored = tuple[float, tuple[int, ...]]
"""A score, and the parents in ascending order."""

MOST_SETS = 1 << 21
"""The most parent sets of one size for one child: about a minute."""

BYTES_PER_FAMILY = 1 << 10
"""The approximate memory of a family in the list and in the linear program."""

SMALLER = "choose a smaller max_parents"

BITS = 63
"""Bits of the integer that identifies a set."""

TIE, LEAST_TIE = 1e-12, 1e-8
"""Scores are equal if they differ by less than TIE · |score| + LEAST_TIE."""


class CandidateFamilies(NamedTuple):
    """Families in flat arrays, grouped by child; those of one child by falling score."""

    child: Ints  # (m,)
    first: Ints  # (n + 1,): the families of child v are first[v] .. first[v + 1]
    score: Array  # (m,)
    parent: Ints  # the parents of all families, one family after the other
    ptr: Ints  # (m + 1,): the parents of family j are parent[ptr[j]:ptr[j + 1]]
    n_scored: int = 0  # the number of families that were scored to find these

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.first) - 1

    def parents(self, j: int) -> tuple[int, ...]:
        """The parents of one family."""
        return tuple(self.parent[self.ptr[j] : self.ptr[j + 1]].tolist())

    @property
    def holds(self) -> Flags:
        """(m, n): whether a variable is a parent."""
        flags = np.zeros((len(self.child), self.n), bool)
        flags[np.repeat(np.arange(len(self.child)), np.diff(self.ptr)), self.parent] = True
        return flags

    def take(self, kept: Ints) -> "CandidateFamilies":
        """The families with these indices, in the same order."""
        sizes = np.diff(self.ptr)[kept]
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.ptr[kept] - ptr[:-1], sizes) + np.arange(ptr[-1])
        child = self.child[kept]
        first = np.searchsorted(child, np.arange(self.n + 1))
        return CandidateFamilies(child, first, self.score[kept], self.parent[at], ptr)


def gather(by_child: Sequence[Iterable[Scored]]) -> CandidateFamilies:
    """Sort the families of every child by falling score, then by size and names, into arrays."""
    lists = [sorted(some, key=lambda x: (-x[0], len(x[1]), x[1])) for some in by_child]
    sizes = [len(parents) for some in lists for _, parents in some]
    return CandidateFamilies(
        np.repeat(np.arange(len(lists)), [len(some) for some in lists]),
        np.cumsum([0, *map(len, lists)]),
        np.array([score for some in lists for score, _ in some], float),
        np.array([u for some in lists for _, parents in some for u in parents], np.int64),
        np.cumsum([0, *sizes]),
    )


def candidate_families(
    scorer: Scorer, constraints: Constraints, progress: Progress = None
) -> CandidateFamilies:
    """All families that the constraints allow and that no subset of the same parents beats."""
    by_child: list[list[Scored]] = []
    n, n_scored, n_kept = len(scorer.names), 0, 0
    lists = offered(scorer, ListsFamilies)
    for child in range(n):
        if lists is not None:
            listed = _allowed(lists.listed(child), constraints, child)
            by_child.append(prune_listed(listed))
            n_scored += len(listed)
        else:
            growth = _Growth(scorer, constraints, child, between(progress, child / n, child / n))
            by_child.append(growth.run())
            n_scored += growth.n_scored
        n_kept += len(by_child[-1])
        check_memory(
            BYTES_PER_FAMILY * n_kept,
            f"integer programming with {n_kept:,} families of {child + 1} of the {n} variables",
            f"{SMALLER}, forbid edges",
        )
        if progress is not None:
            progress((child + 1) / n)
    return gather(by_child)._replace(n_scored=n_scored)


def _allowed(families: list[Scored], constraints: Constraints, child: int) -> list[Scored]:
    """The families in a list that the constraints allow."""
    required = set(np.flatnonzero(constraints.required[:, child]))
    forbidden = set(np.flatnonzero(constraints.forbidden[:, child]))
    found = []
    for score, parents in families:
        few = len(parents) <= constraints.most_parents
        if few and required <= set(parents) and not forbidden & set(parents) and score > -math.inf:
            found.append((score, parents))
    return found


def prune_listed(families: list[Scored]) -> list[Scored]:
    """Drop the families that score no more than another one with some of the same parents."""
    kept: list[Scored] = []
    sets: list[int] = []
    for score, parents in sorted(families, key=lambda x: (len(x[1]), x[1])):
        number = sum(1 << u for u in parents)
        enough = score - TIE * abs(score) - LEAST_TIE
        if not any(set_ & ~number == 0 and kept[i][0] >= enough for i, set_ in enumerate(sets)):
            kept.append((score, parents))
            sets.append(number)
    return kept


class _Growth:
    """The parent sets of one child by levels: the required parents and k further ones."""

    def __init__(
        self, scorer: Scorer, constraints: Constraints, child: int, progress: Progress
    ) -> None:
        self.scorer, self.child, self.progress = scorer, child, progress
        self.base = [int(u) for u in np.flatnonzero(constraints.required[:, child])]
        free = ~constraints.forbidden[:, child] & ~constraints.required[:, child]
        free[child] = False
        self.free = np.flatnonzero(free)
        self.is_few = len(self.free) < BITS
        self.levels = min(constraints.most_parents - len(self.base), len(self.free))
        self.bound: SupersetBound | None = superset_bound(scorer, child)
        self.n_scored = 1

    def run(self) -> list[Scored]:
        """All parent sets that score more than each of their subsets."""
        score = self.scorer.family(self.child, self.base)
        kept: list[Scored] = [(score, tuple(self.base))]
        sets, best = np.zeros((1, 0), np.int64), np.array([score])
        for _ in range(self.levels):
            sets, best = self._open(sets, best)
            grown, below = self._grow(sets)
            if not len(grown):
                break
            scores = self._score(sets, grown, below)
            self.n_scored += len(grown)
            before = best[below].max(axis=1)
            better = scores > before + TIE * np.abs(scores) + LEAST_TIE
            for i in np.flatnonzero(better):
                parents = sorted([*self.base, *self.free[grown[i]].tolist()])
                kept.append((float(scores[i]), tuple(parents)))
            sets, best = grown, np.maximum(before, scores)
        return [family for family in kept if family[0] > -math.inf]

    def _open(self, sets: Ints, best: Array) -> tuple[Ints, Array]:
        """The sets that have a superset which may score more than the best so far."""
        if self.bound is None:
            return sets, best
        whole = np.hstack([np.tile(self.base, (len(sets), 1)).astype(np.int64), self.free[sets]])
        is_open = self.bound(whole, best) > best
        return sets[is_open], best[is_open]

    def _grow(self, sets: Ints) -> tuple[Ints, Ints]:
        """Sets with one more member, if all their subsets are open, and the subsets' indices."""
        m, k = sets.shape
        last = sets[:, -1] if k else np.full(m, -1)
        n_more = len(self.free) - 1 - last
        self._check(int(n_more.sum()), k + 1)
        source = np.repeat(np.arange(m), n_more)
        begin = np.repeat(np.cumsum(n_more) - n_more, n_more)
        new = np.arange(len(source)) - begin + last[source] + 1
        grown = np.column_stack([sets[source], new])
        numbers = self._numbers(sets)
        order = np.argsort(numbers)
        below = np.empty((len(grown), k + 1), np.int64)
        is_open = np.ones(len(grown), bool)
        for j in range(k + 1):
            number = self._numbers(np.delete(grown, j, axis=1))
            place = np.minimum(np.searchsorted(numbers, number, sorter=order), m - 1)
            below[:, j] = order[place]
            is_open &= numbers[below[:, j]] == number
        return grown[is_open], below[is_open]

    def _numbers(self, sets: Ints) -> Ints:
        """A unique integer for each set of one size; its bits are the members if they fit."""
        number = np.zeros(len(sets), np.int64)
        for column in sets.T:
            number = number + (1 << column) if self.is_few else number * len(self.free) + column
        return number

    def _score(self, sets: Ints, grown: Ints, below: Ints) -> Array:
        """Scores of the grown sets; all supersets of one set are scored at once.

        Sets with mostly even or mostly odd members go first: together they are subsets of nearly
        all grown sets, so that most of the other sets need no call of the scorer.
        """
        scores = np.full(len(grown), np.nan)
        k = below.shape[1]
        order = np.argsort(below.ravel(), kind="stable")
        first = np.searchsorted(below.ravel()[order], np.arange(len(sets) + 1))
        balance = np.abs(2 * (sets % 2).sum(axis=1) - sets.shape[1])
        for i in np.argsort(-balance, kind="stable"):
            above, place = np.divmod(order[first[i] : first[i + 1]], k)
            if self.progress is not None:  # so often that the caller can end it
                self.progress(0.0)
            if np.isnan(scores[above]).any():
                parents = sorted([*self.base, *self.free[sets[i]].tolist()])
                further = self.scorer.with_each(self.child, parents)
                scores[above] = further[self.free[grown[above, place]]]
        return scores

    def _check(self, n_sets: int, size: int) -> None:
        name, n_parents = self.scorer.names[self.child], len(self.base) + size
        if n_sets > MOST_SETS:
            raise JensenError(
                f"{name!r} has {n_sets:,} possible sets of {n_parents} parents, more than "
                f"{MOST_SETS:,}: {SMALLER}, or forbid edges"
            )
        check_memory(
            8.0 * n_sets * (5 * size + 8),
            f"the {n_sets:,} possible sets of {n_parents} parents of {name!r}",
            f"{SMALLER}, forbid edges",
        )
        if n_sets and not self.is_few and len(self.free) ** size >= 1 << BITS:
            raise JensenError(
                f"{name!r} may have {n_parents} parents of {len(self.free)}, more than can be "
                f"numbered: choose {option('max_parents', n_parents - 1)} at most, or forbid edges"
            )
