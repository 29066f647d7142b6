"""Mutual informations of continuous columns, as a matrix or one row of it at a time."""

from collections.abc import Sequence

import numpy as np

from jensen.data import Table
from jensen.exceptions import DataError
from jensen.memory import check_memory
from jensen.scores.categorical_information import Array, Mask

LEAST = 1e-13
"""Of a column another one leaves a smaller share unexplained only by rounding."""


def information_of_share(share: Array) -> Array:
    """-½ log(1 - share), where `share` of the variance is explained; infinite if all of it is."""
    rest = 1.0 - share
    with np.errstate(divide="ignore"):
        return np.asarray(0.0 - 0.5 * np.log(np.where(rest < LEAST, 0.0, np.minimum(rest, 1.0))))


class GaussianInformation:
    """I(x; y) = -½ log(1 - ρ²) of every pair of continuous columns; nothing may be missing.

    A constant column tells nothing of the others. Two columns of which each is a linear function
    of the other have infinite mutual information, and so has a column with itself.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.total = table.total_weight
        self.degrees = np.ones(len(self.names))
        self.standardised = _standardise(table, self.names)

    def matrix(self) -> Array:
        """(n, n)."""
        return information_of_share(np.square(self.standardised @ self.standardised.T))

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): I(k; v) for the columns v that are wanted; the others hold nothing of use."""
        from jensen.kernels import pair_information

        products = np.zeros(len(self.names))
        pair_information.dot_products(self.standardised, k, wanted, products)
        return information_of_share(np.square(products))


def _standardise(table: Table, names: Sequence[str]) -> Array:
    """(n, N): rows of mean 0 and length 1, or of zeros where a column is constant.

    Row weights are inside, by their square roots.
    """
    check_memory(8.0 * len(names) * table.n_rows, "the standardised columns", "take fewer columns")
    out = np.empty((len(names), table.n_rows))
    for k, name in enumerate(names):
        data = np.asarray(table.column(name).data, np.float64)
        out[k] = _standardised(name, data, table.weights)
    return out


def _standardised(name: str, data: Array, weights: Array | None) -> Array:
    if not np.isfinite(data).all():
        row = int(np.argmin(np.isfinite(data))) + 1
        raise DataError(
            f"column {name!r} holds {data[row - 1]} in row {row}, which has no variance: declare "
            f"it missing, or leave the row out"
        )
    largest = np.abs(data).max(initial=0.0)
    if largest == 0.0 or data.min() == data.max():
        return np.zeros(len(data))
    scaled = data / largest  # squares neither overflow nor vanish
    for _ in range(2):  # the second time what rounding left of a mean far from 0
        scaled = scaled - np.average(scaled, weights=weights)
    if weights is not None:
        scaled *= np.sqrt(weights)
    return np.asarray(scaled / np.sqrt(np.square(scaled).sum()))
