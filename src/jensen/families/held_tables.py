"""Tables of which some are held at known values, and the others learned.

A table that is held has a point mass for q(θ): A(η) = ⟨η, t⟩ there, so it costs nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jensen.families.dirichlet import SegmentedDirichlet

Array = NDArray[np.float64]

CERTAIN = 1e10
"""How many rows a known table is worth where a posterior is shown as Dirichlet distributions."""


@dataclass(frozen=True, eq=False)
class HeldTables(SegmentedDirichlet):
    """Distributions end to end; those of which `known` has no NaN are held there."""

    free: SegmentedDirichlet  # the family of the others, in its coordinates
    known: Array  # (P,): probabilities of whole distributions, NaN where they are learned

    @cached_property
    def is_held(self) -> NDArray[np.bool_]:
        """(P,): the cells that are held."""
        return ~np.isnan(self.known)

    @cached_property
    def log_known(self) -> Array:
        """(P,): their logarithms; 0 elsewhere."""
        with np.errstate(divide="ignore"):
            return np.log(np.where(self.is_held, self.known, 1.0))

    def concentration(self, eta: Array) -> Array:
        """Read α; of a known table very many rows."""
        return np.where(self.is_held, CERTAIN * self.known, self.free.concentration(eta))

    def natural(self, alpha: Array) -> Array:
        """Write α as η; a known table needs no prior."""
        return np.where(self.is_held, 0.0, self.free.natural(alpha))

    def mode(self, eta: Array) -> Array:
        """The most probable π."""
        return np.where(self.is_held, self.known, self.free.mode(eta))

    def mean(self, eta: Array) -> Array:
        """The expected π."""
        return np.where(self.is_held, self.known, self.free.mean(eta))

    def log_partitions(self, eta: Array) -> Array:
        """A(η) of each distribution; ⟨η, t⟩ of those that are held."""
        finite = np.where(np.isfinite(self.log_known), self.log_known, 0.0)
        at_point = self.totals(eta * finite)
        return np.where(self.is_held[self.starts], at_point, self.free.log_partitions(eta))

    def mean_stats(self, eta: Array) -> Array:
        """Read t where it is known, else its mean."""
        return np.where(self.is_held, self.log_known, self.free.mean_stats(eta))

    def mode_stats(self, eta: Array) -> Array:
        """Read t where it is known, else at the mode."""
        return np.where(self.is_held, self.log_known, self.free.mode_stats(eta))

    def sample_stats(self, eta: Array, rng: np.random.Generator) -> Array:
        """Read t where it is known, else at a draw."""
        return np.where(self.is_held, self.log_known, self.free.sample_stats(eta, rng))

    def has_mode(self, eta: Array) -> bool:
        """Whether the distributions that are learned have one."""
        return self.free.has_mode(np.where(self.is_held, self.free.natural(np.ones(1)), eta))
