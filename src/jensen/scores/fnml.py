"""The factorised normalised maximum likelihood score."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, xlogy

from jensen.exceptions import DataError
from jensen.scores.counts import FamilyCounts
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
    allows_missing: bool = False

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable."""
        totals, n_states = counts.table.sum(1), counts.table.shape[1]
        if np.any(counts.table != np.floor(counts.table)):
            raise DataError("fnml sums over data sets of a size, so row weights must be integers")
        regret = sum(log_regret(int(n), n_states) for n in totals)
        return maximum_log_likelihood(counts) - regret


@lru_cache(maxsize=1 << 16)
def log_regret(n: int, n_states: int) -> float:
    """Log Σ over all samples of size n of the maximum likelihood of a multinomial.

    Exact: the sum for two states, then C(n, r + 2) = C(n, r + 1) + n/r C(n, r)
    (Kontkanen and Myllymäki 2007), scaled so that it never overflows.

    >>> round(log_regret(1, 3), 12) == round(np.log(3), 12)
    True
    """
    if n == 0 or n_states <= 1:
        return 0.0
    before, here, log_scale = 1.0, _two_states(n), 0.0
    for r in range(1, n_states - 1):
        before, here = here, here + n / r * before
        if here > 1e200:
            before, here, log_scale = before / here, 1.0, log_scale + float(np.log(here))
    return float(np.log(here)) + log_scale


def _two_states(n: int) -> float:
    """Σ_k C(n, k) (k/n)^k ((n-k)/n)^(n-k); terms k and n - k are equal."""
    k = np.arange(0, n // 2 + 1, dtype=np.float64)
    log_terms = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_terms += xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
    terms = np.exp(log_terms)
    twice = 2.0 * terms.sum()
    return float(twice - terms[-1] if n % 2 == 0 else twice)
