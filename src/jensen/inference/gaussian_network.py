"""A Gaussian network: graph, regressions and, after VB, their posterior."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.fill_missing import Filled
from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.linear_regression import RegressionParameters
from jensen.graphs import DAG
from jensen.inference import gaussian_queries
from jensen.inference.fitted import DEFAULTS, FittedNetwork, Given, Method, Names, RowChoices
from jensen.inference.gaussian_distribution import GaussianDistribution, GaussianDistributions
from jensen.inference.most_probable import Assignment
from jensen.inference.regression import LinearRegression, RegressionPosterior
from jensen.support.arguments import is_real
from jensen.support.fields import leaves
from jensen.support.text import for_reader, grid, some

Array = NDArray[np.float64]


class RegressionPosteriors(NamedTuple):
    """The posterior of every regression, of columns from which `centre` was subtracted."""

    centre: Array  # (n,)
    parameters: tuple[RegressionParameters, ...]


@dataclass(frozen=True, eq=False)
class GaussianNetwork(FittedNetwork):
    """Regressions of all variables on their parents, in the order of the graph's nodes.

    `prior` holds the numbers of the prior that the network was learned with (the default scale is
    computed from the data, once). `constants` are columns that did not vary in the data, with their
    values; they are not variables of the network.
    """

    format = "jensen-gaussian-network"
    holds = "Gaussian network"
    lacks = (
        "the variables of this network are continuous, so it has no states and no tables: "
        "see regression(name), query, predict, or make states with jn.discretize"
    )

    graph: DAG
    regressions: tuple[LinearRegression, ...]
    regression_posteriors: RegressionPosteriors | None = None
    prior: NormalWishartPrior | None = None
    constants: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """One continuous variable per node."""
        return tuple(Variable(name, "continuous") for name in self.graph.nodes)

    @property
    def n_parameters(self) -> int:
        """Free parameters: intercepts, slopes and variances."""
        return sum(len(own) + 2 for own in self.graph.parent_indices)

    @property
    def has_posterior(self) -> bool:
        """Whether the posterior of the regressions is known, as after VB."""
        return self.regression_posteriors is not None

    @property
    def n_samples(self) -> None:
        """None: regressions are not sampled."""

    @cached_property
    def intercepts(self) -> Array:
        """(n,): one per variable."""
        return np.array([one.intercept for one in self.regressions])

    @cached_property
    def slopes(self) -> Array:
        """(n, n): row v holds the coefficients of v on its parents."""
        found = np.zeros((len(self.regressions),) * 2)
        for v, one in enumerate(self.regressions):
            for parent, value in one.coefficients.items():
                found[v, self.graph.index[parent]] = value
        return found

    @cached_property
    def variances(self) -> Array:
        """(n,): variances of the noise."""
        return np.array([one.variance for one in self.regressions])

    def regression(self, name: str) -> LinearRegression:
        """The regression of a variable on its parents."""
        return self.regressions[self.index(name)]

    def posterior(self, name: str) -> RegressionPosterior:
        """The posterior of the regression of a variable."""
        if self.regression_posteriors is None:
            raise JensenError(
                "this network has point estimates only: a posterior comes from method='vbem'"
            )
        v = self.index(name)
        centre = self.regression_posteriors.centre[[v, *self.graph.parent_indices[v]]]
        return RegressionPosterior(
            name, self.graph.parents(name), self.regression_posteriors.parameters[v], centre
        )

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Same graph, and regressions (and posteriors) equal within `tolerance`."""
        if not isinstance(other, GaussianNetwork) or self.graph != other.graph:
            return False
        mine, theirs = _numbers(self), _numbers(other)
        return len(mine) == len(theirs) and all(
            np.allclose(a, b, rtol=0.0, atol=tolerance) for a, b in zip(mine, theirs, strict=True)
        )

    # --- questions ---

    def query(
        self,
        targets: Names,
        given: Any,
        do: Given,
        *,
        interval: float | None = None,
        rng: np.random.Generator | None = None,
        hidden: Collection[str] = (),
    ) -> GaussianDistribution | GaussianDistributions:
        """P(targets | do, given); `given` may be many rows, then there are as many answers."""
        if interval is not None:
            raise JensenError(
                for_reader(
                    "the answer of a Gaussian network has .interval(level) itself",
                    "--interval tells how sure probabilities are, and this is a network of "
                    "numbers, whose answers show the 90 % interval of each variable by themselves: "
                    "leave --interval out",
                )
            )
        if given is None or isinstance(given, Mapping):
            return gaussian_queries.query(self, targets, given, do)
        return gaussian_queries.query_many(self, targets, given, do)

    def marginals(self, given: Given, do: Given) -> dict[str, GaussianDistribution]:
        """P(X | do, given) of every variable that is not known."""
        return gaussian_queries.marginals(self, given, do)

    def log_probability(self, given: Given, do: Given) -> float:
        """The log density of what is given."""
        return gaussian_queries.log_probability(self, given, do)

    def probability(self, given: Given, do: Given) -> float:
        """Refused: a continuous variable has a density only."""
        raise JensenError(
            "a value of a continuous variable has no probability: log_probability gives its "
            "log density"
        )

    def most_probable(self, given: Given, do: Given, k: int) -> list[Assignment]:
        """The point of the highest density, which is the mean; there is no second one."""
        return gaussian_queries.most_probable(self, given, do, k)

    def entropy(self, targets: Names | None, given: Given) -> float:
        """Entropy of p(targets | given) in nats; negative where they are nearly known."""
        return gaussian_queries.entropy(self, targets, given)

    def mutual_information(self, a: Names, b: Names, given: Given | Sequence[str]) -> float:
        """I(a; b | given) in nats; it is the same whatever the values of what is given."""
        return gaussian_queries.mutual_information(self, a, b, given)

    def sample(
        self, n: int, given: Given, do: Given, rng: np.random.Generator, *, progress: bool = False
    ) -> Table:
        """Draw n rows, exactly given what is known."""
        return gaussian_queries.draw(self, n, given, do, rng)

    def log_likelihood(self, table: Table, rows: RowChoices = DEFAULTS) -> Array:
        """Log p(row), what is missing integrated out."""
        return gaussian_queries.log_likelihood(self, table, rows)

    def predict(
        self, table: Table, target: str, *, hidden: Collection[str] = (), **choices: Any
    ) -> Array:
        """E[target | the rest of the row]; no row is impossible, and no number unknown."""
        foreign = [name for name in choices if name != "missing_columns"]
        if foreign:
            raise JensenError(f"a Gaussian network predicts without {some(foreign)}")
        return gaussian_queries.predict(self, table, target, **choices)

    def fill(
        self, data: Table, method: Method, rng: np.random.Generator, rows: RowChoices = DEFAULTS
    ) -> dict[str, Filled]:
        """Columns as the network's own variables, before and after gaps were filled."""
        return gaussian_queries.fill(self, data, method, rng, rows)

    # --- how it is shown and kept ---

    def conditional(self, name: str) -> LinearRegression:
        """The regression of a variable on its parents."""
        return self.regression(name)

    def listing(self) -> str:
        """The regressions of all variables."""
        rows = [["variable", "parents", "intercept", "standard deviation"]]
        for one in self.regressions:
            numbers = (f"{x:.4g}" for x in (one.intercept, one.standard_deviation))
            slopes = (f"{value:.4g} {parent}" for parent, value in one.coefficients.items())
            rows.append([one.name, some(slopes, most=4) or "-", *numbers])
        return grid(rows, left=2, rule=True)

    def facts(self) -> dict[str, Any]:
        """Columns that were left out because they did not vary, with their values."""
        return {"constants": dict(self.constants)}


