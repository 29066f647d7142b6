"""The answers of a mixed network about numbers and counts: mixtures, or one for each row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri

from jensen.exceptions import JensenError
from jensen.inference.count_distribution import CountDistribution, check_shares, given_text
from jensen.inference.gaussian_distribution import GaussianDistributions
from jensen.inference.regression import check_level
from jensen.q_hidden.gaussian_cells import LOG_2PI
from jensen.support.arguments import as_generator
from jensen.support.text import grid, plural

Array = NDArray[np.float64]

MOST_COMPONENTS = 1 << 18
"""Larger mixtures are not written down: their mean and variance alone are the answer."""

HALVINGS = 200
"""Steps of the search for a quantile; it ends when the bounds are neighbouring numbers."""


@dataclass(frozen=True, eq=False)
class MixtureDistribution:
    """A mixture of Gaussians over some numbers; for one number the properties are numbers.

    There is a component for every configuration of the labels that the numbers depend on.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.BayesianNetwork.from_parameters(
    ...     "sex -> height",
    ...     tables={"sex": {"f": 0.5, "m": 0.5}},
    ...     regressions={
    ...         "height": {
    ...             "f": {"intercept": 165.0, "variance": 36.0},
    ...             "m": {"intercept": 178.0, "variance": 49.0},
    ...         }
    ...     },
    ... )
    >>> found = net.query("height")
    >>> found
    p(height): a mixture of 2 Gaussians
    variable   mean  standard deviation  90 % interval
    --------------------------------------------------
    height    171.5               9.206     157.3..187
    >>> found.mean, found.variance, round(found.cdf(171.5), 4)
    (171.5, 84.75, 0.5186)
    """

    names: tuple[str, ...]
    weights: Array  # (K,)
    means: Array  # (K, d)
    covariances: Array  # (K, d, d)
    evidence: str = ""  # as text, for headings

    @property
    def mean(self) -> Any:
        """The mean of the one variable; of several, (d,) in the order of `names`."""
        return _of_one(self._mean)

    @property
    def variance(self) -> Any:
        """The variance of the one variable; of several, (d,)."""
        return _of_one(np.diagonal(self.covariance).copy())

    @property
    def standard_deviation(self) -> Any:
        """The standard deviation of the one variable; of several, (d,)."""
        return _of_one(np.sqrt(np.diagonal(self.covariance)))

    @property
    def covariance(self) -> Array:
        """(d, d): within components and between their means."""
        apart = self.means - self._mean
        within = np.tensordot(self.weights, self.covariances, 1)
        return np.asarray(within + (self.weights * apart.T) @ apart)

    @property
    def _mean(self) -> Array:
        near = self.means[0]  # so that a mean far from 0 keeps its digits
        return np.asarray(near + self.weights @ (self.means - near))

    def density(self, x: Any) -> Any:
        """The density at numbers x; of d variables the last axis of x has d entries."""
        points = np.asarray(x, np.float64)
        shape = points.shape if len(self.names) == 1 else points.shape[:-1]
        if len(self.names) > 1 and points.shape[-1:] != (len(self.names),):
            raise JensenError(f"a point here has {len(self.names)} numbers: {list(self.names)}")
        apart = points.reshape(-1, 1, len(self.names)) - self.means
        roots = np.linalg.cholesky(self.covariances)
        turned = np.linalg.solve(roots[None], apart[..., None])[..., 0]
        log_scale = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(1)
        each = -0.5 * (np.square(turned).sum(2) + len(self.names) * LOG_2PI) - log_scale
        found = np.exp(logsumexp(each, axis=1, b=self.weights)).reshape(shape)
        return float(found) if shape == () else found

    def cdf(self, x: Any) -> Any:
        """P(variable ≤ x), of one variable."""
        self._require_one("cdf")
        points = np.asarray(x, np.float64)
        found = ndtr((points[..., None] - self.means[:, 0]) / self._deviations) @ self.weights
        return float(found) if points.shape == () else found

    def quantile(self, p: Any) -> Any:
        """The number below which the one variable lies with probability p, between 0 and 1."""
        self._require_one("quantile")
        shares = np.asarray(p, np.float64)
        check_shares(shares, p)
        each = self.means[:, 0] + ndtri(shares[..., None]) * self._deviations
        low, high = each.min(-1), each.max(-1)  # the mixture's own lies between
        for _ in range(HALVINGS):
            middle = low + 0.5 * (high - low)
            if np.all((middle <= low) | (middle >= high)):
                break
            is_below = np.asarray(self.cdf(middle)) < shares
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return float(high) if shares.shape == () else high

    def interval(self, level: float = 0.9) -> tuple[float | Array, float | Array]:
        """The central interval of each variable that holds this probability."""
        check_level(level)
        tails = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])
        low, high = np.array([self.marginal(x).quantile(tails) for x in self.names]).T
        return _of_one(low), _of_one(high)

    def sample(self, n: int, random_state: Any = None) -> Array:
        """(n,): draws; of several variables (n, d)."""
        rng = as_generator(random_state)
        which = rng.choice(len(self.weights), n, p=self.weights)
        roots = np.linalg.cholesky(self.covariances)
        normal = rng.standard_normal((n, len(self.names)))
        found = self.means[which] + np.einsum("nij,nj->ni", roots[which], normal)
        return np.asarray(found[:, 0] if len(self.names) == 1 else found)

    def marginal(self, names: str | Sequence[str]) -> MixtureDistribution:
        """The distribution of some of the variables."""
        chosen = (names,) if isinstance(names, str) else tuple(names)
        for name in chosen:
            if name not in self.names:
                raise JensenError(f"this is a distribution of {', '.join(self.names)}, not {name}")
        at = [self.names.index(name) for name in chosen]
        return merged_mixture(
            chosen,
            self.weights,
            self.means[:, at],
            self.covariances[:, at][:, :, at],
            self.evidence,
        )

    def moments(self, size: float) -> NumberMoments:
        """Mean and variance alone, of a mixture of so many Gaussians."""
        variances = np.diagonal(self.covariance).copy()
        return NumberMoments(self.names, self._mean, variances, size, self.evidence)

    def plain(self) -> dict[str, Any]:
        """Means and covariance, and all components, as plain data."""
        return {
            "means": self._mean.tolist(),
            "covariance": self.covariance.tolist(),
            "weights": self.weights.tolist(),
            "component_means": self.means.tolist(),
            "component_covariances": self.covariances.tolist(),
        }

    @property
    def _deviations(self) -> Array:
        return np.sqrt(self.covariances[:, 0, 0])

    def _require_one(self, what: str) -> None:
        if len(self.names) > 1:
            raise JensenError(
                f"{what} is of one variable, and this is a distribution of "
                f"{', '.join(self.names)}: ask for marginal({self.names[0]!r}) first"
            )

    def __repr__(self) -> str:
        rows = [["variable", "mean", "standard deviation", "90 % interval"]]
        low, high = (np.atleast_1d(bound) for bound in self.interval(0.9))
        spread = np.sqrt(np.diagonal(self.covariance))
        for name, *numbers in zip(self.names, self._mean, spread, low, high, strict=True):
            mean, deviation, least, most = (f"{x:.4g}" for x in numbers)
            rows.append([name, mean, deviation, f"{least}..{most}"])
        n = len(self.weights)
        kind = "a Gaussian" if n == 1 else f"a mixture of {n:,} Gaussians"
        given = given_text(self.evidence)
        return f"p({', '.join(self.names)}{given}): {kind}\n{grid(rows, left=1, rule=True)}"


def merged_mixture(
    names: tuple[str, ...], weights: Array, means: Array, covariances: Array, evidence: str = ""
) -> MixtureDistribution:
    """A mixture without components of weight 0; components that are exactly equal are one."""
    there = np.flatnonzero(weights > 0.0)
    flat = np.column_stack([means[there], covariances[there].reshape(len(there), -1)])
    _, first, number = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as they came
    total = np.bincount(number.ravel(), weights[there], minlength=len(first))[order]
    at = there[first[order]]
    return MixtureDistribution(names, total / total.sum(), means[at], covariances[at], evidence)


@dataclass(frozen=True, eq=False)
class NumberMoments:
    """Mean and variance of some numbers whose mixture is too large to be written down.

    Both are exact. Densities, quantiles and draws of the answer are refused; `sample(given=)` of
    the network draws rows.
    """

    names: tuple[str, ...]
    means: Array  # (d,)
    variances: Array  # (d,)
    size: float  # how many Gaussians the mixture has
    evidence: str = ""

    @property
    def mean(self) -> Any:
        """The mean of the one variable; of several, (d,) in the order of `names`."""
        return _of_one(self.means)

    @property
    def variance(self) -> Any:
        """The variance of the one variable; of several, (d,)."""
        return _of_one(self.variances)

    @property
    def standard_deviation(self) -> Any:
        """The standard deviation of the one variable; of several, (d,)."""
        return _of_one(np.sqrt(self.variances))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(MixtureDistribution, name):
            raise AttributeError(name)
        raise JensenError(
            f"this answer has moments only, mean and variance: the mixture has {self.size:.3g} "
            f"Gaussians, more than {MOST_COMPONENTS:,}. For {name} give more labels, ask for fewer "
            f"numbers at once, or draw rows with sample(n, given=...)"
        )

    def plain(self) -> dict[str, Any]:
        """Means and variances as plain data."""
        return {
            "kind": "moments only",
            "means": self.means.tolist(),
            "variances": self.variances.tolist(),
            "n_components": self.size,
        }

    def __repr__(self) -> str:
        rows = [["variable", "mean", "standard deviation"]]
        for name, mean, variance in zip(self.names, self.means, self.variances, strict=True):
            rows.append([name, f"{mean:.4g}", f"{np.sqrt(variance):.4g}"])
        return (
            f"p({', '.join(self.names)}{given_text(self.evidence)}): moments only of a mixture of "
            f"{self.size:.3g} Gaussians\n{grid(rows, left=1, rule=True)}"
        )


NumberAnswer: TypeAlias = MixtureDistribution | NumberMoments | CountDistribution
"""What is answered about numbers."""


def _of_one(values: Array) -> Any:
    return float(values[0]) if len(values) == 1 else values


@dataclass(frozen=True, eq=False, repr=False)
class MixtureDistributions(GaussianDistributions):
    """One `MixtureDistribution` per row of evidence.

    Means and covariances of all rows are known at once; the mixture of a row is computed when
    it is asked for, by its number.
    """

    ask: Callable[[int], NumberAnswer]

    def __getitem__(self, row: int) -> NumberAnswer:  # type: ignore[override]
        n, i = len(self), operator.index(row)
        if not -n <= i < n:
            raise IndexError(f"there is no row {i}: there are {plural(n, 'row')} of evidence")
        return self.ask(i % n)

    def __iter__(self) -> Iterator[NumberAnswer]:  # type: ignore[override]
        for i in range(len(self)):
            yield self[i]

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """The central interval of each variable that holds this probability, for every row."""
        check_level(level)
        bounds = [one.interval(level) for one in self]
        low, high = (np.array([pair[k] for pair in bounds]) for k in (0, 1))
        return low, high
