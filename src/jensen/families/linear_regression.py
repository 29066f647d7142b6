"""Linear regressions y = βᵀx + noise of precision λ; a constant among the x is the intercept.

t = (½ log λ, -½ λ, λ β, -½ λ ββᵀ), and rows add (N, Σ y², Σ y x, Σ xxᵀ).
With β | λ ~ N(m, (λ V)⁻¹) and λ ~ Wishart(W, ν) in one dimension, which is
Gamma(ν/2, rate 1/(2W)), η = (ν - 2 + D, 1/W + mᵀVm, V m, V), and

    A(η) = D/2 log 2π - ½ log |V| + log Γ(ν/2) + ν/2 log(2W)

Bishop (2006), *Pattern Recognition and Machine Learning*, section 3.3 and exercise 3.12.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import (
    NO_ROWS,
    NO_SPREAD,
    NOISE,
    SMALLEST,
    TOO_FEW_ROWS,
    gamma,
    is_proper,
    refuse,
)
from jensen.families.projection import wishart_degrees
from jensen.families.wishart import cholesky, gram, inverse_root, log_det
from jensen.support.fields import record

Array = NDArray[np.float64]


@record
class Regression(NamedTuple):
    """One regression on D numbers per component."""

    count: Array  # type: ignore[assignment]  # (K,); tuple's own count is not missed
    second: Array  # (K,)
    first: Array  # (K, D)
    strength: Array  # (K, D, D)


class RegressionParameters(NamedTuple):
    """A prior or posterior of regressions as people write it."""

    coefficients: Array  # m (K, D)
    strength: Array  # V (K, D, D): λ V is the precision of the coefficients
    degrees_of_freedom: Array  # ν (K,)
    scale: Array  # W (K,): the expected precision is ν W


def from_standard(
    coefficients: Array, strength: Array, degrees_of_freedom: Array, scale: Array
) -> Regression:
    """η from m (K, D), V (K, D, D), ν (K,) and W (K,)."""
    first = np.asarray((strength @ coefficients[..., None])[..., 0])
    second = 1.0 / scale + (first * coefficients).sum(-1)
    return Regression(degrees_of_freedom - 2.0 + first.shape[-1], second, first, strength)


def to_standard(eta: Regression) -> RegressionParameters:
    """M, V, ν and W."""
    mean, shape, rate, _ = _posterior(eta)
    return RegressionParameters(mean, eta.strength, 2.0 * shape, 0.5 / rate)


def log_partition(eta: Regression) -> float:
    """A(η), summed over the components."""
    return float(log_partitions(eta).sum())


def log_partitions(eta: Regression) -> Array:
    """A(η) of each component."""
    _, shape, rate, lower = _posterior(eta)
    of_slopes = 0.5 * (eta.first.shape[-1] * np.log(2.0 * np.pi) + log_det(lower, 1.0))
    return np.asarray(of_slopes + gamma.log_normaliser(shape, rate))


def mean_stats(eta: Regression) -> Regression:
    """With E[λ] = ν W, and E[λ ββᵀ] = V⁻¹ + E[λ] mmᵀ."""
    mean, shape, rate, lower = _posterior(eta)
    at = stats_at(mean, shape / rate, gamma.mean_log(shape, rate))
    return at._replace(strength=at.strength - 0.5 * gram(inverse_root(lower)))


def stats_at_mean(eta: Regression) -> Regression:
    """Read t at the means of the coefficients and of λ."""
    mean, shape, rate, _ = _posterior(eta)
    return stats_at(mean, shape / rate, np.log(shape / rate))


def mode_stats(eta: Regression) -> Regression:
    """At β = m and λ = count · W, the highest point in coefficients and precision."""
    refuse(~(eta.count > 0.0), NO_ROWS)
    mean, scatter, _ = _mean_and_scatter(eta)
    diagonal = np.diagonal(eta.strength, axis1=-2, axis2=-1)
    size = eta.second + (diagonal * mean * mean).sum(-1)  # of what the scatter is a difference of
    refuse(~(scatter > np.maximum(NOISE * size, SMALLEST * eta.count)), NO_SPREAD)
    precision = eta.count / scatter
    return stats_at(mean, precision, np.log(precision))


def sample_stats(eta: Regression, rng: np.random.Generator) -> Regression:
    """At a draw of λ, then of β given it."""
    mean, shape, rate, lower = _posterior(eta)
    log_precision = gamma.draw_log(shape, rng) - np.log(rate)
    at = stats_at(mean, np.exp(log_precision), log_precision)
    root = np.swapaxes(inverse_root(lower), -1, -2)  # V⁻¹ = root rootᵀ
    z = (root @ rng.standard_normal((*mean.shape, 1)))[..., 0]  # √λ (β - m)
    shift = np.exp(0.5 * log_precision)[..., None] * z
    cross = _outer(mean, shift)
    square = cross + np.swapaxes(cross, -1, -2) + _outer(z, z)
    return at._replace(first=at.first + shift, strength=at.strength - 0.5 * square)


def from_moments(t: Regression) -> Regression:
    """The η at which the expected statistics are these."""
    precision = -2.0 * t.second
    mean = t.first / precision[..., None]
    inverse = -2.0 * t.strength - _outer(mean, t.first)  # V⁻¹
    lower = cholesky(0.5 * (inverse + np.swapaxes(inverse, -1, -2)))
    refuse(~(np.diagonal(lower, axis1=-2, axis2=-1).min(-1, initial=1.0) > 0.0), NO_SPREAD)
    degrees = wishart_degrees(2.0 * t.count - np.log(precision), 1)
    return from_standard(mean, gram(inverse_root(lower)), degrees, precision / degrees)


def has_mode(eta: Regression) -> bool:
    """Whether count ≥ 0 and η is a distribution, so that rows with any spread give an estimate."""
    return bool(np.all(eta.count >= 0.0)) and is_proper(log_partition, eta)


def describe(eta: Regression) -> dict[str, Array]:
    """The coefficients, their strength, the degrees of freedom and the scale of the precision."""
    return to_standard(eta)._asdict()


def stats_at(coefficients: Array, precision: Array, log_precision: Array) -> Regression:
    """Evaluate t at known coefficients and precision."""
    first = precision[..., None] * coefficients
    return Regression(
        0.5 * log_precision, -0.5 * precision, first, -0.5 * _outer(coefficients, first)
    )


def _posterior(eta: Regression) -> tuple[Array, Array, Array, Array]:
    """M, the shape ν/2 and rate 1/(2W) of λ, and the Cholesky factor of V."""
    mean, scatter, lower = _mean_and_scatter(eta)
    refuse(~(scatter > 0.0), NO_SPREAD)
    shape = 0.5 * (eta.count + 2.0 - eta.first.shape[-1])
    refuse(~(shape > 0.0), TOO_FEW_ROWS)
    return mean, shape, 0.5 * scatter, lower


def _mean_and_scatter(eta: Regression) -> tuple[Array, Array, Array]:
    """M, 1/W and the Cholesky factor of V."""
    lower = cholesky(0.5 * (eta.strength + np.swapaxes(eta.strength, -1, -2)))
    refuse(~(np.diagonal(lower, axis1=-2, axis2=-1).min(-1, initial=1.0) > 0.0), NO_SPREAD)
    root = inverse_root(lower)
    turned = (root @ eta.first[..., None])[..., 0]
    mean = (np.swapaxes(root, -1, -2) @ turned[..., None])[..., 0]
    return mean, np.asarray(eta.second - (turned * turned).sum(-1)), lower


def _outer(a: Array, b: Array) -> Array:
    return np.asarray(a[..., :, None] * b[..., None, :])
