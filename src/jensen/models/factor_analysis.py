"""Factor analysis: rows of numbers that depend on a few hidden ones, x = m + Λ h + noise.

Columns are kept relative to `shift` and in units of `scale`. Rows that show the same columns are
encoded as one pattern, so that a sweep takes no longer for more rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.data.number_rows import NumberRows
from jensen.exceptions import DataError, JensenError
from jensen.families import gaussian_vectors
from jensen.families.gaussian_vectors import Vectors
from jensen.inference.factors import FactorPoint, FittedFactors
from jensen.models.factor_parameters import LEAST_NOISE, FactorPrior, LinearColumns
from jensen.models.gaussian_network import encode as encode_cells
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import Hidden
from jensen.q_hidden.gaussian_factors import FactorRows, FactorSums, GaussianFactors
from jensen.support.fields import record

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]


@record
class Factors(NamedTuple):
    """Fields of θ, in the order in which they are updated; w = (1, h)."""

    loadings: Any  # `Vectors` of (D, 1 + K)
    noise: Any  # `Gamma` of (D,), or of (1,) if all columns have the same noise
    alpha: Any  # `Gamma` of (K,); zeros without a prior


@dataclass(frozen=True)
class FactorModel(Conjugate[Factors]):
    """D columns and K factors."""

    shift: Array  # (D,)
    scale: Array  # (D,)
    n_factors: int
    is_isotropic: bool = False
    words: FactorPrior | None = None  # None: flat
    rotates: bool = True

    has_own_priors = False  # that of loadings is given alpha

    @cached_property
    def columns(self) -> LinearColumns:
        """How columns depend on w."""
        n = len(self.shift)
        return LinearColumns(n, 1, self.n_factors, self.is_isotropic, self.words)

    @cached_property
    def families(self) -> Factors:
        """The family of each field."""
        return Factors(*self.columns.families())

    @cached_property
    def prior(self) -> Factors:
        """That of the loadings is the one at the strengths that are expected beforehand."""
        return Factors(*self.columns.priors())

    # --- what the loop asks for ---

    def potentials(self, t: Factors) -> Callable[[FactorRows], GaussianFactors]:
        """What is expected of the parameters, beside the rows."""
        psi = self.columns.precision(t)
        log_noise = self.columns.log_noise(t) - np.log(self.scale)
        first = psi[:, None] * t.loadings.first
        strength = -2.0 * psi[:, None, None] * t.loadings.strength
        return lambda unit: GaussianFactors(log_noise, psi, first, strength, unit)

    def expected_stats(self, unit: FactorRows, hidden: Hidden) -> FactorSums:
        """For each column the moments of the rows that show it, and those of h."""
        stats: FactorSums = hidden.moments
        return stats

    def posterior(self, name: str, stats: Any, t: Factors) -> Any:
        """Each field given the others."""
        if name == "loadings":
            return self.columns.loadings_given(stats.columns, t)
        if name == "noise":
            return self.columns.noise_given(stats.columns, t)
        return self.columns.alpha_given(t)

    def prior_given(self, t: Factors) -> tuple[Factors, Factors]:
        """The prior of the loadings depends on alpha."""
        prior, normalizer = self.columns.priors_given(t)
        return Factors(*prior), Factors(*normalizer)

    def turned(self, eta: Factors, t: Factors, stats: Any, *, is_distribution: bool) -> Any:
        """The best coordinates of h."""
        if not self.rotates:
            return None
        return self.columns.turned(eta, t, stats.hidden, is_distribution=is_distribution)

    def moves(self, state: State[Any, Any]) -> Iterator[Factors]:
        """Without a column that is little more than its spread."""
        if state.is_bound:
            weak = np.flatnonzero(self.columns.weak(state.eta))
            if len(weak):
                squares = np.square(state.t.loadings.first[:, 1:]).sum(0)
                k = int(weak[squares[weak].argmin()])
                yield self.columns.without(state.eta, k, state.t, state.stats.columns)

    def trials(self, state: State[Any, Any]) -> Iterator[Factors]:
        """Without each of the factors, the shortest first: so many are there as lower F if lost."""
        if state.is_bound:
            squares = np.square(state.t.loadings.first[:, 1:]).sum(0)
            live = np.flatnonzero(self.columns.live(state.eta.loadings))
            for k in live[np.argsort(squares[live], kind="stable")]:
                yield self.columns.without(state.eta, int(k), state.t, state.stats.columns)

    # --- from rows to what was learned ---

    def start(self, data: Data[Any], k: int, rng: np.random.Generator) -> Factors:
        """The most likely parameters of complete rows; else principal axes, or axes at random."""
        weight, mean, covariance = _moments(data.units, len(self.shift))
        K = self.n_factors
        if self.is_isotropic and k == 0:
            loadings, noise = isotropic(covariance, K)
            noise = np.maximum(noise, LEAST_NOISE)
        elif self.words is None and not data.rows.has_gaps and not self.is_isotropic:
            begun = usual_noise(covariance, K)
            if k > 0:
                begun = rng.uniform(0.02, 0.98, len(mean)) * np.diagonal(covariance)
            loadings, noise = diagonal(covariance, K, begun, LEAST_NOISE)
        else:
            loadings, noise = self._axes(covariance, k, rng)
        both = np.column_stack([mean, loadings])
        return Factors(*self.columns.around(both, noise, weight))

    def _axes(self, covariance: Array, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Principal axes; of later starts random loadings."""
        D, K = len(covariance), self.n_factors
        variance = np.diagonal(covariance)
        if k == 0:
            loadings, _ = isotropic(covariance, min(K, D - 1) if D > 1 else 1)
            loadings = np.pad(loadings, ((0, 0), (0, K - loadings.shape[1])))
            loadings += 1e-3 * np.sqrt(variance)[:, None] * rng.standard_normal((D, K))
        else:
            loadings = np.sqrt(variance / (2.0 * K))[:, None] * rng.standard_normal((D, K))
        left = np.maximum(variance - np.square(loadings).sum(1), 0.1 * variance + LEAST_NOISE)
        return loadings, left.mean(keepdims=True) if self.is_isotropic else left

    def refuse_start(self, start: Factors, stats: Any, method: str) -> None:
        """Refuse loadings from which sweeps would never get a further factor."""
        loadings = gaussian_vectors.describe(start.loadings)["mean"][:, 1:]
        used = loadings[:, (loadings != 0.0).any(0)] if self.words is not None else loadings
        if np.linalg.matrix_rank(used) < used.shape[1]:
            raise JensenError(
                f"start= gives loadings of which one column is 0, or follows from the others, and "
                f"{method!r} would never part them: make them differ a little, take one of them "
                f"away, or leave out start="
            )

    def explain(self, data: Data[Any], t: Factors) -> Exception:
        """Densities are never 0, but a row may be too far away to be computed."""
        return DataError("a row is too far from start= to have a density that can be computed")

    def simulate(self, t: Factors, n: int, rng: np.random.Generator) -> Array:
        """Rows (n, D), in the units of the columns."""
        return self.point(t).sample(n, rng)[0]

    def point(self, t: Factors) -> FactorPoint:
        """The parameters in the units of the columns."""
        first = t.loadings.first * self.scale[:, None]
        variance = np.square(self.scale) / self.columns.precision(t)
        return FactorPoint(self.shift + first[:, 0], first[:, 1:], variance)

    def finish(self, state: State[Any, Any], *, is_posterior: bool) -> FittedFactors:
        """What an ascent found; factors by what they explain, the longest loading positive."""
        noise = "isotropic" if self.is_isotropic else "diagonal"
        if not is_posterior:
            point = self.point(state.t).canonical()
            return FittedFactors(point, noise, is_flat=self.words is None)
        order = np.argsort(-np.square(state.t.loadings.first[:, 1:]).sum(0), kind="stable")
        picked = state.t.loadings.first[:, 1 + order]
        longest = picked[np.abs(picked).argmax(0), np.arange(len(order))]
        sign = np.append(1.0, np.where(longest < 0.0, -1.0, 1.0))
        places = np.append(0, 1 + order)
        eta = state.eta
        loadings = Vectors(
            eta.loadings.first[:, places] * sign,
            eta.loadings.strength[:, places[:, None], places] * np.outer(sign, sign),
        )
        alpha = type(eta.alpha)(*(part[order] for part in eta.alpha))
        eta = eta._replace(loadings=loadings, alpha=alpha)
        t = state.t._replace(loadings=gaussian_vectors.mean_stats(loadings))
        live = self.columns.live(loadings)
        return FittedFactors(self.point(t), noise, n_live=int(live.sum()), eta=tuple(eta))


