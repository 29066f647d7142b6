"""What a variable can score at most with more parents than those of a set.

A likelihood of categories is at most 1, and what BIC and AIC take off only grows with the parents.
Under a symmetric Dirichlet prior the first row in each configuration of the parents is predicted
with probability 1 / r, if the child has r states, and a further parent can only make more
configurations.

References
----------
de Campos and Ji (2011), *Efficient structure learning of Bayesian networks using constraints*,
JMLR 12. Correia, Cussens and de Campos (2020), *On pruning for score-based Bayesian network
structure learning*, AISTATS.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.scores.abilities import BoundsSupersets, offered
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.registry import ScoreSpec
from jensen.scores.scorer import Scorer

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CELLS = 1 << 22
"""Configurations that are counted in a table; of more, it is counted which rows differ."""


class SupersetBound(Protocol):
    """A bound for one child."""

    def __call__(self, sets: Ints, reached: Array) -> Array:
        """(m,): no larger set that holds one of sets (m, k) scores more.

        It is sharp only where that is no more than what is reached.
        """


def superset_bound(scorer: Scorer, child: int) -> SupersetBound | None:
    """The bound that holds for this score, if one is known."""
    able = offered(scorer, BoundsSupersets)
    return None if able is None else able.superset_bound(child)


def bound_of_counts(
    spec: ScoreSpec, rows: Table, names: Sequence[str], child: int
) -> SupersetBound | None:
    """The bound of a score of complete rows, each of which counts once."""
    sizes = np.array([rows.variable(name).n_states for name in names], np.int64)
    if spec.penalty is not None:
        return _Penalty(sizes, spec.penalty(rows.total_weight), child)
    return None if spec.prior is None else _Configurations(sizes, rows, names, child)


class Believed:
    """A bound of the data's scores, and the most that a prior can add to it."""

    def __init__(self, data: SupersetBound, prior: GraphPrior, child: int) -> None:
        self.data = data
        self.odds = prior.log_odds[:, child]
        # with more than k parents: the best number of them, and every parent that is likely
        best = np.maximum.accumulate(prior.by_size[::-1])[::-1]
        self.best_above = np.append(best[1:], -np.inf)
        self.likely = np.maximum(np.delete(self.odds, child), 0.0).sum()

    def __call__(self, sets: Ints, reached: Array) -> Array:
        """(m,): no larger set that holds one of sets (m, k) scores more."""
        odds = self.odds[sets]
        most = self.best_above[sets.shape[1]] + self.likely + np.minimum(odds, 0.0).sum(axis=1)
        return np.asarray(self.data(sets, reached - most) + most)


class _Penalty:
    """No log-likelihood is above 0, so that the penalty is all there is; it grows by a parent."""

    def __init__(self, sizes: Ints, penalty: float, child: int) -> None:
        self.sizes = sizes.astype(float)
        smallest = np.delete(self.sizes, child).min(initial=self.sizes.max())
        self.price = penalty * (self.sizes[child] - 1.0) * smallest

    def __call__(self, sets: Ints, reached: Array) -> Array:
        return np.asarray(-self.price * self.sizes[sets].prod(axis=1))


class _Configurations:
    """Each configuration of parents that occurs costs the log of the child's states."""

    def __init__(self, sizes: Ints, rows: Table, names: Sequence[str], child: int) -> None:
        self.sizes, self.rows, self.names = sizes, rows, names
        self.log_states = float(np.log(sizes[child]))

    def __call__(self, sets: Ints, reached: Array) -> Array:
        possible = np.minimum(self.sizes[sets].astype(float).prod(axis=1), float(self.rows.n_rows))
        bound = -self.log_states * possible  # below the bound: if it is not reached, all is open
        for i in np.flatnonzero(bound <= reached):
            bound[i] = -self.log_states * self._n_occurring(sets[i])
        return np.asarray(bound)

    def _n_occurring(self, parents: Ints) -> int:
        """How many configurations occur in the rows."""
        position = np.zeros(self.rows.n_rows, np.int64)
        cells = 1
        for v in parents:
            cells *= int(self.sizes[v])
            position = position * self.sizes[v] + self._codes[v]
            if cells > MOST_CELLS:
                found, position = np.unique(position, return_inverse=True)
                cells = len(found)
        return int(np.count_nonzero(np.bincount(position, minlength=1)))

    @cached_property
    def _codes(self) -> list[Ints]:
        return [self.rows.column(name).data.astype(np.int64) for name in self.names]
