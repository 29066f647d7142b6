"""Columns that depend on hidden numbers, of which some coefficients are held at known values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import gamma, gaussian_vectors, log_partition
from jensen.families.gamma import Gamma
from jensen.families.gaussian_vectors import Vectors
from jensen.families.held_entries import HeldGamma, HeldVectors
from jensen.families.linear_regression import Regression
from jensen.families.point_mass import PointMass
from jensen.models.factor_parameters import LOG_2PI, LinearColumns
from jensen.support.fields import add

Array = NDArray[np.float64]


class Columns(NamedTuple):
    """η or t of some columns, by the names that `LinearColumns` knows."""

    loadings: Any
    noise: Any
    alpha: Any


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """`LinearColumns` under a prior, with coefficients and precisions of which some are known."""

    columns: LinearColumns
    coefficients: Array  # (D, width), NaN where they are learned
    precision: Array  # (D,), or (1,) if all columns share it; NaN where it is learned

    @property
    def is_free(self) -> NDArray[np.bool_]:
        """(D, width): coefficients that are learned."""
        return np.isnan(self.coefficients)

    @property
    def is_still(self) -> bool:
        """Whether every precision is known."""
        return not np.isnan(self.precision).any()

    @property
    def families(self) -> Columns:
        """Of coefficients, precisions and strengths."""
        vectors = gaussian_vectors if self.is_free.all() else HeldVectors(self.coefficients)
        if self.is_still:
            noise: Any = PointMass(Gamma(np.log(self.precision), -self.precision))
        else:
            noise = gamma if np.isnan(self.precision).all() else HeldGamma(self.precision)
        return Columns(vectors, noise, gamma)

    @property
    def priors(self) -> Columns:
        """At the strengths that are expected beforehand; none of precisions that are all known."""
        loadings, noise, alpha = self.columns.priors()
        return Columns(loadings, None if self.is_still else noise, alpha)

    def priors_given(self, t: Columns) -> tuple[Columns, Columns]:
        """Expected natural parameters, and expected log partitions, of what is learned."""
        (loadings, noise, alpha), _ = self.columns.priors_given(t)
        fixed, free = self.columns.fixed, self.is_free
        width = free.shape[1]
        logs, means = np.empty(width), np.empty(width)
        assert self.columns.prior is not None
        logs[:fixed] = np.log(self.columns.prior.mean_strength)
        means[:fixed] = self.columns.prior.mean_strength
        logs[fixed:], means[fixed:] = t.alpha.total, -t.alpha.exposure
        of_free = 0.5 * (LOG_2PI - logs)
        of_held = -0.5 * means * np.square(self.coefficients)
        own = float(np.where(free, of_free, of_held).sum())
        families = self.families
        if self.is_still:
            return Columns(loadings, None, alpha), Columns(own, 0.0, log_partition(gamma, alpha))
        normalizers = log_partition(families.noise, noise), log_partition(gamma, alpha)
        return Columns(loadings, noise, alpha), Columns(own, *normalizers)

    def given(self, part: str, stats: Regression, t: Columns) -> Any:
        """η of one part, given the others."""
        if part == "loadings":
            return self.columns.loadings_given(stats, t)
        if part == "noise":
            if self.is_still:
                return Gamma(np.zeros(self.precision.shape), np.zeros(self.precision.shape))
            return self.columns.noise_given(stats, t)
        return self.alpha_given(t)

    def alpha_given(self, t: Columns) -> Gamma:
        """How long the columns of coefficients are that are learned."""
        free = self.is_free[:, self.columns.fixed :]
        diagonal = np.diagonal(t.loadings.strength, axis1=-2, axis2=-1)[:, self.columns.fixed :]
        seen = Gamma(0.5 * free.sum(0), -np.where(free, diagonal, 0.0).sum(0))
        return Gamma(*add(self.columns.own_priors()[1], seen))

    def around(self, coefficients: Array, variance: Array, weight: float) -> Columns:
        """η whose mode has these values where they are learned."""
        found = Columns(*self.columns.around(coefficients, variance, weight))
        t = found._replace(loadings=self.families.loadings.mode_stats(found.loadings))
        return found._replace(alpha=self.alpha_given(t), noise=self._noise(found.noise))

    def _noise(self, eta: Gamma) -> Gamma:
        return Gamma(np.zeros_like(eta.total), np.zeros_like(eta.total)) if self.is_still else eta


def turned(eta: Vectors, way: Array, rows: Array | None = None) -> Vectors:
    """η where w = way w'; with rows also of other outputs, y' = rows y."""
    back = np.linalg.inv(way)
    strength = 0.5 * (eta.strength + np.swapaxes(eta.strength, -1, -2))
    mean = gaussian_vectors.describe(eta)["mean"] @ way
    mean = mean if rows is None else rows @ mean
    return gaussian_vectors.from_standard(mean, np.asarray(back @ strength @ back.T))
