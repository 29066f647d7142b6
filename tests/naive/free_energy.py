"""F for complete counts and Dirichlet distributions, one row of a table at a time."""

import math

from naive.families import log_density
from scipy.special import digamma
from scipy.stats import dirichlet


def log_joint(counts, pi, alpha=None):
    """Log p(counted states, π): likelihood, and prior density unless it is flat (None)."""
    likelihood = sum(n * math.log(p) for n, p in zip(counts, pi, strict=True) if n)
    return likelihood + (0.0 if alpha is None else log_density(pi, alpha))


def bound(counts, alpha, q):
    """E_q[log p(counted states, π | α)] + H[q] for q = Dirichlet(q)."""
    mean_log = digamma(q) - digamma(sum(q))
    constant = math.lgamma(sum(alpha)) - sum(map(math.lgamma, alpha))
    log_prior = constant + sum((a - 1.0) * t for a, t in zip(alpha, mean_log, strict=True))
    log_like = sum(n * t for n, t in zip(counts, mean_log, strict=True))
    return log_like + log_prior + dirichlet(q).entropy()
