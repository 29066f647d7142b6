"""What columns look like as a whole, whatever is missing."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberBlock, NumberRows

Array = NDArray[np.float64]

SINGULAR = 1e-8
"""Correlations with a smaller eigenvalue than this have no inverse that could be trusted."""
SHRUNK = 1e-3
"""The smallest eigenvalue that such correlations are given."""


def column_moments(values: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Those of rows in memory."""
    return moments_of(NumberRows.of(values, weight))


def column_covariance(values: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Those of rows in memory."""
    return covariance_of(NumberRows.of(values, weight))


def moments_of(rows: NumberRows) -> tuple[Array, Array]:
    """Mean and variance of each column over its values; a variance of 1 where they do not vary.

    A row of weight 2 counts as two rows.
    """
    n, total, squares = _sums(rows, np.zeros(rows.n_columns))
    n = np.where(n > 0, n, 1.0)
    mean = total / n
    variance = _sums(rows, mean)[2] / n
    varies = variance > 1e-24 * squares / n  # beyond rounding
    return mean, np.where(varies, variance, 1.0)


def covariance_of(rows: NumberRows) -> tuple[Array, Array]:
    """Mean (D,) and covariance (D, D) of the columns; each pair over the rows that have both.

    Correlations that are (nearly) singular, as those of columns that follow from others, of fewer
    rows than columns, or of pairs seen in different rows, are shrunk to the identity as far as
    needed. A column that does not vary has the variance 1, and no correlation.
    """
    mean, variance = moments_of(rows)
    deviation, n_columns = np.sqrt(variance), len(mean)

    def add_up(block: NumberBlock) -> Array:
        x, here = (block.values - mean) / deviation, block.weight
        seen = ~np.isnan(x)
        x = np.where(seen, x, 0.0)
        both = (seen * here[:, None]).T @ seen if not seen.all() else np.full((1, 1), here.sum())
        return np.stack([(x * here[:, None]).T @ x, np.broadcast_to(both, (len(mean), len(mean)))])

    products, n = _total(rows, add_up, (2, n_columns, n_columns))
    correlation = np.divide(products, n, out=np.zeros_like(products), where=n > 0.0)
    correlation[np.diag_indices(n_columns)] = 1.0
    least = float(np.linalg.eigvalsh(correlation)[0])
    if least < SINGULAR:
        kept = (1.0 - SHRUNK) / (1.0 - least)  # then the smallest eigenvalue is SHRUNK
        correlation = kept * correlation + (1.0 - kept) * np.eye(n_columns)
    return mean, correlation * deviation * deviation[:, None]


def _sums(rows: NumberRows, center: Array) -> Array:
    """(3, D): the weight of the values of each column, their sum and that of their squares."""
    from jensen.kernels.columns import add_column_sums

    def add_up(block: NumberBlock) -> Array:
        own = np.array(block.values, np.float64, order="C")  # a kernel wants its own
        sums = np.zeros((3, len(center)))
        add_column_sums(own, np.array(block.weight), center, sums)
        return sums

    return _total(rows, add_up, (3, len(center)))


def _total(rows: NumberRows, f: Callable[[NumberBlock], Array], shape: tuple[int, ...]) -> Array:
    found = rows.sum(f)
    return np.zeros(shape) if found is None else np.asarray(found)


def standardised(values: Array) -> Array:
    """Columns in units of their standard deviations; what is missing is at the mean."""
    mean, variance = column_moments(values)
    return np.asarray(np.nan_to_num((values - mean) / np.sqrt(variance)))
