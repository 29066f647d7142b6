"""Gaussians whose means μ are known: the precisions are what is learned.

η, statistics and t are those of the family in which both are unknown, for each kind of covariance.
With the means at their values

    ⟨η, t⟩ = count · ½ log |Λ| - ½ tr(Λ S),  S = second - first μᵀ - μ firstᵀ + strength · μ μᵀ,

where one precision for all components has the sum of their S. So Λ ~ Wishart with ν = count + D + 1
and W⁻¹ = S; where a precision is a number, D = 1 here. The prior is the joint one given the means,
p(Λ | μ) ∝ p(μ, Λ): each counts as one more row, and W⁻¹ = W₀⁻¹ + Σ β₀ (μ - m₀)(μ - m₀)ᵀ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families import spherical, tied, wishart
from jensen.families.collapse import TOO_FEW_ROWS, is_proper, refuse
from jensen.families.gaussian_kinds import KINDS, Kind
from jensen.families.wishart import Words

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnownMeans:
    """Means that stay, and the kind of covariance: full, tied, diagonal or spherical."""

    mean: Array  # (K, D)
    covariance: str

    @property
    def kind(self) -> Kind:
        """Where the formulas are."""
        return KINDS[self.covariance]

    def words(self, eta: Any) -> Words:
        """The means, which no number of rows would move (β = ∞), ν and W."""
        degrees, lower = self._posterior(eta)
        mean = np.broadcast_to(self.mean, eta.first.shape)
        strength = np.full(eta.strength.shape, np.inf)
        return Words(mean, strength, degrees, self._plain(wishart.inverse(lower)))

    def log_partition(self, eta: Any) -> float:
        """A(η), summed over the precisions."""
        return float(self.log_partitions(eta).sum())

    def log_partitions(self, eta: Any) -> Array:
        """That of the Wishart distribution of each precision."""
        return wishart.log_normaliser(*self._posterior(eta))

    def mean_stats(self, eta: Any) -> Any:
        """With E[Λ] = ν W."""
        degrees, lower = self._posterior(eta)
        precision = degrees[..., None, None] * wishart.inverse(lower)
        return self._stats_at(precision, wishart.mean_log_det(degrees, lower))

    def mode_stats(self, eta: Any) -> Any:
        """At Λ = count · S⁻¹, the highest point."""
        scatter, second = self._scatter(eta)
        return self._stats_at(*wishart.mode(eta.count, scatter, second, self._refuse(eta)))

    def sample_stats(self, eta: Any, rng: np.random.Generator) -> Any:
        """At a draw of Λ."""
        log_det, root = wishart.draw(*self._posterior(eta), rng)
        return self._stats_at(root @ np.swapaxes(root, -1, -2), log_det)

    def has_mode(self, eta: Any) -> bool:
        """Whether count ≥ 0 and η is a distribution, so that rows with any spread suffice."""
        return bool(np.all(eta.count >= 0.0)) and is_proper(self.log_partition, eta)

    def describe(self, eta: Any) -> dict[str, Array]:
        """The degrees of freedom and the scale of the precision."""
        words = self.words(eta)
        return {"degrees_of_freedom": words.degrees_of_freedom, "scale": words.scale}

    def _posterior(self, eta: Any) -> tuple[Array, Array]:
        """Read ν, and the Cholesky factor of W⁻¹."""
        scatter, _ = self._scatter(eta)
        lower = wishart.factor(scatter, np.zeros(()), self._refuse(eta))
        self._refuse(eta)(~(eta.count > -2.0), TOO_FEW_ROWS)
        return np.asarray(eta.count + lower.shape[-1] + 1.0), lower

    def _scatter(self, eta: Any) -> tuple[Array, Array]:
        """S, and what it is a difference of; matrices, also where a precision is a number."""
        kind = self.kind
        found = kind.core.scatter_about(kind.inside(eta), kind.means(self.mean))
        scatter, second = (x[..., None, None] if kind.core is spherical else x for x in found)
        return scatter, second

    def _stats_at(self, precision: Array, log_det: Array) -> Any:
        kind = self.kind
        at = kind.core.stats_at(kind.means(self.mean), self._plain(precision), log_det)
        return kind.outside(at)

    def _plain(self, precision: Array) -> Array:
        """Precisions as the kind has them."""
        return precision[..., 0, 0] if self.kind.core is spherical else precision

    def _refuse(self, eta: Any) -> wishart.Refuse:
        return tied.refuse_all(self.kind.inside(eta)) if self.kind.core is tied else refuse
