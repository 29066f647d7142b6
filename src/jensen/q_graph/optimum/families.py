"""Sets of parents that may stand in a best network, in arrays."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Families(NamedTuple):
    """Families by child; those of one child by falling scores."""

    child: Ints  # (m,)
    first: Ints  # (n + 1,): those of child v are first[v] .. first[v + 1]
    score: Array  # (m,)
    parent: Ints  # the parents of all, one family after the other
    ptr: Ints  # (m + 1,): those of family j are parent[ptr[j]:ptr[j + 1]]
    n_scored: int = 0  # how many were scored to find these

    @property
    def n(self) -> int:
        """How many variables there are."""
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

    def take(self, kept: Ints) -> "Families":
        """Some of them, in the same order."""
        sizes = np.diff(self.ptr)[kept]
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.ptr[kept] - ptr[:-1], sizes) + np.arange(ptr[-1])
        child = self.child[kept]
        first = np.searchsorted(child, np.arange(self.n + 1))
        return Families(child, first, self.score[kept], self.parent[at], ptr)


Scored = tuple[float, tuple[int, ...]]
"""A score, and the parents in rising order."""


def gather(by_child: Sequence[Iterable[Scored]]) -> Families:
    """Families of every child in arrays; of equal scores fewer parents and smaller names first."""
    lists = [sorted(some, key=lambda x: (-x[0], len(x[1]), x[1])) for some in by_child]
    sizes = [len(parents) for some in lists for _, parents in some]
    return Families(
        np.repeat(np.arange(len(lists)), [len(some) for some in lists]),
        np.cumsum([0, *map(len, lists)]),
        np.array([score for some in lists for score, _ in some], float),
        np.array([u for some in lists for _, parents in some for u in parents], np.int64),
        np.cumsum([0, *sizes]),
    )