def _numbers(network: GaussianNetwork) -> list[Any]:
    found = [network.intercepts, network.slopes, network.variances]
    return (
        found
        if network.regression_posteriors is None
        else [*found, *leaves(network.regression_posteriors)]
    )


def point_network(graph: DAG, posterior: RegressionPosteriors) -> GaussianNetwork:
    """The network of posterior means; its variances are the inverses of expected precisions."""
    empty = GaussianNetwork(graph, (), posterior)
    regressions = []
    for name in graph.nodes:
        known = empty.posterior(name)
        intercept, *slopes = map(float, known.mean)
        by_parent = dict(zip(graph.parents(name), slopes, strict=True))
        regressions.append(LinearRegression(name, intercept, by_parent, known.variance))
    return GaussianNetwork(graph, tuple(regressions), posterior)


def network_from_regressions(graph: DAG, regressions: Mapping[str, Any]) -> GaussianNetwork:
    """A network from a regression, or a dict with its parts, for every variable."""
    _check_names("regressions", regressions, graph.nodes)
    return GaussianNetwork(
        graph, tuple(read_regression(x, graph.parents(x), regressions[x]) for x in graph.nodes)
    )


def read_regression(name: str, parents: Sequence[str], given: Any) -> LinearRegression:
    """A regression on these parents, or a dict with its parts."""
    if isinstance(given, LinearRegression):
        given = {
            "intercept": given.intercept,
            "coefficients": given.coefficients,
            "variance": given.variance,
        }
    if not isinstance(given, Mapping) or not set(given) <= {
        "intercept",
        "coefficients",
        "variance",
    }:
        raise JensenError(
            f"the regression of {name!r} is a dict with intercept, coefficients (by parent) and "
            f"variance, not {given!r:.80}"
        )
    slopes = given.get("coefficients", {})
    if not isinstance(slopes, Mapping):
        raise JensenError(f"the coefficients of {name!r} must be a dict by parent")
    _check_names(f"the coefficients of {name!r}", slopes, parents)
    numbers = [given.get("intercept", 0.0), *slopes.values(), given.get("variance", 1.0)]
    if not all(is_real(x) and np.isfinite(float(x)) for x in numbers) or not numbers[-1] > 0:
        raise JensenError(f"the regression of {name!r} needs finite numbers, and a variance > 0")
    by_parent = {parent: float(slopes[parent]) for parent in parents}
    return LinearRegression(name, float(numbers[0]), by_parent, float(numbers[-1]))


def _check_names(what: str, found: Mapping[str, Any], wanted: Sequence[str]) -> None:
    if set(found) != set(wanted):
        raise JensenError(f"{what} must name each of {list(wanted)} once, not {list(found)}")
