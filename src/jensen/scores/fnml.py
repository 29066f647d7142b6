"""The factorised normalised maximum likelihood score."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jensen.data.statistics import FamilyCounts
from jensen.scores.likelihood import maximum_log_likelihood


@dataclass(frozen=True)
class FactorisedNML:
    """Maximum log-likelihood minus the log regret of every parent configuration.

    References
    ----------
    Silander, Roos, Kontkanen and Myllymäki (2008), *Factorized normalized maximum likelihood
    criterion for learning Bayesian network structures*, PGM.
    """

    is_set_function: bool = False
    needs_integer_weights: bool = True

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable."""
        regret = sum(log_regret(float(n), counts.n_states) for n in counts.above)
        return maximum_log_likelihood(counts) - regret


fnml = FactorisedNML()


@lru_cache(maxsize=1 << 16)
def log_regret(n: float, n_states: int) -> float:
    """Log Σ over all samples of size n of the maximum likelihood of a multinomial.

    The sum C(n, 2) for two states, then C(n, r + 2) = C(n, r + 1) + n/r C(n, r) (Kontkanen and
    Myllymäki 2007), as ratios so that it never overflows.

    >>> round(log_regret(1, 3), 12) == round(math.log(3), 12)
    True
    """
    if n == 0 or n_states <= 1:
        return 0.0
    ratio = 1.0 + _ramanujan_q(n)  # C(n, 2) / C(n, 1)
    log_sum = math.log(ratio)
    for r in range(1, n_states - 1):
        ratio = 1.0 + n / (r * ratio)
        log_sum += math.log(ratio)
    return log_sum


def _ramanujan_q(n: float) -> float:
    """Q(n) = 1 + (1 - 1/n) + (1 - 1/n)(1 - 2/n) + ...; the regret of two states is 1 + Q(n).

    References
    ----------
    Mononen and Myllymäki (2008), *Computing the multinomial stochastic complexity in sub-linear
    time*, PGM; the series is that of Flajolet et al. (1995), *On Ramanujan's Q-function*.
    """
    if n > 1e4:
        root = math.sqrt(math.pi / 2.0 / n)
        series = n + 1.0 / 12.0 + 1.0 / (288.0 * n) - 139.0 / (51840.0 * n * n)
        return root * series - 1.0 / 3.0 - 4.0 / (135.0 * n) + 8.0 / (2835.0 * n * n)
    k = np.arange(1.0, min(n, 10.0 + 9.0 * math.sqrt(n)))  # what follows is below 1e-17
    return 1.0 + float(np.cumprod(1.0 - k / n).sum())
