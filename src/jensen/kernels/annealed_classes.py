"""Mixtures of labels taken from the prior to the posterior, one chain after the other.

A chain's θ is a row of logs: K weights, then the tables of all columns, as
`jensen.evidence.stacked` lays them out. Of a column d the label v of state k stands at
``at[d] + k · stride[d] + v``.
"""

import numpy as np

from jensen.kernels import bare_part, kernel
from jensen.kernels.random_numbers import gamma, uniform

FAR = 1e100


@bare_part
def _look(codes, columns, theta, table):
    """Fill table (K, n) with the log-likelihoods of rows; a label after the last is missing."""
    K, n = table.shape
    for k in range(K):
        for i in range(n):
            table[k, i] = 0.0
        for d in range(codes.shape[0]):
            at, size = columns[d, 0] + k * columns[d, 1], columns[d, 2]
            for i in range(n):
                v = codes[d, i]
                if v < size:
                    table[k, i] += theta[at + v]


@bare_part
def _sum_states(theta, table, i, beta, below):
    """Fill below (K,) with running sums of w_k p(row i | k)^β; return what their log lacks."""
    K = below.shape[0]
    top = -np.inf
    for k in range(K):
        below[k] = theta[k] + (beta * table[k, i] if beta > 0.0 else 0.0)
        top = max(top, below[k])
    if top == -np.inf:
        for k in range(K):
            below[k] = 0.0
        return top
    total = 0.0
    for k in range(K):
        total += np.exp(below[k] - top)
        below[k] = total
    return top


@bare_part
def _draw_states(codes, columns, i, times, beta, below, words, eta):
    """Add to η what so many equal rows, each drawn to a state, make of it."""
    K = below.shape[0]
    for _ in range(times):
        u, k = uniform(words) * below[K - 1], 0
        for j in range(K - 1):
            k += np.int64(below[j] <= u)
        eta[k] += 1.0
        for d in range(codes.shape[0]):
            if codes[d, i] < columns[d, 2]:
                eta[columns[d, 0] + k * columns[d, 1] + codes[d, i]] += beta


@bare_part
def _draw_shares(eta, start, stop, words, theta):
    """Fill theta[start:stop] with the log of a draw from the Dirichlet with these α."""
    top, total = -np.inf, 0.0
    for j in range(start, stop):
        theta[j] = 0.0
        if eta[j] < 1.0:  # in log space, where small α underflow
            theta[j] = np.log(1.0 - uniform(words)) / eta[j] if eta[j] > 0.0 else -np.inf
        top = max(top, theta[j])
    for j in range(start, stop):
        a = eta[j]
        eta[j] = gamma(words, a if a >= 1.0 else a + 1.0)
        total += eta[j] * np.exp(theta[j] - top) if theta[j] != top else eta[j]
    for j in range(start, stop):
        theta[j] += np.log(eta[j] / total) - top


@bare_part
def _move_and_weigh(codes, columns, times, before, after, words, theta, eta, table, below):
    """Draw θ anew at the later β; return the log weight that it brings to go there from before."""
    _look(codes, columns, theta, table)
    gain, ratio = 0.0, 1.0
    K = below.shape[0]
    for i in range(times.shape[0]):
        low = _sum_states(theta, table, i, before, below)
        under = below[K - 1]
        high = _sum_states(theta, table, i, after, below)
        if high == -np.inf:
            return -np.inf
        gain += times[i] * (high - low)
        once = below[K - 1] / under
        for _ in range(times[i]):
            ratio *= once
            if not 1.0 / FAR < ratio < FAR:
                gain += np.log(ratio)
                ratio = 1.0
        _draw_states(codes, columns, i, times[i], after, below, words, eta)
    return gain + np.log(ratio)


@kernel(
    "void(int32[:, ::1], int64[:, ::1], int64[::1], float64[::1], float64[::1], uint64[:, ::1], "
    "float64[:, ::1], float64[::1])"
)
def anneal_classes(codes, columns, times, alpha, betas, words, theta, log_weight):
    """Take chains through temperatures: theta (C, P), words (C, 4) and log_weight (C,) change.

    A column has the place, stride and number of its labels; rows stand so many `times`.
    """
    K, n = columns[0, 0], times.shape[0]
    eta, below, table = np.empty(alpha.shape[0]), np.empty(K), np.empty((K, n))
    for c in range(theta.shape[0]):
        own, state = theta[c], words[c]
        for s in range(betas.shape[0] - 1):
            for j in range(alpha.shape[0]):
                eta[j] = alpha[j]
            gain = _move_and_weigh(
                codes, columns, times, betas[s], betas[s + 1], state, own, eta, table, below
            )
            log_weight[c] += gain
            if gain == -np.inf:
                break
            _draw_shares(eta, 0, K, state, own)
            for d in range(columns.shape[0]):
                for k in range(K):
                    at = columns[d, 0] + k * columns[d, 1]
                    _draw_shares(eta, at, at + columns[d, 2], state, own)
