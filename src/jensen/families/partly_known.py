"""Gaussians of which the means or the precisions are known, and only the others are learned.

η, statistics and t are those of the family in which both are unknown, for each of the four forms of
covariance: full, tied, diagonal, spherical. The formulas stand in two modules: `tied`, where a
precision is a matrix, and `spherical`, where it is a number. The other two forms are converted to
one of these.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import (
    TOO_FEW_ROWS,
    is_proper,
    normal_gamma,
    normal_wishart,
    refuse,
    spherical,
    tied,
    wishart,
)
from jensen.families.wishart import StandardParameters

Array = NDArray[np.float64]


class CovarianceForm(NamedTuple):
    """One form of covariance: the module with its formulas, and how to convert records for it."""

    core: Any  # the module `tied` or `spherical`
    inside: Callable[[Any], Any]  # converts a record of this form to one of the core
    outside: Callable[[Any], Any]  # converts it back
    means: Callable[[Array], Array]  # reshapes means (K, D) as the core needs them


def _same(x: Any) -> Any:
    return x


KINDS = {
    "full": CovarianceForm(
        tied, normal_wishart.to_tied, normal_wishart.from_tied, lambda mean: mean[..., None, :]
    ),
    "tied": CovarianceForm(tied, _same, _same, _same),
    "diagonal": CovarianceForm(
        spherical,
        normal_gamma.to_spherical,
        normal_gamma.from_spherical,
        lambda mean: mean[..., None],
    ),
    "spherical": CovarianceForm(spherical, _same, _same, _same),
}


@dataclass(frozen=True, eq=False)
class KnownMeans:
    """Precisions are learned while the means μ stay at known values.

    With the means at their values

        ⟨η, t⟩ = count · ½ log |Λ| - ½ tr(Λ S),  S = second - first μᵀ - μ firstᵀ + strength · μ μᵀ,

    where one precision for all components has the sum of their S. So Λ ~ Wishart with
    ν = count + D + 1 and W⁻¹ = S; where a precision is a number, D = 1 here. The prior is the joint
    one given the means, p(Λ | μ) ∝ p(μ, Λ): each mean counts as one more row, and
    W⁻¹ = W₀⁻¹ + Σ β₀ (μ - m₀)(μ - m₀)ᵀ.
    """

    mean: Array  # (K, D)
    covariance: str

    @property
    def kind(self) -> CovarianceForm:
        """The form of covariance, with its formulas."""
        return KINDS[self.covariance]

    def to_standard(self, eta: Any) -> StandardParameters:
        """The standard parameters; known means have the strength β = ∞."""
        degrees, lower = self._posterior(eta)
        mean = np.broadcast_to(self.mean, eta.first.shape)
        strength = np.full(eta.strength.shape, np.inf)
        return StandardParameters(mean, strength, degrees, self._plain(wishart.inverse(lower)))

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
        standard = self.to_standard(eta)
        return {"degrees_of_freedom": standard.degrees_of_freedom, "scale": standard.scale}

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


@dataclass(frozen=True, eq=False)
class KnownPrecisions:
    """Means are learned while the precisions Λ stay at known values.

    With Λ at its value, μ ~ N(m, (β Λ)⁻¹) with m = first / strength and β = strength, and

        A(η) = ⟨η, t(m, Λ)⟩ + Σ_k (D/2 log(2π / β_k) - ½ log |Λ_k|),

    the integral of a Gaussian by its highest point and its width. The prior is the joint one given
    the precisions: p(μ | Λ), which has the same m₀ and β₀.
    """

    precision: Array  # (K, D, D), (D, D), (K, D) or (K,)
    covariance: str

    @property
    def kind(self) -> CovarianceForm:
        """The form of covariance, with its formulas."""
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
