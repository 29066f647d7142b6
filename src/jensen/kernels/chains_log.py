"""Chains of hidden states in log space: slower, and right whatever underflows; and their maxima.

Blocks and spans are those of `chains`; an impossible sequence has log Z = -inf.
"""

import numpy as np

from jensen.kernels import helper, kernel


@helper
def log_sum(values):
    """Log Σ exp; of nothing it is -inf."""
    top = values[0]
    for k in range(1, values.shape[0]):
        top = max(top, values[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(values.shape[0]):
        total += np.exp(values[k] - top)
    return top + np.log(total)


@kernel(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[::1], float64[::1])"
)
def filter_logs(first, trans_t, spans, like, alpha, scale, log_z):
    """Fill alpha with log p(h_t | x_1..t), scale with log p(x_t | x_1..t-1); add it to log_z."""
    K = trans_t.shape[0]
    terms = np.empty(K)
    for i in range(spans.shape[0]):
        a, b = spans[i]
        for t in range(a, b):
            for k in range(K):
                alpha[t, k] = first[k] + like[t, k]
                if t > a:
                    for j in range(K):
                        terms[j] = alpha[t - 1, j] + trans_t[k, j]
                    alpha[t, k] = log_sum(terms) + like[t, k]
            scale[t] = log_sum(alpha[t])
            log_z[i] += scale[t]
            if scale[t] == -np.inf:
                for k in range(K):
                    alpha[b - 1, k] = -np.inf
                break
            for k in range(K):
                alpha[t, k] -= scale[t]


@kernel(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[::1], "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])"
)
def smooth_logs(last, trans, spans, weight, alpha, like, nodes, pairs, log_z):
    """Fill nodes (K, n) with weight · q(h_t), like with log messages to the step before it.

    Adds weight · q(h_t, h_t+1) to pairs, and log Σ α · last to log_z.
    """
    K = trans.shape[0]
    beta, terms = np.empty(K), np.empty(K)
    for i in range(spans.shape[0]):
        a, b = spans[i]
        for t in range(b - 1, a - 1, -1):
            for j in range(K):
                beta[j] = last[j]
                if t < b - 1:
                    for k in range(K):
                        terms[k] = trans[j, k] + like[t + 1, k]
                    beta[j] = log_sum(terms)
            for j in range(K):
                terms[j] = alpha[t, j] + beta[j]
            total = log_sum(terms)
            if t == b - 1:
                log_z[i] += total
            if total == -np.inf:
                break
            if t < b - 1:
                for j in range(K):
                    here = alpha[t, j] - total
                    for k in range(K):
                        pairs[j, k] += weight[i] * np.exp(here + trans[j, k] + like[t + 1, k])
            for k in range(K):
                nodes[k, t] = weight[i] * np.exp(terms[k] - total)
                like[t, k] += beta[k] - total


@kernel(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[::1])"
)
def filter_best(first, trans, spans, like, alpha, log_z):
    """Fill alpha with the log potential of the best path to every state; add the best to log_z."""
    K = trans.shape[0]
    into = np.empty(K)
    for i in range(spans.shape[0]):
        a, b = spans[i]
        for t in range(a, b):
            for k in range(K):
                into[k] = first[k] if t == a else -np.inf
            if t > a:
                for j in range(K):
                    before = alpha[t - 1, j]
                    for k in range(K):  # np.maximum is vectorised, a comparison is not
                        into[k] = np.maximum(into[k], before + trans[j, k])
            for k in range(K):
                alpha[t, k] = into[k] + like[t, k]
        top = -np.inf
        for k in range(K):
            top = max(top, alpha[b - 1, k])
        log_z[i] += top


@kernel(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "int64[::1], int64[:, ::1])"
)
def choose_logs(last, trans_t, spans, alpha, uniforms, after, path):
    """Fill path (n, rows) with draws, from last steps to first; `after` (n,) follows, or is -1.

    Without uniforms it is the best path, and the first of equals.
    """
    K = trans_t.shape[0]
    terms, running = np.empty(K), np.empty(K)
    draws = uniforms.shape[0] > 0
    for n in range(path.shape[0]):
        for i in range(spans.shape[0]):
            state = after[n]
            for t in range(spans[i, 1] - 1, spans[i, 0] - 1, -1):
                ahead = last if state < 0 else trans_t[state]
                state = 0
                for k in range(K):
                    terms[k] = alpha[t, k] + ahead[k]
                    if terms[k] > terms[state]:
                        state = k
                if draws:
                    total, top = 0.0, terms[state]
                    for k in range(K):
                        total += np.exp(terms[k] - top)
                        running[k] = total
                    threshold = uniforms[n, t] * total
                    state = 0
                    while state < K - 1 and running[state] <= threshold:
                        state += 1
                    while state > 0 and terms[state] == -np.inf:  # past the end by rounding
                        state -= 1
                path[n, t] = state


@kernel(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[::1], float64[:, ::1], "
    "int64[::1], float64[:, ::1], float64[:, ::1], float64[::1])"
)
def follow(first, trans, spans, weight, log_like, path, nodes, pairs, value):
    """Add to value the log potential of a path; fill its nodes (K, n) and pairs by weight."""
    for i in range(spans.shape[0]):
        a, b = spans[i]
        total = first[path[a]]
        for t in range(a, b):
            state = path[t]
            total += log_like[state, t]
            nodes[state, t] = weight[i]
            if t > a:
                total += trans[path[t - 1], state]
                pairs[path[t - 1], state] += weight[i]
        value[i] += total
