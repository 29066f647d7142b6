"""From expected statistics back to parameters, where there is no closed form: Newton's method.

E[t(θ)] = ∇A(η) has one solution η wherever it is the mean of a distribution of the family.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from jensen.exceptions import JensenError

Array = NDArray[np.float64]
EachTotal = Callable[[Array], Array]

MOST_STEPS = 50
CLOSE = 1e-14
"""A step that is a smaller share of what it changes is the last."""


def wishart_degrees(gap: Array, size: int) -> Array:
    """ν of a Wishart distribution from E[log |Λ|] - log |E[Λ]| < 0, whatever the shape of `gap`.

    The gap is Σ_i ψ((ν + 1 - i)/2) - D log(ν/2). Of a gamma distribution, where D = 1, the shape is
    ν/2. One over the gap is almost a straight line in ν, so that Newton's method takes few steps.
    """
    if not np.all(gap < 0.0):
        raise JensenError("no distribution has these moments: log E[Λ] must exceed E[log Λ]")
    above = -0.5 * size * (size + 1.0) / gap  # ν - (D - 1), as it is where ν is large
    for _ in range(MOST_STEPS):
        nu = above + (size - 1.0)
        halves = 0.5 * (nu[..., None] - np.arange(size))
        here = digamma(halves).sum(-1) - size * np.log(0.5 * nu)
        slope = 0.5 * polygamma(1, halves).sum(-1) - size / nu
        step = (gap - here) * here / (gap * slope)
        step = np.where(np.isfinite(step), np.maximum(step, -0.9 * above), 0.0)
        above = above + step
        if np.all(np.abs(step) <= CLOSE * above):
            break
    return np.asarray(above + (size - 1.0))


def dirichlet_concentrations(t: Array, totals: EachTotal, spread: EachTotal) -> Array:
    """α from E[log π] = t, with one sum per distribution by `totals`, put back by `spread`.

    The Hessian is a diagonal less a constant, so that a step of Newton's method costs no more than
    a gradient (Minka 2000, *Estimating a Dirichlet distribution*). A cell of -inf has α = 0; a
    distribution over a single cell is certain, and has α = 1 by convention.
    """
    inside = t > -np.inf
    means = np.where(inside, t, 0.0)
    n_inside = totals(inside.astype(np.float64))
    shares = totals(np.where(inside, np.exp(means), 0.0))
    is_single = n_inside <= 1.0
    if not np.all(is_single | (shares < 1.0)):
        raise JensenError("no distribution has these moments: Σ exp E[log π] must be below 1")
    size = np.where(is_single, 1.0, 0.5 * (n_inside - 1.0) / np.where(is_single, 1.0, 1.0 - shares))
    is_open = inside & ~np.asarray(spread(is_single.astype(np.float64)), bool)
    alpha = _inverse_digamma(means + digamma(spread(size)))
    alpha = np.where(is_open, alpha, np.where(inside, 1.0, 0.0))
    for _ in range(MOST_STEPS):
        safe, total = np.where(inside, alpha, 1.0), totals(alpha)
        total = np.where(total > 0.0, total, 1.0)
        gradient = np.where(is_open, means - digamma(safe) + spread(digamma(total)), 0.0)
        curvature = polygamma(1, safe)
        weight = np.where(is_open, 1.0 / curvature, 0.0)
        common = totals(gradient * weight) / (1.0 / polygamma(1, total) - totals(weight))
        step = (gradient + spread(np.where(is_single, 0.0, common))) * weight
        step = np.maximum(step, -0.9 * alpha)
        alpha = alpha + step
        if np.all(np.abs(step) <= CLOSE * alpha):
            break
    return np.asarray(alpha)


def _inverse_digamma(y: Array) -> Array:
    """The x with ψ(x) = y, to a few digits (Minka 2000, appendix C)."""
    low = np.minimum(y, -2.22)
    x = np.where(y > -2.22, np.exp(np.minimum(y, 700.0)) + 0.5, -1.0 / (low - digamma(1.0)))
    for _ in range(3):
        x = np.maximum(x - (digamma(x) - y) / polygamma(1, x), 0.1 * x)
    return np.asarray(x)
