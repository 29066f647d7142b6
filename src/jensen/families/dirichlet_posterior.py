"""Dirichlet posteriors as a function of the counts: the natural parameters η are the counts alone.

p(π | η) = p(π) exp(⟨η, log π⟩ - A(η)), where the prior p(π) is the base measure. So A(η) is the log
evidence of the counts, and a prior None adds nothing to them. It is computed cell by cell, to full
precision also for the tiny α of large tables, whose digits η = α - 1 would lose.
"""

from dataclasses import dataclass

import numpy as np

from jensen.families import log_evidence
from jensen.families.dirichlet import Array, Dirichlet, dirichlet
from jensen.families.gamma_ratio import log_rising


@dataclass(frozen=True, eq=False)
class PosteriorDirichlet(Dirichlet):
    """The posteriors under a prior of these concentrations; one that is 0 leaves its cell out."""

    alpha: Array | float  # of every cell
    total: Array | float  # of every distribution, also of cells that are not among the counts
    layout: Dirichlet = dirichlet  # which cells are one distribution

    def totals(self, values: Array) -> Array:
        """One sum per distribution."""
        return self.layout.totals(values)

    def spread(self, totals: Array) -> Array:
        """One value per distribution, back to its cells."""
        return self.layout.spread(totals)

    def each(self, totals: Array) -> Array:
        """One value per distribution, without an axis for its cells."""
        return self.layout.each(totals)

    def largest(self, values: Array) -> Array:
        """The largest value of each distribution."""
        return self.layout.largest(values)

    def plain(self, eta: Array) -> Array:
        """η as a `Dirichlet` has it."""
        return np.asarray(eta + self.alpha - 1.0)

    def log_partitions(self, eta: Array) -> Array:
        """Σ log Γ(α + n) / Γ(α) - log Γ(Σ α + Σ n) / Γ(Σ α); -inf for counts that cannot be."""
        cells = self.each(self.totals(_rising(self.alpha, eta, -np.inf)))
        return np.asarray(cells - _rising(self.total, self.each(self.totals(eta)), 0.0))

    def mode(self, eta: Array) -> Array:
        """The most probable π."""
        return super().mode(self.plain(eta))

    def mean(self, eta: Array) -> Array:
        """The expected π, which is also the predictive distribution."""
        return super().mean(self.plain(eta))

    def mean_stats(self, eta: Array) -> Array:
        """ψ(α + n) - ψ(Σ α + Σ n)."""
        return super().mean_stats(self.plain(eta))

    def sample_stats(self, eta: Array, rng: np.random.Generator) -> Array:
        """Log of a draw."""
        return super().sample_stats(self.plain(eta), rng)

    def has_mode(self, eta: Array) -> bool:
        """Whether every concentration is at least 1."""
        return super().has_mode(self.plain(eta))

    def from_moments(self, t: Array) -> Array:
        """The counts that lead to E[log π] = t."""
        return np.asarray(super().from_moments(t) + 1.0 - self.alpha)

    def describe(self, eta: Array) -> dict[str, Array]:
        """Concentrations and means."""
        return super().describe(self.plain(eta))


def symmetric_log_evidence(
    alpha: float, counts: Array, n_states: int | None = None, layout: Dirichlet = dirichlet
) -> float:
    """A(prior + stats) - A(prior), every cell with the concentration α.

    Parameters
    ----------
    counts
        One distribution a row, or as the `layout` has them.
    n_states
        Of every distribution, where empty cells are left out of the counts.
    """
    size = counts.shape[-1] if n_states is None else n_states
    return log_evidence(PosteriorDirichlet(alpha, alpha * size, layout), None, counts)


def _rising(alpha: Array | float, n: Array, otherwise: float) -> Array:
    """Log Γ(α + n) - log Γ(α); where α = 0 it is `otherwise`, unless nothing was counted."""
    if np.ndim(alpha) == 0 and alpha > 0.0:
        return log_rising(alpha, n)
    inside = np.asarray(alpha) > 0.0
    rises = log_rising(np.where(inside, alpha, 1.0), n)
    return np.where(inside, rises, np.where(n > 0.0, otherwise, 0.0))
