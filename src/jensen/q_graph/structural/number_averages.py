"""Node-average likelihoods of columns of numbers: each family by the rows in which it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.families import schur
from jensen.scores.gaussian import PenalisedGaussian

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeAverages:
    """The average log-likelihood of a family times all rows, less a penalty; implements `Scorer`.

    Parents that fewer than p + 2 rows show with the child, or of which it is a linear function,
    score as if they said nothing: the likelihood may have no bound there.
    """

    names: tuple[str, ...]
    varying: tuple[int, ...]
    values: Array  # (rows, n): 0 where they are missing, or constant
    weights: Array  # (rows,)
    is_known: NDArray[np.bool_]  # (n, rows)
    is_free: NDArray[np.bool_]  # (n, rows): known, and not set from outside
    penalty: float  # of one parameter

    is_set_function = False
    is_average = True

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        varying: tuple[int, ...],
        rows: NumberRows,
        targets: Ints | None,
        penalty: float,
    ) -> NodeAverages:
        """From the rows of the columns that vary; `targets` are positions among these."""
        values, weights = np.zeros((rows.n_rows, len(names))), rows.weights()
        is_known = np.ones((len(names), rows.n_rows), bool)
        is_known[list(varying)] = ~np.isnan(rows.values()).T
        values[:, list(varying)] = np.nan_to_num(rows.values())
        is_free = is_known.copy()
        if targets is not None:
            for k, v in enumerate(varying):
                is_free[v] &= targets != k
        return cls(names, varying, values, weights, is_known, is_free, penalty)

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def isolated(self) -> frozenset[int]:
        """The constant columns."""
        return frozenset(range(len(self.names))) - frozenset(self.varying)

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        if child in self.isolated:
            return 0.0
        members = [p for p in parents if p not in self.isolated]
        chosen = self.is_free[child] & self.is_known[members].all(0)
        if chosen.sum() < len(members) + 2:
            return self._unexplained(child, members)
        rows, weights = self.values[:, [child, *members]][chosen], self.weights[chosen]
        weight, total = float(weights.sum()), self.total_weight
        rows = rows - weights @ rows / weight
        left = schur.family((rows * weights[:, None]).T @ rows, 0, range(1, len(members) + 1))
        if left.is_nothing:
            return self._unexplained(child, members)
        formula = PenalisedGaussian(lambda _: self.penalty)
        scaled = left._replace(residual=left.residual * total / weight)
        return float(formula.local(total, len(members), scaled, None))

    def _unexplained(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable whose parents say nothing, and cost more than their penalty."""
        if not parents:
            return 0.0
        return self.family(child, []) - (self.penalty + 1.0) * len(parents)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return np.array([self.family(child, [p for p in parents if p != x]) for x in parents])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        scores = np.full(len(self.names), -np.inf)
        for u in range(len(scores)):
            if u != child and u not in parents:
                scores[u] = self.family(child, [*parents, u])
        return scores
