"""Gaussian components: how far rows are from them, and the moments of the rows.

Rows stand as columns (D, n), so that the innermost loops run along them; a tile of rows stays in
the cache while all components look at it. Loops run over slices, not over offsets, because those
are vectorised.
"""

import numpy as np

from jensen.kernels import kernel, part, reassociated
from jensen.kernels.log_tables import share_rows

TILE = 64
ENTRIES = 1 << 15  # rows times components that stay in the cache


@kernel("void(float64[:, :, ::1], int64[::1], float64[:, :, ::1])")
def factor(precision, order, root):
    """Fill root with Cholesky factors L, LLᵀ = precision, of the dimensions in this order.

    A precision that is not positive definite leaves a NaN on the diagonal.
    """
    for k in range(precision.shape[0]):
        for i in range(order.shape[0]):
            for j in range(i + 1):
                total = precision[k, order[i], order[j]]
                for m in range(j):
                    total -= root[k, i, m] * root[k, j, m]
                root[k, i, j] = np.sqrt(total) if i == j else total / root[k, j, j]
            root[k, i, i + 1 :] = 0.0


@kernel("void(float64[:, ::1], int64, int64, float64[:, ::1], float64[:, :, ::1], float64[:, ::1])")
def squared_distances(x, start, stop, mean, root, out):
    """Fill out (K, rows) with ‖Lᵀ(x - mean)‖² of the rows start..stop."""
    K, D = mean.shape
    away_all, y = np.empty((D, TILE)), np.empty(TILE)
    for begin in range(start, stop, TILE):
        n = min(TILE, stop - begin)
        for k in range(K):
            for d in range(D):
                values, away, center = x[d, begin : begin + n], away_all[d, :n], mean[k, d]
                for i in range(n):
                    away[i] = values[i] - center
            distance = out[k, begin - start : begin - start + n]
            for i in range(n):
                distance[i] = 0.0
            for e in range(D):
                away, scale = away_all[e, :n], root[k, e, e]
                for i in range(n):
                    y[i] = scale * away[i]
                d = e + 1
                while d + 3 < D:  # four at once: y is read and written less often
                    one, two = away_all[d], away_all[d + 1]
                    three, four = away_all[d + 2], away_all[d + 3]
                    a, b, c, f = root[k, d : d + 4, e]
                    for i in range(n):
                        y[i] += (a * one[i] + b * two[i]) + (c * three[i] + f * four[i])
                    d += 4
                while d < D:
                    away, scale = away_all[d, :n], root[k, d, e]
                    for i in range(n):
                        y[i] += scale * away[i]
                    d += 1
                for i in range(n):
                    distance[i] += y[i] * y[i]


@part
def log_densities(x, start, stop, mean, root, constant, out):
    """Fill out (K, rows) with constant - ‖Lᵀ(x - mean)‖² / 2 of the rows start..stop."""
    squared_distances(x, start, stop, mean, root, out)
    for k in range(out.shape[0]):
        row, top = out[k], constant[k]
        for i in range(row.shape[0]):
            row[i] = top - 0.5 * row[i]


@reassociated(
    "void(float64[:, ::1], int64, int64, float64[:, ::1], float64[:, ::1], float64[:, :, ::1])"
)
def add_moments(x, start, stop, nodes, first, second):
    """Add Σ nodes · x to first (K, D), and Σ nodes · xxᵀ to the lower half of second (K, D, D)."""
    K, D = first.shape
    weighted = np.empty(TILE)
    for begin in range(start, stop, TILE):
        n = min(TILE, stop - begin)
        for k in range(K):
            weight = nodes[k, begin - start : begin - start + n]
            for d in range(D):
                values, total = x[d, begin : begin + n], 0.0
                for i in range(n):
                    weighted[i] = weight[i] * values[i]
                # apart: a loop that also writes is vectorised, and so adds in another order, only
                # where its arrays are not near each other in memory
                for i in range(n):
                    total += weighted[i]
                first[k, d] += total
                e = 0
                while e + 1 <= d:  # two at once: `weighted` is read less often
                    values, others = x[e, begin : begin + n], x[e + 1, begin : begin + n]
                    total, other = 0.0, 0.0
                    for i in range(n):
                        total += weighted[i] * values[i]
                        other += weighted[i] * others[i]
                    second[k, d, e] += total
                    second[k, d, e + 1] += other
                    e += 2
                if e == d:
                    values, total = x[e, begin : begin + n], 0.0
                    for i in range(n):
                        total += weighted[i] * values[i]
                    second[k, d, e] += total


@kernel(
    "void(float64[:, ::1], float64[::1], float64[::1], float64[:, ::1], float64[:, :, ::1], "
    "float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[:, :, ::1])"
)
def learn_rows(x, weight, log_weights, mean, root, constant, value, states, first, second):
    """Fill value with log Z of each row of x; add what each component has of the rows.

    That is to states (K,), and to the moments of `add_moments`. Shares are kept of a block only.
    """
    K, n = mean.shape[0], weight.shape[0]
    size = max(TILE, ENTRIES // K)
    room = np.empty(K * min(size, n))
    for start in range(0, n, size):
        stop = min(start + size, n)
        table = room[: K * (stop - start)].reshape((K, stop - start))
        log_densities(x, start, stop, mean, root, constant, table)
        share_rows(table, log_weights, weight[start:stop], value[start:stop], states)
        add_moments(x, start, stop, table, first, second)
