"""Where factor analysis begins: the most likely loadings of complete rows, or principal axes.

With the covariance S, x ~ N(m, Λ Λᵀ + Ψ). Given Ψ the best Λ is known from the eigenvalues e of
Ψ^(-½) S Ψ^(-½), which leaves a function of log ψ alone, climbed by Newton's method with its exact
second derivatives (Jöreskog 1967; Lawley and Maxwell 1971, chapter 4).

Mixtures begin at the principal axes of rows around centres; their components are removed, merged,
split and born anew by moments alone.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_STEPS = 200
TRIED = 4
"""So many components, or pairs of them, are tried in each kind of move."""
BORN = 0.05
"""The share of the rows that a new component begins with."""
LEAST = 1e-300
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


# --- mixtures: rows around centres, and other components ---


def local_axes(
    points: Array, share: Array, n_factors: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Means and loadings (S, D, 1 + K) of rows by their shares (S, n), and noise (S, D)."""
    n, D = len(share), points.shape[1]
    loadings, noise = np.zeros((n, D, 1 + n_factors)), np.empty((n, D))
    total = np.maximum(share.sum(1), LEAST)
    whole = np.maximum(np.average(np.square(points), axis=0, weights=share.sum(0)), LEAST)
    for s, weight in enumerate(share):
        mean = weight @ points / total[s]
        centred = points - mean
        covariance = (weight * centred.T) @ centred / total[s]
        variance = np.diagonal(covariance) + 1e-3 * whole
        axes, _ = isotropic(covariance, min(n_factors, max(D - 1, 1)))
        loadings[s, :, 0] = mean
        loadings[s, :, 1 : 1 + axes.shape[1]] = axes
        spread = 1e-2 * np.sqrt(variance)[:, None]
        loadings[s, :, 1:] += spread * rng.standard_normal((D, n_factors))
        left = variance - np.square(loadings[s, :, 1:]).sum(1)
        noise[s] = np.maximum(left, 0.1 * variance)
    return loadings, noise


def component_moves(
    counts: Array, live: NDArray[np.bool_], loadings: Array, noise: Array
) -> Iterator[dict[int, Any]]:
    """Other components: of each that changes rows, loadings (D, 1 + K) and noise; None: it dies.

    The smallest die, the nearest pairs merge, the largest are split along their longest axes into
    a free place, and a wide one is born there. Without a free place one is made by a merge.
    """
    alive = np.flatnonzero(live)
    free = np.flatnonzero(~live).tolist()
    by_size = alive[np.argsort(counts[alive], kind="stable")].tolist()
    if len(alive) > 1:
        for s in by_size[:TRIED]:
            yield {s: None}
    pairs = sorted(
        combinations(alive.tolist(), 2), key=lambda p: _apart(p[0], p[1], loadings, noise)
    )
    merges = []
    for a, b in pairs[:TRIED]:
        n = counts[a] + counts[b]
        share = np.array([counts[a], counts[b]]) / n
        both = _merged(loadings[[a, b]], share)
        merges.append((a, b, (n, both, share @ noise[[a, b]])))
        yield {a: merges[-1][2], b: None}
    for axis in range(2):
        for s in reversed(by_size):
            halves = _halves(counts[s], loadings[s], noise[s], axis)
            if free:
                yield {s: halves[0], free[0]: halves[1]}
            elif axis == 0:
                for a, b, one in merges[:2]:
                    if s not in (a, b):
                        yield {a: one, s: halves[0], b: halves[1]}
    if free:
        share = counts[alive] / counts[alive].sum()
        wide = _merged(loadings[alive], share)
        yield {free[0]: (BORN * counts.sum(), wide, share @ noise[alive])}


def _apart(a: int, b: int, loadings: Array, noise: Array) -> float:
    """The distance of two components in units of their spread."""
    between = loadings[a, :, 0] - loadings[b, :, 0]
    spread = np.diag(noise[a] + noise[b])
    for s in (a, b):
        spread += loadings[s, :, 1:] @ loadings[s, :, 1:].T
    return float(between @ np.linalg.solve(spread, between))


def _merged(loadings: Array, share: Array) -> Array:
    """Mean and principal axes (D, 1 + K) of several components together."""
    mean = share @ loadings[:, :, 0]
    K = loadings.shape[2] - 1
    roots = np.sqrt(share)[:, None, None] * np.concatenate(
        [loadings[:, :, 1:], (loadings[:, :, 0] - mean)[:, :, None]], axis=2
    )
    axes, sizes, _ = np.linalg.svd(np.concatenate(roots, axis=1), full_matrices=False)
    found = np.zeros((len(mean), 1 + K))
    n = min(K, len(sizes))
    found[:, 0], found[:, 1 : 1 + n] = mean, axes[:, :n] * sizes[:n]
    return found


def _halves(count: float, loadings: Array, noise: Array, axis: int) -> list[tuple[Any, ...]]:
    """A component cut in two along one of its axes, the longest first."""
    axes, sizes, turn = np.linalg.svd(loadings[:, 1:], full_matrices=False)
    at = min(axis, len(sizes) - 1)
    step = sizes[at] * axes[:, at]
    shrunk = np.where(np.arange(len(sizes)) == at, 0.5, 1.0) * sizes
    found = []
    for sign in (-0.8, 0.8):
        half = loadings.copy()
        half[:, 0] += sign * step
        half[:, 1:] = (axes * shrunk) @ turn
        found.append((0.5 * count, half, noise))
    return found
