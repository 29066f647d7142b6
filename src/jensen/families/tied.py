"""Gaussians with means μ_k of their own and one precision matrix Λ.

t = (½ log |Λ|, -½ Λ, Λ μ_k, -½ μ_kᵀ Λ μ_k), and rows add (N, Σ x xᵀ, Σ_k x, N_k).
With μ_k | Λ ~ N(m_k, (β_k Λ)⁻¹) and Λ ~ Wishart(W, ν), in Bishop's letters (equation 10.40),
η = (ν - D - 1 + K, W⁻¹ + Σ β_k m_k m_kᵀ, β_k m_k, β_k).

Every field may have further axes in front, one precision matrix for each place in them: a
normal-Wishart is one mean for each matrix, and that module calls this one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import wishart
from jensen.families.collapse import (
    NO_ROWS,
    NO_SPREAD,
    NOISE,
    SMALLEST,
    TOO_FEW_ROWS,
    is_proper,
    refuse,
)
from jensen.families.wishart import Words

Array = NDArray[np.float64]


class Tied(NamedTuple):
    """K means and one precision matrix."""

    count: Array  # type: ignore[assignment]  # (); tuple's own count is not missed
    second: Array  # (D, D)
    first: Array  # (K, D)
    strength: Array  # (K,)


def from_words(mean: Array, mean_strength: Array, degrees_of_freedom: Array, scale: Array) -> Tied:
    """η from m (K, D), β (K,), ν () and W (D, D)."""
    n_means, size = mean.shape[-2:]
    first = mean_strength[..., None] * mean
    second = wishart.inverse(wishart.cholesky(scale)) + _transpose(first) @ mean
    count = np.asarray(degrees_of_freedom - size - 1.0 + n_means)
    return Tied(count, _symmetric(second), first, mean_strength)


def words(eta: Tied) -> Words:
    """M, β, ν and W."""
    mean, degrees, lower = _posterior(eta)
    return Words(mean, eta.strength, degrees, wishart.inverse(lower))


def log_partition(eta: Tied) -> float:
    """Σ_k D/2 log(2π / β_k), and that of the Wishart distribution."""
    _, degrees, lower = _posterior(eta)
    size = eta.first.shape[-1]
    of_means = 0.5 * size * np.log(2.0 * np.pi / eta.strength)
    return float(of_means.sum() + wishart.log_normaliser(degrees, lower).sum())


def mean_stats(eta: Tied) -> Tied:
    """With E[Λ] = ν W, and E[μᵀ Λ μ] = D/β + mᵀ E[Λ] m."""
    mean, degrees, lower = _posterior(eta)
    precision = degrees[..., None, None] * wishart.inverse(lower)
    at = _stats_at(mean, precision, wishart.mean_log_det(degrees, lower))
    return at._replace(strength=at.strength - 0.5 * eta.first.shape[-1] / eta.strength)


def mode_stats(eta: Tied) -> Tied:
    """At μ = m and Λ = count · W, the highest point in means and precision."""
    _refuse(~(eta.count > 0.0), NO_ROWS, eta)
    mean, lower = _mean_and_factor(eta, SMALLEST * eta.count)
    root = wishart.inverse_root(lower)
    _refuse(~(NOISE * wishart.amplification(root, eta.second) < 1.0), NO_SPREAD, eta)
    precision = eta.count[..., None, None] * wishart.gram(root)
    return _stats_at(mean, precision, wishart.log_det(lower, eta.count))


def sample_stats(eta: Tied, rng: np.random.Generator) -> Tied:
    """At a draw of Λ = F Fᵀ and of the means μ = m + F⁻ᵀ z / √β, without dividing by F."""
    mean, degrees, lower = _posterior(eta)
    log_det, root = wishart.draw(degrees, lower, rng)
    z = rng.standard_normal(mean.shape) / np.sqrt(eta.strength)[..., None]
    at = _stats_at(mean, root @ _transpose(root), log_det)
    shift = z @ _transpose(root)
    quadratic = (2.0 * mean * shift + z * z).sum(-1)
    return at._replace(first=at.first + shift, strength=at.strength - 0.5 * quadratic)


def has_mode(eta: Tied) -> bool:
    """Whether count ≥ 0 and η is a distribution, so that rows with any spread give an estimate."""
    return bool(np.all(eta.count >= 0.0)) and is_proper(log_partition, eta)


def describe(eta: Tied) -> dict[str, Array]:
    """The mean, its strength, the degrees of freedom and the scale of the precision."""
    return words(eta)._asdict()


def _posterior(eta: Tied) -> tuple[Array, Array, Array]:
    """M, ν, and the Cholesky factor of W⁻¹."""
    n_means, size = eta.first.shape[-2:]
    mean, lower = _mean_and_factor(eta, np.zeros(()))
    degrees = np.asarray(eta.count + size + 1.0 - n_means)
    _refuse(~(degrees > size - 1.0), TOO_FEW_ROWS, eta)
    return mean, degrees, lower


def _mean_and_factor(eta: Tied, least: Array) -> tuple[Array, Array]:
    """M, and the Cholesky factor of W⁻¹, whose pivots must all exceed what is least."""
    refuse(~(eta.strength > 0.0), NO_ROWS)
    mean = eta.first / eta.strength[..., None]
    lower = wishart.cholesky(_symmetric(eta.second - _transpose(eta.first) @ mean))
    _refuse(~(wishart.pivots(lower).min(-1) > least), NO_SPREAD, eta)
    return mean, lower


def _refuse(bad: NDArray[np.bool_], why: str, eta: Tied) -> None:
    """Name the components whose precision is bad: all that share it."""
    refuse(np.broadcast_to(np.asarray(bad)[..., None], eta.strength.shape), why)


def _stats_at(mean: Array, precision: Array, log_det: Array) -> Tied:
    """Evaluate t at known means and a known precision."""
    first = mean @ precision
    return Tied(np.asarray(0.5 * log_det), -0.5 * precision, first, -0.5 * (mean * first).sum(-1))


def _symmetric(matrices: Array) -> Array:
    return 0.5 * (matrices + _transpose(matrices))


def _transpose(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)
