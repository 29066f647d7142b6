"""The joint Gaussian of a network: marginals by its covariance, conditionals by its precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.models.emissions.gaussian_rows import Pattern, patterns_of
from jensen.q_hidden.gaussian_cells import LOG_2PI, conditional

if TYPE_CHECKING:
    from jensen.inference.gaussian_network import GaussianNetwork

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Joint:
    """Variables that are not set: x = intercept + slopes · x + noise."""

    places: NDArray[np.intp]  # (k,): which nodes of the network
    intercepts: Array  # (k,)
    slopes: Array  # (k, k)
    variances: Array  # (k,)

    @cached_property
    def spread(self) -> Array:
        """(I - slopes)⁻¹: how the noise of each variable reaches all others."""
        return np.asarray(np.linalg.inv(np.eye(len(self.places)) - self.slopes))

    @cached_property
    def mean(self) -> Array:
        """(k,)."""
        return np.asarray(self.spread @ self.intercepts)

    @cached_property
    def covariance(self) -> Array:
        """(k, k)."""
        return np.asarray((self.spread * self.variances) @ self.spread.T)

    @cached_property
    def precision(self) -> Array:
        """(k, k): the inverse of the covariance, without inverting it."""
        left = np.eye(len(self.places)) - self.slopes
        return np.asarray((left.T / self.variances) @ left)


def joint(network: GaussianNetwork, do: Mapping[int, float] | None = None) -> Joint:
    """All variables that are not set; arrows into those that are, are cut."""
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


class Missing(NamedTuple):
    """What rows with the same gaps leave open: Gaussians with one covariance."""

    rows: NDArray[np.int64]
    places: NDArray[np.int64]  # (m,): which variables are missing
    mean: Array  # (rows, m)
    covariance: Array  # (m, m)


def missing_cells(model: Joint, values: Array) -> list[Missing]:
    """What is missing in rows (N, k), given what is there, pattern by pattern."""
    found = []
    for pattern in patterns_of(values - model.mean):
        places = pattern.order[: pattern.n_missing]
        gain, covariance, _ = conditional(model.precision, _index(places), _index(pattern.seen))
        mean = model.mean[places] + (gain @ pattern.x).T
        found.append(Missing(pattern.rows, places, mean, covariance))
    return found


def log_density(model: Joint, values: Array) -> Array:
    """(N,): log p of what rows (N, k) show; what is missing is integrated out."""
    found = np.empty(len(values))
    for pattern in patterns_of(values - model.mean):
        measure: Callable[[Joint, Pattern], Array] = _partial if pattern.n_missing else _complete
        found[pattern.rows] = measure(model, pattern)
    return found


def _complete(model: Joint, pattern: Pattern) -> Array:
    """Regression by regression, which loses no digits where a variance is small."""
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
