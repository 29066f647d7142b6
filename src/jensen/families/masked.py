"""Dirichlet distributions over some of the cells of an array; the others have probability 0.

η is 0 outside, as statistics are: nothing is ever counted there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jensen.families.dirichlet import Dirichlet

Array = NDArray[np.float64]

LEFT_OUT = -1.0
"""The η of a concentration 0, which a `Dirichlet` leaves out."""


@dataclass(frozen=True, eq=False)
class MaskedDirichlet(Dirichlet):
    """One distribution along the last axis, over the cells that the mask allows."""

    mask: NDArray[np.bool_]

    def inside(self, eta: Array) -> Array:
        """η as a `Dirichlet` reads it."""
        return np.where(self.mask, eta, LEFT_OUT)

    def share(self, weights: Array) -> Array:
        """Weights ≥ 0 as probabilities; a distribution without weight becomes uniform."""
        inside = np.where(self.mask, weights, 0.0)
        total = self.totals(inside)
        return np.where(total > 0.0, inside / np.where(total > 0.0, total, 1.0), self.allowed)

    @property
    def allowed(self) -> Array:
        """Equal probabilities of all cells that are allowed."""
        return np.asarray(self.mask / self.mask.sum(-1, keepdims=True))

    def log_partitions(self, eta: Array) -> Array:
        """Of the cells inside."""
        return super().log_partitions(self.inside(eta))

    def mean_stats(self, eta: Array) -> Array:
        """-inf outside."""
        return super().mean_stats(self.inside(eta))

    def sample_stats(self, eta: Array, rng: np.random.Generator) -> Array:
        """-inf outside."""
        return super().sample_stats(self.inside(eta), rng)

    def from_moments(self, t: Array) -> Array:
        """0 outside."""
        return np.where(self.mask, super().from_moments(np.where(self.mask, t, -np.inf)), 0.0)

    def has_mode(self, eta: Array) -> bool:
        """Whether every concentration inside is at least 1."""
        return super().has_mode(np.where(self.mask, eta, 0.0))
