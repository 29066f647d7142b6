"""The ratio Γ(α + n) / Γ(α), to full precision: every evidence of counts is made of such ratios."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]
Numbers = NDArray[np.floating[Any]] | float

SERIES = 100.0
"""From here on log Γ is large beside the ratio, and its digits would be lost in the difference."""


def log_rising(alpha: Numbers, n: Numbers) -> Array:
    """Log Γ(α + n) - log Γ(α), by Stirling's series where the two nearly cancel.

    Examples
    --------
    >>> float(np.exp(log_rising(2.0, 3.0)).round(12))  # 2 · 3 · 4
    24.0
    """
    if np.ndim(alpha) == 0:
        return _by_series(alpha, n) if alpha >= SERIES else _by_difference(alpha, n)
    is_large = np.asarray(alpha) >= SERIES
    if not is_large.any():
        return _by_difference(alpha, n)
    small = _by_difference(np.where(is_large, 1.0, alpha), n)
    return np.where(is_large, _by_series(np.where(is_large, alpha, SERIES), n), small)


def _by_difference(alpha: Numbers, n: Numbers) -> Array:
    return np.asarray(gammaln(alpha + n) - gammaln(alpha))


def _by_series(alpha: Numbers, n: Numbers) -> Array:
    rise = (alpha - 0.5) * np.log1p(n / alpha) + n * (np.log(alpha + n) - 1.0)
    return np.asarray(rise + (_stirling(alpha + n) - _stirling(alpha)))


def _stirling(x: Numbers) -> Numbers:
    """What log Γ(x) has besides (x - 1/2) log x - x + log(2π)/2, to 1e-17 for x ≥ 100."""
    y = 1.0 / x
    return y / 12.0 - y**3 / 360.0 + y**5 / 1260.0
