"""Arrays and records in Jensen's JSON, exact to the bit; log 0 is the text "-inf"."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.io.checked import Checked
from jensen.support.fields import is_record

Array = NDArray[np.float64]

LOG_ZERO = "-inf"


def plain_array(array: Any) -> Any:
    """Nested lists of numbers; a number for an array without axes."""
    listed = np.asarray(array, np.float64).tolist()
    return listed if np.isfinite(array).all() else _spelled(listed)


def _spelled(value: Any) -> Any:
    if isinstance(value, list):
        return [_spelled(item) for item in value]
    return LOG_ZERO if value == -np.inf else value


def read_array(value: Checked, shape: tuple[int, ...], *, logs: bool = False) -> Array:
    """Finite numbers of this shape; of logs also -inf."""
    array = at_once(value.value, shape)
    return _slowly(value, shape, logs) if array is None else array


def at_once(value: Any, shape: tuple[int, ...]) -> Array | None:
    """Nested lists of that shape that hold nothing but finite floats, or None."""
    level = [value]
    for size in shape:
        if set(map(type, level)) != {list} or set(map(len, level)) != {size}:
            return None
        level = list(chain.from_iterable(level))
    if set(map(type, level)) != {float}:
        return None
    array = np.array(level, np.float64)
    return array.reshape(shape) if np.isfinite(array).all() else None


def _slowly(value: Checked, shape: tuple[int, ...], logs: bool) -> Array:
    """The same, which knows what is wrong, and where."""
    if not shape:
        return np.array(-np.inf if logs and value.value == LOG_ZERO else value.number())
    items = list(value.items())
    if len(items) != shape[0]:
        value.fail(f"has {len(items)} parts, but must have {shape[0]}")
    return np.array([_slowly(item, shape[1:], logs) for item in items]).reshape(shape)


def plain_record(record: Any) -> Any:
    """Records as objects, tuples as lists, arrays as nested lists."""
    if is_record(record):
        return {name: plain_record(x) for name, x in record._asdict().items()}
    if isinstance(record, tuple):
        return [plain_record(x) for x in record]
    return plain_array(record)


def read_record(value: Checked, like: Any, *, logs: bool = False) -> Any:
    """A record shaped as another."""
    if is_record(like):
        members = value.fields(set(like._fields))
        fields = zip(like._fields, like, strict=True)
        return type(like)(*(read_record(members[name], x, logs=logs) for name, x in fields))
    if isinstance(like, tuple):
        items = list(value.items())
        if len(items) != len(like):
            value.fail(f"has {len(items)} parts, but must have {len(like)}")
        pairs = zip(items, like, strict=True)
        return tuple(read_record(item, x, logs=logs) for item, x in pairs)
    return read_array(value, np.shape(like), logs=logs)
