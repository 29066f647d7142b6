"""Mutual informations of continuous columns, as a matrix or one row of it at a time."""

from collections.abc import Sequence

import numpy as np

from jensen.data import Table
from jensen.exceptions import DataError
from jensen.scores.categorical_information import Array, Mask
from jensen.support.memory import check_memory

LEAST = 1e-13
"""Of a column another one leaves a smaller share unexplained only by rounding."""


def information_of_share(share: Array) -> Array:
    """-½ log(1 - share), where `share` of the variance is explained; infinite if all of it is."""
    rest = np.subtract(1.0, share)
    np.minimum(rest, 1.0, out=rest)
    rest[rest < LEAST] = 0.0
    with np.errstate(divide="ignore"):
        np.log(rest, out=rest)
    rest *= -0.5
    rest += 0.0  # no -0
    return rest


class GaussianInformation:
    """I(x; y) = -½ log(1 - ρ²) of every pair of continuous columns; nothing may be missing.

    A constant column tells nothing of the others. Two columns of which each is a linear function
    of the other have infinite mutual information, and so has a column with itself.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.total = table.total_weight
        self.degrees = np.ones(len(self.names))
        self.n_parameters = np.full(len(self.names), 2.0)  # of each column by itself
        self.standardised, self._lengths = _standardise(table, self.names)

    def entropies(self) -> Array:
        """(n,): ½ log 2πeσ² of each column, -inf of a constant one."""
        with np.errstate(divide="ignore"):
            log_variances = 2.0 * np.log(self._lengths) - np.log(self.total)
        return np.asarray(0.5 * (np.log(2.0 * np.pi) + 1.0 + log_variances))

    def matrix(self) -> Array:
        """(n, n)."""
        share = self.standardised @ self.standardised.T
        return information_of_share(np.square(share, out=share))

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): I(k; v) of all columns v."""
        return np.asarray(self.rows([k])[0])

    def rows(self, chosen: Sequence[int]) -> Array:
        """(k, n): I(u; v) of the chosen columns u with all; many at once take little more time."""
        share: Array = self.standardised[list(chosen)] @ self.standardised.T
        return information_of_share(np.square(share, out=share))


def _standardise(table: Table, names: Sequence[str]) -> tuple[Array, Array]:
    """(n, N): rows of mean 0 and length 1, or of zeros where a column is constant; their lengths.

    Row weights are inside, by their square roots.
    """
    check_memory(8.0 * len(names) * table.n_rows, "the standardised columns", "take fewer columns")
    out, lengths = np.empty((len(names), table.n_rows)), np.empty(len(names))
    for k, name in enumerate(names):
        data = np.asarray(table.column(name).data, np.float64)
        out[k], lengths[k] = _standardised(name, data, table.weights)
    return out, lengths


def _standardised(name: str, data: Array, weights: Array | None) -> tuple[Array, float]:
    if not np.isfinite(data).all():
        row = int(np.argmin(np.isfinite(data))) + 1
        raise DataError(
            f"column {name!r} holds {data[row - 1]} in row {row}, which has no variance: declare "
            f"it missing, or leave the row out"
        )
    largest = np.abs(data).max(initial=0.0)
    if largest == 0.0 or data.min() == data.max():
        return np.zeros(len(data)), 0.0
    scaled = data / largest  # squares neither overflow nor vanish
    for _ in range(2):  # the second time what rounding left of a mean far from 0
        scaled = scaled - np.average(scaled, weights=weights)
    if weights is not None:
        scaled *= np.sqrt(weights)
    length = np.sqrt(np.square(scaled).sum())
    return np.asarray(scaled / length), float(length * largest)
