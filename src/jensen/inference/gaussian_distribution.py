"""The answers of a Gaussian network: a Gaussian, or one for each row of evidence."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from jensen.exceptions import JensenError
from jensen.inference.regression import check_level
from jensen.support.text import grid, plural

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

FEW_ROWS = 5
"""Number of rows that are printed."""


@dataclass(frozen=True, eq=False)
class GaussianDistribution:
    """A Gaussian over some variables; for one variable the properties are numbers.

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
    evidence: str = ""  # as text, for headings

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
        """Means and covariance as plain data."""
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


@dataclass(frozen=True, eq=False)
class GaussianDistributions:
    """One `GaussianDistribution` per row of evidence.

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
    >>> found = net.query("x", given=[{"y": 4.0}, {}])
    >>> found
    p(x) for 2 rows of evidence
    row  x: mean  x: standard deviation
    -----------------------------------
    0       1.64                    1.2
    1          1                      2
    >>> found.mean, found.variance
    (array([1.64, 1.  ]), array([1.44, 4.  ]))
    >>> found[0]
    p(x | row 0)
    variable  mean  standard deviation   90 % interval
    --------------------------------------------------
    x         1.64                 1.2  -0.3338..3.614
    """

    names: tuple[str, ...]  # in the order asked
    means: Array  # (N, k)
    covariances: Array  # (N, k, k)

    @property
    def mean(self) -> Array:
        """(N,): the means of the one variable; of several, (N, k)."""
        return self._one(self.means)

    @property
    def variance(self) -> Array:
        """(N,): the variances of the one variable; of several, (N, k)."""
        return self._one(np.diagonal(self.covariances, axis1=1, axis2=2).copy())

    @property
    def standard_deviation(self) -> Array:
        """(N,): the standard deviations of the one variable; of several, (N, k)."""
        return np.asarray(np.sqrt(self.variance))

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """The central interval of each variable that holds this probability, for every row."""
        check_level(level)
        reach = ndtri(0.5 + 0.5 * level) * self.standard_deviation
        return self.mean - reach, self.mean + reach

    def __len__(self) -> int:
        return len(self.means)

    def __getitem__(self, row: int) -> GaussianDistribution:
        n, i = len(self), operator.index(row)
        if not -n <= i < n:
            raise IndexError(f"there is no row {i}: there are {plural(n, 'row')} of evidence")
        return GaussianDistribution(self.names, self.means[i], self.covariances[i], f"row {i % n}")

    def __iter__(self) -> Iterator[GaussianDistribution]:
        for i in range(len(self)):
            yield self[i]

    def to_pandas(self) -> pandas.DataFrame:
        """A dataframe: a row per row of evidence, two columns per variable."""
        import pandas

        columns = pandas.MultiIndex.from_product([self.names, ["mean", "standard deviation"]])
        return pandas.DataFrame(self._numbers(len(self)), columns=columns)

    def __repr__(self) -> str:
        head = [f"{name}: {what}" for name in self.names for what in ("mean", "standard deviation")]
        lines = [["row", *head]]
        for k, numbers in enumerate(self._numbers(FEW_ROWS)):
            lines.append([str(k), *(f"{x:.4g}" for x in numbers)])
        more = len(self) - (len(lines) - 1)
        rest = f"\n... and {plural(more, 'row')} more" if more else ""
        title = f"p({', '.join(self.names)}) for {plural(len(self), 'row')} of evidence"
        return f"{title}\n{grid(lines, left=1, rule=True)}{rest}"

    def _numbers(self, n: int) -> Array:
        """(n, 2k): mean and standard deviation of every variable, for the first rows."""
        variances = np.diagonal(self.covariances[:n], axis1=1, axis2=2)
        both = np.stack([self.means[:n], np.sqrt(variances)], axis=2)
        return both.reshape(len(both), 2 * len(self.names))

    def _one(self, values: Array) -> Array:
        return values[:, 0] if len(self.names) == 1 else values
