"""Families that a search has scored: a cache, and the pool from which new graphs are combined.

`FamilyScores` keeps the score of a family and of its neighbours, with one parent less or more.
`FamilyPool` lists by child all families that can be part of an optimal graph. `SetValues` derives
further families without reading rows: where a score is L(parents + child) - L(parents) for one
function L of sets, the scores of a family with each further parent give L of all sets with one
variable more, and the same variables with another one as the child are further families.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.constraints import Constraints
from jensen.scores.scorer import Scorer

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint64]

KEPT_BYTES = 1 << 26
"""The most memory of the cache of families; it is emptied when it is full."""


class ScoredFamily(NamedTuple):
    """The score of a family, and its scores with one parent less or more."""

    score: float
    less: Array  # (p,): without each parent, parents in the order they were given
    more: Array  # (n,): with each further parent; -inf if the family is full
    parents: Ints  # (p,)


class FamilyScores:
    """A cache of scored families, by any key that identifies a family.

    Parameters
    ----------
    scorer
        Scores the families that are not in the cache.
    most
        The most parents that a variable may have; a family with that many has no `more`.
    """

    def __init__(self, scorer: Scorer, most: int) -> None:
        self.scorer, self.most = scorer, most
        self.n_scored = self.n_emptied = 0
        self._known: dict[Hashable, ScoredFamily] = {}

    def find(self, key: Hashable) -> ScoredFamily | None:
        """The family, if it was scored before."""
        return self._known.get(key)

    def known(self) -> Collection[tuple[Any, ScoredFamily]]:
        """All families in the cache, with their keys, in the order in which they were scored."""
        return self._known.items()

    def score(self, key: Hashable, child: int, parents: Sequence[int]) -> ScoredFamily:
        """Score a family with the scorer, and put it into the cache."""
        n = len(self.scorer.names)
        if len(self._known) > KEPT_BYTES // (8 * n):
            self._known.clear()
            self.n_emptied += 1
        is_full = len(parents) >= self.most
        more = np.full(n, -np.inf) if is_full else self.scorer.with_each(child, parents)
        less = self.scorer.without_each(child, parents)
        self.n_scored += n
        score, above = self.scorer.family(child, parents), np.array(parents, np.int64)
        found = self._known[key] = ScoredFamily(score, less, more, above)
        return found


Scored = Sequence[tuple[tuple[int, tuple[int, ...]], ScoredFamily]]
"""Families by child and sorted parents."""


class FamilyPool:
    """The families of each child that may be part of an optimal graph, the best first.

    Families that break the constraints are left out, and so are families that score no more than
    another one with some of the same parents. Families whose scores differ by rounding only are
    ordered by their parents. `sets` (m, words) holds the parents as bits, `scores` (m,) the scores;
    the families of child v are first[v] .. first[v + 1].
    """

    def __init__(self, constraints: Constraints) -> None:
        n = len(constraints.required)
        self.most = constraints.most_parents
        # for each child: which parents it must have, and which it must not
        closed = constraints.allowed & 1 == 0
        self.rules = np.stack([pack_sets(constraints.required.T), pack_sets(closed.T)])
        self.sets: Bits = np.empty((0, self.rules.shape[2]), np.uint64)
        self.scores: Array = np.empty(0)
        self.first: Ints = np.zeros(n + 1, np.int64)  # where the families of each child begin

    def add_scored(self, scored: Scored, tie: float) -> None:
        """Add families with their neighbours: one parent less, or one more that gains."""
        from jensen.kernels.family_pools import list_around

        children = np.array([v for (v, _), _ in scored], np.int64)
        above = [parents for (_, parents), _ in scored]
        ptr = np.cumsum([0, *map(len, above)])
        parent = np.array([u for parents in above for u in parents], np.int64)
        score = np.array([family.score for _, family in scored])
        less = np.concatenate([family.less for _, family in scored])
        more = np.array([family.more for _, family in scored])
        most = len(children) + len(parent) + np.count_nonzero(more > (score + tie)[:, None]) + 1
        new = np.empty(most, np.int64), np.empty((most, self.sets.shape[1]), np.uint64)
        scores = np.empty(most)
        n_new = list_around(
            children, ptr, parent, score, less, more, self.rules, self.most, tie, *new, scores
        )
        self._merge(new[0][:n_new], new[1][:n_new], scores[:n_new], tie)

    def add(self, children: Ints, sets: Flags, scores: Array, tie: float) -> None:
        """Add families; `sets` (m, n) flags their parents."""
        bits = pack_sets(sets)
        required, closed = self.rules[:, children]
        obey = ~((required & ~bits) | (closed & bits)).any(1)
        self._merge(children[obey], bits[obey], scores[obey], tie)

    def _merge(self, children: Ints, sets: Bits, scores: Array, tie: float) -> None:
        from jensen.kernels.family_pools import merge_families

        most = len(self.scores) + len(scores) + 1
        to = np.empty((most, sets.shape[1]), np.uint64), np.empty(most), np.empty_like(self.first)
        merge_families(self.sets, self.scores, self.first, children, sets, scores, tie, *to)
        self.sets, self.scores, self.first = to[0][: to[2][-1]], to[1][: to[2][-1]], to[2]


def pack_sets(sets: Flags) -> Bits:
    """(m, words): sets (m, n) as bits, 64 variables to a word."""
    m, n = sets.shape
    found = np.zeros((m, (n + 63) // 64 * 8), np.uint8)
    packed = np.packbits(sets, axis=1, bitorder="little")
    found[:, : packed.shape[1]] = packed
    return found.view("<u8").astype(np.uint64)


class DerivedFamilies(NamedTuple):
    """Families whose scores follow from others."""

    children: Ints  # (m,)
    sets: Flags  # (m, n)
    scores: Array  # (m,)


class SetValues:
    """The set function L of a score, for the sets that scored families determine.

    Parameters
    ----------
    alone
        (n,): the score of each variable without parents.
    most
        The most parents of a variable; a family with that many determines no further sets.
    """

    def __init__(self, alone: Array, most: int) -> None:
        self._most = most
        self._place: dict[tuple[int, ...], int] = {(): 0}
        self._value = [0.0]  # L of each set
        self._more = alone[None]  # (sets, n): L of it with each variable
        self._rows = [alone]  # the same, one by one
        self._scored: set[tuple[int, tuple[int, ...]]] = set()

    def derive(self, scored: Scored, tie: float) -> DerivedFamilies:
        """Add scored families; return the families that follow, if their last parent gains."""
        fresh: list[tuple[int, ...]] = []
        rows = self._rows
        for (v, parents), family in sorted(scored, key=lambda item: len(item[0][1])):
            self._scored.add((v, parents))
            members = tuple(sorted((v, *parents)))
            at = self._place.get(parents) if len(parents) < self._most else None
            if at is not None and members not in self._place:
                self._place[members] = len(self._value)
                self._value.append(self._value[at] + family.score)
                rows.append(rows[at] + family.more)
                fresh.append(members)
        if fresh:
            self._more = np.concatenate([self._more, np.array(rows[-len(fresh) :])])
        parts = [
            (k, z, below, (z, rest) not in self._scored)
            for k, members in enumerate(fresh)
            for i, z in enumerate(members)
            if (below := self._place.get(rest := members[:i] + members[i + 1 :])) is not None
        ]
        return self._families(fresh, np.array(parts, np.int64).reshape(-1, 4), tie)

    def _families(
        self, fresh: Sequence[tuple[int, ...]], parts: Ints, tie: float
    ) -> DerivedFamilies:
        """The families w | S, and z | S - z + w, for new sets S, members z and other variables w.

        A row of `parts` is (index of S, z, place of S - z, whether z | S - z was not scored). Both
        families have the same gain: that of z as a parent of w, and of w as a parent of z. A
        family w | S is returned only if every member z of S with a known S - z gains.
        """
        n, m, value = self._more.shape[1], len(fresh), np.array(self._value)
        sets = np.zeros((m, n), bool)
        sets[[k for k, s in enumerate(fresh) for _ in s], [v for s in fresh for v in s]] = True
        k, z, below, is_new = parts.T
        whole, here = self._more[len(value) - m :], value[len(value) - m :]
        with np.errstate(invalid="ignore"):  # entries for members of the set are undefined
            score = whole[k] - self._more[below]
            gains = (score > (here[k] - value[below])[:, None] + tie) & ~sets[k]
        # every new set has a part, its parts stand together
        by_all = np.logical_and.reduceat(gains, np.searchsorted(k, np.arange(m))) if m else sets
        at, w = np.nonzero(by_all)
        row, other = np.nonzero(gains & (is_new > 0)[:, None])
        grown = sets[k[row]]
        grown[np.arange(len(row)), z[row]] = False
        grown[np.arange(len(row)), other] = True
        return DerivedFamilies(
            np.concatenate([w, z[row]]),
            np.concatenate([sets[at], grown]),
            np.concatenate([whole[at, w] - here[at], score[row, other]]),
        )
