"""Log potentials of states and rows, made into numbers that are largest in each row: 1.

Tables (K, n) have a row for each state, so that the innermost loops run along the rows of the data.
"""

import numpy as np

from jensen.kernels import helper, kernel, reassociated

TILE = 512
ROUND = 1.5 * 2.0**52  # added to a number it leaves no fraction


@helper
def exponentials(x, power, out):
    """Fill out with exp(x) for x ≤ 0, to the last digit or two; power is room for 2^n.

    A loop that the compiler turns into vectors, as it cannot do with `np.exp`: it takes half the
    time. exp(x) = 2^n · exp(r) with |r| ≤ log(2) / 2, and a Taylor polynomial for exp(r).
    """
    bits = power.view(np.int64)
    for i in range(x.shape[0]):
        value = -708.0 if x[i] < -708.0 else x[i]
        power[i] = value * 1.4426950408889634 + ROUND  # n stands in the lowest bits
        n = power[i] - ROUND
        r = value - n * 6.93145751953125e-1 - n * 1.42860682030941723212e-6
        p = 1.6059043836821613e-10
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 1.984126984126984e-04
        p = p * r + 1.388888888888889e-03
        p = p * r + 8.333333333333333e-03
        p = p * r + 4.1666666666666664e-02
        p = p * r + 1.6666666666666666e-01
        p = p * r + 0.5
        out[i] = 1.0 + (r + r * r * p)
    for i in range(x.shape[0]):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(x.shape[0]):
        out[i] = 0.0 if x[i] < -708.0 else out[i] * power[i]


@helper
def find_tops(table, start, top):
    """Fill top with the largest entry of each row, 0 for rows in which nothing is possible."""
    size = top.shape[0]
    for t in range(size):
        top[t] = table[0, start + t]
    for k in range(1, table.shape[0]):
        row = table[k, start : start + size]
        for t in range(size):
            top[t] = row[t] if row[t] > top[t] else top[t]
    for t in range(size):
        top[t] = 0.0 if top[t] == -np.inf else top[t]


@kernel("void(float64[:, ::1], float64[:, ::1], float64[::1])")
def scale_rows(log_like, like, shift):
    """Fill like (n, K) with exp(log_like - shift), where shift (n,) is the largest of each row."""
    K, n = log_like.shape
    x, power, out = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    for a in range(0, n, TILE):
        size = min(TILE, n - a)
        top = shift[a : a + size]
        find_tops(log_like, a, top)
        for k in range(K):
            row = log_like[k, a : a + size]
            for t in range(size):
                x[t] = row[t] - top[t]
            exponentials(x[:size], power, out)
            for t in range(size):
                like[a + t, k] = out[t]


@kernel(
    "void(int32[:, ::1], int64, int64, float64[:, ::1], float64[::1], "
    "float64[:, ::1], float64[::1])"
)
def look_up_rows(codes, start, stop, tables, tops, like, shift):
    """Fill like (n, K) and shift (n,) from tables (labels, K), one code for each row."""
    K = tables.shape[1]
    for i in range(stop - start):
        code = codes[0, start + i]
        shift[i] = tops[code]
        for k in range(K):
            like[i, k] = tables[code, k]


@reassociated("void(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def share_rows(table, log_weights, weight, value, states):
    """Turn log likelihoods (K, n) into weight · p(state | row); fill value with log Z of each row.

    Adds what each state has of all rows to `states` (K,). An impossible row has log Z = -inf and
    no states.
    """
    K, n = table.shape
    top, total, power, out = np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE)
    for a in range(0, n, TILE):
        size = min(TILE, n - a)
        for k in range(K):
            row, log_weight = table[k, a : a + size], log_weights[k]
            for t in range(size):
                row[t] += log_weight
        find_tops(table, a, top[:size])
        for t in range(size):
            total[t] = 0.0
        for k in range(K):
            row = table[k, a : a + size]
            for t in range(size):
                row[t] -= top[t]
            exponentials(row, power, out)
            for t in range(size):
                row[t] = out[t]
            for t in range(size):
                total[t] += out[t]
        for t in range(size):
            value[a + t] = np.log(total[t]) + top[t]
            total[t] = weight[a + t] / total[t] if total[t] > 0.0 else 0.0
        for k in range(K):
            row, here = table[k, a : a + size], 0.0
            for t in range(size):
                row[t] *= total[t]
            for t in range(size):
                here += row[t]
            states[k] += here
