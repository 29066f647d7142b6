"""The regression of a variable on its parents, and the posterior of that regression."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, stdtrit

from jensen.data.variable import Variable, state_of
from jensen.exceptions import JensenError
from jensen.families.linear_regression import RegressionParameters
from jensen.inference.cpt import MAX_SHOWN_ROWS
from jensen.support.arguments import is_real
from jensen.support.text import PAGE, grid, plural, some

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinearRegression:
    """A variable is intercept + Σ coefficient · parent + Gaussian noise of this variance.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"x": [0.5, 1.5, 2.0, 4.0], "y": [1.25, 3.0, 4.5, 8.0]})
    >>> jn.BayesianNetwork("x -> y").fit(table).regression("y")
    regression of y
    term                coefficient
    -------------------------------
    intercept                0.3029
    x                         1.942
    standard deviation       0.1938
    """

    name: str
    intercept: float
    coefficients: Mapping[str, float]  # by parent
    variance: float

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the noise."""
        return float(np.sqrt(self.variance))

    def __repr__(self) -> str:
        values = {"intercept": self.intercept, **self.coefficients}
        rows = [[name, f"{value:.4g}"] for name, value in values.items()]
        rows.append(["standard deviation", f"{self.standard_deviation:.4g}"])
        table = grid([["term", "coefficient"], *rows], left=1, rule=True)
        return f"regression of {self.name}\n{table}"


@dataclass(frozen=True, eq=False)
class RegressionPosterior:
    """The posterior of a regression: Student distributions of its coefficients.

    `parameters` has K = 1 component, with columns less `centre`: that of the variable, then of the
    parents.
    """

    name: str
    parents: tuple[str, ...]
    parameters: RegressionParameters
    centre: Array  # (p + 1,)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the coefficients: "intercept", then the parents."""
        return ("intercept", *self.parents)

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of the posterior of the variance."""
        return float(self.parameters.degrees_of_freedom[0])

    @property
    def mean(self) -> Array:
        """(p + 1,): the intercept, then the slopes."""
        intercept, *slopes = self.parameters.coefficients[0]
        return np.array([intercept + self.centre[0] - self.centre[1:] @ np.array(slopes), *slopes])

    @property
    def variance(self) -> float:
        """The inverse of the expected precision of the noise."""
        return float(1.0 / (self.parameters.degrees_of_freedom[0] * self.parameters.scale[0]))

    @property
    def mean_variance(self) -> float:
        """The posterior mean of the variance, which is inverse gamma distributed.

        It is above `variance`, and infinite with two degrees of freedom or fewer.
        """
        if self.degrees_of_freedom <= 2.0:
            return math.inf
        return float(1.0 / ((self.degrees_of_freedom - 2.0) * self.parameters.scale[0]))

    @property
    def spread(self) -> Array:
        """(p + 1,): the scales of the Student distributions of the coefficients."""
        turn = np.eye(len(self.terms))
        turn[0, 1:] = -self.centre[1:]
        root = np.linalg.solve(np.linalg.cholesky(self.parameters.strength[0]), turn.T)
        return np.asarray(np.sqrt(self.variance * np.square(root).sum(0)))

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Equal-tailed credible intervals of the intercept and the slopes."""
        check_level(level)
        reach = self.spread * stdtrit(self.degrees_of_freedom, 0.5 + 0.5 * level)
        return self.mean - reach, self.mean + reach

    def variance_interval(self, level: float = 0.9) -> tuple[float, float]:
        """An equal-tailed credible interval of the variance of the noise."""
        check_level(level)
        tails = np.array([0.5 + 0.5 * level, 0.5 - 0.5 * level])
        chi_square = 2.0 * gammaincinv(0.5 * self.degrees_of_freedom, tails)
        low, high = 1.0 / (self.parameters.scale[0] * chi_square)
        return float(low), float(high)

    def __repr__(self) -> str:
        rows = [["term", "mean", "interval"]]
        for term, mean, low, high in zip(self.terms, self.mean, *self.interval(0.9), strict=True):
            rows.append([term, f"{mean:.4g}", f"{low:.4g}..{high:.4g}"])
        low, high = self.variance_interval(0.9)
        mean = "infinite" if math.isinf(self.mean_variance) else f"{self.mean_variance:.4g}"
        rows.append(["variance", mean, f"{low:.4g}..{high:.4g}"])
        table = grid(rows, left=1, rule=True)
        return f"posterior of the regression of {self.name}, 90 % intervals\n{table}"


Gammas = tuple[float, float]
"""Shape and rate of a gamma distribution."""

Conditional = TypeVar("Conditional", LinearRegression, RegressionPosterior, float, Gammas)


class _ByConfiguration(Generic[Conditional]):
    """Something for every configuration of some labels, the last label moving fastest."""

    name: str
    labels: tuple[Variable, ...]
    each: tuple[Conditional, ...]

    def __getitem__(self, given: Mapping[str, object] | object) -> Conditional:
        """That of one configuration: a dict of labels, or the one label, or a tuple by name."""
        names = [x.name for x in self.labels]
        if not isinstance(given, Mapping):
            states = given if isinstance(given, tuple) else (given,)
            given = dict(zip(names, states, strict=False)) if len(states) == len(names) else {}
        if set(given) != set(names):
            raise JensenError(
                f"the regression of {self.name!r} depends on {some(names)}: give a state of each, "
                f"as in [{dict.fromkeys(names, '...')}]"
            )
        config = 0
        for label in self.labels:
            config = config * label.n_states + state_of(label, given[label.name])
        return self.each[config]

    def __len__(self) -> int:
        return len(self.each)

    def items(self) -> Iterator[tuple[dict[str, str], Conditional]]:
        """Labels by name, and what belongs to them, configuration by configuration."""
        names = [x.name for x in self.labels]
        configs = product(*(x.states for x in self.labels))
        for states, one in zip(configs, self.each, strict=True):
            yield dict(zip(names, states, strict=True)), one


