"""Scores of families from the expected counts of completed rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jensen.inference.completions import MOST_CELLS, Completions
from jensen.scores.registry import SPECS

Array = NDArray[np.float64]
Family = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class CompletedScorer:
    """Scores by expected counts; implements `Scorer`.

    Parameters
    ----------
    completions
        Rows with the completions of what they miss.
    score_name
        A score that a kernel knows: a penalised likelihood, "bdeu" or "k2".
    amount
        The penalty of one free parameter, or the equivalent sample size.
    is_average
        Whether a likelihood is that of all rows, in proportion, where a family counts only some:
        the node-average likelihood.
    """

    completions: Completions
    score_name: str
    amount: float
    is_average: bool = False
    _counted: dict[Family, Array] = field(default_factory=dict)  # the family that was counted last

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(variable.name for variable in self.completions.variables)

    @property
    def cards(self) -> NDArray[np.int64]:
        """(n,): the numbers of states."""
        return self.completions.cards

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.completions.total_weight

    @property
    def is_set_function(self) -> bool:
        """As the score is, if all families are counted in the same rows."""
        is_shared = all(group.target < 0 for group in self.completions.groups)
        return SPECS[self.score_name].is_set_function and is_shared and not self.is_average

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        table = self._table(child, parents)
        if self.is_average and not parents and not table.any():
            return 0.0  # a hidden variable, which says nothing of any graph
        return self._score(table)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        if self.is_average:  # every family has rows of its own
            return np.array([self.family(child, [p for p in parents if p != x]) for x in parents])
        table = self._table(child, parents)
        return np.array([self._score(table.sum(axis=k + 1)) for k in range(len(parents))])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent; -inf if that is too large.

        Tables of more than `MOST_CELLS` cells together are not counted. Entries for the child and
        its parents are undefined.
        """
        from jensen.kernels.completed_counts import score_completed

        scope, scores = (child, *parents), np.full(len(self.cards), -np.inf)
        slots = self.completions.slots
        if float(np.prod(self.cards[list(scope)], dtype=float)) * slots[-1] > MOST_CELLS:
            return scores
        own, tables = self.completions.count_with_each(scope, child)
        self._remember(child, parents, own)
        r = int(self.cards[child])
        score_completed(
            tables.ravel(), slots, r, own.size // r, self._kind, self.amount, self._scale, scores
        )
        return scores

    @property
    def _kind(self) -> int:
        found = SPECS[self.score_name].kernel_kind(self.total_weight, self.amount)
        assert found is not None, f"no kernel scores {self.score_name}"
        return found[0]

    @property
    def _scale(self) -> float:
        return self.total_weight if self.is_average else 0.0

    def _score(self, table: Array) -> float:
        """The score of a table whose first axis is the child."""
        from jensen.kernels.completed_counts import score_completed

        r, score = table.shape[0], np.empty(1)
        score_completed(
            np.ascontiguousarray(table).ravel(), np.arange(2), r, table.size // r, self._kind,
            self.amount, self._scale, score,
        )  # fmt: skip
        return float(score[0])

    def _table(self, child: int, parents: Sequence[int]) -> Array:
        """Expected counts of a family, an axis per member: the child, then its parents."""
        key = child, tuple(parents)
        if key not in self._counted:
            self._remember(child, parents, self.completions.count((child, *parents), child))
        return self._counted[key]

    def _remember(self, child: int, parents: Sequence[int], own: Array) -> None:
        self._counted.clear()
        self._counted[child, tuple(parents)] = own
