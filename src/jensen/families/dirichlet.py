"""Dirichlet distributions over π.  η = α - 1,  t(π) = log π.

Four layouts share their formulas: rectangular arrays (`Dirichlet`), flat arrays of distributions of
different lengths (`SegmentedDirichlet`), arrays of which a mask allows some cells only
(`MaskedDirichlet`), and probabilities of success (`Beta`). In softmax coordinates
(`SoftmaxDirichlet`) the same distributions have η = α, and their modes at their means.

A concentration α = 0 leaves its cell out of the distribution: its probability is 0. A distribution
without counts under the flat prior, or left out as a whole, has no estimate, and reads as uniform.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from jensen.families.projection import dirichlet_concentrations

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Dirichlet:
    """One distribution along the last axis of an array."""

    def concentration(self, eta: Array) -> Array:
        """Read α out of η."""
        return eta + 1.0

    def natural(self, alpha: Array) -> Array:
        """Write α as η."""
        return alpha - 1.0

    def totals(self, values: Array) -> Array:
        """One sum per distribution."""
        return np.asarray(values.sum(-1, keepdims=True))

    def spread(self, totals: Array) -> Array:
        """One value per distribution, back to its cells."""
        return totals

    def each(self, totals: Array) -> Array:
        """One value per distribution, without an axis for its cells."""
        return np.asarray(totals[..., 0])

    def uniform(self, like: Array) -> Array:
        """Equal probabilities in every distribution."""
        return self.spread(1.0 / self.totals(np.ones_like(like)))

    def share(self, weights: Array) -> Array:
        """Weights ≥ 0 as probabilities; a distribution without weight becomes uniform."""
        total = self.spread(self.totals(weights))
        shares = weights / np.where(total > 0.0, total, 1.0)  # n / n is 1, and n * (1 / n) is not
        return np.where(total > 0.0, shares, self.uniform(weights))

    def mode(self, eta: Array) -> Array:
        """The most probable π."""
        return self.share(eta)

    def mean(self, eta: Array) -> Array:
        """The expected π, which is also the predictive distribution."""
        return self.share(self.concentration(eta))

    def log_partition(self, eta: Array) -> float:
        """A(η), summed over the distributions."""
        return float(self.log_partitions(eta).sum())

    def log_partitions(self, eta: Array) -> Array:
        """Σ log Γ(α_k) - log Γ(Σ α_k) of each distribution."""
        alpha = self.concentration(eta)
        both = self.totals(_log_gamma(alpha)) - _log_gamma(self.totals(alpha))
        return self.each(both)

    def mean_stats(self, eta: Array) -> Array:
        """ψ(α_k) - ψ(Σ α_k)."""
        alpha = self.concentration(eta)
        total = self.spread(self.totals(alpha))
        with np.errstate(invalid="ignore"):  # -inf - (-inf) where a distribution is left out
            t = np.where(alpha > 0.0, digamma(alpha), -np.inf) - digamma(total)
        return np.where(total > 0.0, t, np.log(self.uniform(alpha)))

    def mode_stats(self, eta: Array) -> Array:
        """Log of the mode; log 0 = -inf is right here."""
        with np.errstate(divide="ignore"):
            return np.log(self.mode(eta))

    def sample_stats(self, eta: Array, rng: np.random.Generator) -> Array:
        """Log of a draw, made in log space: plain gammas underflow at small α."""
        alpha = self.concentration(eta)
        inside = np.where(alpha > 0.0, alpha, 1.0)
        log_gamma = np.log(rng.standard_gamma(inside + 1.0))
        log_gamma += np.log1p(-rng.random(alpha.shape)) / inside
        log_weight = np.where(alpha > 0.0, log_gamma, -np.inf)
        log_weight = np.where(self.spread(self.totals(alpha)) > 0.0, log_weight, 0.0)
        shifted = log_weight - self.spread(self.largest(log_weight))
        return shifted - self.spread(np.log(self.totals(np.exp(shifted))))

    def largest(self, values: Array) -> Array:
        """The largest value of each distribution."""
        return np.asarray(values.max(-1, keepdims=True))

    def from_moments(self, t: Array) -> Array:
        """The η at which E[log π] = t; a cell of -inf is left out."""
        return self.natural(dirichlet_concentrations(t, self.totals, self.spread))

    def has_mode(self, eta: Array) -> bool:
        """Whether every concentration is at least 1."""
        return bool(np.all(eta >= 0.0))

    def describe(self, eta: Array) -> dict[str, Array]:
        """Concentrations and means."""
        return {"concentration": self.concentration(eta), "mean": self.mean(eta)}


@dataclass(frozen=True, eq=False)
class SegmentedDirichlet(Dirichlet):
    """Distributions of different lengths, end to end in one flat array."""

    lengths: NDArray[np.int64]  # (S,)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each distribution begins."""
        return np.cumsum(self.lengths) - self.lengths

    def totals(self, values: Array) -> Array:
        """One sum per distribution."""
        return np.add.reduceat(values, self.starts)

    def spread(self, totals: Array) -> Array:
        """One value per distribution, back to its cells."""
        return np.repeat(totals, self.lengths)

    def each(self, totals: Array) -> Array:
        """The same: there is no axis for cells."""
        return totals

    def largest(self, values: Array) -> Array:
        """The largest value of each distribution."""
        return np.maximum.reduceat(values, self.starts)