def encode(rows: NumberRows, shift: Array, scale: Array) -> Units:
    """Rows of weight > 0 as units for the loop."""
    cells = encode_cells(rows, shift)
    items = []
    for unit in cells.each():
        patterns = unit.patterns
        seen = np.zeros((len(patterns), len(shift)))
        owner = np.repeat(np.arange(len(patterns)), [len(p.root) for p in patterns])
        root, first = np.zeros((len(owner), 1 + len(shift))), 0
        for k, pattern in enumerate(patterns):
            seen[k, pattern.seen[1:] - 1] = 1.0
            root[first : first + len(pattern.root), pattern.seen] = pattern.root
            first += len(pattern.root)
        root[:, 1:] /= scale
        items.append(FactorRows(seen, np.array([p.weight for p in patterns]), root, owner))
    return Units(tuple(items), cells.total_weight, is_complete=False)


def _moments(units: Units, n_columns: int) -> tuple[float, Array, Array]:
    """Weight, means and covariance; what is missing is taken to be at the mean of its column."""
    count, square = np.zeros(n_columns), np.zeros((1 + n_columns, 1 + n_columns))
    for unit in units.each():
        count += unit.seen.T @ unit.weight
        square += unit.root.T @ unit.root
    weight = square[0, 0]
    mean = square[0, 1:] / np.maximum(count, 1e-300)
    covariance = square[1:, 1:] / weight - np.outer(mean, mean)
    variance = np.diagonal(square)[1:] / np.maximum(count, 1e-300) - mean * mean
    share = np.sqrt(np.maximum(variance, 1e-300) / np.maximum(np.diagonal(covariance), 1e-300))
    if (count < weight).any():
        covariance = covariance * np.outer(share, share)
    return float(weight), mean, covariance


