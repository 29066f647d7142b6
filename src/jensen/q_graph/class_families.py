"""Scores of families with a parent less or more, each asked for once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.class_graph import members
from jensen.q_graph.search import KEPT_BYTES, Family
from jensen.scores.scorer import Scorer


class Families:
    """Families by (child, set of parents), kept as long as there is room.

    Parameters
    ----------
    most
        The most parents that a variable may have: no score with one more is asked for then.
    """

    def __init__(self, scorer: Scorer, most: int) -> None:
        self.scorer = scorer
        self.most = most
        self.n_scored = 0
        self._known: dict[tuple[int, int], Family] = {}

    def look(self, child: int, parents: int) -> Family:
        """The scores around one family; `less` has the parents in ascending order."""
        key = child, parents
        if key not in self._known:
            n = len(self.scorer.names)
            if len(self._known) > KEPT_BYTES // (8 * n):
                self._known.clear()
            self._known[key] = self._score(child, list(members(parents)), n)
            self.n_scored += n
        return self._known[key]

    def _score(self, child: int, parents: list[int], n: int) -> Family:
        more: NDArray[np.float64] = np.full(n, -np.inf)
        if len(parents) < self.most:
            more = self.scorer.with_each(child, parents)
        less = self.scorer.without_each(child, parents)
        return Family(self.scorer.family(child, parents), less, more)
