"""Gaussians whose precisions Λ are known: the means are what is learned.

η, statistics and t are those of the family in which both are unknown, for each kind of covariance.
With Λ at its value, μ ~ N(m, (β Λ)⁻¹) with m = first / strength and β = strength, and

    A(η) = ⟨η, t(m, Λ)⟩ + Σ_k (D/2 log(2π / β_k) - ½ log |Λ_k|),

the integral of a Gaussian by its highest point and its width. The prior is the joint one given the
precisions: p(μ | Λ), which has the same m₀ and β₀.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families import spherical
from jensen.families.collapse import is_proper
from jensen.families.gaussian_kinds import KINDS, Kind

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnownPrecisions:
    """Precisions that stay, and the kind of covariance: full, tied, diagonal or spherical."""

    precision: Array  # (K, D, D), (D, D), (K, D) or (K,)
    covariance: str

    @property
    def kind(self) -> Kind:
        """Where the formulas are."""
        return KINDS[self.covariance]

    @cached_property
    def root(self) -> Array:
        """F with Λ = F Fᵀ."""
        if self.kind.core is spherical:
            return np.sqrt(self.precision)
        return np.asarray(np.linalg.cholesky(self.precision), np.float64)

    @cached_property
    def log_det(self) -> Array:
        """Log |Λ|, log λ where a precision is a number."""
        if self.kind.core is spherical:
            return np.log(self.precision)
        return np.asarray(2.0 * np.log(np.diagonal(self.root, axis1=-2, axis2=-1)).sum(-1))

    def log_partition(self, eta: Any) -> float:
        """A(η), summed over the precisions."""
        return float(self.log_partitions(eta).sum())

    def log_partitions(self, eta: Any) -> Array:
        """A(η) of each precision, with all means that it has."""
        own, _, at = self._at_mean(eta)
        size, is_number = own.first.shape[-1], self.kind.core is spherical
        log_det = size * self.log_det if is_number else self.log_det[..., None]
        widths = 0.5 * (size * np.log(2.0 * np.pi / own.strength) - log_det)
        fields = [*(e * t for e, t in zip(own, at, strict=True)), widths]
        shape = own.count.shape  # of the precisions; a field has further axes of its own
        return np.asarray(sum(x.reshape(*shape, -1).sum(-1) for x in fields))

    def mean_stats(self, eta: Any) -> Any:
        """With E[μ] = m and E[μᵀ Λ μ] = D/β + mᵀ Λ m."""
        own, _, at = self._at_mean(eta)
        size = own.first.shape[-1]
        return self.kind.outside(at._replace(strength=at.strength - 0.5 * size / own.strength))

    def mode_stats(self, eta: Any) -> Any:
        """At μ = m."""
        return self.kind.outside(self._at_mean(eta)[-1])

    def sample_stats(self, eta: Any, rng: np.random.Generator) -> Any:
        """At a draw of μ."""
        own, mean, at = self._at_mean(eta)
        return self.kind.outside(self.kind.core.draw_means(at, mean, own.strength, self.root, rng))

    def has_mode(self, eta: Any) -> bool:
        """Whether β > 0."""
        return is_proper(self.log_partition, eta)

    def describe(self, eta: Any) -> dict[str, Array]:
        """The mean and its strength."""
        _, mean, _ = self._at_mean(eta)
        return {"mean": mean.reshape(eta.first.shape), "mean_strength": eta.strength}

    def _at_mean(self, eta: Any) -> tuple[Any, Array, Any]:
        """η, the means m, and t at them, as the core has them."""
        own = self.kind.inside(eta)
        mean = self.kind.core.mean_of(own)
        precision = np.broadcast_to(self.precision, own.second.shape)
        log_det = np.broadcast_to(self.log_det, own.count.shape)
        return own, mean, self.kind.core.stats_at(mean, precision, log_det)
