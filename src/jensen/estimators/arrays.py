"""Matrices of numbers as scikit-learn's users pass them: arrays, dataframes, tables, paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from jensen.data import Table, Variable
from jensen.data.threads import ordered_map
from jensen.data.weights import check_weights
from jensen.exceptions import DataError

Array = NDArray[np.float64]

LARGEST = 1e100
"""Statistics are sums of squares, which overflow far beyond."""
NARROWEST = 1e-70
"""Of what values differ by: precisions are inverses of squares."""
BLOCK_ROWS = 1 << 14
"""Rows that are looked at together: they stay in the cache."""


def read_matrix(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Numbers (n, D), missing NaN; `reset` learns the columns, else they must be the same.

    Arrays and dataframes go through scikit-learn's own checks.
    """
    from sklearn.utils.validation import validate_data  # type: ignore[import-untyped]

    if isinstance(X, Table):
        X = _from_table(X)
    elif not hasattr(X, "__array__") and not hasattr(X, "__dataframe__") and _names_file(X):
        X = _from_table(Table(X))
    checked = validate_data(
        estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False, order="C"
    )
    values = np.asarray(checked, np.float64)
    check_size(values, names_of(estimator, values.shape[1]))
    return values


def names_of(estimator: Any, n_columns: int) -> list[str]:
    """Names of the columns; x0, x1, ... where they have none."""
    usual = [f"x{i}" for i in range(n_columns)]
    return list(map(str, getattr(estimator, "feature_names_in_", usual)))


def check_size(values: Array, names: Sequence[str]) -> None:
    """Refuse numbers that are infinite, or whose squares overflow."""

    def is_large(start: int) -> bool:
        return bool((np.abs(values[start : start + BLOCK_ROWS]) > LARGEST).any())

    if any(ordered_map(is_large, range(0, len(values), BLOCK_ROWS))):
        row, column = np.argwhere(np.abs(values) > LARGEST)[0]
        if np.isinf(values[row, column]):
            raise DataError(
                f"X contains infinity: row {row + 1} of the column {names[column]!r} is "
                f"{values[row, column]:g}, which no model of numbers has; correct it, or make it "
                f"missing"
            )
        raise DataError(
            f"row {row + 1} of the column {names[column]!r} is {values[row, column]:g}, and "
            f"numbers beyond {LARGEST:g} overflow when they are squared: divide the column"
        )


def _names_file(X: Any) -> bool:
    """Whether X is a path or a dict of columns, which scikit-learn does not read."""
    is_dict = isinstance(X, dict) and not issparse(X)  # one kind of sparse matrix is a dict
    return is_dict or isinstance(X, str) or hasattr(X, "__fspath__")


def _from_table(table: Table) -> Any:
    """A dataframe of the columns, all as numbers."""
    import pyarrow as pa

    wanted = [Variable(name, "continuous") for name in table.names]
    rows, _ = table.read_as(wanted)
    return pa.table({name: rows.column(name).data for name in rows.names})


def weights_of(X: Any, given: Any) -> Any:
    """The weights that were given, or those of a `Table`."""
    own = X.weights if isinstance(X, Table) else None
    if own is not None and given is not None:
        raise DataError("the table has weights already: leave out sample_weight")
    return given if own is None else own


def read_weights(sample_weight: Any, n_rows: int) -> Array:
    """Weights, one per row; 1 unless given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = check_weights(sample_weight, n_rows)
    if not 0.0 < weight.sum() < np.inf:
        raise DataError("there is nothing to learn from: the weights sum to zero, or to infinity")
    return weight


def rows_that_count(values: Array, weight: Array) -> tuple[Array, Array]:
    """Rows of weight > 0; values are copied only if some are left out."""
    counts = weight > 0.0
    return values if counts.all() else values[counts], weight[counts]


def check_columns(values: Array, names: Sequence[str]) -> None:
    """Refuse columns without any value, and those whose variance is too small for a number."""
    low, high = _extremes(values)
    empty = np.isnan(low)
    if empty.any():
        raise DataError(f"the column {names[int(np.argmax(empty))]!r} has no values: leave it out")
    width = high - low
    narrow = (width > 0.0) & (width < NARROWEST)
    if narrow.any():
        column = int(np.argmax(narrow))
        raise DataError(
            f"the values of the column {names[column]!r} differ by {width[column]:g} at most, "
            f"whose square is as good as 0: multiply the column"
        )


def _extremes(values: Array) -> tuple[Array, Array]:
    """The smallest and the largest value of each column, NaN where there is none."""

    def of_block(start: int) -> tuple[Array, Array]:
        columns = np.ascontiguousarray(values[start : start + BLOCK_ROWS].T)  # quicker along rows
        return np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)

    lows, highs = zip(*ordered_map(of_block, range(0, len(values), BLOCK_ROWS)), strict=True)
    return np.fmin.reduce(lows), np.fmax.reduce(highs)
