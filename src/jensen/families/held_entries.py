"""Gaussian vectors and gamma rates of which some entries are held at known values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families import gamma, gaussian_vectors, is_proper
from jensen.families.gamma import Gamma
from jensen.families.gaussian_vectors import Vectors

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class HeldVectors:
    """Vectors w of which entries are known: the others have their distribution given these.

    η and t are those of `gaussian_vectors`, with the known entries in t. A(η) is the log integral
    over the others: ½ (f log 2π - log |V_ff| + mᵀ V_ff m) + ⟨η, t⟩ of the known entries alone.
    """

    value: Array  # (D, K), NaN where it is not known

    def _free(self, eta: Vectors) -> tuple[Vectors, Array]:
        """η of the others, the known entries standing apart as N(value, 1); and ⟨η, t⟩ of these."""
        held = ~np.isnan(self.value)
        known = np.where(held, self.value, 0.0)
        strength = 0.5 * (eta.strength + np.swapaxes(eta.strength, -1, -2))
        pulled = (strength @ known[..., None])[..., 0]
        first = np.where(held, known, eta.first - pulled)
        size = (eta.first * known).sum(-1) - 0.5 * (pulled * known).sum(-1)
        both = ~held[:, :, None] & ~held[:, None, :]
        own = np.where(both, strength, 0.0)
        at = np.arange(known.shape[1])
        own[:, at, at] += held
        return Vectors(first, own), size - 0.5 * (held * LOG_2PI + known**2).sum(-1)

    def _known(self, t: Vectors, spread: bool) -> Vectors:
        """Statistics without the spread that known entries were given."""
        if not spread:
            return t
        held = ~np.isnan(self.value)
        strength = t.strength.copy()
        at = np.arange(held.shape[1])
        strength[:, at, at] += 0.5 * held
        return Vectors(t.first, strength)

    def log_partition(self, eta: Vectors) -> float:
        """A(η), summed over the vectors."""
        return float(self.log_partitions(eta).sum())

    def log_partitions(self, eta: Vectors) -> Array:
        """A(η) of each vector."""
        free, size = self._free(eta)
        return gaussian_vectors.log_partitions(free) + size

    def mean_stats(self, eta: Vectors) -> Vectors:
        """With E[w] and E[w wᵀ] given the known entries."""
        return self._known(gaussian_vectors.mean_stats(self._free(eta)[0]), spread=True)

    def mode_stats(self, eta: Vectors) -> Vectors:
        """At the mean."""
        return gaussian_vectors.mode_stats(self._free(eta)[0])

    def sample_stats(self, eta: Vectors, rng: np.random.Generator) -> Vectors:
        """At a draw."""
        drawn = gaussian_vectors.sample_stats(self._free(eta)[0], rng).first
        return gaussian_vectors.stats_at(np.where(np.isnan(self.value), drawn, self.value))

    def has_mode(self, eta: Vectors) -> bool:
        """Whether V of the others is positive definite."""
        return is_proper(self.log_partition, eta)

    def describe(self, eta: Vectors) -> dict[str, Array]:
        """The mean, and the covariance, 0 of known entries."""
        t = self.mean_stats(eta)
        spread = -2.0 * t.strength - t.first[..., :, None] * t.first[..., None, :]
        return {"mean": t.first, "covariance": spread}


@dataclass(frozen=True, eq=False)
class HeldGamma:
    """Rates of which some are known."""

    value: Array  # NaN where a rate is not known

    def _fill(self, t: Gamma) -> Gamma:
        held = ~np.isnan(self.value)
        known = np.where(held, self.value, 1.0)
        return Gamma(np.where(held, np.log(known), t.total), np.where(held, -known, t.exposure))

    def _proper(self, eta: Gamma) -> Gamma:
        """η with a distribution in the place of those that are known."""
        held = ~np.isnan(self.value)
        return Gamma(np.where(held, 0.0, eta.total), np.where(held, 1.0, eta.exposure))

    def log_partition(self, eta: Gamma) -> float:
        """A(η), summed over the rates."""
        return float(self.log_partitions(eta).sum())

    def log_partitions(self, eta: Gamma) -> Array:
        """That of a gamma distribution; ⟨η, t⟩ of a known rate."""
        held, own = ~np.isnan(self.value), gamma.log_partitions(self._proper(eta))
        t = self._fill(eta)
        return np.where(held, eta.total * t.total + eta.exposure * t.exposure, own)

    def mean_stats(self, eta: Gamma) -> Gamma:
        """E[t], and t of known rates."""
        return self._fill(gamma.mean_stats(self._proper(eta)))

    def mode_stats(self, eta: Gamma) -> Gamma:
        """T at the mode, and of known rates."""
        return self._fill(gamma.mode_stats(self._proper(eta)))

    def sample_stats(self, eta: Gamma, rng: np.random.Generator) -> Gamma:
        """T at a draw, and of known rates."""
        return self._fill(gamma.sample_stats(self._proper(eta), rng))

    def has_mode(self, eta: Gamma) -> bool:
        """Whether those that are not known have one."""
        return gamma.has_mode(self._proper(eta))

    def describe(self, eta: Gamma) -> dict[str, Any]:
        """Shapes, rates and means of those that are not known."""
        return gamma.describe(self._proper(eta))
