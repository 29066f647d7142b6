"""What columns look like as a whole, whatever is missing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def column_moments(values: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Mean and variance of each column over its values; a variance of 1 where they do not vary.

    A row of weight 2 counts as two rows.
    """
    seen = ~np.isnan(values)
    n = _total(seen, weight)
    n = np.where(n > 0, n, 1.0)
    x = np.where(seen, values, 0.0)
    mean = _total(x, weight) / n
    variance = _total(np.where(seen, values - mean, 0.0) ** 2, weight) / n
    varies = variance > 1e-24 * _total(x**2, weight) / n  # beyond rounding
    return mean, np.where(varies, variance, 1.0)


def _total(x: NDArray[Any], weight: Array | None) -> Array:
    return np.asarray(x.sum(0) if weight is None else weight @ x)


def standardised(values: Array) -> Array:
    """Columns in units of their standard deviations; what is missing is at the mean."""
    mean, variance = column_moments(values)
    return np.asarray(np.nan_to_num((values - mean) / np.sqrt(variance)))
