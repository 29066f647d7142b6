"""Gaussians whose means are independent of their precisions a priori: the semi-conjugate prior.

μ ~ N(m₀, 1/p₀) and λ ~ Wishart(W, ν) in one dimension, which is Gamma(ν/2, rate 1/(2W)). Records
are those of the conjugate family of the same form of covariance, whose t is

    (½ log λ, -½ λ, λ μ, -½ λ μ²)

and rows add what they add there. The density of the means is a part of the base measure,

    p(μ, λ | η) = N(μ; m₀, 1/p₀) exp(⟨η, t⟩ - A(η)),

so η₀ = (ν - 2, 1/W, 0, 0), and η = η₀ + statistics as everywhere. Given λ the means are Gaussian
and can be integrated out; what is left is a density of u = log λ,

    ½ (count + 2) u - ½ λ second + Σ_m ½ (log p₀ - log(p₀ + λ s_m) + λ² d_m² / (p₀ + λ s_m)),

with first and second moments taken about m₀, d = first - s m₀. It is summed on a grid so fine that
the trapezoidal rule is exact to rounding, and drawn from by rejection.

One precision belongs to each state and column, to each state ("spherical"), or to all states
("tied", of one column). Precisions that are matrices are not known here.

References
----------
Carlin and Chib (1995), *Bayesian model choice via Markov chain Monte Carlo methods*; the prior of
the galaxies in Chib (1995), *Marginal likelihood from the Gibbs output*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.families import NO_SPREAD, TOO_FEW_ROWS, refuse

Array = NDArray[np.float64]

DEPTH = 50.0
"""The grid ends where the log density is so far below its highest point."""
COARSE, FINE = 48, 160
"""Points of a grid that looks for the highest point, and of the one that sums the density."""
GUARD = 1.02
"""The density is nowhere above so many times its chords on the fine grid."""


class _Moments(NamedTuple):
    """Groups of means that share a precision; M means each, about m₀."""

    shape: Array  # (..., G): what multiplies log λ in the density of log λ
    second: Array  # (..., G)
    first: Array  # (..., G, M)
    strength: Array  # (..., G, M)
    prior: Array  # (G, M): p₀


class _Grid(NamedTuple):
    """Points u = log λ, evenly spaced, and the log density there."""

    u: Array  # (..., G, P)
    value: Array  # (..., G, P)


@dataclass(frozen=True, eq=False)
class SemiConjugate:
    """A normal prior of every mean beside the Wishart prior of every precision."""

    mean: Array  # (D,): m₀
    precision: Array  # (D,): p₀
    covariance: str

    def log_partition(self, eta: Any) -> float:
        """A(η), summed over the precisions."""
        return float(self.log_partitions(eta).sum())

    def log_partitions(self, eta: Any) -> Array:
        """Of each precision, with all means that share it."""
        grid = _grid(self._moments(eta))
        step = grid.u[..., 1] - grid.u[..., 0]
        return np.asarray(self._outside(eta, logsumexp(grid.value, axis=-1) + np.log(step)))

    def mean_stats(self, eta: Any) -> Any:
        """Expected t: given λ in closed form, and summed over λ."""
        moments = self._moments(eta)
        grid = _grid(moments)
        share = np.exp(grid.value - grid.value.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        lam = np.exp(grid.u)[..., None, :]
        wide = moments.prior[..., None] + lam * moments.strength[..., None]
        mean = self._m0(eta)[..., None] + lam * moments.first[..., None] / wide
        weights = share[..., None, :]
        return self._record(
            eta,
            0.5 * (share * grid.u).sum(-1),
            -0.5 * (share * np.exp(grid.u)).sum(-1),
            (weights * lam * mean).sum(-1),
            -0.5 * (weights * lam * (mean**2 + 1.0 / wide)).sum(-1),
        )

    def mode_stats(self, eta: Any) -> Any:
        """At the highest point in means and precisions."""
        moments = self._moments(eta)
        low, high = _bounds(moments)
        for _ in range(10):
            u = _spread(low, high, COARSE)
            value = _log_profile(moments, u)
            best = value.argmax(-1)[..., None]
            low = np.take_along_axis(u, np.maximum(best - 1, 0), -1)[..., 0]
            high = np.take_along_axis(u, np.minimum(best + 1, COARSE - 1), -1)[..., 0]
        return self._at(eta, moments, 0.5 * (low + high))

    def sample_stats(self, eta: Any, rng: np.random.Generator) -> Any:
        """At a draw of each precision, and of the means given it."""
        moments = self._moments(eta)
        return self._at(eta, moments, _draw(moments, rng), rng)

    def log_base(self, t: Any) -> float:
        """Log N(μ; m₀, 1/p₀) at the means of t."""
        parts = self._parts(t)
        lam = np.broadcast_to(-2.0 * parts.second[..., None], parts.first.shape)
        away = parts.prior * (parts.first / lam - self._m0(t)) ** 2
        return float(0.5 * (np.log(parts.prior / (2.0 * np.pi)) - away).sum())

    def has_mode(self, eta: Any) -> bool:
        """No: what seeks modes does not know the base measure."""
        return False

    def describe(self, eta: Any) -> dict[str, Array]:
        """What is known of the means, and of the precisions."""
        moments = self._moments(eta)
        return {
            "mean": self.mean,
            "mean_variance": 1.0 / self.precision,
            "degrees_of_freedom": self._outside(eta, 2.0 * moments.shape),
            "scale": self._outside(eta, 1.0 / moments.second),
        }

    # --- groups of means that share a precision ---

    def _moments(self, eta: Any) -> _Moments:
        """Moments about m₀; refused where the density has no integral."""
        parts, mean = self._parts(eta), self._m0(eta)
        found = _Moments(
            0.5 * parts.shape + 1.0,
            parts.second - (2.0 * parts.first * mean - parts.strength * mean**2).sum(-1),
            parts.first - parts.strength * mean,
            parts.strength,
            parts.prior,
        )
        refuse(~(found.shape > 0.0), TOO_FEW_ROWS)
        refuse(~(_residual(found) > 0.0), NO_SPREAD)
        return found

    def _parts(self, record: Any) -> _Moments:
        """The fields of an η or t, by group; the count as the shape."""
        count, second, first, strength = record
        if self.covariance in ("full", "tied"):
            first, second = first[..., 0], second[..., 0, 0]
        if self.covariance == "spherical":
            strength = np.broadcast_to(strength[..., None], first.shape)
        elif self.covariance == "tied":
            count, second = count[..., None], second[..., None]
            first, strength = first[..., None, :], strength[..., None, :]
        else:
            first, strength = first[..., None], strength[..., None]
        prior = self._grouped(np.broadcast_to(self.precision, record.first.shape[-2:]))
        return _Moments(np.asarray(count), second, first, strength, prior)

    def _m0(self, eta: Any) -> Array:
        return self._grouped(np.broadcast_to(self.mean, eta.first.shape[-2:]))

    def _grouped(self, each: Array) -> Array:
        """(G, M) of (K, D)."""
        if self.covariance == "spherical":
            return each
        return each.T if self.covariance == "tied" else self._flat(each)[..., None]

    def _flat(self, each: Array) -> Array:
        return each[:, 0] if self.covariance == "full" else each

    def _outside(self, eta: Any, each: Array) -> Array:
        """What belongs to precisions, shaped as counts are."""
        return each.reshape(eta.count.shape)

    def _at(
        self, eta: Any, moments: _Moments, u: Array, rng: np.random.Generator | None = None
    ) -> Any:
        """T at log precisions u, and at the mean or a draw of the means given them."""
        lam = np.exp(u)
        wide = moments.prior + lam[..., None] * moments.strength
        mean = self._m0(eta) + lam[..., None] * moments.first / wide
        if rng is not None:
            mean = mean + rng.standard_normal(mean.shape) / np.sqrt(wide)
        first = lam[..., None] * mean
        return self._record(eta, 0.5 * u, -0.5 * lam, first, -0.5 * first * mean)

    def _record(self, eta: Any, count: Array, second: Array, first: Array, strength: Array) -> Any:
        """A record of the form of η."""
        if self.covariance == "spherical":
            strength = strength.sum(-1)
        parts = (count, second, first, strength)
        pairs = zip(parts, eta, strict=True)
        return type(eta)(*(np.reshape(part, np.shape(like)) for part, like in pairs))


def _residual(moments: _Moments) -> Array:
    """Second moments about the means of the rows."""
    seen = moments.strength > 0.0
    square = np.divide(
        moments.first**2, moments.strength, out=np.zeros_like(moments.first), where=seen
    )
    return np.asarray(moments.second - square.sum(-1))


def _log_profile(moments: _Moments, u: Array) -> Array:
    """(..., G, P): the log density of λ where means are at their highest point."""
    lam = np.exp(u)
    total = (moments.shape[..., None] - 1.0) * u - 0.5 * moments.second[..., None] * lam
    for m in range(moments.first.shape[-1]):
        wide = moments.prior[..., m, None] + lam * moments.strength[..., m, None]
        total += 0.5 * (lam * moments.first[..., m, None]) ** 2 / wide
    return np.asarray(total)


def _bounds(moments: _Moments) -> tuple[Array, Array]:
    """Log precisions below and above which there is less than e^-DEPTH of the highest density.

    At λ_b = 2 shape / second the log density is no less than shape (log λ_b - 1) - paid; below it
    is at most shape · u, and above at most shape · u - ½ λ residual.
    """
    shape, second = moments.shape, moments.second
    middle = 2.0 * shape / second
    widths = np.log1p(middle[..., None] * moments.strength / moments.prior)
    paid = DEPTH + shape + 0.5 * widths.sum(-1)
    residual = _residual(moments)
    top = 4.0 * (paid + shape * np.log(second / residual)) / residual
    return np.log(middle) - paid / shape, np.log(top)


def _spread(low: Array, high: Array, n: int) -> Array:
    """(..., n): evenly between bounds."""
    return np.asarray(low[..., None] + (high - low)[..., None] * np.linspace(0.0, 1.0, n))


def _rows(moments: _Moments) -> tuple[Array, ...]:
    """The fields for kernels, one precision after the other."""
    n, size = moments.second.size, moments.first.shape[-1]
    lead = moments.second.shape
    wide = (*lead, size)
    return (
        *(np.array(np.broadcast_to(x, lead), order="C").reshape(n) for x in moments[:2]),
        *(np.array(np.broadcast_to(x, wide), order="C").reshape(n, size) for x in moments[2:]),
        np.stack(_bounds(moments)).reshape(2, n),
    )


def _grid(moments: _Moments) -> _Grid:
    """The grid that sums the density."""
    from jensen.kernels.log_precisions import lay_grids

    u, value = np.empty((2, moments.second.size, FINE))
    lay_grids(*_rows(moments), u, value)
    return _Grid(*(x.reshape(*moments.second.shape, FINE) for x in (u, value)))


def _draw(moments: _Moments, rng: np.random.Generator) -> Array:
    """(..., G): log precisions."""
    from jensen.kernels.log_precisions import draw_log_precisions

    drawn = np.empty(moments.second.size)
    state = rng.integers(1, 2**64 - 1, 4, dtype=np.uint64)
    draw_log_precisions(*_rows(moments), FINE, GUARD, state, drawn)
    return drawn.reshape(moments.second.shape)
