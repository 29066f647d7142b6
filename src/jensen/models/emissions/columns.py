"""What columns look like as a whole, whatever is missing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.threads import ordered_map

Array = NDArray[np.float64]

BLOCK_ROWS = 1 << 14
"""Rows that are summed at once; fixed, so that sums never depend on threads."""
SINGULAR = 1e-8
"""Correlations with a smaller eigenvalue than this have no inverse that could be trusted."""
SHRUNK = 1e-3
"""The smallest eigenvalue that such correlations are given."""


class ColumnSummary(NamedTuple):
    """What columns look like as a whole: all that emissions and their priors are made from."""

    weight: Array  # (D,): of the rows that have a value
    mean: Array  # (D,); 0 of a column without a value
    variance: Array  # (D,); 1 where values do not vary
    covariance: Array | None = None  # (D, D), positive definite; None where nobody asks for it

    @classmethod
    def at(cls, mean: Array) -> "ColumnSummary":
        """Columns of which no more than the mean is known."""
        return cls(np.zeros_like(mean), mean, np.ones_like(mean))

    def of(self, columns: Sequence[int]) -> "ColumnSummary":
        """Some of the columns."""
        some = list(columns)
        covariance = None if self.covariance is None else self.covariance[np.ix_(some, some)]
        return ColumnSummary(self.weight[some], self.mean[some], self.variance[some], covariance)


def summarise(
    values: Array, weight: Array | None = None, *, covariance: bool = False
) -> ColumnSummary:
    """Rows (n, D), missing NaN, as a whole; a row of weight 2 counts as two rows."""
    n, mean, variance = _moments(values, weight)
    together = _covariance(values, weight, mean, variance) if covariance else None
    return ColumnSummary(n, mean, variance, together)


def column_moments(values: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Mean and variance of each column over its values; a variance of 1 where they do not vary.

    A row of weight 2 counts as two rows.
    """
    return _moments(values, weight)[1:]


def _moments(values: Array, weight: Array | None) -> tuple[Array, Array, Array]:
    """The weight of the values of each column, their mean and their variance."""
    seen, total, squares = _sums(values, weight, np.zeros(values.shape[1]))
    n = np.where(seen > 0, seen, 1.0)
    mean = total / n
    variance = _sums(values, weight, mean)[2] / n
    varies = variance > 1e-24 * squares / n  # beyond rounding
    return seen, mean, np.where(varies, variance, 1.0)


def column_covariance(values: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Mean (D,) and covariance (D, D) of the columns; each pair over the rows that have both.

    Correlations that are (nearly) singular, as those of columns that follow from others, of fewer
    rows than columns, or of pairs seen in different rows, are shrunk to the identity as far as
    needed. A column that does not vary has the variance 1, and no correlation.
    """
    _, mean, variance = _moments(values, weight)
    return mean, _covariance(values, weight, mean, variance)


def _covariance(values: Array, weight: Array | None, mean: Array, variance: Array) -> Array:
    deviation, n_columns = np.sqrt(variance), len(mean)

    def add_up(a: int) -> Array:
        x = (values[a : a + BLOCK_ROWS] - mean) / deviation
        here = np.ones(len(x)) if weight is None else weight[a : a + BLOCK_ROWS]
        seen = ~np.isnan(x)
        x = np.where(seen, x, 0.0)
        both = (seen * here[:, None]).T @ seen if not seen.all() else np.full((1, 1), here.sum())
        return np.stack([(x * here[:, None]).T @ x, np.broadcast_to(both, (len(mean), len(mean)))])

    blocks = ordered_map(add_up, range(0, len(values), BLOCK_ROWS))
    products, n = sum(blocks, np.zeros((2, n_columns, n_columns)))
    return joint_covariance(products, n, deviation)


def joint_covariance(products: Array, n: Array, deviation: Array) -> Array:
    """A positive definite covariance from sums of products of standardised values (D, D).

    n (D, D) is the weight of the rows that have both columns; see `column_covariance`.
    """
    n_columns = len(deviation)
    correlation = np.divide(products, n, out=np.zeros_like(products), where=n > 0.0)
    correlation[np.diag_indices(n_columns)] = 1.0
    least = float(np.linalg.eigvalsh(correlation)[0])
    if least < SINGULAR:
        kept = (1.0 - SHRUNK) / (1.0 - least)  # then the smallest eigenvalue is SHRUNK
        correlation = kept * correlation + (1.0 - kept) * np.eye(n_columns)
    return np.asarray(correlation * deviation * deviation[:, None])


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
