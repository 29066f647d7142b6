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
