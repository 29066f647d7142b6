"""Hidden Gaussian vectors of rows with values missing anywhere: one k × k system for each pattern.

A symmetric matrix is kept as its lower triangle, row by row: the entry (i, j ≤ i) stands at
i (i + 1) / 2 + j. Of w = (1, h) the first row and column belong to the 1.
"""

import numpy as np

from jensen.kernels import kernel


@kernel(
    "void(float64[:, ::1], int64[::1], float64[:, ::1], float64[:, :, ::1], float64[::1], "
    "float64[:, ::1])"
)
def condition(quadratic, owner, pull, spread, log_det, mean):
    """Fill the covariance of h of each pattern, its log determinant, and E[h] of each row.

    `quadratic` (P, ·) holds what rows of a pattern say of w, to which h ~ N(0, I) is added; `pull`
    (R, 1 + K) is that of the rows, and their means stand after the first column of `mean`.
    """
    P, K = spread.shape[0], spread.shape[1]
    lower, inverse = np.empty((K, K)), np.empty((K, K))
    for p in range(P):
        total = 0.0
        for i in range(K):
            row = quadratic[p, (i + 1) * (i + 2) // 2 + 1 :]
            for j in range(i + 1):
                value = row[j]
                for m in range(j):
                    value -= lower[i, m] * lower[j, m]
                if i == j:
                    root = np.sqrt(value + 1.0)
                    total -= 2.0 * np.log(root)
                    lower[i, i] = 1.0 / root  # whose reciprocal alone is needed
                else:
                    lower[i, j] = value * lower[j, j]
        log_det[p] = total
        for i in range(K):  # inverse[j, i] = (L⁻¹)[i, j]
            for j in range(i):
                value = 0.0
                for m in range(j, i):
                    value += lower[i, m] * inverse[j, m]
                inverse[j, i] = -value * lower[i, i]
            inverse[i, i] = lower[i, i]
        for i in range(K):
            for j in range(i + 1):
                value = 0.0
                for m in range(i, K):
                    value += inverse[i, m] * inverse[j, m]
                spread[p, i, j] = spread[p, j, i] = value
    for r in range(owner.shape[0]):
        own = spread[owner[r]]
        for i in range(K):
            value = 0.0
            for j in range(K):
                value += own[i, j] * pull[r, 1 + j]
            mean[r, 1 + i] = value


@kernel(
    "void(float64[:, ::1], float64[::1], int64[::1], float64[:, :, ::1], float64[::1], "
    "float64[:, ::1])"
)
def add_squares(mean, share, owner, spread, weight, sums):
    """Add to the sums of each pattern Σ share · E[w] E[w]ᵀ of its rows, and weight · spread."""
    width, K = mean.shape[1], spread.shape[1]
    for r in range(owner.shape[0]):
        row, own, at = mean[r], sums[owner[r]], 0
        for i in range(width):
            value = share[r] * row[i]
            for j in range(i + 1):
                own[at] += value * row[j]
                at += 1
    for p in range(weight.shape[0]):
        own, at = sums[p], 1
        for i in range(K):
            at += 1  # of the first column
            for j in range(i + 1):
                own[at] += weight[p] * spread[p, i, j]
                at += 1
