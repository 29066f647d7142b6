"""The answer of a mixed network about a count: a mixture of Poisson distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, pdtr, xlogy

from jensen.exceptions import JensenError
from jensen.families.gamma import draw_counts
from jensen.inference.regression import check_level
from jensen.support.arguments import as_generator
from jensen.support.text import grid

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CountDistribution:
    """A mixture of Poisson distributions: what is known of one count.

    There is a component for every configuration of the labels that the count depends on.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = {"sex": ["f", "f", "m", "m"], "visits": [3, 5, 1, 2]}
    >>> net = jn.BayesianNetwork("sex -> visits").fit(jn.Table(rows, counts=["visits"]))
    >>> found = net.query("visits")
    >>> found
    p(visits): a mixture of 2 Poisson distributions
    variable  mean  standard deviation  90 % interval
    -------------------------------------------------
    visits    2.75               2.077           0..7
    >>> found.variance, round(found.density(0), 4), found.quantile(0.5)
    (4.3125, 0.1207, 2)
    """

    name: str
    weights: Array  # (K,)
    rates: Array  # (K,)
    evidence: str = ""  # as text, for headings

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the count, as other answers have theirs."""
        return (self.name,)

    @property
    def mean(self) -> float:
        """The expected count."""
        return float(self.weights @ self.rates)

    @property
    def variance(self) -> float:
        """Within components, whose variance is their rate, and between them."""
        return self.mean + float(self.weights @ np.square(self.rates - self.mean))

    @property
    def covariance(self) -> Array:
        """(1, 1): the variance, as answers about several numbers have it."""
        return np.array([[self.variance]])

    @property
    def standard_deviation(self) -> float:
        """The root of the variance."""
        return float(np.sqrt(self.variance))

    def density(self, x: Any) -> Any:
        """The probability of counts x; 0 for what is no whole number from 0."""
        points = np.asarray(x, np.float64)
        is_count = (points >= 0.0) & (points == np.floor(points))
        safe = np.where(is_count, points, 0.0)[..., None]
        each = xlogy(safe, self.rates) - self.rates - gammaln(safe + 1.0)
        found = np.where(is_count, np.exp(each) @ self.weights, 0.0)
        return float(found) if points.shape == () else found

    def cdf(self, x: Any) -> Any:
        """P(count ≤ x)."""
        points = np.asarray(x, np.float64)
        below = np.maximum(np.floor(points), 0.0)[..., None]
        found = np.where(points < 0.0, 0.0, pdtr(below, self.rates) @ self.weights)
        return float(found) if points.shape == () else found

    def quantile(self, p: Any) -> Any:
        """The smallest count with P(count ≤ it) ≥ p, for p between 0 and 1."""
        shares = np.asarray(p, np.float64)
        check_shares(shares, p)
        low = np.full(shares.shape, -1.0)
        high = np.full(shares.shape, np.ceil(self.rates.max()) + 1.0)
        while np.any(short := np.asarray(self.cdf(high)) < shares):
            high = np.where(short, 2.0 * high, high)
        while np.any(high - low > 1.0):
            middle = np.floor(0.5 * (low + high))
            is_below = np.asarray(self.cdf(middle)) < shares
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return int(high) if shares.shape == () else high.astype(np.int64)

    def interval(self, level: float = 0.9) -> tuple[int, int]:
        """A central interval that holds this probability, or more."""
        check_level(level)
        return self.quantile(0.5 - 0.5 * level), self.quantile(0.5 + 0.5 * level)

    def sample(self, n: int, random_state: Any = None) -> Array:
        """(n,): draws."""
        rng = as_generator(random_state)
        return draw_counts(self.rates[rng.choice(len(self.weights), n, p=self.weights)], rng)

    def plain(self) -> dict[str, Any]:
        """Mean and variance, and all components, as plain data."""
        return {
            "mean": self.mean,
            "variance": self.variance,
            "weights": self.weights.tolist(),
            "rates": self.rates.tolist(),
        }

    def __repr__(self) -> str:
        low, high = self.interval(0.9)
        numbers = f"{self.mean:.4g}", f"{self.standard_deviation:.4g}", f"{low}..{high}"
        rows = [["variable", "mean", "standard deviation", "90 % interval"], [self.name, *numbers]]
        n = len(self.weights)
        kind = "a Poisson distribution" if n == 1 else f"a mixture of {n:,} Poisson distributions"
        table = grid(rows, left=1, rule=True)
        return f"p({self.name}{given_text(self.evidence)}): {kind}\n{table}"


def merged_counts(name: str, weights: Array, rates: Array, evidence: str = "") -> CountDistribution:
    """A mixture without components of weight 0; those of equal rates are one."""
    rates, number = np.unique(rates[weights > 0.0], return_inverse=True)
    total = np.bincount(number, weights[weights > 0.0])
    return CountDistribution(name, total / total.sum(), rates, evidence)


def check_shares(shares: Array, p: Any) -> None:
    """Refuse what is no probability between 0 and 1."""
    if not np.all((shares > 0.0) & (shares < 1.0)):
        raise JensenError(f"a quantile is asked for between 0 and 1, not at {p!r:.80}")


def given_text(evidence: str) -> str:
    """What an answer is given, behind a bar."""
    return f" | {evidence}" if evidence else ""
