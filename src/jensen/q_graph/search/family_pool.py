"""Families that were scored, by child, without those that no graph would have."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.constraints import Constraints
from jensen.q_graph.search.family_scores import Family

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

Scored = Sequence[tuple[tuple[int, tuple[int, ...]], Family]]
"""Families by child and sorted parents."""


class FamilyPool:
    """Families of each child, the best first; only what obeys, and what its parents are worth.

    A family that scores no more than one with some of its parents is of no use, and forgotten.
    Scores that differ by rounding only are equal, and of equal ones the parents decide.
    """

    def __init__(self, constraints: Constraints) -> None:
        n = len(constraints.required)
        self.most = constraints.most_parents
        # for each child: which parents it must have, and which it must not
        closed = constraints.allowed & 1 == 0
        self.rules = np.stack([to_words(constraints.required.T), to_words(closed.T)])
        self.sets: Words = np.empty((0, self.rules.shape[2]), np.uint64)
        self.scores: Array = np.empty(0)
        self.first: Ints = np.zeros(n + 1, np.int64)  # where the families of each child begin

    def add_scored(self, scored: Scored, slack: float) -> None:
        """Add families, those with a parent less, and those with one more that gains."""
        from jensen.kernels.family_pools import list_around

        children = np.array([v for (v, _), _ in scored], np.int64)
        above = [parents for (_, parents), _ in scored]
        ptr = np.cumsum([0, *map(len, above)])
        parent = np.array([u for parents in above for u in parents], np.int64)
        score = np.array([family.score for _, family in scored])
        less = np.concatenate([family.less for _, family in scored])
        more = np.array([family.more for _, family in scored])
        most = len(children) + len(parent) + np.count_nonzero(more > (score + slack)[:, None]) + 1
        new = np.empty(most, np.int64), np.empty((most, self.sets.shape[1]), np.uint64)
        scores = np.empty(most)
        n_new = list_around(
            children, ptr, parent, score, less, more, self.rules, self.most, slack, *new, scores
        )
        self._merge(new[0][:n_new], new[1][:n_new], scores[:n_new], slack)

    def add(self, children: Ints, sets: Flags, scores: Array, slack: float) -> None:
        """Add families whose parents (m, n) are told by flags."""
        words = to_words(sets)
        required, closed = self.rules[:, children]
        obey = ~((required & ~words) | (closed & words)).any(1)
        self._merge(children[obey], words[obey], scores[obey], slack)

    def _merge(self, children: Ints, sets: Words, scores: Array, slack: float) -> None:
        from jensen.kernels.family_pools import merge_families

        most = len(self.scores) + len(scores) + 1
        to = np.empty((most, sets.shape[1]), np.uint64), np.empty(most), np.empty_like(self.first)
        merge_families(self.sets, self.scores, self.first, children, sets, scores, slack, *to)
        self.sets, self.scores, self.first = to[0][: to[2][-1]], to[1][: to[2][-1]], to[2]


def to_words(sets: Flags) -> Words:
    """(m, words): sets as bits of words."""
    m, n = sets.shape
    found = np.zeros((m, (n + 63) // 64 * 8), np.uint8)
    packed = np.packbits(sets, axis=1, bitorder="little")
    found[:, : packed.shape[1]] = packed
    return found.view("<u8").astype(np.uint64)
