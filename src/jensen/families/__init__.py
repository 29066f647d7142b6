"""Conjugate-exponential families.

A family is a module or a frozen object with the same seven functions:
p(θ | η) = exp(⟨η, t(θ)⟩ - A(η)), where t(θ) is also the natural parameter that the likelihood sees.

    log_partition(eta)      A(η), summed over all distributions in the array
    log_partitions(eta)     A(η) of each of them
    mean_stats(eta)         E[t(θ)], the gradient of A: what VB reads
    mode_stats(eta)         t at the mode: what EM reads
    sample_stats(eta, rng)  t at a draw: what Gibbs reads
    has_mode(eta)           whether a mode exists
    describe(eta)           for people

A family that others are projected on has one more, `from_moments(t)`: the η with
mean_stats(eta) = t.

The conjugate update is η ← prior + stats. A prior None is the improper flat one: it adds nothing
and costs nothing. What holds for every family is written here, once; so are the checks that refuse
components without an estimate, because they have too few rows or no spread.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import CollapseError
from jensen.support.fields import add, subtract

Eta = TypeVar("Eta")  # natural parameters, and the statistics they belong to


class Family(Protocol[Eta]):
    """What every family offers; η and t are arrays or records of arrays, of one type."""

    def log_partition(self, eta: Eta) -> float:
        """A(η)."""

    def log_partitions(self, eta: Eta) -> NDArray[np.float64]:
        """A(η) of each distribution: an array of any shape, whose sum is A(η)."""

    def mean_stats(self, eta: Eta) -> Eta:
        """E[t(θ)]."""

    def mode_stats(self, eta: Eta) -> Eta:
        """Read t at the mode."""

    def sample_stats(self, eta: Eta, rng: np.random.Generator) -> Eta:
        """Read t at a draw."""

    def has_mode(self, eta: Eta) -> bool:
        """Whether there is a mode."""

    def describe(self, eta: Eta) -> dict[str, NDArray[np.float64]]:
        """Named quantities that people read."""


class Projected(Family[Eta], Protocol[Eta]):
    """A family that other distributions are projected on, by their moments."""

    def from_moments(self, t: Eta) -> Eta:
        """The η with mean_stats(eta) = t: the inverse of the gradient of A."""


def inner(eta: Any, t: Any) -> float:
    """⟨η, t⟩ with 0 · (-inf) = 0, so that log 0 is legal where nothing was counted."""
    if eta is None:
        return 0.0
    if isinstance(eta, tuple):
        return float(sum(inner(e, x) for e, x in zip(eta, t, strict=True)))
    nothing = eta == 0.0
    return float(np.sum(np.where(nothing, 0.0, eta) * np.where(nothing, 0.0, t)))


def log_partition(family: Family[Eta], prior: Eta | None) -> float:
    """A(prior); 0 for the flat prior None, which costs nothing.

    A family whose q is in part a point sums over all that the prior allows.
    """
    if prior is None:
        return 0.0
    found: float = getattr(family, "log_prior_partition", family.log_partition)(prior)
    return found


def kl(
    family: Family[Eta], prior: Eta | None, eta: Eta, t: Eta, normalizer: float | None = None
) -> float:
    """KL[q(θ) ‖ p(θ)] for q = p(· | eta), where t = E_q[t(θ)].

    `normalizer` is A(prior), expected under q where the prior depends on other parameters.
    """
    gain = inner(subtract(eta, prior), t)  # subtracted first: t is huge where nothing was counted
    before = log_partition(family, prior) if normalizer is None else normalizer
    return gain - family.log_partition(eta) + before


def neg_log_density(
    family: Family[Eta], prior: Eta | None, eta: Eta, t: Eta, normalizer: float | None = None
) -> float:
    """-log p(θ | prior) at the one θ whose statistics are t; 0 under the flat prior."""
    before = log_partition(family, prior) if normalizer is None else normalizer
    base = family.log_base(t) if hasattr(family, "log_base") else 0.0  # of most it is constant
    return before - inner(prior, t) - base


def log_evidence(family: Family[Eta], prior: Eta | None, stats: Eta) -> float:
    """Log ∫ p(x | θ) p(θ) dθ up to the base measure: what structure scores are.

    A prior None adds nothing and costs nothing: that of a family with its prior inside.
    """
    return family.log_partition(add(prior, stats)) - log_partition(family, prior)


Array = NDArray[np.float64]

NO_ROWS = "no rows left, so nothing says what the parameters are"
NO_SPREAD = "collapsed: the rows leave no spread in some direction, so the likelihood has no bound"
TOO_FEW_ROWS = "too few rows for a distribution over precisions"

# A scatter is a difference, Σ x² - (Σ x)² / N. Both sums carry the error of some hundred or
# thousand roundings (2e-16 each), so what is left below 1e-12 of them is noise, not spread.
NOISE = 1e-12
# Below this variance (a component on rows that are all exactly 0) precisions would overflow.
SMALLEST = float(np.sqrt(np.finfo(np.float64).tiny))


def refuse(bad: NDArray[np.bool_], why: str) -> None:
    """Raise, naming the components (along the first axis) that are bad anywhere."""
    if bad.any():
        components = np.unique(np.nonzero(bad)[0])
        verb = "has" if components.size == 1 else "have"
        raise CollapseError(components.tolist(), f"{verb} {why}")


def is_proper(log_partition: Callable[[Any], float], eta: Any) -> bool:
    """Whether η is a distribution: its A(η) exists."""
    try:
        log_partition(eta)
    except CollapseError:
        return False
    return True
