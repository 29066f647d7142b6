"""The largest likelihood of a multinomial logistic regression."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_STEPS = 60
"""Where states can be told apart without error the likelihood rises for ever, by less and less."""

RIDGE = 1e-9
"""Keeps Newton's step finite there; it changes the way up and not where it leads."""

TOLERANCE = 1e-10
"""Gains that are a smaller share of the likelihood end the climb."""


def largest_likelihood(features: Array, codes: NDArray[np.int64], weights: Array) -> float:
    """Return max Σ w log p(code | features); the features are linearly independent columns.

    Parameters
    ----------
    features : (n, p)
    codes : (n,), 0 .. r - 1, all of which occur
    weights : (n,), positive
    """
    r, p = int(codes.max()) + 1, features.shape[1]
    target = np.zeros((len(codes), r))
    target[np.arange(len(codes)), codes] = 1.0
    beta = np.zeros((r - 1, p))
    here, shares = _look(features, target, weights, beta)
    for _ in range(MOST_STEPS):
        gradient = ((target - shares)[:, :-1] * weights[:, None]).T @ features
        step = np.linalg.solve(_curvature(features, shares, weights), gradient.ravel())
        length, before = 1.0, here
        while length > 1e-6:
            tried = beta + length * step.reshape(beta.shape)
            here, shares = _look(features, target, weights, tried)
            if here >= before:
                break
            length /= 2.0
        else:
            return before
        beta = tried
        if here - before < TOLERANCE * (1.0 + abs(here)):
            break
    return here


def _look(features: Array, target: Array, weights: Array, beta: Array) -> tuple[float, Array]:
    """The likelihood, and the probabilities of all states in every row."""
    scores = np.hstack([features @ beta.T, np.zeros((len(features), 1))])
    scores -= scores.max(1, keepdims=True)
    log_total = np.log(np.exp(scores).sum(1, keepdims=True))
    log_shares = scores - log_total
    return float(weights @ (target * log_shares).sum(1)), np.exp(log_shares)


def _curvature(features: Array, shares: Array, weights: Array) -> Array:
    """Minus the second derivatives, states slowest."""
    free = shares[:, :-1]
    r, p = free.shape[1], features.shape[1]
    out = np.empty((r, p, r, p))
    for i in range(r):
        for j in range(r):
            by_row = weights * free[:, i] * ((i == j) - free[:, j])
            out[i, :, j] = features.T @ (by_row[:, None] * features)
    flat = out.reshape(r * p, r * p)
    return np.asarray(flat + RIDGE * (1.0 + np.trace(flat)) * np.eye(r * p))
