"""Averages over samples of graphs, with their Monte-Carlo standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.posterior.graph_samples import GraphSamples
from jensen.runs.diagnostics import correlation_time

Array = NDArray[np.float64]

PRIOR_EVENTS = 2.0
"""The number of events whose effective size is weighted equally with that of the log score."""

BLOCK = 1 << 21
"""The most numbers in memory at a time: samples times quantities."""


class Estimate(float):
    """An average over samples: a float with a standard error.

    Attributes
    ----------
    standard_error : float
        The typical difference to another run of the same length; 0 if nothing was sampled, nan if
        there are too few samples to estimate it.

    Examples
    --------
    >>> p = Estimate(0.8125, 0.0042)
    >>> p, p.standard_error, p > 0.5, round(1 - p, 4)
    (0.8125 ± 0.0042, 0.0042, True, 0.1875)
    """

    __slots__ = ("standard_error",)

    standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0) -> Estimate:
        """A number and its standard error."""
        number = super().__new__(cls, value)
        number.standard_error = float(standard_error)
        return number

    def __getnewargs__(self) -> Any:
        return float(self), self.standard_error

    def __repr__(self) -> str:
        value, error = float(self), self.standard_error
        if not (error > 0 and math.isfinite(value)):
            return f"{value:.6g}"
        places = max(0, 1 - math.floor(math.log10(error)))  # two digits of the error
        return f"{value:.{places}f} ± {error:.{places}f}" if places <= 8 else f"{value:.6g}"

    __str__ = __repr__


@dataclass(frozen=True, eq=False)
class Estimates:
    """An array of averages over samples, with the standard error of each number.

    Examples
    --------
    >>> found = Estimates(np.array([0.5, 0.25]), np.array([0.01, 0.02]))
    >>> found[1], np.asarray(found).sum()
    (0.250 ± 0.020, np.float64(0.75))
    """

    values: Array
    standard_error: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        value, error = self.values[place], self.standard_error[place]
        return Estimate(value, error) if np.ndim(value) == 0 else Estimates(value, error)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)


class Average(NamedTuple):
    """Means of quantities, their standard errors, and their effective sample sizes."""

    mean: Array
    error: Array
    size: Array


def average(samples: GraphSamples, values: NDArray[Any], log_extra: Array | None = None) -> Average:
    """Average quantities (D, ...) of the distinct graphs over the samples.

    With weights w, the product of importance weights and exp(`log_extra`) (D,), the mean is
    Σ w f / Σ w, and its error is that of the mean of w (f - mean) / mean(w), which is equal to
    first order. The effective sample size is computed for each quantity from its autocorrelations
    in the chains (`jensen.runs.diagnostics.correlation_time`).

    If a quantity is skew, an error that is estimated from the same draws is too small exactly when
    the mean is far off: (mean - truth)² / error² has the mean 1 + 2 γ² / S to first order, with
    skewness γ and S draws. Errors are enlarged by that factor; for 0-1 quantities `share_error`
    does the same. Events that are rare, or rarely absent, say little about how fast they change,
    so their effective size is shrunk towards that of the log score.
    """
    weights = _weights(samples, log_extra)
    totals = np.bincount(samples.which.ravel(), weights.ravel(), minlength=samples.n_distinct)
    flat = values.reshape(len(values), -1)
    used = totals > 0
    seen = flat[used]
    moves = seen.min(0) != seen.max(0)
    mean = np.where(moves, totals @ flat / weights.sum(), seen[0])
    error, size = np.zeros_like(mean), np.full_like(mean, np.inf)
    if samples.kind == "all":
        return _shaped(values, mean, error, size)
    size[:] = samples.effective_size
    moving = np.flatnonzero(moves)
    step = max(1, BLOCK // samples.n_samples)
    for start in range(0, len(moving), step):
        part = moving[start : start + step]
        away = np.where(used[:, None], flat[:, part] - mean[part], 0.0)
        error[part], size[part] = _errors(samples, weights, away)
    if values.dtype == bool:
        events = size * np.minimum(mean, 1.0 - mean)
        pooled = (events + PRIOR_EVENTS) / (events / size + PRIOR_EVENTS / samples.effective_size)
        size = np.fmin(size, pooled)
        if samples.weights is not None:  # few samples of small weight would have too small errors
            size = np.minimum(size, samples.weights_size)
        error = share_error(mean, size, samples.n_samples / size)
        if samples.weights is not None:  # a sample as heavy as the heaviest may have been missed
            error = np.hypot(error, samples.weights.max() / samples.weights.sum())
    return _shaped(values, mean, error, size)


def share_error(share: Array, size: Any, time: Any = 1.0) -> Array:
    """The standard error of a share among `size` independent draws; it is never 0.

    It is the error of p̃ = (p S + a) / (S + 2 a) with S draws. With a = 2 (Agresti and Coull 1998)
    the mean of (share - p)² / error² is 1 to first order in 1 / S. In a chain with correlation
    `time` τ, events come in runs of random length, which makes the share more skew: for a chain of
    two states a = ½ (3 - τ⁻²)², from the moments of the lengths.
    """
    a = 0.5 * np.square(3.0 - np.maximum(time, 1.0) ** -2.0)
    likely = (share * size + a) / (size + 2.0 * a)
    return np.asarray(np.sqrt(likely * (1.0 - likely) / size))


def mean_error(series: Array, size: Array) -> Array:
    """The standard error of means of series (chains, samples, ...) with effective sizes `size`."""
    away = series - series.mean((0, 1))
    variance = np.square(away).mean((0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.nan_to_num((away**3).mean((0, 1)) / variance**1.5, posinf=0.0, neginf=0.0)
    return np.asarray(np.sqrt(variance / size * (1.0 + 2.0 * np.square(skewness) / size)))


def _weights(samples: GraphSamples, log_extra: Array | None) -> Array:
    weights = np.ones(samples.which.shape) if samples.weights is None else samples.weights
    if log_extra is None:
        return weights
    return np.asarray(weights * np.exp(log_extra - log_extra.max())[samples.which])


def _errors(samples: GraphSamples, weights: Array, away: Array) -> tuple[Array, Array]:
    """Standard errors and effective sizes of means, from deviations (D, m) of distinct graphs."""
    series, mean_weight = away[samples.which], weights.mean()
    variance = (weights[..., None] * np.square(series)).mean((0, 1)) / mean_weight
    series *= weights[..., None] / mean_weight
    size = np.full(away.shape[1], float(samples.n_samples))
    if samples.kind == "chains":
        size /= correlation_time(series)
    return mean_error(series, size), variance / (np.square(series).mean((0, 1)) / size)


def _shaped(values: NDArray[Any], *found: Array) -> Average:
    return Average(*(part.reshape(values.shape[1:]) for part in found))
