"""Hidden Gaussian vectors of rows: x_d = λ_dᵀ (1, h) + noise of precision ψ_d, h ~ N(0, I).

What a row misses is left out. Rows that show the same columns have one covariance of h, and are
known by Σ (1, x)(1, x)ᵀ: a sweep takes no longer for more of them. With w = (1, h) the log
potential of what is seen of x_d is log_noise_d - ½ E[ψ (x_d - λᵀw)²], whatever q(θ) is.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families.linear_regression import Regression
from jensen.families.wishart import cholesky, gram, inverse_root, log_det
from jensen.q_hidden.states import independent
from jensen.q_hidden.structures import StateCounts
from jensen.support.fields import record

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


@record
class FactorSums(NamedTuple):
    """Statistics of rows, maybe by component."""

    columns: Any  # `Regression` of (..., D) on w, each of the rows that show the column
    hidden: Array  # (..., 1 + K, 1 + K): Σ E[w wᵀ] of all rows


class FactorMoments(NamedTuple):
    """What is known of h."""

    mean: Array  # (..., R, 1 + K): w = (1, E[h]), times the 1 of the row of the root
    spread: Array  # (..., P, K, K): the covariance of h
    log_size: Array  # (..., P): of each row of a pattern, the log potential but for the square
    square: Array  # (..., R): that of a row of the root


def posterior(potentials: GaussianFactors) -> FactorMoments:
    """Means of h, its covariances, and the log evidence of rows in two parts."""
    log_noise, _, first, strength, rows = potentials
    packed = rows.seen @ packed_triangle(strength)
    constant, values = rows.root[:, :1], rows.root[:, 1:]
    whole = values @ first
    pull = whole - constant * packed[..., _first_column(first.shape[-1])][..., rows.owner, :]
    spread, sizes, mean = _conditioned(packed, rows.owner, pull)
    mean[..., :1] = constant
    square = _squares_left(potentials, mean)
    return FactorMoments(mean, spread, log_noise @ rows.seen.T + 0.5 * sizes, square)


def _squares_left(potentials: GaussianFactors, mean: Array) -> Array:
    """(..., R): Σ E[ψ (x - λᵀw)²] + hᵀh at the mean of h.

    In this form, least there, an error of the mean costs its square. The same as x² less what is
    explained would lose six digits where next to no noise is left.
    """
    _, noise, first, strength, rows = potentials
    loadings = first / noise[..., None]
    left = rows.root[:, 1:] - mean @ np.swapaxes(loadings, -1, -2)
    left *= rows.seen[rows.owner]
    square = ((left * left) @ noise[..., None])[..., 0]
    spread = strength - first[..., :, None] * loadings[..., None, :]
    if np.abs(spread).max() > 1e-12 * np.abs(strength).max():  # else λ is a point
        flat = rows.seen @ spread.reshape(*spread.shape[:-2], -1)
        unsure = flat.reshape(*flat.shape[:-1], *spread.shape[-2:])
        if len(rows.weight) == 1:
            turned = mean @ unsure[..., 0, :, :]
        else:
            turned = (unsure[..., rows.owner, :, :] @ mean[..., None])[..., 0]
        square += (turned * mean).sum(-1)
    h = mean[..., 1:]
    return np.asarray(square + (h * h).sum(-1))


def _conditioned(packed: Array, owner: NDArray[np.intp], pull: Array) -> tuple[Array, Array, Array]:
    """Covariances of h of patterns, their log determinants, and E[w] of rows but for the 1."""
    *axes, n, _ = packed.shape
    K, mean = pull.shape[-1] - 1, np.empty_like(pull)
    if n == 1:
        quadratic = whole_square(packed, 1 + K)[..., 1:, 1:]
        lower = cholesky(quadratic + np.eye(K))
        spread = gram(inverse_root(lower))
        mean[..., 1:] = pull[..., 1:] @ spread[..., 0, :, :]
        return spread, log_det(lower, 1.0), mean
    from jensen.kernels.factor_rows import condition

    spread, sizes = np.empty((*axes, n, K, K)), np.empty((*axes, n))
    for s in np.ndindex(*axes):
        condition(packed[s], owner, pull[s], spread[s], sizes[s], mean[s])
    return spread, sizes, mean


def packed_triangle(matrices: Array) -> Array:
    """The lower triangles of symmetric matrices, row by row along one axis."""
    return np.ascontiguousarray(matrices[(..., *np.tril_indices(matrices.shape[-1]))])


def whole_square(packed: Array, width: int) -> Array:
    """The matrices whose lower triangles these are."""
    row, column = np.indices((width, width))
    row, column = np.maximum(row, column), np.minimum(row, column)
    return np.asarray(packed[..., row * (row + 1) // 2 + column])


def _first_column(width: int) -> NDArray[np.intp]:
    """Where it stands in a packed triangle."""
    row = np.arange(width)
    return row * (row + 1) // 2


def expected(potentials: GaussianFactors) -> tuple[Array, FactorSums]:
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


def moments(rows: FactorRows, found: FactorMoments, share: Array, weight: Array) -> FactorSums:
    """For each column the sums over rows that show it, of 1, x², x E[w] and E[w wᵀ]; and of all.

    Rows count by their share (..., R), patterns by their weight (..., P).
    """
    mean, values, width = found.mean, rows.root[:, 1:], found.mean.shape[-1]
    weighed = share[..., None] * mean
    if len(rows.weight) == 1:
        outer = (np.swapaxes(weighed, -1, -2) @ mean)[..., None, :, :]
        outer[..., 1:, 1:] += weight[..., None, None] * found.spread
        squares = packed_triangle(outer)
    else:
        squares = _squares(rows, found, share, weight)
    sums = whole_square(rows.seen.T @ squares, width)
    columns = Regression(weight @ rows.seen, share @ (values * values), values.T @ weighed, sums)
    return FactorSums(columns, whole_square(squares.sum(-2), width))


def _squares(rows: FactorRows, found: FactorMoments, share: Array, weight: Array) -> Array:
    """E[w wᵀ] of all rows of each pattern, as packed triangles."""
    from jensen.kernels.factor_rows import add_squares

    *axes, _, width = found.mean.shape
    squares = np.zeros((*axes, len(rows.weight), width * (width + 1) // 2))
    for s in np.ndindex(*axes):
        parts = found.mean[s], share[s], rows.owner, found.spread[s], weight[s]
        add_squares(*parts, squares[s])
    return squares
