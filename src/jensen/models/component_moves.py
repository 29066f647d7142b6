"""Components of a mixture of factor analysers by moments: where they begin, and other ones to try.

Components are removed, merged, split and born anew; whether that is better is for F to say.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.models.factor_analysis import isotropic

Array = NDArray[np.float64]

TRIED = 4
"""So many components, or pairs of them, are tried in each kind of move."""
BORN = 0.05
"""The share of the rows that a new component begins with."""
LEAST = 1e-300


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
