"""Rows whose columns are independent given the state: log-likelihoods and moments.

Rows stand as columns (D, n); missing is NaN, or a code that no state has.
"""

import numpy as np

from jensen.kernels import kernel, part, reassociated
from jensen.kernels.gaussians import ENTRIES, TILE
from jensen.kernels.log_tables import share_rows
from jensen.kernels.records import COLUMN_ROWS, COLUMN_SUMS, COLUMN_TABLES, signature


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


@kernel("void(int32[:, ::1], int64, int64, int64[::1], float64[:, ::1], float64[:, ::1])")
def add_looked_up(codes, start, stop, at, tables, out):
    """Add tables[k, at[column] + code] over the columns to out (K, rows)."""
    n = stop - start
    for k in range(tables.shape[0]):
        total = out[k]
        for d in range(codes.shape[0]):
            values, table = codes[d, start:stop], tables[k, at[d] : at[d + 1]]
            for i in range(n):
                total[i] += table[values[i]]


@kernel("void(int32[:, ::1], int64, int64, float64[:, ::1], int64[::1], float64[:, ::1])")
def add_counts(codes, start, stop, nodes, at, counts):
    """Add nodes (K, rows) to counts[k, at[column] + code]."""
    n = stop - start
    for k in range(counts.shape[0]):
        weight = nodes[k]
        for d in range(codes.shape[0]):
            values, count = codes[d, start:stop], counts[k, at[d] : at[d + 1]]
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


@part
def fill_columns(rows, tables, start, stop, out):
    """Fill out (K, rows) with the log-likelihoods of the rows start..stop, columns of all kinds."""
    for k in range(out.shape[0]):
        total, base, constant = out[k], rows.base[start:stop], tables.constant[k]
        for i in range(total.shape[0]):
            total[i] = constant + base[i]
    add_looked_up(rows.codes, start, stop, tables.at, tables.labels, out)
    add_diagonal(rows.numbers, start, stop, tables.mean, tables.precision, tables.unseen, out)
    add_poisson(rows.counts, start, stop, tables.log_rate, tables.rate, tables.uncounted, out)


@part
def add_column_stats(rows, tables, start, stop, nodes, sums):
    """Add up the statistics of the rows start..stop; nodes (K, rows) is what states have of them.

    What is missing counts as expected, but for labels: those are shared out afterwards.
    """
    add_counts(rows.codes, start, stop, nodes, tables.at, sums.labels)
    add_diagonal_moments(
        rows.numbers, start, stop, nodes, tables.mean, tables.square, sums.first, sums.second
    )
    add_diagonal_moments(
        rows.counts, start, stop, nodes, tables.expected, tables.expected, sums.totals, sums.unused
    )


@kernel(
    signature(
        COLUMN_ROWS, COLUMN_TABLES, "float64[::1], float64[::1], float64[::1], float64[::1]",
        COLUMN_SUMS,
    )
)  # fmt: skip
def learn_columns(rows, tables, log_weights, weight, value, states, sums):
    """Fill value with log Z of each row; add what each component has of the rows.

    That is to states (K,), and to the sums of the columns. Shares are kept of a block only.
    """
    K, n = log_weights.shape[0], weight.shape[0]
    size = max(TILE, ENTRIES // K)
    room = np.empty(K * min(size, n))
    for start in range(0, n, size):
        stop = min(start + size, n)
        table = room[: K * (stop - start)].reshape((K, stop - start))
        fill_columns(rows, tables, start, stop, table)
        share_rows(table, log_weights, weight[start:stop], value[start:stop], states)
        add_column_stats(rows, tables, start, stop, table, sums)
