"""Families that no one has scored, read off those that were.

Where a score is L(parents + child) - L(parents) for one function L of sets, the score of a family
with each further parent tells L of all sets of one variable more. These variables, with another of
them as the child, are further families, and no row is read for them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.family_scores import Family

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

Scored = Iterable[tuple[tuple[int, tuple[int, ...]], Family]]
"""Families by child and sorted parents."""


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

    def derive(self, scored: Scored, slack: float) -> Derived:
        """Learn from families that were scored; all that are new and have a parent that gains."""
        fresh: list[tuple[int, ...]] = []
        for (v, parents), family in sorted(scored, key=lambda item: len(item[0][1])):
            members = tuple(sorted((v, *parents)))
            at = self._place.get(parents) if len(parents) < self._most else None
            if at is not None and members not in self._place:
                self._place[members] = len(self._value)
                self._value.append(self._value[at] + family.score)
                self._more.append(self._more[at] + family.more)
                fresh.append(members)
        pairs = [
            (self._place[members], z, below)
            for members in fresh
            for k, z in enumerate(members)
            if (below := self._place.get(members[:k] + members[k + 1 :])) is not None
        ]
        return self._families(fresh, pairs, slack)

    def _families(
        self, fresh: Sequence[tuple[int, ...]], pairs: list[tuple[int, int, int]], slack: float
    ) -> Derived:
        """Of sets S, a member z, and the place of S - z: w given S, and z given S - z + w.

        What z gains w in the first, w gains z in the second.
        """
        n = len(self._more[0])
        if not pairs:
            return Derived(np.empty(0, np.int64), np.empty((0, n), bool), np.empty(0))
        at, z, below = np.array(pairs, np.int64).T
        first = len(self._value) - len(fresh)
        flags = np.zeros((len(fresh), n), bool)
        for k, members in enumerate(fresh):
            flags[k, list(members)] = True
        sets, value = flags[at - first], np.array(self._value)
        whole, part = (np.array([self._more[i] for i in x.tolist()]) for x in (at, below))
        with np.errstate(invalid="ignore"):  # what stands at members means nothing
            gain = whole - part - (value[at] - value[below])[:, None]
        rows, w = np.nonzero((gain > slack) & ~sets)
        as_child, as_parent = sets[rows], sets[rows]
        as_parent[np.arange(len(rows)), z[rows]] = False
        as_parent[np.arange(len(rows)), w] = True
        return Derived(
            np.concatenate([w, z[rows]]),
            np.concatenate([as_child, as_parent]),
            np.concatenate([whole[rows, w] - value[at[rows]], whole[rows, w] - part[rows, w]]),
        )
