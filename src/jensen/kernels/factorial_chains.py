"""Several chains of hidden states behind the same rows, exactly: one chain at a time.

The states of M chains at a step are one number, whose digits are the states, the last chain's the
fastest. A transition of all chains is that of each in turn: M K^(M+1) products, not K^(2M).
"""

import numpy as np

from jensen.kernels import bare, kernel


@bare
def turn(x, table, across, m, out):
    """Fill out (S,) with x (S,) turned by the table of chain m, or by its transpose (across)."""
    n_chains, K = table.shape[0], table.shape[1]
    right = 1
    for _ in range(m + 1, n_chains):
        right *= K
    for begin in range(0, len(x), K * right):
        for r in range(right):
            for j in range(K):
                total = 0.0
                for i in range(K):
                    step = table[m, j, i] if across else table[m, i, j]
                    total += step * x[begin + i * right + r]
                out[begin + j * right + r] = total


@kernel(
    "void(float64[::1], float64[:, :, ::1], float64[:, ::1], int64[::1], float64[::1], "
    "float64[:, ::1], float64[:, :, ::1], float64[::1])"
)
def solve_joint(first, trans, like, ptr, weight, nodes, pairs, log_z):
    """Fill nodes (T, S) with p(states | x), add to pairs (M, K, K), and to log_z (sequences,)."""
    n_chains, S = trans.shape[0], len(first)
    forwards, backwards = np.empty((n_chains + 1, S)), np.empty((n_chains + 1, S))
    scale = np.empty(len(nodes))
    for s in range(len(ptr) - 1):
        a, b = ptr[s], ptr[s + 1]
        for t in range(a, b):
            if t == a:
                forwards[n_chains] = first
            else:
                forwards[0] = nodes[t - 1]
                for m in range(n_chains):
                    turn(forwards[m], trans, False, m, forwards[m + 1])
            total = 0.0
            for i in range(S):
                value = forwards[n_chains, i] * like[t, i]
                nodes[t, i] = value
                total += value
            scale[t] = total
            log_z[s] += np.log(total)
            if not total > 0.0:
                break
            for i in range(S):
                nodes[t, i] /= total
        if log_z[s] == -np.inf:
            continue
        backwards[0] = 1.0
        for t in range(b - 1, a - 1, -1):
            if t < b - 1:  # backwards[m]: chains from m on are back at t
                for i in range(S):
                    backwards[n_chains, i] = like[t + 1, i] * backwards[0, i] / scale[t + 1]
                for m in range(n_chains - 1, -1, -1):
                    turn(backwards[m + 1], trans, True, m, backwards[m])
                forwards[0] = nodes[t]
                for m in range(n_chains):
                    add_pairs(forwards[m], trans, backwards[m + 1], m, weight[s], pairs)
                    turn(forwards[m], trans, False, m, forwards[m + 1])
            for i in range(S):
                nodes[t, i] *= backwards[0, i]


@bare
def add_pairs(x, trans, y, m, weight, pairs):
    """Add to pairs of chain m what x before its transition and y after it say."""
    n_chains, K = trans.shape[0], trans.shape[1]
    right = 1
    for _ in range(m + 1, n_chains):
        right *= K
    for begin in range(0, len(x), K * right):
        for r in range(right):
            for i in range(K):
                here = weight * x[begin + i * right + r]
                for j in range(K):
                    pairs[m, i, j] += here * trans[m, i, j] * y[begin + j * right + r]
