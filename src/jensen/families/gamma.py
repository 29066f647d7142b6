"""Gamma distributions over the rates λ of Poisson counts.

η = (a - 1, b),  t(λ) = (log λ, -λ),  and rows add (Σ x, N).  A(η) = log Γ(a) - a log b.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from jensen.exceptions import JensenError
from jensen.families import NO_ROWS, refuse
from jensen.families.projection import wishart_degrees
from jensen.support.fields import record

Array = NDArray[np.float64]


NEVER = -1e200
"""The log of a rate of 0 where logs are multiplied by counts, for 0 times -inf is no number."""


LARGEST_COUNT = 1e9
"""Log-likelihoods x log λ - λ - log x! of larger counts lose their digits: terms as large as
x log x cancel, and leave errors of 2e-6 in each row here, of 7e-3 at 1e12, of 7 at 1e15."""
LARGEST_RATE = 9e18
"""Counts beyond are no whole numbers of 64 bits."""


@record
class Gamma(NamedTuple):
    """One rate per component and dimension."""

    total: Array  # (K, D)
    exposure: Array  # (K, D)


def weak_prior(means: Array) -> Gamma:
    """η₀ of rates, as if one event had been seen, at the mean of each column.

    That is the shape 1 and the rate 1 / mean, or 1 for a column of zeros.
    """
    return Gamma(np.zeros_like(means), 1.0 / np.where(means > 0.0, means, 1.0))


def log_normaliser(shape: Array, rate: Array) -> Array:
    """Log ∫ λ^(a - 1) exp(-b λ) dλ, element by element."""
    return np.asarray(gammaln(shape) - shape * np.log(rate))


def mean_log(shape: Array, rate: Array) -> Array:
    """E[log λ], element by element."""
    return np.asarray(digamma(shape) - np.log(rate))


def draw_log(shape: Array, rng: np.random.Generator) -> Array:
    """Log of a draw at rate 1, made in log space: plain gammas underflow at a small shape."""
    uniform = 1.0 - rng.random(np.shape(shape))
    return np.asarray(np.log(rng.standard_gamma(shape + 1.0)) + np.log(uniform) / shape)


def log_partition(eta: Gamma) -> float:
    """A(η), summed over the rates."""
    return float(log_partitions(eta).sum())


def log_partitions(eta: Gamma) -> Array:
    """Log Γ(a) - a log b of each rate."""
    return log_normaliser(*_shape_and_rate(eta))


def mean_stats(eta: Gamma) -> Gamma:
    """ψ(a) - log b and -a / b."""
    shape, rate = _shape_and_rate(eta)
    return Gamma(mean_log(shape, rate), -shape / rate)


def mode_stats(eta: Gamma) -> Gamma:
    """At λ = (a - 1) / b; a rate of 0, with log 0 = -inf, is right where nothing happened."""
    _, rate = _shape_and_rate(eta)
    mode = eta.total / rate
    with np.errstate(divide="ignore"):
        return Gamma(np.log(mode), -mode)


def sample_stats(eta: Gamma, rng: np.random.Generator) -> Gamma:
    """At a draw of λ."""
    shape, rate = _shape_and_rate(eta)
    log_rate = draw_log(shape, rng) - np.log(rate)
    return Gamma(log_rate, -np.exp(log_rate))


def from_moments(t: Gamma) -> Gamma:
    """The η at which E[log λ] and E[-λ] are these."""
    shape = 0.5 * wishart_degrees(t.total - np.log(-t.exposure), 1)
    return Gamma(shape - 1.0, -shape / t.exposure)


def has_mode(eta: Gamma) -> bool:
    """Whether a ≥ 1, so that the density has a highest point, and b > 0, so that it is one."""
    return bool(np.all(eta.total >= 0.0) and np.all(eta.exposure > 0.0))


def describe(eta: Gamma) -> dict[str, Array]:
    """Shape a, rate b, and the mean of λ."""
    shape, rate = _shape_and_rate(eta)
    return {"shape": shape, "rate": rate, "mean": shape / rate}


def draw_counts(rate: Array, rng: np.random.Generator) -> Array:
    """A count at every rate."""
    if (rate > LARGEST_RATE).any():
        raise JensenError(
            f"counts cannot be drawn at the rate {rate.max():.3g}, which is beyond "
            f"{LARGEST_RATE:g}: divide the column, or learn it as numbers"
        )
    return rng.poisson(rate).astype(np.float64)


def _shape_and_rate(eta: Gamma) -> tuple[Array, Array]:
    """A and b, where b > 0."""
    refuse(~(eta.exposure > 0.0), NO_ROWS)
    return eta.total + 1.0, eta.exposure
