"""Gaussians, each with a mean μ and a full precision matrix Λ of its own.

t = (½ log |Λ|, -½ Λ, Λ μ, -½ μᵀ Λ μ), and rows add (N, Σ x xᵀ, Σ x, N).
With μ | Λ ~ N(m, (β Λ)⁻¹) and Λ ~ Wishart(W, ν), in Bishop's letters (equation 10.40),
η = (ν - D, W⁻¹ + β m mᵀ, β m, β).

    A(η) = D/2 log(2π/β) + νD/2 log 2 + ν/2 log |W| + D(D-1)/4 log π + Σ_i log Γ((ν + 1 - i)/2)

The formulas are those of `tied`, with one mean for each precision matrix.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import tied
from jensen.families.wishart import StandardParameters
from jensen.support.fields import record

Array = NDArray[np.float64]


@record
class NormalWishart(NamedTuple):
    """One mean and one precision matrix per component."""

    count: Array  # type: ignore[assignment]  # (K,); tuple's own count is not missed
    second: Array  # (K, D, D)
    first: Array  # (K, D)
    strength: Array  # (K,)


def from_standard(
    mean: Array, mean_strength: Array, degrees_of_freedom: Array, scale: Array
) -> NormalWishart:
    """η from m (K, D), β (K,), ν (K,) and W (K, D, D)."""
    mean, mean_strength = mean[..., None, :], mean_strength[..., None]
    return from_tied(tied.from_standard(mean, mean_strength, degrees_of_freedom, scale))


def to_standard(eta: NormalWishart) -> StandardParameters:
    """M, β, ν and W."""
    found = tied.to_standard(to_tied(eta))
    return found._replace(mean=found.mean[..., 0, :], mean_strength=found.mean_strength[..., 0])


def log_partition(eta: NormalWishart) -> float:
    """A(η), summed over the components."""
    return tied.log_partition(to_tied(eta))


def log_partitions(eta: NormalWishart) -> Array:
    """A(η) of each component."""
    return tied.log_partitions(to_tied(eta))


def mean_stats(eta: NormalWishart) -> NormalWishart:
    """With E[Λ] = ν W, and E[μᵀ Λ μ] = D/β + mᵀ E[Λ] m."""
    return from_tied(tied.mean_stats(to_tied(eta)))


def mode_stats(eta: NormalWishart) -> NormalWishart:
    """At μ = m and Λ = (ν - D) W, the highest point in mean and precision."""
    return from_tied(tied.mode_stats(to_tied(eta)))


def sample_stats(eta: NormalWishart, rng: np.random.Generator) -> NormalWishart:
    """At a draw of Λ, then of μ given it."""
    return from_tied(tied.sample_stats(to_tied(eta), rng))


def from_moments(t: NormalWishart) -> NormalWishart:
    """The η at which the expected statistics are these."""
    return from_tied(tied.from_moments(to_tied(t)))


def has_mode(eta: NormalWishart) -> bool:
    """Whether ν ≥ D and η is a distribution, so that rows with any spread give an estimate."""
    return tied.has_mode(to_tied(eta))


def describe(eta: NormalWishart) -> dict[str, Array]:
    """The mean, its strength, the degrees of freedom and the scale of the precision."""
    return to_standard(eta)._asdict()


def to_tied(eta: NormalWishart) -> tied.Tied:
    """One mean for each precision matrix."""
    return tied.Tied(eta.count, eta.second, eta.first[..., None, :], eta.strength[..., None])


def from_tied(eta: tied.Tied) -> NormalWishart:
    """The inverse of `to_tied`."""
    return NormalWishart(eta.count, eta.second, eta.first[..., 0, :], eta.strength[..., 0])