# --- where it begins: the most likely loadings of complete rows, or principal axes ---
#
# With the covariance S, x ~ N(m, Λ Λᵀ + Ψ). Given Ψ the best Λ is known from the eigenvalues e of
# Ψ^(-½) S Ψ^(-½), which leaves a function of log ψ alone, climbed by Newton's method with its exact
# second derivatives (Jöreskog 1967; Lawley and Maxwell 1971, chapter 4).


MOST_STEPS = 200
FLAT = 1e-7
"""A slope, of a row, that is none."""


def isotropic(covariance: Array, n_factors: int) -> tuple[Array, Array]:
    """Loadings (D, K) and the variance (1,) of the noise (Tipping and Bishop 1999)."""
    values, axes = np.linalg.eigh(covariance)
    values, axes = values[::-1], axes[:, ::-1]
    rest = values[n_factors:]
    noise = max(float(rest.mean()), 0.0) if len(rest) else 0.0
    kept = np.maximum(values[:n_factors] - noise, 0.0)
    return axes[:, :n_factors] * np.sqrt(kept), np.array([noise])


def diagonal(covariance: Array, n_factors: int, noise: Array, least: float) -> tuple[Array, Array]:
    """The most likely loadings (D, K) and variances (D,) of noise, from a start of the latter.

    No variance of noise goes below `least` of that of its column.
    """
    bound = np.log(least * np.diagonal(covariance))
    theta = np.maximum(np.log(noise), bound)
    value, slope, curve = _profile(covariance, n_factors, theta)
    for _ in range(MOST_STEPS):
        free = (theta > bound) | (slope < 0.0)
        if np.abs(slope[free]).max(initial=0.0) < FLAT:
            break
        step = np.zeros_like(theta)
        step[free] = -_solve(curve[np.ix_(free, free)], slope[free])
        step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
        size = 1.0
        while True:
            new = np.maximum(theta + size * step, bound)
            found = _profile(covariance, n_factors, new)
            if found[0] <= value + 1e-4 * float(slope @ (new - theta)) or size < 1e-10:
                break
            size *= 0.5
        if found[0] > value:
            break
        is_still = np.array_equal(new, theta)
        theta, (value, slope, curve) = new, found
        if is_still:
            break
    root = np.exp(0.5 * theta)
    values, axes = _spectrum(covariance, theta)
    kept = np.sqrt(np.maximum(values[:n_factors] - 1.0, 0.0))
    return root[:, None] * axes[:, :n_factors] * kept, np.exp(theta)