@dataclass(frozen=True, eq=False)
class SoftmaxDirichlet(SegmentedDirichlet):
    """The same distributions as densities of φ, where π = softmax(φ) and the last φ is 0.

    The Jacobian of the change of coordinates is Π π_k, so that

        p(φ | η) = Π π_k^α_k / B(α),  η = α,  t(φ) = log π.

    The mode is at π = α / Σ α, which is the mean. So every proper prior has one inside, also where
    the density of π itself has none (α < 1).

    References
    ----------
    MacKay (1998), "Choice of basis for Laplace approximation".
    """

    def concentration(self, eta: Array) -> Array:
        """The same: η = α."""
        return eta

    def natural(self, alpha: Array) -> Array:
        """The same: η = α."""
        return alpha


dirichlet = Dirichlet()
"""The family of rectangular arrays."""


def _log_gamma(alpha: Array) -> Array:
    """Log Γ, with 0 where the concentration is 0 and the cell is left out."""
    inside = alpha > 0.0
    return np.where(inside, gammaln(np.where(inside, alpha, 1.0)), 0.0)


@dataclass(frozen=True)
class Beta(Dirichlet):
    """One probability p of success for each pair along the last axis of an array (..., 2).

    η = (b - 1, a - 1) and t(p) = (log(1 - p), log p): failure is state 0, success is state 1.
    """

    def describe(self, eta: Array) -> dict[str, Array]:
        """How many successes and failures it is worth, and the mean probability of success."""
        return {
            "successes": eta[..., 1] + 1.0,
            "failures": eta[..., 0] + 1.0,
            "mean": self.mean(eta)[..., 1],
        }


beta = Beta()
"""The family of arrays (K, D, 2)."""


LEFT_OUT = -1.0
"""The η of a concentration 0, which a `Dirichlet` leaves out."""


@dataclass(frozen=True, eq=False)
class MaskedDirichlet(Dirichlet):
    """One distribution along the last axis, over the cells that the mask allows.

    Outside the mask η and statistics are 0, because nothing is ever counted there.
    """

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


CERTAIN = 1e10
"""How many rows a known table is worth where a posterior is shown as Dirichlet distributions."""


@dataclass(frozen=True, eq=False)
class HeldTables(SegmentedDirichlet):
    """Distributions end to end; those of which `known` has no NaN are held there.

    The q(θ) of a held distribution is a point mass, where A(η) = ⟨η, t⟩, so that it costs nothing.
    """

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
