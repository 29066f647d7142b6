"""Dirichlet distributions by their definitions, one at a time: α is a list of concentrations."""

import math

import numpy as np
from scipy.integrate import quad


def gradient(f, x, step=1e-5):
    """Central differences of a function of an array."""
    result = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[k] += step
        down[k] -= step
        result[k] = (f(up) - f(down)) / (2.0 * step)
    return result


def log_density(pi, alpha):
    """Log of Γ(Σ α) / Π Γ(α_k) · Π π_k^(α_k - 1)."""
    constant = math.lgamma(sum(alpha)) - sum(map(math.lgamma, alpha))
    return constant + sum((a - 1.0) * math.log(p) for p, a in zip(pi, alpha, strict=True))


def kl_of_two_states(q, p):
    """∫ q(π) log(q(π) / p(π)) dπ for two states, by quadrature."""

    def integrand(x):
        pi = (x, 1.0 - x)
        return math.exp(log_density(pi, q)) * (log_density(pi, q) - log_density(pi, p))

    return quad(integrand, 0.0, 1.0, epsabs=1e-12, epsrel=1e-12, limit=200)[0]


def log_polya_urn(alpha, sequence):
    """Log-probability of a sequence of states, predicted one after the other."""
    weight, log_probability = list(alpha), 0.0
    for state in sequence:
        log_probability += math.log(weight[state] / math.fsum(weight))
        weight[state] += 1.0
    return log_probability


def log_rising(alpha, n):
    """Log of α (α + 1) ... (α + n - 1)."""
    return math.fsum(math.log(alpha + k) for k in range(n))
