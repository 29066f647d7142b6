"""Chains of hidden states in linear space, scaled when they become small.

A block of rows holds whole sequences, or a part of one; `spans` (m, 2) says where each begins and
ends. Beside numbers below `TINY` smaller ones may have underflowed that matter in the end: a
sequence that comes near them gets log Z = -inf, and is to be done in log space (`chains_log`).

Few states are worked on in eight registers at once, so tables have at least eight columns.
"""

import numpy as np
from numba import types

from jensen.kernels import helper, kernel, part, reassociated
from jensen.kernels.columns import add_column_stats, add_counts, fill_columns
from jensen.kernels.gaussians import add_moments, log_densities
from jensen.kernels.log_tables import look_up_rows, scale_rows
from jensen.kernels.records import COLUMN_ROWS, COLUMN_SUMS, COLUMN_TABLES, signature
from jensen.support.row_records import BATCH_ENTRIES, ChainSums, ChainTables

SMALL = 1e-20  # where alpha is scaled
TINY = 1e-140  # what a step may leave of alpha
LOST = 1e-155  # more than what underflow and a factor of 1 / TINY take away
SLACK = 1e-9
LANES = 8

_ROW, _TABLE = types.float64[::1], types.float64[:, ::1]
TABLES = types.NamedTuple([_ROW, _TABLE, _TABLE, _ROW], ChainTables)
SUMS = types.NamedTuple([_ROW, _TABLE, _ROW, _ROW], ChainSums)


@part
def multiply(x, table, out):
    """Fill out (columns,) with x (K,) times table (K, columns)."""
    K, columns = table.shape
    if columns > LANES:
        for k in range(columns):
            out[k] = 0.0
        for j in range(K):
            here = x[j]
            for k in range(columns):
                out[k] += here * table[j, k]
    else:
        a = b = c = d = e = f = g = h = 0.0
        for j in range(K):
            here = x[j]
            a += here * table[j, 0]
            b += here * table[j, 1]
            c += here * table[j, 2]
            d += here * table[j, 3]
            e += here * table[j, 4]
            f += here * table[j, 5]
            g += here * table[j, 6]
            h += here * table[j, 7]
        out[0] = a
        out[1] = b
        out[2] = c
        out[3] = d
        out[4] = e
        out[5] = f
        out[6] = g
        out[7] = h


@reassociated(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[::1], "
    "float64[:, ::1], float64[::1], float64[::1])"
)
def filter_scaled(first, trans, spans, like, shift, alpha, scale, log_z):
    """Fill alpha (n, K) with p(h_t, x_1..t) up to a factor, and add its logarithm to log_z.

    The likelihoods are like · exp(shift); scale (n,) is what alpha was divided by.
    """
    K, columns = trans.shape
    into = np.empty(columns)
    for i in range(spans.shape[0]):
        a, b = spans[i]
        total_log = 0.0
        for t in range(a, b):
            if t == a:
                for k in range(K):
                    into[k] = first[k]
            else:
                multiply(alpha[t - 1], trans, into)
            total = 0.0
            for k in range(K):
                value = into[k] * like[t, k]
                alpha[t, k] = value
                total += value
            scale[t] = 1.0
            if not SMALL < total < 1.0 / SMALL:
                if not TINY <= total < np.inf:
                    total_log = -np.inf
                    for k in range(K):
                        alpha[b - 1, k] = 0.0
                    break
                scale[t] = total
                total_log += np.log(total)
                for k in range(K):
                    alpha[t, k] /= total
            total_log += shift[t]
        log_z[i] += total_log


@helper
def add_pairs(alpha, messages, a, b, weight, pairs):
    """Add weight · alpha[t, j] · messages[t + 1, k] to pairs[j, k], four steps at a time."""
    K = pairs.shape[0]
    t = a
    while t + 4 < b:
        for j in range(K):
            x, y = weight * alpha[t, j], weight * alpha[t + 1, j]
            z, w = weight * alpha[t + 2, j], weight * alpha[t + 3, j]
            for k in range(K):
                pairs[j, k] += (x * messages[t + 1, k] + y * messages[t + 2, k]) + (
                    z * messages[t + 3, k] + w * messages[t + 4, k]
                )
        t += 4
    while t + 1 < b:
        for j in range(K):
            x = weight * alpha[t, j]
            for k in range(K):
                pairs[j, k] += x * messages[t + 1, k]
        t += 1


@reassociated(
    "void(float64[::1], float64[:, ::1], int64[:, ::1], float64[::1], float64[::1], "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])"
)
def smooth_scaled(last, trans_t, spans, weight, scale, alpha, like, nodes, pairs, log_z):
    """Fill nodes (K, n) with weight · q(h_t), like with messages to the step before it.

    Adds to pairs what q(h_t, h_t+1) are when multiplied by the transitions, and log Σ α · last to
    log_z. The rows of a sequence that cannot be done have no nodes.
    """
    K, columns = trans_t.shape
    beta = np.empty(columns)
    for i in range(spans.shape[0]):
        a, b = spans[i]
        end = 0.0
        for k in range(K):
            end += alpha[b - 1, k] * last[k]
        fine = TINY <= end < np.inf
        for k in range(K):
            beta[k] = last[k] / end if fine else 0.0
        t = b
        while fine and t > a:
            t -= 1
            if t < b - 1:
                multiply(like[t + 1], trans_t, beta)
            inverse = 1.0 / scale[t]
            # Σ α · β is 1 at every step, unless beta is large where alpha has lost something
            total = 0.0
            for k in range(K):
                back = beta[k]
                total += (alpha[t, k] + LOST) * back
                nodes[k, t] = weight[i] * alpha[t, k] * back
                like[t, k] *= back * inverse
            fine = abs(total - 1.0) <= SLACK
        if fine:
            log_z[i] += np.log(end)
            add_pairs(alpha, like, a, b, weight[i], pairs)
        else:
            log_z[i] = -np.inf
            for k in range(K):
                for t in range(a, b):
                    nodes[k, t] = 0.0


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


