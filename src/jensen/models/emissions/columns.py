"""What columns look like as a whole, whatever is missing."""

import numpy as np
from numpy.typing import NDArray

from jensen.data.threads import ordered_map

Array = NDArray[np.float64]

BLOCK_ROWS = 1 << 14
"""Rows that are summed at once; fixed, so that sums never depend on threads."""


def column_moments(values: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Mean and variance of each column over its values; a variance of 1 where they do not vary.

    A row of weight 2 counts as two rows.
    """
    n, total, squares = _sums(values, weight, np.zeros(values.shape[1]))
    n = np.where(n > 0, n, 1.0)
    mean = total / n
    variance = _sums(values, weight, mean)[2] / n
    varies = variance > 1e-24 * squares / n  # beyond rounding
    return mean, np.where(varies, variance, 1.0)


def _sums(values: Array, weight: Array | None, center: Array) -> Array:
    """(3, D): the weight of the values of each column, their sum and that of their squares."""
    from jensen.kernels.columns import add_column_sums

    def add_up(a: int) -> Array:
        rows = np.array(values[a : a + BLOCK_ROWS], np.float64, order="C")  # a kernel wants its own
        here = np.ones(len(rows)) if weight is None else np.array(weight[a : a + BLOCK_ROWS])
        sums = np.zeros((3, len(center)))
        add_column_sums(rows, here, center, sums)
        return sums

    blocks = ordered_map(add_up, range(0, len(values), BLOCK_ROWS))
    return sum(blocks, np.zeros((3, len(center))))


def standardised(values: Array) -> Array:
    """Columns in units of their standard deviations; what is missing is at the mean."""
    mean, variance = column_moments(values)
    return np.asarray(np.nan_to_num((values - mean) / np.sqrt(variance)))
