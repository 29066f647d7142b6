"""Wishart distributions W(Λ | W, ν) over precision matrices, as the Gaussian families use them.

ν has any shape (...); W is known by the Cholesky factor L (..., D, D) of the scatter W⁻¹ = L Lᵀ,
so that no determinant and no inverse of a near-singular matrix is ever formed.
Bishop (2006), *Pattern Recognition and Machine Learning*, appendix B.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from jensen.families import NO_ROWS, NO_SPREAD, NOISE, SMALLEST, gamma

Array = NDArray[np.float64]
Refuse = Callable[[NDArray[np.bool_], str], None]
"""Given which matrices are bad, and why: raises if any is, naming its components."""


class StandardParameters(NamedTuple):
    """A prior or posterior of means and precisions as people write it (Bishop, equation 10.40).

    The shapes are those of the family: (K, D), (K,), (K,), (K, D, D) for a normal-Wishart.
    """

    mean: Array  # m
    mean_strength: Array  # β: how many rows the mean is worth
    degrees_of_freedom: Array  # ν
    scale: Array  # W: the expected precision is ν W


def cholesky(scatter: Array) -> Array:
    """L of every matrix, and 0 for one that is not positive definite."""
    try:
        return np.asarray(np.linalg.cholesky(scatter), np.float64)
    except np.linalg.LinAlgError:  # numpy does not say which
        matrices = scatter.reshape(-1, *scatter.shape[-2:])
        return np.stack([_cholesky_or_zero(x) for x in matrices]).reshape(scatter.shape)


def pivots(lower: Array) -> Array:
    """What each variable has left of its sum of squares when those before it are known."""
    return np.square(_diagonal(lower))


def amplification(root: Array, second: Array) -> Array:
    """How many times larger the numbers are that the smallest pivot was computed from.

    A pivot is vᵀ W⁻¹ v, with v a row of L⁻¹ (the root) times the root of the pivot. Each entry
    (i, j) of W⁻¹ comes from numbers as large as √(second_ii second_jj), so that the errors in
    the pivot are those of numbers as large as Σ v_i² second_ii.
    """
    squares = np.square(root) @ _diagonal(second)[..., None]
    return np.asarray(squares[..., 0].max(-1))


def factor(scatter: Array, least: Array, refuse: Refuse) -> Array:
    """The Cholesky factor of W⁻¹, whose pivots must all exceed what is least."""
    lower = cholesky(scatter)
    refuse(~(pivots(lower).min(-1) > least), NO_SPREAD)
    return lower


def mode(count: Array, scatter: Array, second: Array, refuse: Refuse) -> tuple[Array, Array]:
    """Λ = count · W, where |Λ|^(count/2) exp(-tr(W⁻¹ Λ)/2) is highest, and log |Λ|.

    The scatter W⁻¹ is a difference of numbers as large as the diagonal of `second`.
    """
    refuse(~(count > 0.0), NO_ROWS)
    lower = factor(scatter, SMALLEST * count, refuse)
    root = inverse_root(lower)
    refuse(~(NOISE * amplification(root, second) < 1.0), NO_SPREAD)
    return count[..., None, None] * gram(root), log_det(lower, count)


def log_normaliser(degrees: Array, lower: Array) -> Array:
    """Log ∫ |Λ|^((ν - D - 1)/2) exp(-tr(W⁻¹ Λ)/2) dΛ."""
    log_gammas = log_multigamma(degrees, lower.shape[-1])
    return np.asarray(log_gammas + 0.5 * degrees * log_det(lower, 2.0))


def log_multigamma(degrees: Array, size: int) -> Array:
    """Log Γ_D(ν/2) = D(D - 1)/4 log π + Σ_i log Γ((ν + 1 - i)/2)."""
    constant = 0.25 * size * (size - 1) * np.log(np.pi)
    return np.asarray(constant + gammaln(_halves(degrees, size)).sum(-1))


def mean_log_det(degrees: Array, lower: Array) -> Array:
    """E[log |Λ|]."""
    halves = _halves(degrees, lower.shape[-1])
    return np.asarray(digamma(halves).sum(-1) + log_det(lower, 2.0))


def log_det(lower: Array, times: Array | float) -> Array:
    """Log |times · W|."""
    return np.asarray(lower.shape[-1] * np.log(times) - 2.0 * np.log(_diagonal(lower)).sum(-1))


def inverse_root(lower: Array) -> Array:
    """L⁻¹, of rows brought to length one first: columns in metres and microns are no matter."""
    lengths = np.linalg.norm(lower, axis=-1)
    return np.asarray(np.linalg.inv(lower / lengths[..., None]) / lengths[..., None, :])


def inverse(lower: Array) -> Array:
    """W = (L Lᵀ)⁻¹."""
    return gram(inverse_root(lower))


def gram(root: Array) -> Array:
    """Rootᵀ root: W from L⁻¹."""
    return _transpose(root) @ root


def draw(degrees: Array, lower: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Log |Λ| and an F with Λ = F Fᵀ, by Bartlett's decomposition."""
    size = lower.shape[-1]
    log_chi = 0.5 * (np.log(2.0) + gamma.draw_log(_halves(degrees, size), rng))
    bartlett = np.tril(rng.standard_normal(lower.shape), -1)
    bartlett[..., range(size), range(size)] = np.exp(log_chi)
    log_det_drawn = 2.0 * log_chi.sum(-1) + log_det(lower, 1.0)
    return log_det_drawn, _transpose(inverse_root(lower)) @ bartlett  # any root of W serves


def _halves(degrees: Array, size: int) -> Array:
    """(ν + 1 - i)/2 for i = 1 ... D."""
    return 0.5 * (degrees[..., None] - np.arange(size))


def _diagonal(matrices: Array) -> Array:
    return np.diagonal(matrices, axis1=-2, axis2=-1)


def _transpose(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)


def _cholesky_or_zero(matrix: Array) -> Array:
    try:
        return np.asarray(np.linalg.cholesky(matrix), np.float64)
    except np.linalg.LinAlgError:
        return np.zeros_like(matrix)
