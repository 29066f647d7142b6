"""Records are NamedTuples whose leaves are arrays; a leaf None is the flat prior, which adds 0."""

import dataclasses
import operator
from collections.abc import Callable, Iterator
from typing import Any


def is_record(x: Any) -> bool:
    """Whether x is a NamedTuple."""
    return isinstance(x, tuple) and hasattr(x, "_fields")


def zip_fields(f: Callable[..., Any], *records: Any) -> Any:
    """Apply f field by field: one record type in, the same record type out."""
    return type(records[0])(*(f(*values) for values in zip(*records, strict=True)))


def add(a: Any, b: Any) -> Any:
    """Leaf by leaf, through nested records and tuples."""
    return b if a is None else _join(add, operator.add, a, b)


def subtract(a: Any, b: Any) -> Any:
    """Leaf by leaf, through nested records and tuples."""
    return a if b is None else _join(subtract, operator.sub, a, b)


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


def rebuild(like: Any, values: Iterator[Any]) -> Any:
    """A record shaped as another, from its leaves."""
    if is_record(like):
        return type(like)(*(rebuild(field, values) for field in like))
    if isinstance(like, tuple):
        return tuple(rebuild(field, values) for field in like)
    return next(values)


def without_cached(record: Any) -> dict[str, Any]:
    """The fields of a dataclass, to be copied; what it caches may hold modules, which cannot be."""
    return {one.name: getattr(record, one.name) for one in dataclasses.fields(record)}
