"""Columns of a dataframe filled in, in the types that they came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.data.variable import label_text


def is_frame(data: Any) -> bool:
    """Whether data is a dataframe that can be given back as it came."""
    return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)


def refill(data: Any, columns: Mapping[str, Column]) -> Any:
    """The same dataframe with some columns replaced; their labels become values again.

    A state that the column already had becomes the value that it had there; another one becomes
    a number if the column holds numbers, else its label. What is still missing is null.
    """
    frame = nw.from_native(data, eager_only=True)
    new = [_series(frame[name], column) for name, column in columns.items()]
    return frame.with_columns(*new).to_native()


def _series(old: Any, column: Column) -> Any:
    if column.variable.kind != "categorical":
        return _numbers(old, column)
    known = {label_text(value): value for value in old.drop_nulls().unique().to_list()}
    values = [known.get(state, _value(state, old.dtype)) for state in column.variable.states]
    lookup: NDArray[Any] = np.empty(len(values) + 1, object)
    lookup[: len(values)] = values
    lookup[-1] = None
    data = lookup[column.data].tolist()
    filled = nw.new_series(old.name, data, backend=old.implementation)
    try:
        if old.implementation.is_pandas_like() and old.dtype not in (nw.Categorical, nw.Enum):
            new = _as_pandas(old.to_native(), data)
        else:
            new = filled.cast(old.dtype)
    except Exception:  # a category or an enum that lacks a state: every library raises its own
        return filled
    return new if new.null_count() == filled.null_count() else filled  # pandas forgets the state


def _numbers(old: Any, column: Column) -> Any:
    """Numbers where some were missing; those that were there stay as they were."""
    absent = old.is_null().to_numpy()
    data = [
        new if gone else x
        for x, new, gone in zip(old.to_list(), column.data.tolist(), absent, strict=True)
    ]
    filled = nw.new_series(old.name, data, backend=old.implementation)
    if old.implementation.is_pandas_like():
        return _as_pandas(old.to_native().astype(filled.to_native().dtype), data)
    return filled


def _as_pandas(old: Any, data: list[Any]) -> Any:
    """A series of the very type of another: for narwhals Int64 and int64 of pandas are one."""
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
