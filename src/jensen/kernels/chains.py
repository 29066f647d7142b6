"""Chains of hidden states in linear space: every step is scaled to sum to one.

A block of rows holds whole sequences, or a part of one; `spans` (m, 2) says where each begins and
ends. Numbers below `TINY` may have lost smaller ones beside them that matter in the end: a
sequence that comes near them gets log Z = -inf, and is to be done in log space (`chains_log`).
"""

import numpy as np

from jensen.kernels import kernel, reassociated

TINY = 1e-140
SLACK = 1e-11


@kernel("void(float64[:, ::1], float64[:, ::1], float64[::1])")
def scale_rows(log_like, like, shift):
    """Fill like (n, K) with log_like (K, n) less its largest of every row, which is the shift."""
    K, n = log_like.shape
    shift[:] = log_like[0]
    for k in range(1, K):
        for t in range(n):
            shift[t] = log_like[k, t] if log_like[k, t] > shift[t] else shift[t]
    for t in range(n):
        shift[t] = shift[t] if shift[t] > -np.inf else 0.0
    for t in range(n):
        for k in range(K):
            like[t, k] = log_like[k, t] - shift[t]


@reassociated(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[::1], "
    "float64[:, ::1], float64[::1], float64[::1])"
)
def filter_scaled(first, trans, spans, like, shift, alpha, scale, log_z):
    """Fill alpha with p(h_t | x_1..t), scale with p(x_t | x_1..t-1), and add log Z to log_z.

    The likelihoods are like · exp(shift); scales leave the shift out.
    """
    K = trans.shape[0]
    for i in range(spans.shape[0]):
        a, product = spans[i, 0], 1.0
        for t in range(a, spans[i, 1]):
            now = alpha[t]
            for k in range(K):
                now[k] = first[k] if t == a else 0.0
            if t > a:
                for j in range(K):
                    before = alpha[t - 1, j]
                    for k in range(K):
                        now[k] += before * trans[j, k]
            total = 0.0
            for k in range(K):
                now[k] *= like[t, k]
                total += now[k]
            if not total >= TINY:
                product = 0.0
                alpha[spans[i, 1] - 1] = 0.0
                break
            scale[t] = total
            log_z[i] += shift[t]
            inverse = 1.0 / total
            for k in range(K):
                now[k] *= inverse
            product *= total
            if product < TINY:  # one logarithm for many steps
                log_z[i] += np.log(product)
                product = 1.0
        log_z[i] += np.log(product)


@reassociated(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[::1], float64[::1], "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])"
)
def smooth_scaled(last, trans_t, spans, weight, scale, alpha, like, nodes, pairs, log_z):
    """Fill nodes (K, n) with weight · q(h_t), like with messages to the step before it.

    Adds to pairs what q(h_t, h_t+1) are when multiplied by the transitions, and log Σ α · last to
    log_z. The rows of a sequence that cannot be done have no nodes.
    """
    K = trans_t.shape[0]
    beta, top = np.empty(K), np.empty(K)
    mine = np.empty((K, K))
    for i in range(spans.shape[0]):
        a, b = spans[i]
        top[:] = 0.0
        mine[:] = 0.0
        end, fine = 0.0, True
        for t in range(b - 1, a - 1, -1):
            for k in range(K):
                beta[k] = last[k] if t == b - 1 else 0.0
            if t < b - 1:
                for k in range(K):
                    message = like[t + 1, k]
                    for j in range(K):
                        beta[j] += message * trans_t[k, j]
            total = 0.0
            for k in range(K):
                total += alpha[t, k] * beta[k]
            if t == b - 1:
                end = total
                fine = total >= TINY
            else:
                fine = abs(total - scale[t + 1]) <= SLACK * total
            if not fine:
                break
            inverse = 1.0 / total
            if t < b - 1:
                for j in range(K):
                    here = alpha[t, j] * inverse
                    for k in range(K):
                        mine[j, k] += here * like[t + 1, k]
            for k in range(K):
                back = beta[k] * inverse
                top[k] = back if back > top[k] else top[k]
                like[t, k] *= back
                nodes[k, t] = weight[i] * alpha[t, k] * back
        if fine and top.max() <= 1.0 / TINY:
            log_z[i] += np.log(end)
            for j in range(K):
                for k in range(K):
                    pairs[j, k] += weight[i] * mine[j, k]
        else:
            log_z[i] = -np.inf
            nodes[:, a:b] = 0.0


@kernel(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "int64[::1], int64[:, ::1])"
)
def draw_scaled(last, trans_t, spans, alpha, uniforms, after, path):
    """Fill path (n, rows) with draws, from last steps to first; `after` (n,) follows, or is -1."""
    K = trans_t.shape[0]
    running = np.empty(K)
    for n in range(path.shape[0]):
        for i in range(spans.shape[0]):
            state = after[n]
            for t in range(spans[i, 1] - 1, spans[i, 0] - 1, -1):
                ahead = last if state < 0 else trans_t[state]
                total = 0.0
                for k in range(K):
                    total += alpha[t, k] * ahead[k]
                    running[k] = total
                threshold = uniforms[n, t] * total
                state = 0
                while state < K - 1 and running[state] <= threshold:
                    state += 1
                while (
                    state > 0 and alpha[t, state] * ahead[state] == 0.0
                ):  # past the end by rounding
                    state -= 1
                path[n, t] = state
