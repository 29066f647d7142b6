"""What columns look like as a whole, whatever is missing."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberBlock, NumberRows, column_sums

Array = NDArray[np.float64]

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


def summarise(rows: NumberRows, *, covariance: bool = False) -> ColumnSummary:
    """Rows as a whole; a row of weight 2 counts as two rows.

    Each pair of columns covaries as in the rows that have both. Correlations that are (nearly)
    singular, as those of columns that follow from others, of fewer rows than columns, or of pairs
    seen in different rows, are shrunk to the identity as far as needed. A column that does not
    vary has no correlation.
    """
    sketch = rows.sketch
    n = np.where(sketch.seen > 0, sketch.seen, 1.0)
    mean = sketch.total / n
    if covariance:
        products, together = _products(rows, mean)
        spread = np.diagonal(products)
    else:
        spread = _total(rows, lambda block: column_sums(block, mean)[2], mean.shape)
    varies = spread > 1e-24 * sketch.squares  # beyond rounding
    variance = np.where(varies, spread / n, 1.0)
    found = ColumnSummary(sketch.seen, mean, variance)
    if covariance:
        deviation = np.sqrt(variance)
        products = np.where(varies & varies[:, None], products, 0.0) / deviation
        joint = joint_covariance(products / deviation[:, None], together, deviation)
        found = found._replace(covariance=joint)
    return found


def column_moments(values: Array) -> tuple[Array, Array]:
    """Mean and variance of each column of rows in memory."""
    found = summarise(NumberRows.of(values))
    return found.mean, found.variance


def _products(rows: NumberRows, mean: Array) -> Array:
    """Σ weight · (x - mean)(x - mean)ᵀ (D, D), and the weight of rows that have both columns."""

    def add_up(block: NumberBlock) -> Array:
        x, here = block.values - mean, block.weight
        seen = ~np.isnan(x)
        x = np.where(seen, x, 0.0)
        both = (seen * here[:, None]).T @ seen if not seen.all() else np.full((1, 1), here.sum())
        return np.stack([(x * here[:, None]).T @ x, np.broadcast_to(both, 2 * mean.shape)])

    return _total(rows, add_up, (2, *2 * mean.shape))


def joint_covariance(products: Array, n: Array, deviation: Array) -> Array:
    """A positive definite covariance from sums of products of standardised values (D, D).

    n (D, D) is the weight of the rows that have both columns; see `summarise`.
    """
    n_columns = len(deviation)
    correlation = np.divide(products, n, out=np.zeros_like(products), where=n > 0.0)
    correlation[np.diag_indices(n_columns)] = 1.0
    least = float(np.linalg.eigvalsh(correlation).min(initial=1.0))
    if least < SINGULAR:
        kept = (1.0 - SHRUNK) / (1.0 - least)  # then the smallest eigenvalue is SHRUNK
        correlation = kept * correlation + (1.0 - kept) * np.eye(n_columns)
    return np.asarray(correlation * deviation * deviation[:, None])


def _total(rows: NumberRows, f: Callable[[NumberBlock], Array], shape: tuple[int, ...]) -> Array:
    found = rows.sum(f)
    return np.zeros(shape) if found is None else np.asarray(found)


def standardised(values: Array) -> Array:
    """Columns in units of their standard deviations; what is missing is at the mean."""
    mean, variance = column_moments(values)
    return np.asarray(np.nan_to_num((values - mean) / np.sqrt(variance)))
