"""Rows whose columns are independent given the state: log-likelihoods and moments.

Rows stand as columns (D, n); missing is NaN, or a code that no state has.
"""

import numpy as np

from jensen.kernels import kernel, reassociated


@kernel(
    "void(float64[:, ::1], int64, int64, float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1])"
)
def add_diagonal(x, start, stop, mean, precision, missing, out):
    """Add -precision · (x - mean)² / 2 over the columns to out (K, rows), or `missing` (K, D)."""
    K, D = mean.shape
    n = stop - start
    for k in range(K):
        total = out[k]
        for d in range(D):
            values, center, scale = x[d, start:stop], mean[k, d], -0.5 * precision[k, d]
            absent = missing[k, d]
            for i in range(n):
                away = values[i] - center
                total[i] += absent if np.isnan(away) else scale * away * away


@reassociated(
    "void(float64[:, ::1], int64, int64, float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], float64[:, ::1])"
)
def add_diagonal_moments(x, start, stop, nodes, mean, square, first, second):
    """Add Σ nodes · x and Σ nodes · x² (K, D); `mean` and `square` are those of a missing x."""
    K, D = mean.shape
    n = stop - start
    for k in range(K):
        weight = nodes[k]
        for d in range(D):
            values, a, b = x[d, start:stop], 0.0, 0.0
            mean_here, square_here = mean[k, d], square[k, d]
            for i in range(n):
                value = values[i]
                absent = np.isnan(value)
                a += weight[i] * (mean_here if absent else value)
                b += weight[i] * (square_here if absent else value * value)
            first[k, d] += a
            second[k, d] += b


@kernel(
    "void(float64[:, ::1], int64, int64, float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1])"
)
def add_poisson(x, start, stop, log_rate, rate, missing, out):
    """Add x · log_rate - rate over the columns to out (K, rows), or `missing` (K, D)."""
    K, D = rate.shape
    n = stop - start
    for k in range(K):
        total = out[k]
        for d in range(D):
            values, absent = x[d, start:stop], missing[k, d]
            slope, minus = log_rate[k, d], rate[k, d]
            for i in range(n):
                value = values[i]
                if np.isnan(value):
                    total[i] += absent
                elif value == 0.0:
                    total[i] -= minus  # 0 · log 0 = 0
                else:
                    total[i] += value * slope - minus


@kernel("void(int32[:, ::1], int64, int64, float64[:, :, ::1], float64[:, ::1])")
def add_looked_up(codes, start, stop, tables, out):
    """Add tables[k, column, code] over the columns to out (K, rows)."""
    K, D, _ = tables.shape
    n = stop - start
    for k in range(K):
        total = out[k]
        for d in range(D):
            values, table = codes[d, start:stop], tables[k, d]
            for i in range(n):
                total[i] += table[values[i]]


@kernel("void(int32[:, ::1], int64, int64, float64[:, ::1], float64[:, :, ::1])")
def add_counts(codes, start, stop, nodes, counts):
    """Add nodes (K, rows) to counts[k, column, code]."""
    K, D, _ = counts.shape
    n = stop - start
    for k in range(K):
        weight = nodes[k]
        for d in range(D):
            values, count = codes[d, start:stop], counts[k, d]
            for i in range(n):
                count[values[i]] += weight[i]


@kernel("void(float64[:, ::1], float64[::1], float64[::1], float64[:, ::1])")
def add_column_sums(rows, weight, center, sums):
    """Add Σ weight, Σ weight · (x - center) and Σ weight · (x - center)² of values to sums (3, D).

    Rows (n, D) stand as rows here.
    """
    n, D = rows.shape
    for i in range(n):
        for d in range(D):
            away = rows[i, d] - center[d]
            if not np.isnan(away):
                sums[0, d] += weight[i]
                sums[1, d] += weight[i] * away
                sums[2, d] += weight[i] * away * away
