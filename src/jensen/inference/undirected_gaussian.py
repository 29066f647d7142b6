"""A Gaussian Markov network as a frozen result: the same joint Gaussian, without arrows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.graphs import DAG
from jensen.inference.fitted import Given, Names
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.regression import LinearRegression
from jensen.inference.undirected_network import refuse_do

Array = NDArray[np.float64]


@dataclass(frozen=True)
class UndirectedGaussian(GaussianNetwork):
    """Regressions of each variable on all before it, which answer for the joint Gaussian.

    Their arrows mean nothing, so nothing can be set from outside.
    """

    holds: ClassVar[str] = "GaussianMarkovNetwork"

    def query(
        self,
        targets: Names,
        given: Any,
        do: Given,
        *,
        interval: float | None = None,
        rng: np.random.Generator | None = None,
        hidden: Collection[str] = (),
    ) -> Any:
        """P(targets | given)."""
        refuse_do(do)
        return super().query(targets, given, None, interval=interval, rng=rng, hidden=hidden)

    def marginals(self, given: Given, do: Given) -> Any:
        """P(X | given) of every variable that is not known."""
        refuse_do(do)
        return super().marginals(given, None)

    def log_probability(self, given: Given, do: Given) -> float:
        """Log density of what is known."""
        refuse_do(do)
        return super().log_probability(given, None)

    def most_probable(self, given: Given, do: Given, k: int) -> Any:
        """Means of everything that is not known."""
        refuse_do(do)
        return super().most_probable(given, None, k)

    def sample(
        self, n: int, given: Given, do: Given, rng: np.random.Generator, *, progress: bool = False
    ) -> Table:
        """Draw n rows, exactly given what is known."""
        refuse_do(do)
        return super().sample(n, given, None, rng, progress=progress)


def as_regressions(names: tuple[str, ...], mean: Array, covariance: Array) -> UndirectedGaussian:
    """A Gaussian with this mean and covariance: each variable regressed on all before it."""
    found = []
    for v, name in enumerate(names):
        slopes = np.linalg.solve(covariance[:v, :v], covariance[:v, v])
        variance = float(covariance[v, v] - slopes @ covariance[:v, v])
        intercept = float(mean[v] - slopes @ mean[:v])
        parents = dict(zip(names[:v], slopes.tolist(), strict=True))
        found.append(LinearRegression(name, intercept, parents, variance))
    return UndirectedGaussian(DAG(list(combinations(names, 2)), names), tuple(found))
