"""Mixtures of factor analysers by dense algebra: every row's joint Gaussian, every component."""

import numpy as np
from naive import factors
from scipy.special import logsumexp


def rows_of(values, weights, means, loadings, noise):
    """Log p of every row, p(component | row), and E[h | row, component] with its covariance."""
    each = list(zip(means, loadings, noise, strict=True))
    joint = np.array([factors.log_likelihood(values, *one) for one in each]).T + np.log(weights)
    log_like = logsumexp(joint, axis=1)
    moments = [factors.factors_of(values, *one) for one in each]
    return log_like, np.exp(joint - log_like[:, None]), moments


def sums(values, share, moments):
    """For each component and column, of rows that show it: Σ share · (1, x², x w, w wᵀ)."""
    n, D = values.shape
    found = []
    for s, (mean, spread) in enumerate(moments):
        w = np.column_stack([np.ones(n), mean])
        square = np.einsum("ni,nj->nij", w, w)
        square[:, 1:, 1:] += spread
        for d in range(D):
            seen = ~np.isnan(values[:, d])
            r, x = share[seen, s], values[seen, d]
            found.append(
                (r.sum(), r @ x**2, (r * x) @ w[seen], np.einsum("n,nij", r, square[seen]))
            )
    parts = zip(*found, strict=True)
    shape = (len(moments), D)
    return [np.array(part).reshape(*shape, *np.shape(part[0])) for part in parts]
