"""Factor analysis and binary factors by dense algebra and enumeration."""

from itertools import product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def log_likelihood(values, mean, loadings, noise):
    """Log p of every row from its covariance; what is missing is struck out."""
    covariance = loadings @ loadings.T + np.diag(noise)
    found = []
    for row in values:
        seen = ~np.isnan(row)
        cut = covariance[np.ix_(seen, seen)]
        found.append(multivariate_normal(mean[seen], cut).logpdf(row[seen]) if seen.any() else 0.0)
    return np.array(found)


def factors_of(values, mean, loadings, noise):
    """E[h | row] and its covariance, row by row, by conditioning the joint Gaussian."""
    covariance = loadings @ loadings.T + np.diag(noise)
    means, spreads = [], []
    for row in values:
        seen = ~np.isnan(row)
        gain = loadings[seen].T @ np.linalg.inv(covariance[np.ix_(seen, seen)])
        means.append(gain @ (row - mean)[seen])
        spreads.append(np.eye(loadings.shape[1]) - gain @ loadings[seen])
    return np.array(means), np.array(spreads)


def bound_of_coordinates(mean, turn, hidden, squares, prior, *, is_distribution):
    """What of F depends on (m, T) of h = m + T h', q(α) of the loadings on h' the best.

    `hidden` is Σ E[w wᵀ] of rows, w = (1, h), and `squares` (D, 1 + K, 1 + K) E[λ λᵀ] of columns;
    the prior is the strength of means, and shape and rate of the strengths of the others.
    """
    beta, a, b = prior
    D, K = len(squares), len(turn)
    back = np.eye(1 + K)  # (1, h') = back (1, h)
    back[1:, 0], back[1:, 1:] = -np.linalg.solve(turn, mean), np.linalg.inv(turn)
    log_size = np.linalg.slogdet(turn)[1]
    found = -0.5 * np.trace((back @ hidden @ back.T)[1:, 1:]) - hidden[0, 0] * log_size
    forth = np.linalg.inv(back)  # λ' = forthᵀ λ
    own = np.diagonal(forth.T @ squares @ forth, axis1=1, axis2=2).sum(0)
    found -= 0.5 * beta * own[0]
    if is_distribution:
        found += D * log_size  # the entropy of q(λ')
        return found - (a + 0.5 * D) * np.log(b + 0.5 * own[1:]).sum()
    return found - (a - 1.0 + 0.5 * D) * np.log(b + 0.5 * own[1:]).sum()


def states(n):
    """All states of n bits."""
    return np.array(list(product([0.0, 1.0], repeat=n)))


def log_joint_of_bits(values, on, loadings, noise):
    """(n, 2^K): log p(row, bits)."""
    every = states(len(on))
    with np.errstate(divide="ignore"):
        chance = np.where(every == 1.0, np.log(on), np.log1p(-on)).sum(1)
    found = np.empty((len(values), len(every)))
    for i, row in enumerate(values):
        seen = ~np.isnan(row)
        left = row[seen] - every @ loadings[seen].T
        density = -0.5 * (np.square(left) / noise + np.log(2.0 * np.pi * noise))
        found[i] = chance + density.sum(1)
    return found


def bits_of(values, on, loadings, noise):
    """Log p of every row, P(on), and E[s sᵀ] (n, K, K)."""
    joint, every = log_joint_of_bits(values, on, loadings, noise), states(len(on))
    log_like = logsumexp(joint, axis=1)
    q = np.exp(joint - log_like[:, None])
    return log_like, q @ every, np.einsum("ns,si,sj->nij", q, every, every)


def factorised_bound(values, on, loadings, noise, mean):
    """E_q[log p(row, bits)] + H[q] of q with these means, over all states."""
    joint, every = log_joint_of_bits(values, on, loadings, noise), states(len(on))
    found = []
    for logs, lam in zip(joint, mean, strict=True):
        q = np.where(every == 1.0, lam, 1.0 - lam).prod(1)
        inside = q > 0.0
        found.append((q[inside] * (logs[inside] - np.log(q[inside]))).sum())
    return np.array(found)
