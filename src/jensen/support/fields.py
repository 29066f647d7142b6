"""Arithmetic on records: NamedTuples, possibly nested, whose leaves are arrays.

A leaf None is the flat prior, which adds 0.
"""

import dataclasses
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_KNOWN: dict[str, type] = {}

Kind = TypeVar("Kind", bound=type)
Same = TypeVar("Same")  # a record, a tuple or an array
Made = TypeVar("Made")


def record(kind: Kind) -> Kind:
    """Allow a record type in checkpoints: only such types are ever made from a file."""
    if _KNOWN.setdefault(kind.__name__, kind) is not kind:
        raise TypeError(f"two records are named {kind.__name__}, and a file could not tell them")
    return kind


def is_record(x: Any) -> bool:
    """Whether x is a NamedTuple."""
    return isinstance(x, tuple) and hasattr(x, "_fields")


def zip_fields(f: Callable[..., object], *records: Same) -> Same:
    """Apply f field by field: one record type in, the same record type out."""
    fields: list[Any] = list(records)
    found: Same = type(fields[0])(*(f(*values) for values in zip(*fields, strict=True)))
    return found


def add(a: Same | None, b: Same) -> Same:
    """Add leaf by leaf, through nested records and tuples."""
    found: Same = b if a is None else _join(add, operator.add, a, b)
    return found


def subtract(a: Same, b: Same | None) -> Same:
    """Subtract b from a leaf by leaf, through nested records and tuples."""
    found: Same = a if b is None else _join(subtract, operator.sub, a, b)
    return found


def add_at(target: NDArray[Any], index: Any, values: Any) -> None:
    """Add values to the entries of an array that an index names, as often as it names them.

    NumPy 2.4 reads beyond values that have fewer axes than one index array, so they are spread to
    the shape of the index here; nothing else in the package calls `np.add.at`.
    """
    at = index if isinstance(index, tuple) else (index,)
    shape = np.broadcast_shapes(*map(np.shape, at)) + target.shape[len(at) :]
    np.add.at(target, index, np.ascontiguousarray(np.broadcast_to(values, shape)))


def _join(inside: Callable[..., Any], leaf: Callable[..., Any], a: Any, b: Any) -> Any:
    if is_record(a):
        return zip_fields(inside, a, b)
    if isinstance(a, tuple):
        return tuple(inside(x, y) for x, y in zip(a, b, strict=True))
    return leaf(a, b)


def leaves(record: Any) -> list[Any]:
    """The arrays of a record, from first to last, through nested records and tuples."""
    if isinstance(record, tuple):
        return [leaf for field in record for leaf in leaves(field)]
    return [record]


def rebuild(like: Same, values: Iterator[Any]) -> Same:
    """A record of the same types as `like`, with these leaves."""
    if not isinstance(like, tuple):
        found: Same = next(values)
        return found
    parts = [rebuild(field, values) for field in like]
    return type(like)(*parts) if is_record(like) else type(like)(parts)


def pack(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """A value made of records, tuples, numbers and arrays as JSON; its arrays go to a list.

    Examples
    --------
    >>> arrays = []
    >>> pack((1.5, np.arange(3), None), arrays)
    [1.5, {'array': 0}, None]
    >>> unpack([1.5, {'array': 0}, None], arrays)
    (1.5, array([0, 1, 2]), None)
    """
    is_plain = value is None or isinstance(value, bool | int | float | str)
    if is_plain and not isinstance(value, np.generic):
        return value
    if isinstance(value, tuple) and is_record(value):
        name = type(value).__name__
        if _KNOWN.get(name) is not type(value):
            raise TypeError(f"{name} is no record that a file may hold: list it with @record")
        return {"record": name, "fields": [pack(part, arrays) for part in value]}
    if isinstance(value, tuple):
        return [pack(part, arrays) for part in value]
    arrays.append(np.asarray(value))
    return {"array": len(arrays) - 1}


def unpack(packed: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    """The value that `pack` took apart."""
    if isinstance(packed, list):
        return tuple(unpack(part, arrays) for part in packed)
    if not isinstance(packed, dict):
        return packed
    if "array" in packed:
        return arrays[packed["array"]][()]  # one number as NumPy's: ~(x > 0) means not, not minus
    return _KNOWN[packed["record"]](*(unpack(part, arrays) for part in packed["fields"]))


def without_cached(record: Any) -> dict[str, Any]:
    """The fields of a dataclass without cached properties, which may hold modules."""
    return {one.name: getattr(record, one.name) for one in dataclasses.fields(record)}


def mean_record(records: Sequence[Same]) -> Same:
    """Field by field, the mean over records."""
    if len(records) == 1:
        return records[0]
    columns = zip(*map(leaves, records), strict=True)
    mean: Same = rebuild(records[0], (np.mean(column, axis=0) for column in columns))
    return mean


class LastResult(Generic[Made]):
    """A function of θ that keeps its last result, so that all units of a sweep share it."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self.make = make
        self.known: tuple[Any, Made] | None = None

    def __call__(self, t: Any) -> Made:
        """The result for this record; threads that ask at the same time may each compute it."""
        known = self.known
        if known is None or known[0] is not t:
            self.known = known = t, self.make(t)
        return known[1]
