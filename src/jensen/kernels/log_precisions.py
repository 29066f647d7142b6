"""The density of log precisions beside means whose prior is independent of them, on grids.

For each of n precisions, with the first moments and strengths of M means about their prior mean,

    shape u - ½ second e^u + Σ_m ½ (log p₀ - log(p₀ + e^u s) + e^2u d² / (p₀ + e^u s))

as `jensen.families.semi_conjugate` derives it.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.random_numbers import uniform

DEPTH = 45.0
COARSE, WITHIN, ROUNDS = 32, 9, 20


@helper
def _log_density(shape, second, first, strength, prior, u):
    """Log density of u, the means integrated out."""
    lam = np.exp(u)
    total, widths = shape * u - 0.5 * second * lam, 1.0
    for m in range(first.shape[0]):
        wide = prior[m] + lam * strength[m]
        x = lam * first[m]
        total += 0.5 * x * x / wide
        widths *= prior[m] / wide
        if widths < 1e-200:
            total += 0.5 * np.log(widths)
            widths = 1.0
    return total + 0.5 * np.log(widths)


@helper
def _lay(shape, second, first, strength, prior, low, high, u, value):
    """Fill u with points between the bounds, evenly spaced, and value with the density there."""
    n = u.shape[0]
    top = -np.inf
    for i in range(n):
        u[i] = low + (high - low) * i / (n - 1)
        value[i] = _log_density(shape, second, first, strength, prior, u[i])
        top = max(top, value[i])
    return top


@helper
def _fine(shape, second, first, strength, prior, low, high, rough, u, value):
    """Lay the fine grid where the density is no less than e^-DEPTH of its top, which is told."""
    rough_u, rough_value = rough[0], rough[1]
    for _ in range(ROUNDS):
        top = _lay(shape, second, first, strength, prior, low, high, rough_u, rough_value)
        begin, end = 0, COARSE - 1
        while rough_value[begin] < top - DEPTH:
            begin += 1
        while rough_value[end] < top - DEPTH:
            end -= 1
        begin, end = max(begin - 1, 0), min(end + 1, COARSE - 1)
        low, high = rough_u[begin], rough_u[end]
        if end - begin >= WITHIN:
            break
    return _lay(shape, second, first, strength, prior, low, high, u, value)


@kernel(
    "void(float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def lay_grids(shape, second, first, strength, prior, bounds, u, value):
    """Fill u and value (n, points); bounds (2, n) are those beyond which there is nothing."""
    rough = np.empty((2, COARSE))
    for i in range(u.shape[0]):
        _fine(
            shape[i], second[i], first[i], strength[i], prior[i], bounds[0, i], bounds[1, i],
            rough, u[i], value[i],
        )  # fmt: skip


@kernel(
    "void(float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], int64, float64, uint64[::1], float64[::1])"
)
def draw_log_precisions(
    shape, second, first, strength, prior, bounds, n_points, guard, state, drawn
):
    """Fill drawn (n,): by the chords of the density, of which some are rejected.

    The density is nowhere above `guard` times its chords.
    """
    rough, u, value = np.empty((2, COARSE)), np.empty(n_points), np.empty(n_points)
    below = np.empty(n_points)
    for i in range(drawn.shape[0]):
        top = _fine(
            shape[i], second[i], first[i], strength[i], prior[i], bounds[0, i], bounds[1, i],
            rough, u, value,
        )  # fmt: skip
        total, last = 0.0, 0.0
        for j in range(n_points):
            weight = np.exp(value[j] - top)
            total += weight + last if j > 0 else 0.0
            value[j], below[j], last = weight, total, weight
        while True:
            at, j = uniform(state) * total, 1
            while j < n_points - 1 and below[j] <= at:
                j += 1
            a, b = value[j - 1], value[j]
            share = uniform(state) * (a + b)
            x = share / (a + np.sqrt(a * a + (b - a) * share))
            here = u[j - 1] + x * (u[1] - u[0])
            density = np.exp(
                _log_density(shape[i], second[i], first[i], strength[i], prior[i], here) - top
            )
            if uniform(state) * (a + (b - a) * x) * guard <= density:
                drawn[i] = here
                break
