"""What Gaussian states have in common, whatever their covariances.

Rows are kept relative to `shift`, the mean of the data: statistics are sums of squares, which lose
their digits far from 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.models.emissions import Survey
from jensen.models.emissions.columns import column_moments, standardised
from jensen.models.emissions.held_parts import family_given, mean_strength

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianStates(ABC):
    """Gaussian states over D columns, of which means or covariances may be held."""

    n_states: int
    shift: Array  # (D,)
    prior: Any  # η₀ of the family, or None
    held: Mapping[str, Array] = field(default_factory=dict)  # "means" less the shift, "covariances"

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

    @property
    def family(self) -> Any:
        """That of the kind, given what is held."""
        return family_given(self.held, self.covariance)

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
        words = self.family.words(eta)
        freedom = np.asarray(words.degrees_of_freedom)
        across = [1] * (words.scale.ndim - freedom.ndim)
        return self.at(words.mean, freedom.reshape(*freedom.shape, *across) * words.scale)

    def hold(self, eta: Any, part: str) -> Self:
        """The same, with a part held at the mode of η."""
        if part == "means":
            value = np.asarray(eta.first / mean_strength(eta))
        else:
            value = np.asarray(self.show(self.family.mode_stats(eta))[part])
        return replace(self, held={part: value})

    def fewer(self, states: NDArray[np.intp]) -> Self:
        """These states only, with what is held of them."""
        shared = "covariances" if self.covariance == "tied" else None
        held = {name: x if name == shared else x[states] for name, x in self.held.items()}
        return replace(self, n_states=len(states), held=held)
