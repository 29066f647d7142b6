"""Gaussians, each with a mean μ in D dimensions and one precision λ for all of them.

t = (½ log λ, -½ λ, λ μ, -½ λ ‖μ‖²), and rows add (N D, Σ ‖x‖², Σ x, N).
With μ | λ ~ N(m, I / (β λ)) and λ ~ Wishart(W, ν) in one dimension, which is
Gamma(ν/2, rate 1/(2W)), η = (ν - 2 + D, 1/W + β ‖m‖², β m, β), and

    A(η) = D/2 log(2π/β) + log Γ(ν/2) + ν/2 log(2W)

Every field may have further axes: a normal-gamma is one dimension for each precision, and that
module calls this one.
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
from jensen.families.wishart import StandardParameters
from jensen.support.fields import record

Array = NDArray[np.float64]


@record
class Spherical(NamedTuple):
    """One mean and one precision per component."""

    count: Array  # type: ignore[assignment]  # (K,); tuple's own count is not missed
    second: Array  # (K,)
    first: Array  # (K, D)
    strength: Array  # (K,)


def from_standard(
    mean: Array, mean_strength: Array, degrees_of_freedom: Array, scale: Array
) -> Spherical:
    """η from m (K, D), β (K,), ν (K,) and W (K,)."""
    first = mean_strength[..., None] * mean
    second = 1.0 / scale + (first * mean).sum(-1)
    return Spherical(degrees_of_freedom - 2.0 + mean.shape[-1], second, first, mean_strength)


def to_standard(eta: Spherical) -> StandardParameters:
    """M, β, ν and W."""
    mean, shape, rate = _posterior(eta)
    return StandardParameters(mean, eta.strength, 2.0 * shape, 0.5 / rate)


def log_partition(eta: Spherical) -> float:
    """A(η), summed over the components."""
    return float(log_partitions(eta).sum())


def log_partitions(eta: Spherical) -> Array:
    """A(η) of each component."""
    _, shape, rate = _posterior(eta)
    of_means = 0.5 * eta.first.shape[-1] * np.log(2.0 * np.pi / eta.strength)
    return np.asarray(of_means + gamma.log_normaliser(shape, rate))


def mean_stats(eta: Spherical) -> Spherical:
    """With E[λ] = ν W, and E[λ ‖μ‖²] = D/β + E[λ] ‖m‖²."""
    mean, shape, rate = _posterior(eta)
    at = stats_at(mean, shape / rate, gamma.mean_log(shape, rate))
    return at._replace(strength=at.strength - 0.5 * eta.first.shape[-1] / eta.strength)


def mode_stats(eta: Spherical) -> Spherical:
    """At μ = m and λ = count · W, the highest point in mean and precision."""
    refuse(~(eta.count > 0.0), NO_ROWS)
    least = np.maximum(NOISE * eta.second, SMALLEST * eta.count)
    mean, scatter = _mean_and_scatter(eta, least)
    precision = eta.count / scatter
    return stats_at(mean, precision, np.log(precision))


def sample_stats(eta: Spherical, rng: np.random.Generator) -> Spherical:
    """At a draw of λ, then of μ given it."""
    mean, shape, rate = _posterior(eta)
    log_precision = gamma.draw_log(shape, rng) - np.log(rate)
    at = stats_at(mean, np.exp(log_precision), log_precision)
    return draw_means(at, mean, eta.strength, np.exp(0.5 * log_precision), rng)


def from_moments(t: Spherical) -> Spherical:
    """The η at which the expected statistics are these."""
    precision = -2.0 * t.second
    mean = t.first / precision[..., None]
    strength = t.first.shape[-1] / (-2.0 * t.strength - (mean * t.first).sum(-1))
    degrees = wishart_degrees(2.0 * t.count - np.log(precision), 1)
    return from_standard(mean, strength, degrees, precision / degrees)


def has_mode(eta: Spherical) -> bool:
    """Whether count ≥ 0 and η is a distribution, so that rows with any spread give an estimate."""
    return bool(np.all(eta.count >= 0.0)) and is_proper(log_partition, eta)


def describe(eta: Spherical) -> dict[str, Array]:
    """The mean, its strength, the degrees of freedom and the scale of the precision."""
    return to_standard(eta)._asdict()


# --- given one, the other: also for families in which a part is known ---


def mean_of(eta: Spherical) -> Array:
    """M: where the mean is, whatever the precision."""
    refuse(~(eta.strength > 0.0), NO_ROWS)
    return np.asarray(eta.first / eta.strength[..., None])


def scatter_about(eta: Spherical, mean: Array) -> tuple[Array, Array]:
    """1/W of the precision given the mean: Σ ‖x - μ‖²; and the numbers it comes from."""
    square = eta.strength * (mean * mean).sum(-1)
    return eta.second - 2.0 * (eta.first * mean).sum(-1) + square, eta.second + square


def stats_at(mean: Array, precision: Array, log_precision: Array) -> Spherical:
    """Evaluate t at a known mean and precision."""
    first = precision[..., None] * mean
    return Spherical(0.5 * log_precision, -0.5 * precision, first, -0.5 * (mean * first).sum(-1))


def draw_means(
    at: Spherical, mean: Array, strength: Array, root: Array, rng: np.random.Generator
) -> Spherical:
    """Move t from means m to draws m + z / √(β λ), where the root is √λ, without dividing by it."""
    z = rng.standard_normal(mean.shape) / np.sqrt(strength)[..., None]
    shift = z * root[..., None]
    quadratic = (2.0 * mean * shift + z * z).sum(-1)
    return at._replace(first=at.first + shift, strength=at.strength - 0.5 * quadratic)


def _posterior(eta: Spherical) -> tuple[Array, Array, Array]:
    """M, and the shape ν/2 and rate 1/(2W) of λ."""
    mean, scatter = _mean_and_scatter(eta, np.zeros(()))
    shape = 0.5 * (eta.count + 2.0 - eta.first.shape[-1])
    refuse(~(shape > 0.0), TOO_FEW_ROWS)
    return mean, shape, 0.5 * scatter


def _mean_and_scatter(eta: Spherical, least: Array) -> tuple[Array, Array]:
    """M and 1/W, which must exceed what is least."""
    mean = mean_of(eta)
    scatter = np.asarray(eta.second - (eta.first * mean).sum(-1))
    refuse(~(scatter > least), NO_SPREAD)
    return mean, scatter
