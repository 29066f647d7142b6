"""What columns look like as a whole, whatever is missing."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def column_moments(values: Array) -> tuple[Array, Array]:
    """Mean and variance of each column over its values; a variance of 1 where they do not vary."""
    seen = ~np.isnan(values)
    n = np.maximum(seen.sum(0), 1)
    x = np.where(seen, values, 0.0)
    mean = x.sum(0) / n
    variance = (np.where(seen, values - mean, 0.0) ** 2).sum(0) / n
    varies = variance > 1e-24 * (x**2).sum(0) / n  # beyond rounding
    return mean, np.where(varies, variance, 1.0)


def standardised(values: Array) -> Array:
    """Columns in units of their standard deviations; what is missing is at the mean."""
    mean, variance = column_moments(values)
    return np.asarray(np.nan_to_num((values - mean) / np.sqrt(variance)))