def usual_noise(covariance: Array, n_factors: int) -> Array:
    """Variances of noise to begin with: what the other columns leave of each, less a share."""
    share = 1.0 - 0.5 * n_factors / len(covariance)
    variance = np.diagonal(covariance)
    values, axes = np.linalg.eigh(covariance / np.sqrt(np.outer(variance, variance)))
    if values[0] < 1e-8 * values[-1]:
        return np.asarray(0.5 * share * variance)
    left = 1.0 / (axes * axes / values).sum(1)
    return np.asarray(share * left * variance)


def _spectrum(covariance: Array, theta: Array) -> tuple[Array, Array]:
    scaled = np.exp(-0.5 * theta)
    values, axes = np.linalg.eigh(scaled[:, None] * covariance * scaled)
    return values[::-1], axes[:, ::-1]


def _profile(covariance: Array, n_factors: int, theta: Array) -> tuple[float, Array, Array]:
    """Log |Σ| + tr Σ⁻¹S at the best loadings for these log variances; its slope, its curvature."""
    values, axes = _spectrum(covariance, theta)
    n = int((values[:n_factors] > 1.0).sum())
    head, tail, rest = values[:n], values[n:], axes[:, n:]
    value = float(theta.sum() + np.log(head).sum() + n + tail.sum())
    slope = ((1.0 - tail) * rest * rest).sum(1)
    return value, slope, _curvature(values, axes, n)


def _curvature(values: Array, axes: Array, n: int) -> Array:
    """Second derivatives by log ψ, from divided differences of the slopes of the spectrum."""
    slopes = np.where(np.arange(len(values)) < n, 1.0 / values, 1.0)
    curve = np.zeros((len(axes), len(axes)))
    for k in range(n):
        gap = values[k] - values
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (slopes[k] - slopes) / gap
        ratio[:n] = -1.0 / (values[k] * values[:n])
        ratio[n:] = np.where(gap[n:] > 0.0, ratio[n:], 0.0)
        weight = 0.25 * ratio * np.square(values[k] + values)
        weight[n:] *= 2.0
        curve += np.outer(axes[:, k], axes[:, k]) * ((weight * axes) @ axes.T)
    whole = (values * axes) @ axes.T
    curve += 0.5 * whole * ((slopes * axes) @ axes.T)
    curve[np.diag_indices_from(curve)] += 0.5 * (slopes * values * axes * axes).sum(1)
    return curve


def _solve(curve: Array, slope: Array) -> Array:
    """Newton's step; directions in which the function does not curve upwards are turned."""
    values, axes = np.linalg.eigh(0.5 * (curve + curve.T))
    size = np.maximum(np.abs(values), 1e-6 * max(float(np.abs(values).max()), 1e-300))
    return np.asarray(axes @ ((axes.T @ slope) / size))
