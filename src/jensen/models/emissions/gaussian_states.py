"""What Gaussian emissions share, whatever the form of their covariances.

Rows are kept relative to `shift`, the mean of the data: statistics are sums of squares, which lose
their digits far from 0. Means or covariances may be held at known values; the rest is learned under
the joint prior given what is held.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import column_moments, standardised
from jensen.families import normal_gamma, normal_wishart, spherical, tied, wishart
from jensen.families.partly_known import KnownMeans, KnownPrecisions
from jensen.families.semi_conjugate import SemiConjugate
from jensen.families.tied import select_states
from jensen.models.emissions import Survey

Array = NDArray[np.float64]


FAMILIES = {
    "full": normal_wishart,
    "tied": tied,
    "diagonal": normal_gamma,
    "spherical": spherical,
}


def family_given(held: Mapping[str, Array], covariance: str) -> Any:
    """The family of what is not held."""
    if "means" in held:
        return KnownMeans(held["means"], covariance)
    if "covariances" in held:
        return KnownPrecisions(_inverse(held["covariances"], covariance), covariance)
    return FAMILIES[covariance]


def mean_strength(eta: Any) -> Array:
    """β as a column (K, 1), or (K, D) where every column has its own."""
    return np.reshape(eta.strength, (len(eta.first), -1))


def _inverse(covariances: Array, kind: str) -> Array:
    if kind in ("full", "tied"):
        return wishart.inverse(wishart.cholesky(covariances))
    return 1.0 / covariances


@dataclass(frozen=True, eq=False)
class GaussianStates(ABC):
    """Gaussian states over D columns, of which means or covariances may be held."""

    n_states: int
    shift: Array  # (D,)
    prior: Any  # η₀ of the family, or None
    held: Mapping[str, Array] = field(default_factory=dict)  # "means" less the shift, "covariances"
    semi: SemiConjugate | None = None  # the family, if means are independent of precisions a priori

    @property
    @abstractmethod
    def covariance(self) -> str:
        """The kind, by its name."""

    @abstractmethod
    def show(self, *draws: Any) -> dict[str, Array]:
        """Means, and the inverses of the (expected) precisions."""

    @abstractmethod
    def from_moments(self, mean: Array, variance: Array) -> Any:
        """η of one pretended row for each state, with these means (K, D) and variances (D,)."""

    @abstractmethod
    def at(self, mean: Array, precision: Array) -> Any:
        """The statistics t at known parameters."""

    @abstractmethod
    def margins(self, t: Any, eta: Any = None) -> tuple[Array, Array, Array | None]:
        """Mean, scale and degrees of freedom of every column alone, (K, D); None: Gaussian.

        At t, or predicted by the posterior η.
        """

    @property
    def n_columns(self) -> int:
        """D."""
        return len(self.shift)

    @property
    def family(self) -> Any:
        """That of the kind, given what is held."""
        return family_given(self.held, self.covariance) if self.semi is None else self.semi

    @property
    def n_parameters(self) -> int:
        """How many free parameters all states have."""
        K, D = self.n_states, len(self.shift)
        matrix = D * (D + 1) // 2
        spread = {"full": K * matrix, "tied": matrix, "diagonal": K * D, "spherical": K}
        sizes = {"means": K * D, "covariances": spread[self.covariance]}
        return sum(size for name, size in sizes.items() if name not in self.held)

    def survey(self, values: Array) -> Survey:
        """Columns in units of their deviations; all states at their means, with their variances."""
        mean, variance = column_moments(values - self.shift)
        means = np.broadcast_to(mean, (self.n_states, len(mean)))
        return Survey(standardised(values), True, self.from_moments(means, variance))

    def point(self, eta: Any) -> Any:
        """The expected precision, and the mean."""
        if "covariances" in self.held:
            return self.family.mode_stats(eta)
        if self.semi is not None:
            t = self.semi.mean_stats(eta)
            precision = -2.0 * t.second
            wide = precision[..., 0] if precision.ndim == t.first.ndim + 1 else precision
            wide = wide[:, None] if self.covariance == "spherical" else wide
            return self.at(t.first / wide, precision)
        standard = self.family.to_standard(eta)
        freedom = np.asarray(standard.degrees_of_freedom)
        across = [1] * (standard.scale.ndim - freedom.ndim)
        return self.at(standard.mean, freedom.reshape(*freedom.shape, *across) * standard.scale)

    def hold(self, eta: Any, part: str) -> Self:
        """The same, with a part held at the mode of η."""
        if part == "means":
            value = np.asarray(eta.first / mean_strength(eta))
        else:
            value = np.asarray(self.show(self.family.mode_stats(eta))[part])
        return replace(self, held={part: value})

    def keep(self, eta: Any, states: NDArray[np.intp]) -> Any:
        """η of these states for good."""
        return select_states(eta, states)

    def untied(self, eta: Any) -> tuple["GaussianStates", Any]:
        """The same with precisions of their own for all states, which most have already."""
        return self, eta

    def fewer(self, states: NDArray[np.intp]) -> Self:
        """These states only, with what is held of them."""
        shared = "covariances" if self.covariance == "tied" else None
        held = {name: x if name == shared else x[states] for name, x in self.held.items()}
        return replace(self, n_states=len(states), held=held)
