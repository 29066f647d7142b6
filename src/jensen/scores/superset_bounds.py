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

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.scores.count_scorer import CountScorer
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.interventions import PerChild
from jensen.scores.prior_scorer import PriorScorer
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
    if isinstance(scorer, PriorScorer):
        inner = superset_bound(scorer.data, child)
        return None if inner is None else _Believed(inner, scorer.prior, child)
    if isinstance(scorer, PerChild):
        return superset_bound(scorer.where_not_set.get(child, scorer.everywhere), child)
    if not isinstance(scorer, CountScorer):
        return None
    from jensen.kernels.local_terms import LIKELIHOOD

    return (_Penalty if scorer.kind == LIKELIHOOD else _Configurations)(scorer, child)


class _Believed:
    """A bound of the data's scores, and the most that a prior can add to it."""

    def __init__(self, data: SupersetBound, prior: GraphPrior, child: int) -> None:
        self.data = data
        self.odds = prior.log_odds[:, child]
        # with more than k parents: the best number of them, and every parent that is likely
        best = np.maximum.accumulate(prior.by_size[::-1])[::-1]
        self.best_above = np.append(best[1:], -np.inf)
        self.likely = np.maximum(np.delete(self.odds, child), 0.0).sum()

    def __call__(self, sets: Ints, reached: Array) -> Array:
        odds = self.odds[sets]
        most = self.best_above[sets.shape[1]] + self.likely + np.minimum(odds, 0.0).sum(axis=1)
        return np.asarray(self.data(sets, reached - most) + most)


class _Penalty:
    """No log-likelihood is above 0, so that the penalty is all there is; it grows by a parent."""

    def __init__(self, scorer: CountScorer, child: int) -> None:
        self.sizes = scorer.size.astype(float)
        smallest = np.delete(self.sizes, child).min(initial=self.sizes.max())
        self.price = scorer.amount * (self.sizes[child] - 1.0) * smallest

    def __call__(self, sets: Ints, reached: Array) -> Array:
        return np.asarray(-self.price * self.sizes[sets].prod(axis=1))


class _Configurations:
    """Each configuration of parents that occurs costs the log of the child's states."""

    def __init__(self, scorer: CountScorer, child: int) -> None:
        self.scorer = scorer
        self.log_states = float(np.log(scorer.size[child]))
        self.most = float(scorer.table.n_rows)

    def __call__(self, sets: Ints, reached: Array) -> Array:
        possible = np.minimum(self.scorer.size[sets].astype(float).prod(axis=1), self.most)
        bound = -self.log_states * possible  # below the bound: if it is not reached, all is open
        for i in np.flatnonzero(bound <= reached):
            bound[i] = -self.log_states * self._n_occurring(sets[i])
        return np.asarray(bound)

    def _n_occurring(self, parents: Ints) -> int:
        """How many configurations occur in the rows."""
        position = np.zeros(self.scorer.table.n_rows, np.int64)
        cells = 1
        for v in parents:
            cells *= int(self.scorer.size[v])
            position = position * self.scorer.size[v] + self._codes[v]
            if cells > MOST_CELLS:
                found, position = np.unique(position, return_inverse=True)
                cells = len(found)
        return int(np.count_nonzero(np.bincount(position, minlength=1)))

    @cached_property
    def _codes(self) -> list[Ints]:
        table = self.scorer.table
        return [table.column(name).data.astype(np.int64) for name in self.scorer.names]
