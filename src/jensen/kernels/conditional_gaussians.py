"""Columns of numbers, group by group: moments of the rows of each group, and what parents leave.

A group holds the rows with one configuration of labels. Matrices (K, m, m) are scatters, or scales
of a posterior, one for each group; eliminating a column is a step of Gauss. A pivot that is no more
than rounding makes what follows NaN.
"""

import numpy as np

from jensen.kernels import kernel, part

NOISE = 1e-13  # as in families.schur
LEAST = 1e-26  # of the squared range of a column: the rounding of a column that is constant


@kernel(
    "void(float64[:, ::1], float64[::1], int64[::1], float64[::1], float64[:, ::1], "
    "float64[:, :, ::1])"
)
def group_moments(rows, weights, group, count, mean, scatter):
    """Fill weight, mean and scatter of every group of rows (N, m); the scatter is about the mean.

    The outputs come as zeros.
    """
    N, m = rows.shape
    K = count.shape[0]
    for i in range(N):
        k, w = group[i], weights[i]
        count[k] += w
        for a in range(m):
            mean[k, a] += w * rows[i, a]
    for k in range(K):
        if count[k] > 0.0:
            for a in range(m):
                mean[k, a] /= count[k]
    away = np.empty(m)
    for i in range(N):
        k, w = group[i], weights[i]
        for a in range(m):
            away[a] = rows[i, a] - mean[k, a]
            scaled = w * away[a]
            for b in range(a + 1):
                scatter[k, a, b] += scaled * away[b]
    for k in range(K):
        for a in range(m):
            for b in range(a):
                scatter[k, b, a] = scatter[k, a, b]


@part
def limit(matrix, count, a):
    """The largest pivot of a column that may be rounding alone."""
    return NOISE * matrix[a, a] + LEAST * count


@part
def eliminate(left, m, p):
    """Condition a matrix on one of its columns, in place."""
    for a in range(m):
        if a != p:
            share = left[a, p] / left[p, p]
            for b in range(m):
                if b != p:
                    left[a, b] -= share * left[p, b]


@part
def condition(matrix, count, parents, left):
    """Fill left with a matrix given the parents; their log determinant, NaN if they depend."""
    m, log_det = matrix.shape[0], 0.0
    for a in range(m):
        for b in range(m):
            left[a, b] = matrix[a, b]
    for j in range(parents.shape[0]):
        p = parents[j]
        pivot = left[p, p]
        if not pivot > limit(matrix, count, p):
            return np.nan
        log_det += np.log(pivot)
        eliminate(left, m, p)
    return log_det


@kernel(
    "void(float64[:, :, ::1], float64[::1], int64, int64[::1], float64[:, ::1], float64[:, ::1])"
)
def leave_with_each(matrices, counts, child, parents, residual, log_det):
    """Fill (K, m) with what parents and one further column each leave of the child.

    At the child itself: what the parents alone leave. `log_det` is that of all parents. NaN where
    the child or a parent depends on the others; entries for the parents mean nothing.
    """
    K, m = matrices.shape[0], matrices.shape[1]
    left = np.empty((m, m))
    for k in range(K):
        matrix, count = matrices[k], counts[k]
        before = condition(matrix, count, parents, left)
        least = limit(matrix, count, child)
        for u in range(m):
            rest, total = left[child, child], before
            if u != child:
                pivot = left[u, u]
                if pivot > limit(matrix, count, u):
                    rest -= left[child, u] * (left[child, u] / pivot)
                    total += np.log(pivot)
                else:
                    total = np.nan
            if not rest > least:
                total = np.nan
            residual[k, u] = rest if total == total else np.nan
            log_det[k, u] = total


@kernel("void(float64[:, :, ::1], float64[::1], int64, int64[::1], float64[::1], float64[::1])")
def leave(matrices, counts, child, parents, residual, log_det):
    """Fill (K,) with what the parents leave of the child, and their log determinant."""
    K, m = matrices.shape[0], matrices.shape[1]
    left = np.empty((m, m))
    for k in range(K):
        matrix, count = matrices[k], counts[k]
        total = condition(matrix, count, parents, left)
        if not left[child, child] > limit(matrix, count, child):
            total = np.nan
        residual[k] = left[child, child] if total == total else np.nan
        log_det[k] = total


@kernel("void(float64[:, :, ::1], float64[::1], int64, float64[:, ::1])")
def set_log_dets(matrices, counts, largest, out):
    """Fill out (K, 2^m) with the log determinants of all sets of up to `largest` columns.

    Bit a of the position says that column a is a member. Sets grow by larger columns, depth first,
    so that each costs one step of elimination.
    """
    K, m = matrices.shape[0], matrices.shape[1]
    left, log_det = np.empty((m + 1, m, m)), np.zeros(m + 1)
    following, chosen = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    for k in range(K):
        matrix, count = matrices[k], counts[k]
        out[k, 0] = 0.0
        for a in range(m):
            for b in range(m):
                left[0, a, b] = matrix[a, b]
        depth, members, following[0] = 0, 0, 0
        while depth >= 0:
            e = following[depth]
            if e == m or depth == largest:
                depth -= 1
                if depth >= 0:
                    members ^= 1 << chosen[depth]
                continue
            following[depth] = e + 1
            pivot = left[depth, e, e]
            is_left = pivot > limit(matrix, count, e)
            total = log_det[depth] + np.log(pivot) if is_left else np.nan
            out[k, members | 1 << e] = total
            for a in range(e + 1, m):
                share = left[depth, a, e] / pivot
                for b in range(e + 1, m):
                    left[depth + 1, a, b] = left[depth, a, b] - share * left[depth, e, b]
            log_det[depth + 1], chosen[depth] = total, e
            members |= 1 << e
            depth += 1
            following[depth] = e + 1
