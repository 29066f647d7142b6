"""Anything that can become a table, as Arrow columns: dataframes, dicts, arrays, Arrow itself."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import is_into_dataframe

from jensen.data.scan import Raw
from jensen.data.variable import label_text
from jensen.exceptions import DataError

WAYS_IN = (
    "a path, a pandas, polars or pyarrow dataframe, a dict of columns, or a 2-D array with names"
)


def raw_columns(data: Any, names: Sequence[str] | None) -> list[Raw]:
    """Columns of dataframes, mappings and arrays; files have their own reader."""
    if isinstance(data, np.ndarray):
        return _from_array(data, names)
    if names is not None:
        raise DataError("names=[...] goes with a 2-D array: this table names its own columns")
    if isinstance(data, Mapping):
        return [_from_values(name, values) for name, values in data.items()]
    if is_into_dataframe(data):
        return _from_dataframe(nw.from_native(data, eager_only=True))
    raise DataError(f"cannot read a table from {type(data).__name__}: give {WAYS_IN}")


def kind_of_source(data: Any) -> str:
    """Which dataframe library tabular answers go back to: "pandas", "polars" or "pyarrow"."""
    if not isinstance(data, (Mapping, np.ndarray, str, Path)) and is_into_dataframe(data):
        return str(nw.from_native(data, eager_only=True).implementation.name.lower())
    return "pandas"


def _from_array(array: np.ndarray[Any, Any], names: Sequence[str] | None) -> list[Raw]:
    if array.ndim != 2:
        raise DataError(
            f"an array must have 2 dimensions (rows, columns), not {array.ndim}: "
            f"one column is array.reshape(-1, 1)"
        )
    if names is None:
        names = [f"x{k}" for k in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise DataError(f"{len(names)} names were given for {array.shape[1]} columns")
    return [_from_values(name, array[:, k]) for k, name in enumerate(names)]


def _from_dataframe(frame: nw.DataFrame[Any]) -> list[Raw]:
    return [_from_series(name, frame[name]) for name in map(_name, frame.columns)]


def _from_series(name: str, series: nw.Series[Any]) -> Raw:
    try:
        values = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a pandas object column of mixed types
        values = _texts(series.to_list())
    if isinstance(series.dtype, nw.Enum):
        return _raw(name, values, tuple(map(label_text, series.dtype.categories)))
    # The categories of pandas are a declared order; those of polars and Arrow only what came first.
    in_order = series.dtype == nw.Categorical and series.implementation.is_pandas_like()
    return _raw(name, values, _dictionary_labels(values) if in_order else None)


def _from_values(name: object, values: Any) -> Raw:
    """One column given as a list, an array, or a series of some dataframe library."""
    name = _name(name)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise DataError(f"column {name!r} must hold one value per row, not {values!r:.40}")
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _from_series(name, series)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise DataError(f"column {name!r} must have one dimension, not {values.ndim}")
    if not isinstance(values, np.ndarray):
        values = list(values)
    try:
        return _raw(name, pa.array(values, from_pandas=True))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return _raw(name, _texts(list(values)))


def _raw(name: str, values: Any, declared: tuple[str, ...] | None = None) -> Raw:
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    if declared is None and pa.types.is_dictionary(values.type) and values.type.ordered:
        declared = _dictionary_labels(values)
    return Raw(name, values, written=False, declared=declared)


def _dictionary_labels(values: Any) -> tuple[str, ...]:
    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks()
    return tuple(map(label_text, values.dictionary.to_pylist()))


def _texts(values: Sequence[Any]) -> pa.Array:
    """Mixed values as their label texts; None and NaN are missing."""
    return pa.array([None if _is_missing(v) else label_text(v) for v in values], pa.string())


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN, NaT and pandas' NA do not equal themselves


def _name(name: object) -> str:
    if not isinstance(name, (str, int, np.integer)):
        raise DataError(f"a column is named by text, not by {name!r}")
    return str(name)
