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
from jensen.q_hidden.states import independent
from jensen.q_hidden.structures import StateCounts

Array = NDArray[np.float64]


class FactorRows(NamedTuple):
    """Rows by what they show: P patterns, of which each has some rows of a root."""

    seen: Array  # (P, D): 1 where the rows of a pattern show a column, else 0
    weight: Array  # (P,): how many rows there are
    root: Array  # (R, 1 + D): of each pattern rootᵀ root = Σ weight · zzᵀ, z = (1, x), 0 if missing
    owner: NDArray[np.intp]  # (R,): the pattern of each row of the root, rising


class GaussianFactors(NamedTuple):
    """What is expected of the parameters, maybe of several components, and rows."""

    log_noise: Array  # (..., D): ½ (E[log ψ] - log 2π), and whatever else is the same for all rows
    noise: Array  # (..., D): E[ψ]
    first: Array  # (..., D, 1 + K): E[ψ λ]
    strength: Array  # (..., D, 1 + K, 1 + K): E[ψ λ λᵀ]
    rows: FactorRows


class FactorMixture(NamedTuple):
    """A hidden component of every row, and factors of their own for each of S components."""

    log_weights: Array  # (S,)
    factors: GaussianFactors  # with an axis of components; the root is the rows themselves
    weight: Array  # (R,): how often each row counts


class FactorMoments(NamedTuple):
    """What is known of h."""

    mean: Array  # (..., R, 1 + K): w = (1, E[h]), times the 1 of the row of the root
    spread: Array  # (..., P, K, K): the covariance of h
    log_size: Array  # (..., P): of each row of a pattern, the log potential but for the square
    square: Array  # (..., R): that of a row of the root


def posterior(potentials: GaussianFactors) -> FactorMoments:
    """Means of h, its covariances, and the log evidence of rows in two parts."""
    log_noise, noise, first, strength, rows = potentials
    width, many = strength.shape[-1], len(rows.weight) > 1
    flat = rows.seen @ strength.reshape(*strength.shape[:-2], -1)
    quadratic = flat.reshape(*flat.shape[:-1], width, width)
    lower = cholesky(quadratic[..., 1:, 1:] + np.eye(width - 1))
    spread = gram(inverse_root(lower))
    constant, values = rows.root[:, :1], rows.root[:, 1:]
    whole = values @ first
    pull = whole - constant * quadratic[..., 0][..., rows.owner, :]
    mean = np.empty_like(pull)
    mean[..., :1] = constant
    if many:
        np.einsum(
            "...rij,...rj->...ri", spread[..., rows.owner, :, :], pull[..., 1:], out=mean[..., 1:]
        )
    else:
        mean[..., 1:] = pull[..., 1:] @ spread[..., 0, :, :]
    square = ((values * values) @ noise[..., None])[..., 0]
    square -= constant[:, 0] * (pull[..., 0] + whole[..., 0])
    square -= (pull[..., 1:] * mean[..., 1:]).sum(-1)
    log_size = log_noise @ rows.seen.T + 0.5 * log_det(lower, 1.0)
    return FactorMoments(mean, spread, log_size, square)


def expected(potentials: GaussianFactors) -> tuple[Array, Regression]:
    """E_q[log potentials] + H[q(h)] of every pattern, and what each column was regressed on."""
    rows, found = potentials.rows, posterior(potentials)
    squares = np.bincount(rows.owner, found.square, len(rows.weight))
    value = rows.weight * found.log_size - 0.5 * squares
    return np.asarray(value), moments(rows, found, np.ones(len(rows.root)), rows.weight)


def row_likelihoods(factors: GaussianFactors, found: FactorMoments) -> Array:
    """(..., R): log p of each row, its factors integrated out."""
    return np.asarray(found.log_size[..., factors.rows.owner] - 0.5 * found.square)


def mixed(potentials: FactorMixture) -> tuple[Array, StateCounts]:
    """Log Z of every row, and what the rows of each component were regressed on."""
    factors, found = potentials.factors, posterior(potentials.factors)
    log_joint = row_likelihoods(factors, found) + potentials.log_weights[:, None]
    value, share = independent.posterior(log_joint)
    share *= potentials.weight
    owner, n = factors.rows.owner, len(factors.rows.weight)
    starts = np.searchsorted(owner, np.arange(n))
    weight = np.add.reduceat(share, starts, axis=1)
    return value, StateCounts(share.sum(1), moments(factors.rows, found, share, weight))


def moments(rows: FactorRows, found: FactorMoments, share: Array, weight: Array) -> Regression:
    """For each column the sums over rows that show it: of 1, x², x E[w] and E[w wᵀ].

    Rows count by their share (..., R), patterns by their weight (..., P).
    """
    mean, values, n = found.mean, rows.root[:, 1:], len(rows.weight)
    width = mean.shape[-1]
    weighed = share[..., None] * mean
    if n == 1:
        outer = (np.swapaxes(weighed, -1, -2) @ mean)[..., None, :, :]
    else:
        starts = np.searchsorted(rows.owner, np.arange(n))  # those of a pattern stand together
        products = weighed[..., :, None] * mean[..., None, :]
        outer = np.add.reduceat(products, starts, axis=-3)
    outer[..., 1:, 1:] += weight[..., None, None] * found.spread
    sums = rows.seen.T @ outer.reshape(*outer.shape[:-2], -1)
    return Regression(
        weight @ rows.seen,
        share @ (values * values),
        values.T @ weighed,
        sums.reshape(*sums.shape[:-1], width, width),
    )
