"""Hidden Gaussian vectors of rows: x_d = λ_dᵀ (1, h) + noise of precision ψ_d, h ~ N(0, I).

What a row misses is left out. Rows that show the same columns have one covariance of h, and are
known by Σ (1, x)(1, x)ᵀ: a sweep takes no longer for more of them. With w = (1, h) the log
potential of what is seen of x_d is log_noise_d - ½ E[ψ (x_d - λᵀw)²], whatever q(θ) is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families.linear_regression import Regression
from jensen.families.wishart import cholesky, gram, inverse_root, log_det

Array = NDArray[np.float64]


class FactorRows(NamedTuple):
    """Rows by what they show: P patterns, of which each has some rows of a root."""

    seen: Array  # (P, D): 1 where the rows of a pattern show a column, else 0
    weight: Array  # (P,): how many rows there are
    root: Array  # (R, 1 + D): of each pattern rootᵀ root = Σ weight · zzᵀ, z = (1, x), 0 if missing
    owner: NDArray[np.intp]  # (R,): the pattern of each row of the root, rising


class GaussianFactors(NamedTuple):
    """What is expected of the parameters, and rows."""

    log_noise: Array  # (D,): ½ (E[log ψ] - log 2π), and whatever else is the same for all rows
    noise: Array  # (D,): E[ψ]
    first: Array  # (D, 1 + K): E[ψ λ]
    strength: Array  # (D, 1 + K, 1 + K): E[ψ λ λᵀ]
    rows: FactorRows


class FactorMoments(NamedTuple):
    """What is known of h."""

    mean: Array  # (R, 1 + K): w = (1, E[h]), times the 1 of the row of the root
    spread: Array  # (P, K, K): the covariance of h
    log_size: Array  # (P,): of each row of a pattern, the log potential but for the square
    square: Array  # (R,): that of a row of the root


def posterior(potentials: GaussianFactors) -> FactorMoments:
    """Means of h, its covariances, and the log evidence of rows in two parts."""
    log_noise, noise, first, strength, rows = potentials
    width = strength.shape[-1]
    quadratic = (rows.seen @ strength.reshape(len(noise), -1)).reshape(-1, width, width)
    lower = cholesky(quadratic[:, 1:, 1:] + np.eye(width - 1))
    spread = gram(inverse_root(lower))
    constant, values = rows.root[:, :1], rows.root[:, 1:]
    own, many = quadratic[rows.owner], len(rows.weight) > 1
    pull = values @ first - constant * own[:, :, 0]
    there = spread[rows.owner] if many else spread
    mean = np.empty((len(values), width))
    mean[:, :1] = constant
    mean[:, 1:] = np.einsum("rij,rj->ri", there, pull[:, 1:]) if many else pull[:, 1:] @ spread[0]
    square = (values * values) @ noise - constant[:, 0] * (pull[:, 0] + (values @ first)[:, 0])
    square -= (pull[:, 1:] * mean[:, 1:]).sum(1)
    log_size = rows.seen @ log_noise + 0.5 * log_det(lower, 1.0)
    return FactorMoments(mean, spread, log_size, square)


def expected(potentials: GaussianFactors) -> tuple[Array, Regression]:
    """E_q[log potentials] + H[q(h)] of every pattern, and what each column was regressed on."""
    rows, found = potentials.rows, posterior(potentials)
    squares = np.bincount(rows.owner, found.square, len(rows.weight))
    value = rows.weight * found.log_size - 0.5 * squares
    return np.asarray(value), moments(rows, found)


def moments(rows: FactorRows, found: FactorMoments) -> Regression:
    """For each column the sums over rows that show it: of 1, x², x E[w] and E[w wᵀ]."""
    mean, values = found.mean, rows.root[:, 1:]
    width, n = mean.shape[1], len(rows.weight)
    if n == 1:
        outer = (mean.T @ mean)[None]
    else:
        starts = np.searchsorted(rows.owner, np.arange(n))  # those of a pattern stand together
        outer = np.add.reduceat(mean[:, :, None] * mean[:, None, :], starts, axis=0)
    outer[:, 1:, 1:] += rows.weight[:, None, None] * found.spread
    return Regression(
        rows.seen.T @ rows.weight,
        (values * values).sum(0),
        values.T @ mean,
        (rows.seen.T @ outer.reshape(n, -1)).reshape(-1, width, width),
    )
