"""Gaussian Markov network: a mean, and a precision with zeros where no edge is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.exceptions import DataError
from jensen.families.covariance_selection import CovarianceSelection, Scatter
from jensen.graphs.cliques import maximal_cliques
from jensen.inference.undirected_gaussian import UndirectedGaussian, as_regressions
from jensen.models.gaussian_network import PatternUnit, independent_moments
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import GaussianCells, Hidden
from jensen.support.fields import record

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]


@record
class Selected(NamedTuple):
    """The mean and the precision."""

    joint: Any  # a Scatter; None: the flat prior


@dataclass(frozen=True)
class GaussianMarkovModel(Conjugate[Selected]):
    """An undirected graph of numbers.

    Parameters
    ----------
    graph
        An `UndirectedGraph`.
    shift
        (n,): what columns are kept relative to.
    prior
        The flat one.
    """

    graph: Any
    shift: Array
    prior: Selected = field(default_factory=lambda: Selected(None))

    @cached_property
    def families(self) -> Selected:
        """One family of all parameters."""
        return Selected(CovarianceSelection(maximal_cliques(self.graph), self.graph.nodes))

    def potentials(self, t: Selected) -> Callable[[PatternUnit], GaussianCells]:
        """The quadratic form of z."""
        quadratic = -2.0 * t.joint.moments
        return lambda unit: GaussianCells(0.0, quadratic, unit.patterns)

    def expected_stats(self, unit: PatternUnit, hidden: Hidden) -> Selected:
        """Σ E[z zᵀ]."""
        return Selected(Scatter(hidden.moments))

    def start(self, data: Data[NumberRows], k: int, rng: np.random.Generator) -> Selected:
        """Independent columns."""
        return Selected(Scatter(independent_moments(data.rows, self.shift)))

    def explain(self, data: Data[NumberRows], t: Selected) -> Exception:
        """Densities are never 0, but a row may be too far away to be computed."""
        return DataError("a row is too far from all others to have a density that can be computed")

    def simulate(self, t: Selected, n: int, rng: np.random.Generator) -> Any:
        """Rows."""
        return self._network(t).sample(n, None, None, rng)

    def finish(self, state: State[Selected, Selected], *, is_posterior: bool) -> UndirectedGaussian:
        """The same Gaussian as regressions, each variable on all before it."""
        return self._network(state.t)

    def _network(self, t: Selected) -> UndirectedGaussian:
        mean, precision = moments_of(t, self.shift)
        return as_regressions(
            self.graph.nodes, mean, np.asarray(np.linalg.inv(precision), np.float64)
        )


def moments_of(t: Selected, shift: Array) -> tuple[Array, Array]:
    """The mean in the units of the columns, and the precision."""
    quadratic = -2.0 * t.joint.moments
    precision = quadratic[1:, 1:]
    return shift - np.linalg.solve(precision, quadratic[1:, 0]), precision
