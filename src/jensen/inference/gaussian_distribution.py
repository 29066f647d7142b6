"""The answer of a Gaussian network: means and covariances that print as a small table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from jensen.exceptions import JensenError
from jensen.inference.regression import check_level
from jensen.support.text import grid

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianDistribution:
    """A Gaussian over some variables; of one variable, what is asked for is a number.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.BayesianNetwork.from_regressions(
    ...     "x -> y",
    ...     {
    ...         "x": {"intercept": 1.0, "variance": 4.0},
    ...         "y": {"coefficients": {"x": 2.0}, "variance": 9.0},
    ...     },
    ... )
    >>> net.query("x", given={"y": 4.0})
    p(x | y=4)
    variable  mean  standard deviation   90 % interval
    --------------------------------------------------
    x         1.64                 1.2  -0.3338..3.614
    >>> net.query("x", given={"y": 4.0}).mean
    1.64
    """

    names: tuple[str, ...]
    means: Array  # (k,)
    covariance: Array  # (k, k)
    evidence: str = ""  # in words

    @property
    def mean(self) -> float | Array:
        """The mean of the one variable; of several, (k,) in the order of `names`."""
        return self._one(self.means)

    @property
    def variance(self) -> float | Array:
        """The variance of the one variable; of several, (k,)."""
        return self._one(np.diagonal(self.covariance).copy())

    @property
    def standard_deviation(self) -> float | Array:
        """The standard deviation of the one variable; of several, (k,)."""
        return self._one(np.sqrt(np.diagonal(self.covariance)))

    def interval(self, level: float = 0.9) -> tuple[float | Array, float | Array]:
        """The central interval of each variable that holds this probability."""
        low, high = self._interval(level)
        return self._one(low), self._one(high)

    def marginal(self, names: str | Sequence[str]) -> GaussianDistribution:
        """The distribution of some of the variables."""
        chosen = (names,) if isinstance(names, str) else tuple(names)
        for name in chosen:
            if name not in self.names:
                raise JensenError(f"this is a distribution of {', '.join(self.names)}, not {name}")
        at = [self.names.index(name) for name in chosen]
        return GaussianDistribution(
            chosen, self.means[at], self.covariance[np.ix_(at, at)], self.evidence
        )

    def plain(self) -> dict[str, Any]:
        """For programs."""
        return {"means": self.means.tolist(), "covariance": self.covariance.tolist()}

    def _interval(self, level: float) -> tuple[Array, Array]:
        check_level(level)
        reach = ndtri(0.5 + 0.5 * level) * np.sqrt(np.diagonal(self.covariance))
        return self.means - reach, self.means + reach

    def _one(self, values: Array) -> float | Array:
        return float(values[0]) if len(self.names) == 1 else values

    def __repr__(self) -> str:
        low, high = self._interval(0.9)
        deviations = np.sqrt(np.diagonal(self.covariance))
        rows = [["variable", "mean", "standard deviation", "90 % interval"]]
        for name, *numbers in zip(self.names, self.means, deviations, low, high, strict=True):
            mean, deviation, least, most = (f"{x:.4g}" for x in numbers)
            rows.append([name, mean, deviation, f"{least}..{most}"])
        given = f" | {self.evidence}" if self.evidence else ""
        return f"p({', '.join(self.names)}{given})\n{grid(rows, left=1, rule=True)}"
