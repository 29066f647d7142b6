"""Scores of families with a parent less or more, each asked for once."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.scores.scorer import Scorer

Array = NDArray[np.float64]

KEPT_BYTES = 1 << 26
"""What may be kept of families that were scored before."""


class Family(NamedTuple):
    """Scores of a variable with its parents, and with one parent less or more."""

    score: float
    less: Array  # (p,)
    more: Array  # (n,); -inf where parents are enough


class FamilyScores:
    """Families by whatever key tells them apart, kept as long as there is room.

    Parameters
    ----------
    most
        The most parents that a variable may have: no score with one more is asked for then.
    """

    def __init__(self, scorer: Scorer, most: int) -> None:
        self.scorer, self.most = scorer, most
        self.n_scored = 0
        self._known: dict[Hashable, Family] = {}

    def find(self, key: Hashable) -> Family | None:
        """The family, if it was scored before."""
        return self._known.get(key)

    def known(self) -> Collection[tuple[Any, Family]]:
        """All families that are kept, with their keys, in the order in which they were scored."""
        return self._known.items()

    def score(self, key: Hashable, child: int, parents: Sequence[int]) -> Family:
        """Score a family, and keep it."""
        n = len(self.scorer.names)
        if len(self._known) > KEPT_BYTES // (8 * n):
            self._known.clear()
        is_full = len(parents) >= self.most
        more = np.full(n, -np.inf) if is_full else self.scorer.with_each(child, parents)
        less = self.scorer.without_each(child, parents)
        self.n_scored += n
        found = self._known[key] = Family(self.scorer.family(child, parents), less, more)
        return found
