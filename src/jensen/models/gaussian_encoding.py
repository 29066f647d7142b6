"""A table as a Gaussian network learns from it: rows by what they miss, each pattern once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.units import Units
from jensen.models.emissions.patterns import patterns_of
from jensen.models.gaussian_network import Cells
from jensen.q_hidden.gaussian_cells import CellPattern, compressed

Array = NDArray[np.float64]

UNIT_PATTERNS = 256
"""Patterns of one unit of work; fixed, so that sums never depend on threads."""


def values_of(table: Table, names: Sequence[str]) -> Array:
    """(rows, n): numbers, NaN where they are missing; a name without a column is missing."""
    absent = np.full(table.n_rows, np.nan)
    columns = [table.column(name).data if name in table else absent for name in names]
    return np.array(columns, np.float64).reshape(len(names), table.n_rows).T


def encode(
    values: Array, weights: Array | None, shift: Array, was_set: NDArray[np.int64] | None = None
) -> Units:
    """Rows of weight > 0 as units for the loop; rows in which different variables were set apart.

    Parameters
    ----------
    was_set
        (rows,): the variable that was set, -1 where none was; None: nowhere.
    """
    weight = np.ones(len(values)) if weights is None else weights
    if was_set is None:
        parts = _cells(values, weight, shift, -1)
    else:
        parts = []
        for v in np.unique(was_set).tolist():
            here = was_set == v
            parts += _cells(values[here], weight[here], shift, v)
    complete = all(not len(pattern.missing) for part in parts for pattern in part.patterns)
    return Units(tuple(parts), float(weight.sum()), is_complete=complete)


def _cells(values: Array, weight: Array, shift: Array, was_set: int) -> list[Cells]:
    patterns = []
    for pattern in patterns_of(values - shift):
        own = weight[pattern.rows]
        z = np.column_stack([np.ones(len(own)), pattern.x.T]) * np.sqrt(own)[:, None]
        missing = pattern.order[: pattern.n_missing].astype(np.intp) + 1
        seen = np.append(0, pattern.seen + 1).astype(np.intp)
        patterns.append(CellPattern(missing, seen, compressed(z), float(own.sum())))
    return [
        Cells(tuple(patterns[k : k + UNIT_PATTERNS]), was_set)
        for k in range(0, len(patterns), UNIT_PATTERNS)
    ]
