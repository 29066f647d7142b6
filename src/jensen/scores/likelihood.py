"""The maximised log-likelihood, alone and with a penalty for every free parameter."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jensen.data.statistics import FamilyCounts
from jensen.scores.registry import penalty_of


@dataclass(frozen=True)
class PenalisedLikelihood:
    """Σ n log(n / n_parents) - penalty(N) · (free parameters).

    With missing values ("available-case") the sum over complete rows is replaced by N times its
    average: a raw sum would reward variables for being missing. Without a complete row there is
    no average, and the term is -inf: what was never seen together must not win.

    References
    ----------
    Bodewes and Scutari (2021), *Learning Bayesian networks from incomplete data with the
    node-average likelihood*, International Journal of Approximate Reasoning 138.
    """

    penalty: Callable[[float], float]
    is_set_function: bool = True
    needs_integer_weights: bool = False

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; `n_total` is the weight of all rows."""
        if counts.total == 0.0 < n_total:
            return -math.inf
        log_like = maximum_log_likelihood(counts)
        if counts.total < n_total:
            log_like *= n_total / counts.total
        n_parameters = counts.n_configs * (counts.n_states - 1)
        return float(log_like - self.penalty(n_total) * n_parameters)


def maximum_log_likelihood(counts: FamilyCounts) -> float:
    """Σ n_jk log(n_jk / n_j), where 0 log 0 = 0."""
    n, above = counts.cells()
    return float(np.sum(n * (np.log(n) - np.log(above))))


loglik = PenalisedLikelihood(penalty_of("loglik"))
aic = PenalisedLikelihood(penalty_of("aic"))
bic = PenalisedLikelihood(penalty_of("bic"))
