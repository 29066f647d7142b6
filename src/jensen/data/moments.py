"""Means and scatters of continuous columns: all that a Gaussian network asks of complete rows."""

from collections.abc import Iterable, Sequence

import numpy as np

from jensen.data.blocks import Block, RowSource
from jensen.data.statistics import Array, Coordinates, Moments


def coordinates_of(table: RowSource, names: Sequence[str]) -> Coordinates:
    """Coordinates in which the columns of a table have ranges of about 1."""
    if not table.n_rows:
        return Coordinates(np.zeros(len(names)), np.ones(len(names)))
    origin = np.array([table.range_of(name).first for name in names], np.float64)
    exponents = np.frexp([spread(table, name) for name in names])[1]
    return Coordinates(origin, np.ldexp(1.0, np.clip(exponents, -1000, 1000)))


def spread(table: RowSource, name: str) -> float:
    """The largest value less the smallest of a complete column."""
    _, least, most = table.range_of(name)
    return most - least


def moments_of(
    table: RowSource, names: Sequence[str], coordinates: Coordinates | None = None
) -> Moments:
    """The moments of complete continuous columns; rows of weight 0 must be gone.

    Parameters
    ----------
    coordinates
        Those of the moments; the units of the columns by default.
    """
    weight = table.total_weight
    if weight == 0.0:
        return Moments(0.0, np.zeros(len(names)), np.zeros((len(names), len(names))))
    here = coordinates
    if here is None:
        # From the first row, not from 0: a column without spread then has a scatter of exactly 0.
        first = np.array([table.range_of(name).first for name in names], np.float64)
        here = Coordinates(first, np.ones(len(names)))

    def totals(block: Block) -> Array:
        weights = block.weights
        return np.array([np.sum(weights * row) for row in _rows(block, names, here)])

    mean = table.sum(totals) / weight

    def scatters(block: Block) -> Array:
        from jensen.kernels.gaussians import add_moments

        rows, second = _rows(block, names, here), np.zeros((1, len(names), len(names)))
        rows -= mean[:, None]
        unused = np.zeros((1, len(names)))
        add_moments(
            rows, 0, block.n_rows, np.ascontiguousarray(block.weights)[None], unused, second
        )
        return np.asarray(second[0])

    lower = table.sum(scatters)
    if coordinates is None:
        mean = here.origin + mean
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


def _rows(block: Block, names: Sequence[str], coordinates: Coordinates) -> Array:
    """(n, rows): the columns of a block in these coordinates."""
    rows = np.empty((len(names), block.n_rows))
    for k, name in enumerate(names):
        np.subtract(block.values(name), coordinates.origin[k], out=rows[k])
        if coordinates.unit[k] != 1.0:
            rows[k] *= 1.0 / coordinates.unit[k]
    return rows
