"""Columns that depend on hidden numbers: x_d = λ_dᵀ w + noise, with ARD on the columns of λ.

    λ_dk ~ N(0, 1/α_k), not scaled by the noise;  ψ_d and α_k are gamma.

q(θ) = q(λ) q(ψ) q(α). No field is a prior plus sums over rows: λ is weighed with ψ and shrunk by α,
ψ is judged by λ, and α sees no row at all. A fixed λ_d0, of the constant 1, has a strength of its
own. Without a prior λ and ψ are regressions, and there is no α. In a mixture λ and α have an axis
of components, and ψ has one too unless components share their noise.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import gamma, gaussian_vectors, log_partition
from jensen.families.gamma import Gamma
from jensen.families.gaussian_vectors import Vectors
from jensen.families.linear_regression import Regression
from jensen.families.point_mass import PointMass
from jensen.families.wishart import cholesky
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
    axes: tuple[int, ...] = ()  # (S,): so many components
    noise_axes: tuple[int, ...] = ()  # () if components share their noise

    @property
    def of_one(self) -> LinearColumns:
        """Those of one component."""
        return self._replace(axes=(), noise_axes=())

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
        shape = (*self.axes, self.n_factors)
        return Gamma(np.zeros(shape), np.zeros(shape))

    def own_priors(self) -> tuple[Gamma | None, Gamma | None]:
        """Of noise and alpha."""
        if self.prior is None:
            return None, None
        p, n = self.prior, (*self.noise_axes, 1 if self.is_isotropic else self.n_columns)
        noise = Gamma(np.full(n, p.noise_shape - 1.0), np.full(n, p.noise_rate))
        k = (*self.axes, self.n_factors)
        alpha = Gamma(np.full(k, p.strength_shape - 1.0), np.full(k, p.strength_rate))
        return noise, alpha

    def shrinkage(self, alpha: Gamma) -> Vectors | None:
        """The prior of the loadings at these strengths, E[α] where they are not known."""
        if self.prior is None:
            return None
        D, width = self.n_columns, self.width
        strength = np.zeros((*self.axes, 1, width, width))
        at = np.arange(width)
        strength[..., 0, at[: self.fixed], at[: self.fixed]] = self.prior.mean_strength
        strength[..., 0, at[self.fixed :], at[self.fixed :]] = -alpha.exposure
        shape = (*self.axes, D, width)
        return Vectors(np.zeros(shape), np.broadcast_to(strength, (*shape, width)))

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
        n = prod(self.axes)
        logs = n * self.fixed * np.log(self.prior.mean_strength) + float(t.alpha.total.sum())
        of_loadings = 0.5 * self.n_columns * (n * self.width * LOG_2PI - logs)
        own = log_partition(gamma, noise), log_partition(gamma, alpha)
        return (self.shrinkage(t.alpha), noise, alpha), (float(of_loadings), *own)

    def loadings_given(self, stats: Regression, t: Any) -> Vectors:
        """Each column weighed with its noise, and shrunk."""
        psi = self.precision(t)
        rows = Vectors(psi[..., None] * stats.first, psi[..., None, None] * stats.strength)
        return Vectors(*add(self.shrinkage(t.alpha), rows))

    def noise_given(self, stats: Regression, t: Any) -> Gamma:
        """Squares that the loadings leave."""
        count = 0.5 * stats.count
        cross = (t.loadings.first * stats.first).sum(-1)
        left = 0.5 * (stats.second - 2.0 * cross)
        left -= (t.loadings.strength * stats.strength).sum((-1, -2))
        if self.is_isotropic:
            count, left = count.sum(-1, keepdims=True), left.sum(-1, keepdims=True)
        if self.noise_axes != self.axes:
            count, left = count.sum(0), left.sum(0)
        if self.prior is None:
            return Gamma(count, np.maximum(left, LEAST_NOISE * count))
        return Gamma(*add(self.own_priors()[0], Gamma(count, left)))

    def alpha_given(self, t: Any) -> Gamma:
        """How long the columns of loadings are."""
        if self.prior is None:
            return self.nothing
        diagonal = np.diagonal(t.loadings.strength, axis1=-2, axis2=-1)
        squares = -diagonal[..., self.fixed :].sum(-2)
        count = np.full((*self.axes, self.n_factors), 0.5 * self.n_columns)
        return Gamma(*add(self.own_priors()[1], Gamma(count, squares)))

    def precision(self, t: Any) -> Array:
        """E[ψ] of every column."""
        return np.broadcast_to(-t.noise.exposure, (*self.axes, self.n_columns))

    def log_noise(self, t: Any) -> Array:
        """½ (E[log ψ] - log 2π) of every column."""
        return np.broadcast_to(0.5 * (t.noise.total - LOG_2PI), (*self.axes, self.n_columns))

    # --- starts and moves ---

    def around(self, loadings: Array, noise: Array, weight: Any) -> tuple[Any, Any, Any]:
        """η whose mode has these loadings (..., D, width) and variances of noise.

        They are as sure as so many rows: a number, or one for each component.
        """
        width, weight = self.width, np.asarray(weight, np.float64)
        sure = (weight + 1.0)[..., None, None, None] * np.eye(width)
        strength = np.broadcast_to(sure, (*loadings.shape, width))
        vectors = gaussian_vectors.from_standard(loadings, np.array(strength))
        half = 0.5 * (weight if self.noise_axes == self.axes else weight.sum())
        half = np.broadcast_to(half[..., None], noise.shape)
        if self.prior is None:
            return vectors, Gamma(np.array(half), half * noise), self.nothing
        squares = 0.5 * np.square(loadings[..., self.fixed :]).sum(-2) + self.prior.strength_rate
        count = np.full(squares.shape, 0.5 * self.n_columns)
        return vectors, Gamma(np.array(half), half * noise), Gamma(count, squares)

    def live(self, loadings: Vectors) -> NDArray[np.bool_]:
        """(..., K): which columns say anything; one that is 0 throughout stays so."""
        return np.asarray((loadings.first[..., self.fixed :] != 0.0).any(-2))

    def weak(self, eta: Any) -> NDArray[np.bool_]:
        """(..., K): which of them are little more than their spread."""
        found = gaussian_vectors.describe(eta.loadings)
        squares = np.square(found["mean"][..., self.fixed :]).sum(-2)
        spread = np.diagonal(found["covariance"], axis1=-2, axis2=-1)[..., self.fixed :].sum(-2)
        return np.asarray(self.live(eta.loadings) & (squares < spread))

    def best_coordinates(
        self, eta: Any, t: Any, hidden: Array, *, is_distribution: bool
    ) -> tuple[Array, Array] | None:
        """The m (L,) and T (L, L) of h = m + T h' at which F is highest for this q(h), in one step.

        `hidden` is Σ E[w wᵀ] of the rows, of one component. L factors live; those that know nothing
        but the prior stay as they are. None if there is nothing to choose.
        """
        live, n = self.fixed + np.flatnonzero(self.live(eta.loadings)), float(hidden[0, 0])
        if not len(live) or not n > 0.0:
            return None
        lengths = -2.0 * t.loadings.strength.sum(0)
        own, sums = lengths[np.ix_(live, live)], hidden[0, live]
        squares = hidden[np.ix_(live, live)]
        mean = sums / n
        if self.prior is not None:
            turn = self._best_turn(squares, own, n, is_distribution)
            if turn is None:
                return None
            held = self.prior.mean_strength * (turn @ turn.T)
            mean = np.linalg.solve(
                n * np.eye(len(live)) + held @ own, sums - held @ lengths[live, 0]
            )
        crossed = np.outer(sums, mean)
        centred = squares - crossed - crossed.T + n * np.outer(mean, mean)
        turn = self._best_turn(centred, own, n, is_distribution)
        return None if turn is None else (mean, turn)

    def _best_turn(
        self, squares: Array, lengths: Array, n: float, is_distribution: bool
    ) -> Array | None:
        """T at which F is highest, given Σ E[h hᵀ] of n rows and Σ E[λ λᵀ] of the D columns.

        Of h' = R h F depends on R by

            -½ tr R S Rᵀ + (n - D) log |R| - (a + D/2) Σ_k log(b + ½ (R⁻ᵀ L R⁻¹)_kk),

        q(α) being the best for each R. A sum of logs of a diagonal is least where the matrix is
        diagonal, and a determinant |A + B| of given eigenvalues where both share their axes, in
        the same order: so R makes S and L diagonal at once, and each r_k solves a quadratic
        equation. (Luttinen and Ilin 2010 climb this function.) Loadings at a point have no entropy
        -D log |R|; without a prior there is no sum, and S alone counts.
        """
        root = cholesky(squares)
        if not np.diagonal(root).all():
            return None
        if self.prior is None:
            return np.asarray(root / np.sqrt(n))
        D, a, b = self.n_columns, self.prior.strength_shape, self.prior.strength_rate
        free, count = (n - D, a + 0.5 * D) if is_distribution else (n, a - 1.0 + 0.5 * D)
        if not (count > 0.0 and free + 2.0 * count > 0.0):
            return None
        long, axes = np.linalg.eigh(root.T @ lengths @ root)
        half = 0.5 * np.maximum(long, 0.0)
        middle, last = half - b * free, (free + 2.0 * count) * half
        away = np.sqrt(middle * middle + 4.0 * b * last)
        found = np.where(middle > 0.0, 2.0 * last / (middle + away), (away - middle) / (2.0 * b))
        if not (found > 0.0).all():
            return None
        return np.asarray(root @ (axes / np.sqrt(found))[:, ::-1])

    def turned(self, eta: Any, t: Any, hidden: Array, *, is_distribution: bool) -> Any:
        """η of one component in the best coordinates, with its strengths; None if there are none.

        With h = m + T h' and w = wayᵀ w' the loadings on w' are way λ.
        """
        best = self.best_coordinates(eta, t, hidden, is_distribution=is_distribution)
        if best is None:
            return None
        live = self.fixed + np.flatnonzero(self.live(eta.loadings))
        way, back, (mean, turn) = np.eye(self.width), np.eye(self.width), best
        way[0, live], way[np.ix_(live, live)] = mean, turn.T
        undone = np.linalg.inv(turn).T  # by itself: what is dead stays 0 to the last bit
        back[0, live], back[np.ix_(live, live)] = -mean @ undone, undone
        first, strength = eta.loadings
        loadings = Vectors(first @ back, np.asarray(back.T @ strength @ back))
        first, strength = t.loadings
        seen = t._replace(loadings=Vectors(first @ way.T, np.asarray(way @ strength @ way.T)))
        return eta._replace(loadings=loadings, alpha=self.alpha_given(seen))

    def _strength_at_rest(self, told: float) -> float:
        """E[α] of a column of loadings that are 0, of the precision E[α] + told each, in the end.

        It is (a + D/2) / (b + ½ D / (E[α] + told)), a quadratic equation.
        """
        assert self.prior is not None
        D, a, b = self.n_columns, self.prior.strength_shape, self.prior.strength_rate
        middle, last = b * told - a, (a + 0.5 * D) * told
        away = np.sqrt(middle * middle + 4.0 * b * last)
        return float(2.0 * last / (middle + away) if middle > 0.0 else (away - middle) / (2.0 * b))

    def without(self, eta: Any, k: Any, t: Any, stats: Regression) -> Any:
        """η of one component with columns of loadings that know nothing but the prior."""
        assert self.prior is not None
        at, loadings = self.fixed + np.atleast_1d(k), eta.loadings
        mean = np.array(gaussian_vectors.describe(loadings)["mean"])
        strength = np.array(0.5 * (loadings.strength + np.swapaxes(loadings.strength, -1, -2)))
        mean[:, at] = 0.0
        strength[:, at, :] = strength[:, :, at] = 0.0
        told = self.precision(t) * stats.count  # by rows with h ~ N(0, 1)
        strength[:, at, at] = (self._strength_at_rest(float(told.mean())) + told)[:, None]
        vectors = gaussian_vectors.from_standard(mean, strength)
        found = t._replace(loadings=gaussian_vectors.mean_stats(vectors))
        return eta._replace(loadings=vectors, alpha=self.alpha_given(found))
