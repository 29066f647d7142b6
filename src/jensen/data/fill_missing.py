"""Tables with missing cells filled in; known values stay as they came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from jensen.data.encode import Column, encode
from jensen.data.sources import raw_columns
from jensen.data.table import Table
from jensen.data.variable import label_text


class Filled(NamedTuple):
    """A column as a variable of the model, before and after missing cells were filled."""

    before: Column
    after: Column

    def where(self) -> NDArray[np.bool_]:
        """(rows,): cells that were filled; all others stay as they are."""
        return self.before.missing() & ~self.after.missing()


def put_back(given: Any, data: Table, cells: Mapping[str, Filled]) -> Any:
    """The caller's data with missing cells filled: a `Table`, or a dataframe of the same kind.

    `data` is the table that was read from it.
    """
    if isinstance(nw.from_native(given, pass_through=True, eager_only=True), nw.DataFrame):
        return refill(given, cells)
    columns = [
        _column(data.column(name), cells[name]) if name in cells else data.column(name)
        for name in data.names
    ]
    result = Table.from_columns(columns, data.weights, data.source)
    return result if isinstance(given, Table) else result.to_native()


def _column(old: Column, new: Filled) -> Column:
    """A column of a table; if intervals fill a column of numbers, the numbers become labels."""
    if new.after.variable.cuts is None or old.variable == new.after.variable:
        return new.after
    if not new.where().any():
        return old
    filled = np.array([*new.after.variable.states, None], object)[new.after.data]
    texts = np.where(new.where(), filled, _texts(old))
    raw = raw_columns({old.variable.name: pa.array(texts, pa.string())})[0]
    return encode(raw, "categorical", None, ())


def _texts(column: Column) -> NDArray[Any]:
    """(rows,): labels, None where they are missing."""
    if column.variable.kind == "categorical":
        return np.asarray(np.array([*column.variable.states, None], object)[column.data])
    numbers, codes = np.unique(column.data, return_inverse=True)
    labels = [None if np.isnan(x) else label_text(float(x)) for x in numbers]
    return np.asarray(np.array(labels, object)[codes])


def refill(data: Any, cells: Mapping[str, Filled]) -> Any:
    """The same dataframe with missing cells of some columns filled; the others stay as they are.

    A state that the column already had becomes the value that it had there; another one becomes
    a number if the column holds numbers, else its label.
    """
    frame = nw.from_native(data, eager_only=True)
    chosen = {name: new for name, new in cells.items() if new.where().any()}
    if frame.implementation.is_pyarrow():
        for name, new in chosen.items():
            k = data.schema.names.index(name)
            data = data.set_column(k, name, fill_arrow(data.column(k), new))
        return data
    columns = [_series(frame[name], new) for name, new in chosen.items()]
    return frame.with_columns(*columns).to_native() if columns else data


def _series(old: Any, new: Filled) -> Any:
    if new.after.variable.kind != "categorical":
        return _numbers(old, new)
    known = {label_text(value): value for value in old.drop_nulls().unique().to_list()}
    states = [known.get(state, _value(state, old.dtype)) for state in new.after.variable.states]
    where, codes = new.where(), new.after.data
    is_pandas = old.implementation.is_pandas_like()
    data = [
        states[k] if fills else value
        for value, k, fills in zip(_values(old), codes.tolist(), where.tolist(), strict=True)
    ]
    if not is_pandas and old.dtype.is_numeric() and any(isinstance(x, str) for x in data):
        data = [None if value is None else label_text(value) for value in data]  # intervals
    filled = nw.new_series(old.name, data, backend=old.implementation)
    try:
        if is_pandas and old.dtype not in (nw.Categorical, nw.Enum):
            cast = _as_pandas(old.to_native(), data)
        else:
            cast = filled.cast(old.dtype)
    except Exception:  # a category or an enum that lacks a state: every library raises its own
        return filled
    return cast if cast.null_count() == filled.null_count() else filled  # pandas forgets the state


def _values(old: Any) -> list[Any]:
    """The values of a series, None where they are missing."""
    gone = old.is_null().to_numpy()
    return [None if g else value for value, g in zip(old.to_list(), gone.tolist(), strict=True)]


def _numbers(old: Any, new: Filled) -> Any:
    """A series of numbers with missing ones filled; the others stay as they were."""
    data = [
        x if fills else value
        for value, x, fills in zip(
            old.to_list(), new.after.data.tolist(), new.where().tolist(), strict=True
        )
    ]
    filled = nw.new_series(old.name, data, backend=old.implementation)
    if old.implementation.is_pandas_like():
        return _as_pandas(old.to_native().astype(filled.to_native().dtype), data)
    return filled


def _as_pandas(old: Any, data: list[Any]) -> Any:
    """A pandas series with the dtype of another; narwhals does not tell Int64 from int64."""
    new = type(old)(data, index=old.index, dtype=old.dtype, name=old.name)
    return nw.from_native(new, series_only=True)


def _value(state: str, dtype: Any) -> Any:
    """A state that the column never had, as a value of its type."""
    if dtype == nw.Boolean:
        return {"true": True, "false": False}.get(state.lower(), state)
    if dtype.is_numeric():
        try:
            return int(state) if dtype.is_integer() else float(state)
        except ValueError:
            return state
    return state


# --- Arrow ---


def fill_arrow(values: pa.ChunkedArray, new: Filled) -> pa.ChunkedArray:
    """Arrow values with missing ones filled, in their own type if possible, else as texts.

    A state that occurs in the column is written as in its first row.
    """
    before, after = new
    if after.variable.kind != "categorical":
        return _fill_numbers(values, new)
    states = list(after.variable.states)
    if after.variable.cuts is None:  # else a value is not the state that it falls in
        seen, rows = np.unique(before.data, return_index=True)
        for state, row in zip(seen.tolist(), rows.tolist(), strict=True):
            if state < len(states):
                states[state] = values[row].cast(pa.string()).as_py()
    where = new.where()
    written = np.array([*states, ""], object)[after.data]
    labels = pa.array(np.where(where, written, None), pa.string())
    is_coded = pa.types.is_dictionary(values.type)
    if is_coded:
        values = pc.cast(values, values.type.value_type)
    try:
        labels = pc.cast(labels, values.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        values = pc.cast(values, pa.string())
    filled = pc.if_else(pa.array(where), labels, values)
    return filled.dictionary_encode() if is_coded else filled


def _fill_numbers(values: pa.ChunkedArray, new: Filled) -> pa.ChunkedArray:
    where, numbers = pa.array(new.where()), pa.array(new.after.data)
    try:
        values = pc.cast(values, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # text says what is missing there
        numbers = pc.cast(numbers, pa.string())
    return pc.if_else(where, numbers, values)
