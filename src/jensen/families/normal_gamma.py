"""Gaussians with a diagonal covariance: a mean μ and a precision λ per component and dimension.

t = (½ log λ, -½ λ, λ μ, -½ λ μ²), and rows add (N, Σ x², Σ x, N).
With μ | λ ~ N(m, 1/(β λ)) and λ ~ Wishart(W, ν) in one dimension, which is
Gamma(ν/2, rate 1/(2W)), η = (ν - 1, 1/W + β m², β m, β).

The formulas are those of `spherical`, with one dimension for each precision.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import spherical
from jensen.families.wishart import StandardParameters
from jensen.support.fields import record

Array = NDArray[np.float64]


@record
class NormalGamma(NamedTuple):
    """One mean and one precision per component and dimension."""

    count: Array  # type: ignore[assignment]  # (K, D); tuple's own count is not missed
    second: Array  # (K, D)
    first: Array  # (K, D)
    strength: Array  # (K, D)


def from_standard(
    mean: Array, mean_strength: Array, degrees_of_freedom: Array, scale: Array
) -> NormalGamma:
    """η from m, β, ν and W, each (K, D)."""
    found = spherical.from_standard(mean[..., None], mean_strength, degrees_of_freedom, scale)
    return from_spherical(found)


def to_standard(eta: NormalGamma) -> StandardParameters:
    """M, β, ν and W."""
    found = spherical.to_standard(to_spherical(eta))
    return found._replace(mean=found.mean[..., 0])


def log_partition(eta: NormalGamma) -> float:
    """A(η), summed over components and dimensions."""
    return spherical.log_partition(to_spherical(eta))


def log_partitions(eta: NormalGamma) -> Array:
    """A(η) of each component and dimension."""
    return spherical.log_partitions(to_spherical(eta))


def mean_stats(eta: NormalGamma) -> NormalGamma:
    """With E[λ] = ν W, and E[λ μ²] = 1/β + E[λ] m²."""
    return from_spherical(spherical.mean_stats(to_spherical(eta)))


def mode_stats(eta: NormalGamma) -> NormalGamma:
    """At μ = m and λ = (ν - 1) W, the highest point in mean and precision."""
    return from_spherical(spherical.mode_stats(to_spherical(eta)))


def sample_stats(eta: NormalGamma, rng: np.random.Generator) -> NormalGamma:
    """At a draw of λ, then of μ given it."""
    return from_spherical(spherical.sample_stats(to_spherical(eta), rng))


def from_moments(t: NormalGamma) -> NormalGamma:
    """The η at which the expected statistics are these."""
    return from_spherical(spherical.from_moments(to_spherical(t)))


def has_mode(eta: NormalGamma) -> bool:
    """Whether ν ≥ 1 and η is a distribution, so that rows with any spread give an estimate."""
    return spherical.has_mode(to_spherical(eta))


def describe(eta: NormalGamma) -> dict[str, Array]:
    """The mean, its strength, the degrees of freedom and the scale of the precision."""
    return to_standard(eta)._asdict()


def to_spherical(eta: NormalGamma) -> spherical.Spherical:
    """One dimension for each precision."""
    return spherical.Spherical(eta.count, eta.second, eta.first[..., None], eta.strength)


def from_spherical(eta: spherical.Spherical) -> NormalGamma:
    """The inverse of `to_spherical`."""
    return NormalGamma(eta.count, eta.second, eta.first[..., 0], eta.strength)
