"""A point mass: q(θ) when a parameter is held at a known value, whatever is counted.

With A(η) = ⟨η, t⟩ the density at the point is exp(0), so `kl` and `neg_log_density` cost nothing:
exactly under the prior None that such a parameter should have, to rounding under any other.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families import inner
from jensen.support.fields import leaves, rebuild


@dataclass(frozen=True, eq=False)
class PointMass:
    """The distribution with all its mass at one θ, given as t(θ)."""

    t: Any

    @cached_property
    def finite(self) -> Any:
        """Read t with 0 for log 0, so that A(η) is finite where nothing can be counted."""
        return rebuild(self.t, (np.where(np.isfinite(x), x, 0.0) for x in leaves(self.t)))

    def log_partition(self, eta: Any) -> float:
        """⟨η, t⟩, so that the density at the point is 1."""
        return inner(eta, self.finite)

    def log_partitions(self, eta: Any) -> NDArray[np.float64]:
        """A(η) of the one point, an array without axes."""
        return np.asarray(self.log_partition(eta))

    def mean_stats(self, eta: Any) -> Any:
        """Read t."""
        return self.t

    def mode_stats(self, eta: Any) -> Any:
        """Read t."""
        return self.t

    def sample_stats(self, eta: Any, rng: np.random.Generator) -> Any:
        """Read t."""
        return self.t

    def has_mode(self, eta: Any) -> bool:
        """Always: the point itself."""
        return True

    def describe(self, eta: Any) -> dict[str, NDArray[np.float64]]:
        """Return nothing, because nothing is learned."""
        return {}
