"""Where factor analysis begins: the most likely loadings of complete rows, or principal axes.

With the covariance S, x ~ N(m, Λ Λᵀ + Ψ). Given Ψ the best Λ is known from the eigenvalues e of
Ψ^(-½) S Ψ^(-½), which leaves a function of log ψ alone, climbed by Newton's method with its exact
second derivatives (Jöreskog 1967; Lawley and Maxwell 1971, chapter 4).
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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
