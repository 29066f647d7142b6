"""The joint Gaussian of a network, and what it expects of incomplete rows.

Marginals are read from the covariance, conditionals from the precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, RowSource
from jensen.data.statistics import Coordinates, Moments
from jensen.data.variable import Variable
from jensen.inference.fitted import FittedNetwork
from jensen.models.emissions.gaussian_rows import Pattern, patterns_of
from jensen.q_hidden.gaussian_cells import LOG_2PI, conditional

if TYPE_CHECKING:
    from jensen.inference.gaussian_network import GaussianNetwork

Array = NDArray[np.float64]
N = TypeVar("N", bound=FittedNetwork)


@dataclass(frozen=True, eq=False)
class Joint:
    """The joint distribution of the variables without an intervention: x = a + B x + noise.

    a are the intercepts, B the slopes.
    """

    places: NDArray[np.intp]  # (k,): which nodes of the network
    intercepts: Array  # (k,)
    slopes: Array  # (k, k)
    variances: Array  # (k,)

    @cached_property
    def spread(self) -> Array:
        """(I - B)⁻¹: the effect of each variable's noise on all variables."""
        return np.asarray(np.linalg.inv(np.eye(len(self.places)) - self.slopes))

    @cached_property
    def mean(self) -> Array:
        """(k,): (I - B)⁻¹ a."""
        return np.asarray(self.spread @ self.intercepts)

    @cached_property
    def covariance(self) -> Array:
        """(k, k): (I - B)⁻¹ diag(variances) (I - B)⁻ᵀ."""
        return np.asarray((self.spread * self.variances) @ self.spread.T)

    @cached_property
    def precision(self) -> Array:
        """(k, k): the inverse of the covariance, computed from the regressions directly."""
        left = np.eye(len(self.places)) - self.slopes
        return np.asarray((left.T / self.variances) @ left)


def joint(network: GaussianNetwork, do: Mapping[int, float] | None = None) -> Joint:
    """The joint distribution of all variables but those in `do`, whose incoming edges are cut."""
    done = do or {}
    rest = np.array([v for v in range(len(network.regressions)) if v not in done], np.intp)
    fixed = np.array(list(done), np.intp)
    pushed = network.slopes[np.ix_(rest, fixed)] @ np.array(list(done.values()), float)
    return Joint(
        rest,
        network.intercepts[rest] + pushed,
        network.slopes[np.ix_(rest, rest)],
        network.variances[rest],
    )


class MissingCells(NamedTuple):
    """The missing cells of rows with the same gaps: Gaussians with a common covariance."""

    rows: NDArray[np.int64]
    places: NDArray[np.int64]  # (m,): which variables are missing
    mean: Array  # (rows, m)
    covariance: Array  # (m, m)


def missing_cells(model: Joint, values: Array) -> list[MissingCells]:
    """p(missing cells | observed cells) of rows (N, k), one entry per pattern of gaps."""
    found = []
    for pattern in patterns_of(values - model.mean):
        places = pattern.order[: pattern.n_missing]
        gain, covariance, _ = conditional(model.precision, _index(places), _index(pattern.seen))
        mean = model.mean[places] + (gain @ pattern.x).T
        found.append(MissingCells(pattern.rows, places, mean, covariance))
    return found


def log_density(model: Joint, values: Array) -> Array:
    """(N,): log density of the observed cells of rows (N, k); missing cells are integrated out."""
    found = np.empty(len(values))
    for pattern in patterns_of(values - model.mean):
        measure: Callable[[Joint, Pattern], Array] = _partial if pattern.n_missing else _complete
        found[pattern.rows] = measure(model, pattern)
    return found


def _complete(model: Joint, pattern: Pattern) -> Array:
    """Sum over regressions; no digits are lost where a variance is small."""
    noise = pattern.x - model.slopes @ pattern.x
    constant = np.sum(np.log(model.variances) + LOG_2PI)
    return np.asarray(-0.5 * (constant + (np.square(noise) / model.variances[:, None]).sum(0)))


def _partial(model: Joint, pattern: Pattern) -> Array:
    seen = _index(pattern.seen)
    lower = np.linalg.cholesky(model.covariance[np.ix_(seen, seen)])
    turned = np.linalg.solve(lower, pattern.x)
    constant = 2.0 * np.log(np.diagonal(lower)).sum() + len(seen) * LOG_2PI
    return np.asarray(-0.5 * (constant + np.square(turned).sum(0)))


def _index(places: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.asarray(places, np.intp)


# --- expected statistics ---


@dataclass(frozen=True, eq=False)
class ExpectedStatistics(Generic[N]):
    """Statistics of a table as a fitted network expects them."""

    network: N
    table: RowSource

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the network, hidden ones included."""
        return self.network.variables

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.table.total_weight


@dataclass(frozen=True, eq=False)
class ExpectedMoments(ExpectedStatistics["GaussianNetwork"]):
    """Expected moments of continuous variables; implements `MomentStatistics`.

    Parameters
    ----------
    network
        The regressions.
    table
        Rows of its variables; one without a column is hidden in every row.
    """

    @property
    def constant(self) -> frozenset[int]:
        """None: a network of regressions has no variable that does not vary."""
        return frozenset()

    @cached_property
    def coordinates(self) -> Coordinates:
        """Origin: the network's mean; units: powers of two near its standard deviations."""
        model = joint(self.network)
        exponents = np.frexp(np.sqrt(np.diagonal(model.covariance)))[1]
        return Coordinates(model.mean, np.ldexp(1.0, np.clip(exponents, -1000, 1000)))

    def moments(self, coordinates: Coordinates | None = None) -> Moments:
        """Weight, means and scatter of all variables, covariance of missing cells included."""
        weight, mean, scatter = self._moments
        if coordinates is None or weight == 0.0:
            return self._moments
        here, there = self.coordinates, coordinates
        stretch = here.unit / there.unit
        moved = (here.origin - there.origin) / there.unit + stretch * mean
        return Moments(weight, moved, np.asarray(scatter * stretch * stretch[:, None]))

    @cached_property
    def _moments(self) -> Moments:
        """The moments in coordinates about the network's mean, where no digits are lost."""
        n = len(self.variables)
        weight, first, second = self.table.sum(self._sums)
        if weight == 0.0:
            return Moments(0.0, np.zeros(n), np.zeros((n, n)))
        mean = first / weight
        return Moments(float(weight), mean, second - weight * np.outer(mean, mean))

    def _sums(self, block: Block) -> tuple[Array, Array, Array]:
        """Weight, Σ E[y] and Σ E[y yᵀ] of a block."""
        from jensen.kernels.gaussians import add_moments

        names, here = self.network.graph.nodes, self.coordinates
        chosen = block.weights > 0.0
        weights, values = block.weights[chosen], np.full((int(chosen.sum()), len(names)), np.nan)
        for v, name in enumerate(names):
            if name in self.table:
                values[:, v] = block.values(name)[chosen]
        unsure = np.zeros((len(names), len(names)))
        for part in missing_cells(joint(self.network), values):
            values[np.ix_(part.rows, part.places)] = part.mean
            unsure[np.ix_(part.places, part.places)] += weights[part.rows].sum() * part.covariance
        rows = np.ascontiguousarray(here.values(values).T)
        first, lower = np.zeros((1, len(names))), np.zeros((1, len(names), len(names)))
        add_moments(rows, 0, rows.shape[1], weights[None], first, lower)
        second = np.tril(lower[0]) + np.tril(lower[0], -1).T
        return weights.sum(), first[0], second + unsure / here.unit / here.unit[:, None]
