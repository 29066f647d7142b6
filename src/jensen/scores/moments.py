"""Means and scatters of continuous columns: all that a Gaussian network asks of complete rows."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.table import Block

Array = NDArray[np.float64]


class Moments(NamedTuple):
    """Of weighted rows; the scatter is about the mean, so it keeps its digits far from 0."""

    weight: float
    mean: Array  # (n,)
    scatter: Array  # (n, n): Σ w (x - mean)(x - mean)ᵀ

    def about(self, centre: Array) -> Array:
        """The scatter about another point."""
        away = self.mean - centre
        return np.asarray(self.scatter + self.weight * np.outer(away, away))


def moments_of(table: Table, names: Sequence[str]) -> Moments:
    """The moments of complete continuous columns; rows of weight 0 must be gone."""
    weight = table.total_weight
    if weight == 0.0:
        return Moments(0.0, np.zeros(len(names)), np.zeros((len(names), len(names))))
    # From the first row, not from 0: a column without spread then has a scatter of exactly 0.
    first = np.array([table.column(name).data[0] for name in names], np.float64)

    def totals(block: Block) -> Array:
        weights = _weights(block)
        return np.array([np.sum(weights * row) for row in _rows(block, names, first)])

    mean = first + table.sum(totals) / weight

    def scatters(block: Block) -> Array:
        from jensen.kernels.gaussians import add_moments

        rows, second = _rows(block, names, mean), np.zeros((1, len(names), len(names)))
        unused = np.zeros((1, len(names)))
        add_moments(rows, 0, block.stop - block.start, _weights(block)[None], unused, second)
        return np.asarray(second[0])

    lower = table.sum(scatters)
    return Moments(weight, mean, np.tril(lower) + np.tril(lower, -1).T)


def merged(parts: Iterable[Moments], size: int) -> Moments:
    """The moments of the rows of all parts; a sum of positive terms, so that nothing cancels."""
    some = [part for part in parts if part.weight > 0.0]
    weight = sum(part.weight for part in some)
    if weight == 0.0:
        return Moments(0.0, np.zeros(size), np.zeros((size, size)))
    start = some[0].mean
    mean = start + sum(part.weight / weight * (part.mean - start) for part in some)
    return Moments(weight, mean, np.sum([part.about(mean) for part in some], axis=0))


def _rows(block: Block, names: Sequence[str], shift: Array) -> Array:
    """(n, rows): the columns of a block, less a shift."""
    columns = [block.table.column(name).data[block.start : block.stop] for name in names]
    return np.stack(columns).astype(np.float64, copy=False) - shift[:, None]


def _weights(block: Block) -> Array:
    weights = block.table.weights
    if weights is None:
        return np.ones(block.stop - block.start)
    return np.ascontiguousarray(weights[block.start : block.stop])
