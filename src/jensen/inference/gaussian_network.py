"""A Gaussian network that is known: graph, regressions and, after VB, their posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.checks import is_real
from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.linear_regression import RegressionWords
from jensen.fields import leaves
from jensen.graphs import DAG
from jensen.inference.regression import LinearRegression, RegressionPosterior
from jensen.text import offer

Array = NDArray[np.float64]


class Posterior(NamedTuple):
    """The posterior of every regression, of columns less a centre."""

    centre: Array  # (n,)
    words: tuple[RegressionWords, ...]


@dataclass(frozen=True, eq=False)
class GaussianNetwork:
    """Regressions of all variables on their parents, in the order of the graph's nodes.

    `prior` is what the network was learned with, numbers and not choices: the default scale is
    made of the data, once. `constants` are columns that did not vary in the data, and their value:
    they are no variables of the network.
    """

    graph: DAG
    regressions: tuple[LinearRegression, ...]
    posterior_words: Posterior | None = None
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

    @cached_property
    def intercepts(self) -> Array:
        """(n,)."""
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
        """(n,): of the noise."""
        return np.array([one.variance for one in self.regressions])

    def index(self, name: str) -> int:
        """Position of a variable among the nodes."""
        if name in self.constants:
            raise JensenError(
                f"column {name!r} was constant, {self.constants[name]:.6g}, in the data, so "
                f"nothing is known of how it varies, and the network was learned without it: "
                f"ask for another variable"
            )
        if name not in self.graph.index:
            raise JensenError(
                f"the network has no variable {name!r}; {offer(name, self.graph.nodes)}"
            )
        return self.graph.index[name]

    def regression(self, name: str) -> LinearRegression:
        """The regression of a variable on its parents."""
        return self.regressions[self.index(name)]

    def posterior(self, name: str) -> RegressionPosterior:
        """The posterior of the regression of a variable."""
        if self.posterior_words is None:
            raise JensenError(
                "this network has point estimates only: a posterior comes from method='vbem'"
            )
        v = self.index(name)
        centre = self.posterior_words.centre[[v, *self.graph.parent_indices[v]]]
        return RegressionPosterior(
            name, self.graph.parents(name), self.posterior_words.words[v], centre
        )

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Same graph, and regressions (and posteriors) equal within `tolerance`."""
        if not isinstance(other, GaussianNetwork) or self.graph != other.graph:
            return False
        mine, theirs = _numbers(self), _numbers(other)
        return len(mine) == len(theirs) and all(
            np.allclose(a, b, rtol=0.0, atol=tolerance) for a, b in zip(mine, theirs, strict=True)
        )


def _numbers(network: GaussianNetwork) -> list[Any]:
    found = [network.intercepts, network.slopes, network.variances]
    return found if network.posterior_words is None else [*found, *leaves(network.posterior_words)]


def point_network(graph: DAG, posterior: Posterior) -> GaussianNetwork:
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
    return GaussianNetwork(graph, tuple(_read(graph, x, regressions[x]) for x in graph.nodes))


def _read(graph: DAG, name: str, given: Any) -> LinearRegression:
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
    _check_names(f"the coefficients of {name!r}", slopes, graph.parents(name))
    numbers = [given.get("intercept", 0.0), *slopes.values(), given.get("variance", 1.0)]
    if not all(is_real(x) and np.isfinite(float(x)) for x in numbers) or not numbers[-1] > 0:
        raise JensenError(f"the regression of {name!r} needs finite numbers, and a variance > 0")
    by_parent = {parent: float(slopes[parent]) for parent in graph.parents(name)}
    return LinearRegression(name, float(numbers[0]), by_parent, float(numbers[-1]))


def _check_names(what: str, found: Mapping[str, Any], wanted: Sequence[str]) -> None:
    if set(found) != set(wanted):
        raise JensenError(f"{what} must name each of {list(wanted)} once, not {list(found)}")
