"""Families that no one has scored, read off those that were.

Where a score is L(parents + child) - L(parents) for one function L of sets, the score of a family
with each further parent tells L of all sets of one variable more. These variables, with another of
them as the child, are further families, and no row is read for them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.search.family_pool import Scored

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Derived(NamedTuple):
    """Families and their scores."""

    children: Ints  # (m,)
    sets: Flags  # (m, n)
    scores: Array  # (m,)


class SetValues:
    """L of sets of variables and of these with each further one.

    Parameters
    ----------
    alone
        (n,): the score of each variable without parents.
    most
        The most parents of a variable: of a family with so many nothing else is known.
    """

    def __init__(self, alone: Array, most: int) -> None:
        self._most = most
        self._place: dict[tuple[int, ...], int] = {(): 0}
        self._value = [0.0]  # L of each set
        self._more = [alone]  # (n,): L of it with each variable
        self._scored: set[tuple[int, tuple[int, ...]]] = set()

    def derive(self, scored: Scored, slack: float) -> Derived:
        """Learn from families that were scored; what follows, where the last parent gains."""
        fresh: list[tuple[int, ...]] = []
        for (v, parents), family in sorted(scored, key=lambda item: len(item[0][1])):
            self._scored.add((v, parents))
            members = tuple(sorted((v, *parents)))
            at = self._place.get(parents) if len(parents) < self._most else None
            if at is not None and members not in self._place:
                self._place[members] = len(self._value)
                self._value.append(self._value[at] + family.score)
                self._more.append(self._more[at] + family.more)
                fresh.append(members)
        parts = [
            (k, z, below, (z, rest) not in self._scored)
            for k, members in enumerate(fresh)
            for i, z in enumerate(members)
            if (below := self._place.get(rest := members[:i] + members[i + 1 :])) is not None
        ]
        return self._families(fresh, np.array(parts, np.int64).reshape(-1, 4), slack)

    def _families(self, fresh: Sequence[tuple[int, ...]], parts: Ints, slack: float) -> Derived:
        """Of sets S, members z, the places of S - z, and whether z given that is new.

        These are w given S, and z given S - z + w: what z gains w in the first, w gains z in the
        second. Of the first every known z has to gain.
        """
        n, m = len(self._more[0]), len(fresh)
        sets, value = np.zeros((m, n), bool), np.array(self._value)
        for k, members in enumerate(fresh):
            sets[k, list(members)] = True
        k, z, below, is_new = parts.T
        whole = np.array(self._more[len(value) - m :]).reshape(m, n)
        rest = np.array([self._more[i] for i in below.tolist()]).reshape(-1, n)
        here = value[len(value) - m :]
        with np.errstate(invalid="ignore"):  # what stands at members means nothing
            score = whole[k] - rest
            gains = (score > (here[k] - value[below])[:, None] + slack) & ~sets[k]
        by_all = np.ones((m, n), bool)
        np.logical_and.at(by_all, k, gains)
        at, w = np.nonzero(by_all)
        row, other = np.nonzero(gains & (is_new > 0)[:, None])
        grown = sets[k[row]]
        grown[np.arange(len(row)), z[row]] = False
        grown[np.arange(len(row)), other] = True
        return Derived(
            np.concatenate([w, z[row]]),
            np.concatenate([sets[at], grown]),
            np.concatenate([whole[at, w] - here[at], score[row, other]]),
        )
