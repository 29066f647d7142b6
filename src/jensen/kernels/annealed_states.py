"""Hidden states of rows under many θ at once, their likelihoods raised to a power β.

p(h | θ) p(x | h, θ)^β is summed over h, or h is drawn. Tables (C, K, n) hold log p(row | state) for
each of C θ; 0^0 is 1.
"""

import numpy as np

from jensen.kernels import helper, kernel


@helper
def _power(log_like, beta):
    return 0.0 if beta == 0.0 else beta * log_like


@helper
def _log_sum(log_weights, log_like, i, beta):
    """Log Σ_k w_k p(row i | k)^β at one θ."""
    K = log_weights.shape[0]
    top = -np.inf
    for k in range(K):
        x = log_weights[k] + _power(log_like[k, i], beta)
        top = x if x > top else top
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(K):
        total += np.exp(log_weights[k] + _power(log_like[k, i], beta) - top)
    return top + np.log(total)


@kernel("void(float64[:, ::1], float64[:, :, ::1], float64[::1], float64, float64, float64[::1])")
def row_gains(log_weights, log_like, weight, before, after, gains):
    """Fill gains (C,) with Σ_rows weight · log Σ_h p(h) p(x | h)^β after, less that before."""
    C, _, n = log_like.shape
    for c in range(C):
        total = 0.0
        for i in range(n):
            total += weight[i] * (
                _log_sum(log_weights[c], log_like[c], i, after)
                - _log_sum(log_weights[c], log_like[c], i, before)
            )
        gains[c] = total


@kernel(
    "void(float64[:, ::1], float64[:, :, ::1], int64[::1], float64, int64[::1], "
    "float64[:, ::1], float64[:, :, ::1])"
)
def draw_row_states(log_weights, log_like, times, beta, chosen, uniforms, nodes):
    """Fill nodes (C, K, n): of so many equal rows, how many are drawn in each state.

    The c-th draw is at the θ that `chosen` names; uniforms (C, Σ times) are the only randomness.
    """
    C, K, n = nodes.shape
    below = np.empty(K)
    for c in range(C):
        own, at = chosen[c], 0
        for i in range(n):
            top = -np.inf
            for k in range(K):
                below[k] = log_weights[own, k] + _power(log_like[own, k, i], beta)
                top = below[k] if below[k] > top else top
            total = 0.0
            for k in range(K):
                total += np.exp(below[k] - top)
                below[k] = total
                nodes[c, k, i] = 0.0
            for _ in range(times[i]):
                u, k = uniforms[c, at] * total, 0
                while k < K - 1 and below[k] <= u:
                    k += 1
                nodes[c, k, i] += 1.0
                at += 1


@helper
def _forward(first, trans, last, log_like, a, b, beta, alpha, here):
    """Log Z of the steps a..b at one θ; fills alpha, each step with the sum 1."""
    K = first.shape[0]
    value = 0.0
    for i in range(a, b):
        top = -np.inf
        for k in range(K):
            here[k] = _power(log_like[k, i], beta)
            top = here[k] if here[k] > top else top
        if top == -np.inf:
            return top
        total = 0.0
        for k in range(K):
            before = first[k]
            if i > a:
                before = 0.0
                for j in range(K):
                    before += alpha[i - 1, j] * trans[j, k]
            alpha[i, k] = before * np.exp(here[k] - top)
            total += alpha[i, k]
        if total == 0.0:
            return -np.inf
        for k in range(K):
            alpha[i, k] /= total
        value += top + np.log(total)
    end = 0.0
    for k in range(K):
        end += alpha[b - 1, k] * last[k]
    return value + np.log(end)


@kernel(
    "void(float64[:, ::1], float64[:, :, ::1], float64[:, ::1], float64[:, :, ::1], int64[::1], "
    "float64, float64, float64[::1])"
)
def chain_gains(first, trans, last, log_like, ptr, before, after, gains):
    """Fill gains (C,) as `row_gains` does, for chains; first, trans and last are probabilities."""
    C, K, n = log_like.shape
    alpha, here = np.empty((n, K)), np.empty(K)
    for c in range(C):
        total = 0.0
        for s in range(ptr.shape[0] - 1):
            a, b = ptr[s], ptr[s + 1]
            own, own_trans, own_last = first[c], trans[c], last[c]
            total += _forward(own, own_trans, own_last, log_like[c], a, b, after, alpha, here)
            if before > 0.0:
                total -= _forward(own, own_trans, own_last, log_like[c], a, b, before, alpha, here)
        gains[c] = total


@kernel(
    "void(float64[:, ::1], float64[:, :, ::1], float64[:, ::1], float64[:, :, ::1], int64[::1], "
    "float64, int64[::1], float64[:, ::1], int64[:, ::1])"
)
def draw_chains(first, trans, last, log_like, ptr, beta, chosen, uniforms, path):
    """Fill path (C, n) with the states of all steps, drawn backwards."""
    C, n = path.shape
    K = first.shape[1]
    alpha, here = np.empty((n, K)), np.empty(K)
    for c in range(C):
        own = chosen[c]
        for s in range(ptr.shape[0] - 1):
            a, b = ptr[s], ptr[s + 1]
            _forward(first[own], trans[own], last[own], log_like[own], a, b, beta, alpha, here)
            for i in range(b - 1, a - 1, -1):
                total = 0.0
                for k in range(K):
                    way = last[own, k] if i == b - 1 else trans[own, k, path[c, i + 1]]
                    total += alpha[i, k] * way
                    here[k] = total
                u, k = uniforms[c, i] * total, 0
                while k < K - 1 and here[k] <= u:
                    k += 1
                path[c, i] = k