@dataclass(frozen=True, eq=False)
class ConditionalRegression(_ByConfiguration[LinearRegression]):
    """A regression on parents that are numbers, for each configuration of those that are labels.

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
    >>> net.regression("height")
    regression of height given sex
    sex  intercept  standard deviation
    ----------------------------------
    f          165                   6
    m          178                   7
    >>> net.regression("height")[{"sex": "m"}].variance
    49.0
    """

    name: str
    labels: tuple[Variable, ...]  # by name
    each: tuple[LinearRegression, ...]

    def __repr__(self) -> str:
        names = [x.name for x in self.labels]
        rows = [[*names, "intercept", *self.each[0].coefficients, "standard deviation"]]
        for labels, one in islice(self.items(), MAX_SHOWN_ROWS):
            numbers = one.intercept, *one.coefficients.values(), one.standard_deviation
            rows.append([*labels.values(), *(f"{x:.4g}" for x in numbers)])
        more = len(self) - MAX_SHOWN_ROWS
        tail = f"\n... and {plural(more, 'row')} more" if more > 0 else ""
        table = grid(rows, left=len(names), rule=True, page=PAGE)
        return f"regression of {self.name} given {', '.join(names)}\n{table}{tail}"


@dataclass(frozen=True, eq=False)
class ConditionalPosterior(_ByConfiguration[RegressionPosterior]):
    """The posterior of a regression for each configuration of the parents that are labels."""

    name: str
    labels: tuple[Variable, ...]  # by name
    each: tuple[RegressionPosterior, ...]

    def __repr__(self) -> str:
        parts = []
        for labels, one in islice(self.items(), MAX_SHOWN_ROWS):
            where = ", ".join(f"{name}={state}" for name, state in labels.items())
            parts.append(f"where {where}: {one!r}")
        return "\n\n".join(parts)


@dataclass(frozen=True, eq=False)
class CountRates(_ByConfiguration[float]):
    """The Poisson rate of a count for each configuration of its parents, which are labels.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = {"sex": ["f", "f", "m", "m"], "visits": [3, 5, 1, 2]}
    >>> net = jn.BayesianNetwork("sex -> visits").fit(jn.Table(rows, counts=["visits"]))
    >>> net.regression("visits")
    rate of visits given sex
    sex  rate
    ---------
    f       4
    m     1.5
    """

    name: str
    labels: tuple[Variable, ...]  # by name
    each: tuple[float, ...]

    def __repr__(self) -> str:
        return _shown_rates(self, "rate", ["rate"], lambda rate: [rate])


@dataclass(frozen=True, eq=False)
class RatePosteriors(_ByConfiguration[Gammas]):
    """The gamma distribution of the rate of a count for each configuration of its parents.

    Each is a pair, (shape, rate) of the distribution.
    """

    name: str
    labels: tuple[Variable, ...]  # by name
    each: tuple[Gammas, ...]

    @property
    def mean(self) -> Array:
        """(K,): the expected rates."""
        return np.array([shape / rate for shape, rate in self.each])

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """(K,), (K,): equal-tailed credible intervals of the rates."""
        check_level(level)
        shape, rate = np.array(self.each).T
        low, high = (gammaincinv(shape, 0.5 + s * level) / rate for s in (-0.5, 0.5))
        return low, high

    def __repr__(self) -> str:
        low, high = self.interval(0.9)
        bounds = dict(zip(self.each, zip(low, high, strict=True), strict=True))
        return _shown_rates(
            self,
            "posterior of the rate",
            ["mean", "low", "high"],
            lambda own: [own[0] / own[1], *bounds[own]],
        )


AnyRegression: TypeAlias = LinearRegression | ConditionalRegression | CountRates
"""How a number depends on its parents."""

AnyPosterior: TypeAlias = RegressionPosterior | ConditionalPosterior | RatePosteriors
"""What is known of it."""


def _shown_rates(
    found: _ByConfiguration[Any],
    what: str,
    titles: list[str],
    numbers: Callable[[Any], list[float]],
) -> str:
    """Numbers of every configuration as a table."""
    names = [x.name for x in found.labels]
    rows = [[*names, *titles]]
    for labels, own in islice(found.items(), MAX_SHOWN_ROWS):
        rows.append([*labels.values(), *(f"{x:.4g}" for x in numbers(own))])
    more = len(found) - MAX_SHOWN_ROWS
    tail = f"\n... and {plural(more, 'row')} more" if more > 0 else ""
    given = f" given {', '.join(names)}" if names else ""
    return f"{what} of {found.name}{given}\n{grid(rows, left=len(names), rule=True)}{tail}"


def check_level(level: float) -> None:
    """Refuse a level that is not between 0 and 1."""
    if not is_real(level) or not 0 < level < 1:
        raise JensenError(f"the level of an interval lies between 0 and 1, not {level}")