@helper
def next_batch(spans, i, n_states):
    """Where sequences from the i-th on end that together fill a batch."""
    j = i + 1
    while j < spans.shape[0] and (spans[j - 1, 1] - spans[i, 0]) * n_states < BATCH_ENTRIES:
        j += 1
    return j


@helper
def cut_room(room, n, n_states):
    """Like (n, K), alpha (n, K), nodes (K, n), shift (n,) and scale (n,)."""
    size = n * n_states
    like, alpha = room[:size].reshape((n, n_states)), room[size : 2 * size].reshape((n, n_states))
    nodes, rest = room[2 * size : 3 * size].reshape((n_states, n)), room[3 * size :]
    return like, alpha, nodes, rest[:n], rest[n : 2 * n]


@part
def smooth_batch(tables, spans, weight, like, shift, alpha, scale, nodes, log_z, sums):
    """Fill nodes (K, n) of a batch and its log_z, and add up."""
    filter_scaled(tables.first, tables.wide, spans, like, shift, alpha, scale, log_z)
    smooth_scaled(
        tables.last, tables.wide_t, spans, weight, scale, alpha, like, nodes, sums.pairs, log_z
    )
    for k in range(nodes.shape[0]):
        row, total = nodes[k], 0.0
        for t in range(row.shape[0]):
            total += row[t]
        sums.states[k] += total
        for i in range(spans.shape[0]):
            sums.first[k] += row[spans[i, 0]]
            sums.last[k] += row[spans[i, 1] - 1]


@reassociated(
    signature(
        TABLES,
        "int64[:, ::1], float64[::1], float64[:, ::1], int64, float64[:, ::1], float64[:, :, ::1], "
        "float64[::1], float64[::1], float64[::1]",
        SUMS,
        "float64[:, ::1], float64[:, :, ::1]",
    )
)
def learn_gaussian_chains(
    tables, spans, weight, x, start, mean, root, constant, room, log_z, sums, first, second
):
    """Fill log_z, and add up what `add_moments` and the sums want of neighbouring sequences."""
    K = mean.shape[0]
    i = np.int64(0)
    while i < spans.shape[0]:
        j = next_batch(spans, i, K)
        a, b = spans[i, 0], spans[j - 1, 1]
        like, alpha, nodes, shift, scale = cut_room(room, b - a, K)
        log_densities(x, start + a, start + b, mean, root, constant, nodes)
        scale_rows(nodes, like, shift)
        smooth_batch(
            tables, spans[i:j] - a, weight[i:j], like, shift, alpha, scale, nodes, log_z[i:j], sums
        )
        add_moments(x, start + a, start + b, nodes, first, second)
        i = j


@reassociated(
    signature(
        TABLES,
        "int64[:, ::1], float64[::1], int32[:, ::1], int64, float64[:, ::1], float64[::1], "
        "float64[::1], float64[::1]",
        SUMS,
        "int64[::1], float64[:, ::1]",
    )
)
def learn_code_chains(
    tables, spans, weight, codes, start, shares, tops, room, log_z, sums, at, counts
):
    """Fill log_z, and add up what `add_counts` and the sums want of neighbouring sequences."""
    K = shares.shape[1]
    i = np.int64(0)
    while i < spans.shape[0]:
        j = next_batch(spans, i, K)
        a, b = spans[i, 0], spans[j - 1, 1]
        like, alpha, nodes, shift, scale = cut_room(room, b - a, K)
        look_up_rows(codes, start + a, start + b, shares, tops, like, shift)
        smooth_batch(
            tables, spans[i:j] - a, weight[i:j], like, shift, alpha, scale, nodes, log_z[i:j], sums
        )
        add_counts(codes, start + a, start + b, nodes, at, counts)
        i = j


@reassociated(
    signature(
        TABLES,
        "int64[:, ::1], float64[::1]",
        COLUMN_ROWS,
        "int64",
        COLUMN_TABLES,
        "float64[::1], float64[::1]",
        SUMS,
        COLUMN_SUMS,
    )
)
def learn_column_chains(
    tables, spans, weight, rows, start, of_columns, room, log_z, sums, column_sums
):
    """Fill log_z, and add up what `add_column_stats` and the sums want of the sequences."""
    K = tables.first.shape[0]
    i = np.int64(0)
    while i < spans.shape[0]:
        j = next_batch(spans, i, K)
        a, b = spans[i, 0], spans[j - 1, 1]
        like, alpha, nodes, shift, scale = cut_room(room, b - a, K)
        fill_columns(rows, of_columns, start + a, start + b, nodes)
        scale_rows(nodes, like, shift)
        smooth_batch(
            tables, spans[i:j] - a, weight[i:j], like, shift, alpha, scale, nodes, log_z[i:j], sums
        )
        add_column_stats(rows, of_columns, start + a, start + b, nodes, column_sums)
        i = j
