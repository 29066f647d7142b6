"""Estimators of rows of numbers: their base class, and how the rows are read.

Rows are matrices as scikit-learn's users pass them: arrays, dataframes, tables, paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import deepcopy
from datetime import date, timedelta
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator  # type: ignore[import-untyped]
from sklearn.exceptions import NotFittedError as SklearnNotFitted  # type: ignore[import-untyped]

from jensen.data import Table, TableScan, Variable
from jensen.data.answers import write_answers
from jensen.data.column_warnings import warn_of_row_numbers
from jensen.data.encode import NINES, find_codes, show_codes
from jensen.data.number_rows import NumberRows
from jensen.data.sources import is_missing
from jensen.data.table_choices import check_weights
from jensen.data.variable import EXACT, parse_number
from jensen.estimators.learning import LoopChoices, Problem, learn
from jensen.estimators.reports import Summary
from jensen.exceptions import CollapseError, DataError, NotFittedError, warn
from jensen.scores.table_checks import warn_of_guessed_spread
from jensen.support.json_values import Checked, as_checked, of_kind
from jensen.support.machine import one_blas_thread, ordered_map
from jensen.support.text import option

Array = NDArray[np.float64]

LARGEST = 1e100
"""Statistics are sums of squares, which overflow far beyond."""
NARROWEST = 1e-70
"""Of what values differ by: precisions are inverses of squares."""
NO_SPREAD = 1e-12
"""Values that differ by a smaller share of the largest do not vary."""
BLOCK_ROWS = 1 << 14
"""Rows that are looked at together: they stay in the cache."""


OTHERWISE = "leave the column out, or use jn.LatentClass, which takes labels beside numbers"
"""What to do with words, where numbers are needed."""


# --- the base class ---


class NotFittedStatesError(NotFittedError, SklearnNotFitted):  # type: ignore[misc]
    """Jensen's error and scikit-learn's at once: its tools catch their own."""


class ArrayEstimator(BaseEstimator):  # type: ignore[misc]
    """A learner of what rows hide: what `fit` leaves behind, whatever that is."""

    prior: Any
    start: Any
    random_state: Any
    fitted_: Any
    n_features_in_: int
    free_energy_: float
    is_bound_: bool
    trace_: Array
    n_sweeps_: int
    converged_: bool
    starts_: Array

    choices_kind: ClassVar[type[LoopChoices]] = LoopChoices
    noun = "component"

    def _choices_of_loop(self) -> LoopChoices:
        names = [name for name in LoopChoices.__dataclass_fields__ if hasattr(self, name)]
        return self.choices_kind(**{name: getattr(self, name) for name in names})

    def _learn(self, problem: Problem, checkpoint: str | Path | None) -> None:
        try:
            self.fitted_, report = learn(problem, checkpoint)
        except CollapseError as error:
            raise CollapseError(error.components, error.why, self.noun) from None
        report.set_on(self, problem.choices)
        with one_blas_thread():
            self._show()

    def _show(self) -> None:
        """Set the parameters by the names that people know."""
        raise NotImplementedError

    def _plain(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data."""
        raise NotImplementedError

    @staticmethod
    def _read_plain(value: Checked) -> Any:
        """What `_plain` gave."""
        raise NotImplementedError

    def _summarise(self) -> Summary:
        """A page of text."""
        raise NotImplementedError

    def require_fitted(self) -> Any:
        """What was learned, or an error if nothing was yet."""
        if not hasattr(self, "fitted_"):
            raise NotFittedStatesError(
                f"this {type(self).__name__} is not fitted yet: call fit first"
            )
        return self.fitted_

    # --- scikit-learn ---

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it checks or cross-validates."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` or a file has set the parameters."""
        return hasattr(self, "fitted_")

    def __sklearn_clone__(self) -> Any:
        """A copy of all choices; a fitted model to start from stays fitted."""
        twin = super().__sklearn_clone__()
        if hasattr(self.start, "require_fitted"):
            twin.start = deepcopy(self.start)
        return twin

    # --- files and text ---

    def to_dict(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data, as `save` writes it in JSON."""
        return self._plain()

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """What `to_dict` gave: plain data, also by way of JSON."""
        return of_kind(cls, cls._read_plain(as_checked(value)))

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file; `jn.load` reads it back."""
        from jensen.io import save

        save(self, path)

    def summary(self) -> Summary:
        """What was learned and how, and the parameters, on one page of text."""
        return self._summarise()


# --- how rows are read ---


def read_matrix(estimator: Any, X: Any, *, reset: bool, otherwise: str = OTHERWISE) -> Array:
    """Numbers (n, D), missing NaN; `reset` learns the columns, else they must be the same.

    Arrays and dataframes go through scikit-learn's own checks. `otherwise` is what the caller may
    do with words.
    """
    from sklearn.utils.validation import validate_data  # type: ignore[import-untyped]

    refuse_no_rows(X)
    if is_file(X) or (isinstance(X, Mapping) and not issparse(X)):
        X = Table(X)
    is_table = isinstance(X, Table)  # which was looked at when it was made
    refuse_dates(X, otherwise)
    refuse_words(X, type(estimator).__name__, otherwise)
    if is_table:
        X = _from_table(X)
    checked = validate_data(
        estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False, order="C"
    )
    values = np.asarray(checked, np.float64)
    if reset and hasattr(estimator, "feature_names_in_"):
        warn_of_row_numbers(values, names_of(estimator, values.shape[1]))
    check_size(values, names_of(estimator, values.shape[1]))
    if reset and not is_table:
        _warn_of_missing_codes(values, names_of(estimator, values.shape[1]))
    return values


def refuse_no_rows(X: Any) -> None:
    """Refuse what is no array, dataframe, table or path, though it can be walked through."""
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        raise DataError("X is a list of dicts: give jn.Table(X), or a dataframe")
    is_walked = isinstance(X, Iterator | Set | bytes) and not issparse(X)
    if X is None or is_walked:
        what = "None" if X is None else f"a value of type {type(X).__name__!r}"
        raise DataError(
            f"X must hold rows, an array, a dataframe, a jn.Table or a path, and is {what}; "
            f"what can be read only once is given as list(X)"
        )


def read_rows(
    estimator: Any, X: Any, sample_weight: Any, *, otherwise: str = OTHERWISE
) -> NumberRows:
    """The rows that count, as numbers; the columns are learned from a scan's first block."""
    if not isinstance(X, TableScan):
        values = read_matrix(estimator, X, reset=True, otherwise=otherwise)
        weight = read_weights(weights_of(X, sample_weight), len(values))
        return NumberRows.of(values, weight).counted()
    if sample_weight is not None:
        raise DataError("a scan brings its own weights: leave out sample_weight")
    read_matrix(estimator, X.sight(), reset=True, otherwise=otherwise)
    names = names_of(estimator, len(X.names))
    rows = NumberRows.scanned(X.counted(), X.names)
    check_sizes(rows, names)
    return rows


def check_sizes(rows: NumberRows, names: Sequence[str]) -> None:
    """Refuse numbers that are infinite, or whose squares overflow, in rows that may be scanned."""
    largest = np.fmax(-rows.sketch.least, rows.sketch.most)
    if np.any(largest > LARGEST):
        rows.sum(lambda block: check_size(block.values, names, block.start))


def _warn_of_missing_codes(values: Array, names: Sequence[str]) -> None:
    """Warn of numbers that probably mean missing, such as -999."""
    sketch = NumberRows.of(values).sketch
    ends = np.isin(np.stack([sketch.least, sketch.most]), list(NINES)).any(0)
    odd = np.flatnonzero(ends).tolist()
    if odd and (text := show_codes({names[i]: find_codes(values[:, i]) for i in odd})):
        warn(f"X: {text}: if they mean missing, put NaN in their place")


def names_of(estimator: Any, n_columns: int) -> list[str]:
    """Names of the columns; x0, x1, ... where they have none."""
    usual = [f"x{i}" for i in range(n_columns)]
    return list(map(str, getattr(estimator, "feature_names_in_", usual)))


def check_size(values: Array, names: Sequence[str], start: int = 0) -> None:
    """Refuse numbers that are infinite, or whose squares overflow; `start` rows come before."""

    def is_large(start: int) -> bool:
        return bool((np.abs(values[start : start + BLOCK_ROWS]) > LARGEST).any())

    if any(ordered_map(is_large, range(0, len(values), BLOCK_ROWS))):
        row, column = np.argwhere(np.abs(values) > LARGEST)[0]
        where = f"row {start + row + 1} of the column {names[column]!r}"
        if np.isinf(values[row, column]):
            raise DataError(
                f"X contains infinity: {where} is {values[row, column]:g}, which no model of "
                f"numbers has; correct it, or make it missing"
            )
        raise DataError(
            f"{where} is {values[row, column]:g}, and numbers beyond {LARGEST:g} overflow when "
            f"they are squared: divide the column"
        )


def refuse_words(X: Any, what: str, otherwise: str) -> None:
    """Refuse texts that are no numbers, naming the first."""
    for name, values in _columns_of_objects(X):
        for row, value in enumerate(values):
            if isinstance(value, str) and parse_number(value) is None:
                raise DataError(
                    f"row {row + 1} of the column {name!r} holds {str(value)!r:.40}, and {what} "
                    f"needs numbers: if that means missing, put NaN in its place (or read the file "
                    f"with {option('missing', [str(value)[:40]])}); else {otherwise}"
                )


def refuse_dates(X: Any, otherwise: str) -> None:
    """Refuse dates and durations, which would be taken for nanoseconds or for labels."""
    for name, values in _columns_of_objects(X):
        for row, value in enumerate(values):
            if isinstance(value, date | timedelta | np.datetime64 | np.timedelta64):
                is_span = isinstance(value, timedelta | np.timedelta64)
                what, how = ("a duration", "x") if is_span else ("a date", "x - x.min()")
                raise DataError(
                    f"row {row + 1} of the column {name!r} holds {what} ({value}), which is no "
                    f"number until its unit is chosen: for days give "
                    f"({how}) / np.timedelta64(1, 'D'); else {otherwise}"
                )


def _columns_of_objects(X: Any) -> Iterator[tuple[str, list[Any]]]:
    """Columns that may hold words or dates, by name: their values, missing ones as None."""
    if isinstance(X, Table):
        for variable in X.variables:
            if variable.kind == "categorical":
                labels = np.array([*variable.states, None], dtype=object)
                yield variable.name, labels[X.column(variable.name).data].tolist()
        return
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        for column in nw.from_native(X, eager_only=True, pass_through=False).iter_columns():
            if not column.dtype.is_numeric() and column.dtype != nw.Boolean:
                yield str(column.name), _known(column.to_list())
        return
    if issparse(X) or not isinstance(X, np.ndarray | list | tuple):
        return
    try:
        array = np.asarray(X) if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError:  # rows that differ in length: scikit-learn says so
        return
    if array.dtype.kind in "OUSTMm" and array.ndim in (1, 2):
        columns = array[:, None] if array.ndim == 1 else array
        for i, values in enumerate(columns.T):
            yield f"x{i}", _known(values if array.dtype.kind in "Mm" else values.tolist())


def _known(values: Any) -> list[Any]:
    return [None if is_missing(value) else value for value in values]


def is_file(X: Any) -> bool:
    """Whether X is a path or a dict of columns, which scikit-learn does not read."""
    if hasattr(X, "__array__") or hasattr(X, "__dataframe__"):
        return False
    is_dict = isinstance(X, dict) and not issparse(X)  # one kind of sparse matrix is a dict
    return is_dict or isinstance(X, str) or hasattr(X, "__fspath__")


def _from_table(table: Table) -> Any:
    """A dataframe of the columns, all as numbers."""
    import pyarrow as pa

    wanted = [Variable(name, "continuous") for name in table.names]
    rows, _ = table.read_as(wanted)
    return pa.table({name: rows.column(name).data for name in rows.names})


def answer_rows(model: Any, X: Any, out: str | PathLike[str], ask: Callable[[Any], Any]) -> Path:
    """Write answers block by block; a model without names of columns is asked with arrays."""
    has_names = hasattr(model, "feature_names_in_") or getattr(model, "reads_tables", False)

    def asked(rows: Table) -> Any:
        return ask(rows if has_names else _from_table(rows).to_pandas().to_numpy())

    return write_answers(X, out, asked)


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
    weight = check_weights(sample_weight, n_rows, most=EXACT)
    if not 0.0 < weight.sum() < np.inf:
        raise DataError("there is nothing to learn from: the weights sum to zero, or to infinity")
    return weight


def check_columns(rows: NumberRows, names: Sequence[str]) -> list[str]:
    """Refuse columns without any value, and those whose variance is too small for a number.

    Returns the names of the columns that are constant.
    """
    low, high = rows.sketch.least, rows.sketch.most
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
    is_constant = width <= NO_SPREAD * np.maximum(np.abs(low), np.abs(high))
    return [name for name, here in zip(names, is_constant, strict=True) if here]


def warn_where_spread_is_guessed(
    constant: Sequence[str], prior_parts: Mapping[str, Any] | None, fixed: Sequence[str]
) -> None:
    """Tell of constant columns of Gaussian states whose variance a default prior has to guess."""
    is_held = {"components", "emission", "covariances"} & {*fixed}
    if prior_parts is not None and prior_parts.get("scale") is None and not is_held:
        warn_of_guessed_spread(constant)
