"""Columns that depend on hidden numbers: x_d = λ_dᵀ w + noise, with ARD on the columns of λ.

    λ_dk ~ N(0, 1/α_k), not scaled by the noise;  ψ_d and α_k are gamma.

q(θ) = q(λ) q(ψ) q(α). No field is a prior plus sums over rows: λ is weighed with ψ and shrunk by α,
ψ is judged by λ, and α sees no row at all. A fixed λ_d0, of the constant 1, has a strength of its
own. Without a prior λ and ψ are regressions, and there is no α.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import gamma, gaussian_vectors, log_partition
from jensen.families.gamma import Gamma
from jensen.families.gaussian_vectors import Vectors
from jensen.families.linear_regression import Regression
from jensen.families.point_mass import PointMass
from jensen.support.fields import add

Array = NDArray[np.float64]

LEAST_NOISE = 1e-6
"""Of the variance of a column: without a prior its noise is held there, and does not vanish."""
LOG_2PI = float(np.log(2.0 * np.pi))


class FactorPrior(NamedTuple):
    """The prior of columns in units of `scale`, all gamma distributions by shape and rate."""

    mean_strength: float = 0.01
    noise_shape: float = 1.0
    noise_rate: float = 1e-3
    strength_shape: float = 1.0
    strength_rate: float = 1e-3


class LinearColumns(NamedTuple):
    """D columns of which each depends on w: `fixed` numbers of it have no ARD, K have."""

    n_columns: int
    fixed: int
    n_factors: int
    is_isotropic: bool
    prior: FactorPrior | None

    @property
    def width(self) -> int:
        """Of w."""
        return self.fixed + self.n_factors

    def families(self) -> tuple[Any, Any, Any]:
        """Of loadings, noise and alpha; without a prior there is no alpha."""
        alpha = PointMass(self.nothing) if self.prior is None else gamma
        return gaussian_vectors, gamma, alpha

    @property
    def nothing(self) -> Gamma:
        """In the place of alpha, where there is none."""
        return Gamma(np.zeros(self.n_factors), np.zeros(self.n_factors))

    def own_priors(self) -> tuple[Gamma | None, Gamma | None]:
        """Of noise and alpha."""
        if self.prior is None:
            return None, None
        p, n = self.prior, 1 if self.is_isotropic else self.n_columns
        noise = Gamma(np.full(n, p.noise_shape - 1.0), np.full(n, p.noise_rate))
        k = self.n_factors
        alpha = Gamma(np.full(k, p.strength_shape - 1.0), np.full(k, p.strength_rate))
        return noise, alpha

    def shrinkage(self, alpha: Gamma) -> Vectors | None:
        """The prior of the loadings at these strengths, E[α] where they are not known."""
        if self.prior is None:
            return None
        fixed = [self.prior.mean_strength] * self.fixed
        strength = np.diag([*fixed, *(-alpha.exposure)])
        D, width = self.n_columns, self.width
        return Vectors(np.zeros((D, width)), np.broadcast_to(strength, (D, width, width)))

    def priors(self) -> tuple[Vectors | None, Gamma | None, Gamma | None]:
        """Of all three; that of loadings at the strengths that are expected beforehand."""
        noise, alpha = self.own_priors()
        expected = None if alpha is None else self.shrinkage(gamma.mean_stats(alpha))
        return expected, noise, alpha

    def priors_given(self, t: Any) -> tuple[tuple[Any, Any, Any], tuple[float, float, float]]:
        """Expected natural parameters, and expected log partitions: E[log α], not log E[α]."""
        noise, alpha = self.own_priors()
        if self.prior is None:
            return (None, None, None), (0.0, 0.0, 0.0)
        logs = self.fixed * np.log(self.prior.mean_strength) + float(t.alpha.total.sum())
        of_loadings = 0.5 * self.n_columns * (self.width * LOG_2PI - logs)
        own = log_partition(gamma, noise), log_partition(gamma, alpha)
        return (self.shrinkage(t.alpha), noise, alpha), (float(of_loadings), *own)

    def loadings_given(self, stats: Regression, t: Any) -> Vectors:
        """Each column weighed with its noise, and shrunk."""
        psi = self.precision(t)
        rows = Vectors(psi[:, None] * stats.first, psi[:, None, None] * stats.strength)
        return Vectors(*add(self.shrinkage(t.alpha), rows))

    def noise_given(self, stats: Regression, t: Any) -> Gamma:
        """Squares that the loadings leave."""
        count = 0.5 * stats.count
        cross = (t.loadings.first * stats.first).sum(1)
        left = 0.5 * (stats.second - 2.0 * cross)
        left -= (t.loadings.strength * stats.strength).sum((1, 2))
        if self.is_isotropic:
            count, left = count.sum(keepdims=True), left.sum(keepdims=True)
        if self.prior is None:
            return Gamma(count, np.maximum(left, LEAST_NOISE * count))
        return Gamma(*add(self.own_priors()[0], Gamma(count, left)))

    def alpha_given(self, t: Any) -> Gamma:
        """How long the columns of loadings are."""
        if self.prior is None:
            return self.nothing
        squares = -np.diagonal(t.loadings.strength, axis1=1, axis2=2)[:, self.fixed :].sum(0)
        count = np.full(self.n_factors, 0.5 * self.n_columns)
        return Gamma(*add(self.own_priors()[1], Gamma(count, squares)))

    def precision(self, t: Any) -> Array:
        """E[ψ] of every column."""
        return np.broadcast_to(-t.noise.exposure, (self.n_columns,))

    def log_noise(self, t: Any) -> Array:
        """½ (E[log ψ] - log 2π) of every column."""
        return np.broadcast_to(0.5 * (t.noise.total - LOG_2PI), (self.n_columns,))

    # --- starts and moves ---

    def around(self, loadings: Array, noise: Array, weight: float) -> tuple[Any, Any, Any]:
        """η whose mode has these loadings (D, width) and variances of noise, as sure as rows."""
        D, width = loadings.shape
        strength = np.broadcast_to((weight + 1.0) * np.eye(width), (D, width, width))
        vectors = gaussian_vectors.from_standard(loadings, np.array(strength))
        half = np.full(len(noise), 0.5 * weight)
        if self.prior is None:
            return vectors, Gamma(half, half * noise), self.nothing
        squares = 0.5 * np.square(loadings[:, self.fixed :]).sum(0) + self.prior.strength_rate
        return vectors, Gamma(half, half * noise), Gamma(np.full(len(squares), 0.5 * D), squares)

    def live(self, loadings: Vectors) -> NDArray[np.bool_]:
        """(K,): which columns say anything; one that is 0 throughout stays so."""
        return np.asarray((loadings.first[:, self.fixed :] != 0.0).any(0))

    def without(self, eta: Any, k: int, t: Any, stats: Regression) -> Any:
        """η with a column of loadings that knows nothing but the prior."""
        assert self.prior is not None
        at, loadings = self.fixed + k, eta.loadings
        mean = np.array(gaussian_vectors.describe(loadings)["mean"])
        strength = np.array(0.5 * (loadings.strength + np.swapaxes(loadings.strength, -1, -2)))
        mean[:, at] = 0.0
        strength[:, at, :] = strength[:, :, at] = 0.0
        vague = self.prior.strength_shape / self.prior.strength_rate
        strength[:, at, at] = vague + self.precision(t) * stats.count
        vectors = gaussian_vectors.from_standard(mean, strength)
        found = t._replace(loadings=gaussian_vectors.mean_stats(vectors))
        return eta._replace(loadings=vectors, alpha=self.alpha_given(found))
