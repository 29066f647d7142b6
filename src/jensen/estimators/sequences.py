"""Sequences as people pass them: one array with lengths, or a list of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from jensen.data import Table, Variable
from jensen.estimators.arrays import read_matrix
from jensen.exceptions import DataError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def join_sequences(X: Any, lengths: Any, *, labels: bool) -> tuple[Any, Any]:
    """All rows in one piece, and the lengths that the caller or a list of sequences says.

    A list of arrays is a list of sequences; so is a list of lists of labels.
    """
    if _is_list_of_sequences(X, labels) and lengths is None:
        parts = [_rows(part) for part in X]
        found = np.array([len(part) for part in parts], np.int64)
        _refuse_empty(found)
        if len({part.shape[1] for part in parts}) > 1:
            raise DataError("the sequences differ in their number of columns")
        return np.concatenate(parts), found
    if isinstance(X, np.ndarray) and X.ndim == 1 and labels:
        X = X[:, None]
    elif isinstance(X, list | tuple) and X and np.ndim(X[0]) == 0 and labels:
        X = _rows(X)
    return X, lengths


def read_lengths(lengths: Any, n_rows: int) -> Ints:
    """The length of every sequence; one has all rows, unless the caller says more."""
    if lengths is None:
        return np.array([n_rows])
    found = np.asarray(lengths)
    if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
        raise DataError("lengths must be whole numbers, one for each sequence")
    found = found.astype(np.int64)
    _refuse_empty(found)
    if found.sum() != n_rows:
        raise DataError(
            f"the lengths sum to {found.sum()}, but there are {n_rows} rows: give the lengths of "
            f"these sequences"
        )
    return found


def _is_list_of_sequences(X: Any, labels: bool) -> bool:
    if not isinstance(X, list | tuple) or not X:
        return False
    first = X[0]
    if isinstance(first, np.ndarray):
        return True
    return isinstance(first, list | tuple) and (labels or not first or np.ndim(first) == 2)


def _rows(part: Any) -> NDArray[Any]:
    """One sequence as rows and columns; labels keep their type."""
    if isinstance(part, np.ndarray):
        array = part
    else:
        is_numbers = all(isinstance(x, int | float | np.number) for x in np.ravel(part))
        array = np.array(part) if is_numbers else np.array(part, dtype=object)
    return array[:, None] if array.ndim == 1 else array


def _refuse_empty(lengths: Ints) -> None:
    if (lengths < 1).any():
        number = int(np.argmax(lengths < 1)) + 1
        raise DataError(f"sequence {number} has no steps: leave it out")


def read_labels(
    estimator: Any, X: Any, symbols: Sequence[object] | None, known: tuple[Variable, ...] | None
) -> tuple[Array, tuple[Variable, ...]]:
    """Codes (n, D), missing NaN, and the variable of each column.

    Labels match by their text; a label that is not known is refused.
    """
    columns = _label_columns(estimator, X, reset=known is None)
    if known is None:
        states = {} if symbols is None else dict.fromkeys(columns, symbols)
        table = Table(columns, categorical=list(columns), states=states)
        variables = table.variables
    else:
        variables = known
        renamed = dict(zip((v.name for v in known), columns.values(), strict=True))
        table, unknown = Table(renamed, categorical=list(renamed)).read_as(known)
        if unknown.any():
            row = int(np.argmax(unknown))
            raise DataError(
                f"row {row + 1} has a label that was not there when this model was fitted: "
                f"declare all of them with symbols=[...]"
            )
    codes = [table.column(v.name) for v in variables]
    values = [np.where(c.missing(), np.nan, c.data.astype(np.float64)) for c in codes]
    return np.stack(values, axis=1), variables


def _label_columns(estimator: Any, X: Any, *, reset: bool) -> dict[str, Any]:
    """Columns by name; scikit-learn learns or checks how many there are, and their names."""
    from sklearn.utils.validation import validate_data  # type: ignore[import-untyped]

    if isinstance(X, Table):
        X = X.to_pandas()
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return {str(name): X[name] for name in X.columns}
    array = validate_data(
        estimator,
        X if issparse(X) else _rows(X),
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan",
    )
    is_object = array.dtype == object
    columns = [list(column) if is_object else column for column in array.T]
    return {f"x{i}": column for i, column in enumerate(columns)}


def read_numbers(estimator: Any, X: Any, *, reset: bool, emission: str) -> Array:
    """Numbers (n, D), missing NaN, that the emission can make."""
    values = read_matrix(estimator, X, reset=reset)
    if emission == "poisson":
        _refuse(values, values % 1.0 != 0.0, "counts are whole, 0 or more")
    if emission == "bernoulli":
        _refuse(values, (values != 0.0) & (values != 1.0), "Bernoulli values are 0 or 1")
    return values


def _refuse(values: Array, wrong: NDArray[np.bool_], why: str) -> None:
    """Name the first wrong value; negative ones first, in the words that scikit-learn has."""
    for bad, what in ((values < 0.0, "Negative values in data: "), (wrong, "")):
        bad = bad & ~np.isnan(values)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            where = f"row {row + 1}, column {column + 1} is {values[row, column]:g}"
            raise DataError(f"{what}{where}, but {why}")
