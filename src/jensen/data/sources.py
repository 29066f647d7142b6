"""Columns of dataframes, dicts, arrays and Arrow tables, as Arrow columns."""

from collections.abc import Iterable, Mapping, Sequence, Set
from os import PathLike
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from jensen.data.distinct_values import RawColumn
from jensen.data.variable import column_name, label_text
from jensen.exceptions import DataError

WAYS_IN = (
    "a path, a pandas, polars or pyarrow dataframe, a dict of columns, or a 2-D array with names"
)
NO_LABEL = (bytes, bytearray, complex, np.complexfloating, Mapping, Set, list, tuple, np.ndarray)
ARROW_REFUSES = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)


def collected(data: Any) -> Any:
    """A lazy frame as a dataframe; anything else as it is."""
    if isinstance(data, pa.Table):
        return data
    frame = _as_narwhals(data)
    return frame.collect().to_native() if isinstance(frame, nw.LazyFrame) else data


def raw_columns(data: Any, names: Iterable[object] | None = None) -> list[RawColumn]:
    """Columns of dataframes, mappings and arrays; files have their own reader."""
    if isinstance(data, np.ndarray):
        return _from_array(data, names)
    if isinstance(data, Mapping):
        return [_from_values(column_name(name), values) for name, values in data.items()]
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return [_raw(name, data.column(k)) for k, name in enumerate(data.schema.names)]
    frame = _as_narwhals(data)
    if isinstance(frame, nw.Series):
        return [_from_series(series_name(data), frame)]
    if isinstance(frame, nw.DataFrame):
        return [_from_series(column_name(column.name), column) for column in frame.iter_columns()]
    raise DataError(f"cannot read a table from {type(data).__name__}: give {WAYS_IN}")


def kind_of_source(data: Any) -> str:
    """The dataframe library of tabular answers: "pandas", "polars" or "pyarrow"."""
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return "pyarrow"
    frame = None if isinstance(data, (str, PathLike)) else _as_narwhals(data)
    if isinstance(frame, (nw.DataFrame, nw.Series)):
        return str(frame.implementation.name.lower())
    return "pandas"


def series_name(series: Any) -> str:
    """The name of a series; that of the first column of an array where it has none."""
    name = getattr(series, "name", None)
    return "x0" if name is None or name == "" else column_name(name)


def _as_narwhals(data: Any) -> Any:
    try:
        return nw.from_native(data, pass_through=True, allow_series=True)
    except DuplicateError:
        names = list(data.columns)
        repeated = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two columns are named {repeated!r}: rename one") from None


def _from_array(array: np.ndarray[Any, Any], names: Iterable[object] | None) -> list[RawColumn]:
    if array.dtype.names is not None:
        if names is not None or array.ndim != 1:
            raise DataError("an array of records names its own columns, and has one dimension")
        return [_from_values(name, array[name]) for name in array.dtype.names]
    if array.ndim != 2:
        raise DataError(
            f"an array must have 2 dimensions (rows, columns), not {array.ndim}: "
            f"one column is array.reshape(-1, 1)"
        )
    if isinstance(names, str):
        raise DataError(f"names must be a list of column names, not the text {names!r}")
    chosen = (
        [f"x{k}" for k in range(array.shape[1])] if names is None else list(map(column_name, names))
    )
    if len(chosen) != array.shape[1]:
        raise DataError(f"{len(chosen)} names were given for {array.shape[1]} columns")
    array = array if array.flags.f_contiguous else array.copy(order="F")  # Arrow is slow on strides
    return [_from_values(name, array[:, k]) for k, name in enumerate(chosen)]


def _from_series(name: str, series: nw.Series[Any]) -> RawColumn:
    if series.implementation.is_pandas_like() and hasattr(series.to_native().dtype, "categories"):
        return _from_categorical(name, series.to_native())
    values = _series_values(name, series)
    if isinstance(series.dtype, nw.Enum):
        return _raw(name, values, tuple(map(label_text, series.dtype.categories)))
    return _raw(name, values)


def _series_values(name: str, series: nw.Series[Any]) -> Any:
    polars = series.implementation.is_polars()
    if polars and series.dtype == nw.Object:
        return _texts(name, series.to_list())
    try:
        # The stream hands over the texts of polars as they are; to_arrow would copy them.
        values = pa.chunked_array(series) if polars else series.to_arrow()
    except ARROW_REFUSES:  # a pandas object column of mixed types, polars' 128-bit integers
        return _array_values(name, series.to_list() if polars else series.to_numpy())
    if isinstance(
        values.type, pa.BaseExtensionType
    ):  # periods, intervals: their storage is no label
        return _texts(name, series.to_list())
    return values


def _from_categorical(name: str, series: Any) -> RawColumn:
    """Categories of pandas are states in a declared order."""
    labels = tuple(map(label_text, series.cat.categories))
    codes = series.cat.codes.to_numpy()
    indices = pa.array(codes, mask=codes < 0)
    values = pa.DictionaryArray.from_arrays(indices, pa.array(labels, pa.string()), safe=False)
    return _raw(name, values, labels)


def _from_values(name: str, values: Any) -> RawColumn:
    """One column given as a list, an array, or a series of some dataframe library."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return _raw(name, values)
    series = _as_narwhals(values)
    if isinstance(series, nw.Series):
        return _from_series(name, series)
    no_column = isinstance(series, (nw.DataFrame, nw.LazyFrame, str, bytes, Mapping, Set))
    if no_column or not isinstance(values, Iterable):
        raise DataError(f"column {name!r} must hold one value per row, not {values!r:.40}")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise DataError(f"column {name!r} must have one dimension, not {values.ndim}")
    return _raw(
        name, _array_values(name, values if isinstance(values, np.ndarray) else list(values))
    )


def _array_values(name: str, values: list[Any] | np.ndarray[Any, Any]) -> pa.Array:
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        native = values.dtype.newbyteorder("=")
        values = values.astype(np.float64 if native.itemsize > 8 else native, copy=False)
    try:
        return pa.array(values, from_pandas=True)
    except ARROW_REFUSES:
        return _texts(name, list(values))


def _raw(name: str, values: Any, declared: tuple[str, ...] | None = None) -> RawColumn:
    if isinstance(values.type, pa.BaseExtensionType):
        values = _texts(name, values.to_pylist())
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    # Only an ordered dictionary is a declared order; any other lists what came first.
    if declared is None and pa.types.is_dictionary(values.type) and values.type.ordered:
        declared = _dictionary_labels(values)
    return RawColumn(name, values, written=False, declared=declared)


def _dictionary_labels(values: pa.ChunkedArray) -> tuple[str, ...]:
    dictionary = values.unify_dictionaries().combine_chunks().dictionary
    return tuple(label_text(label) for label in dictionary.to_pylist() if label is not None)


def _texts(name: str, values: Sequence[Any]) -> pa.Array:
    """Mixed values as their label texts; None and NaN are missing."""
    for value in values:
        if isinstance(value, NO_LABEL):
            raise DataError(
                f"column {name!r} holds {value!r:.40}: a column holds labels or numbers, "
                f"one per row"
            )
    return pa.array([None if is_missing(v) else label_text(v) for v in values], pa.string())


def is_missing(value: Any) -> bool:
    """Whether a single value is None, NaN or pandas' NA."""
    try:
        return bool(value is None or value != value)  # NaN and NaT do not equal themselves
    except TypeError:  # pandas' NA is neither equal to itself nor unequal
        return True
