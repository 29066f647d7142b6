"""Matrices of numbers as scikit-learn's users pass them: arrays, dataframes, tables, paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from jensen.data import Table, Variable
from jensen.data.weights import check_weights
from jensen.exceptions import DataError

Array = NDArray[np.float64]


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
        estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", order="C"
    )
    return np.asarray(checked, np.float64)


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


def check_columns(values: Array, names: list[str]) -> None:
    """Refuse columns without any value: nothing says what they are."""
    empty = np.isnan(values).all(0)
    if empty.any():
        name = names[int(np.argmax(empty))]
        raise DataError(f"the column {name!r} has no values: leave it out")
