"""Values of JSON files: each is asked for by its type, and an error says where it stands.

Arrays and records are exact to the bit; log 0 is the text "-inf".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import FileError, JensenError
from jensen.support.fields import is_record

Kind = TypeVar("Kind")

TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True)
class Checked:
    """A value of a JSON document and the path that leads to it."""

    value: Any
    file: str
    path: str = "the document"

    def fail(self, message: str) -> NoReturn:
        """Raise an error that names the path of this value."""
        raise FileError(f"{self.file}: {self.path} {message}")

    def fields(self, required: Set[str], optional: Set[str] = frozenset()) -> dict[str, Checked]:
        """The members of an object; absent and unknown names are refused."""
        members = self._typed(dict)
        for name in sorted(required - members.keys()):
            self.fail(f"lacks {name!r}")
        for name in members:
            if name not in required | optional:
                self.fail(f"holds {name!r}, which this format does not know")
        return {name: Checked(v, self.file, self._below(name)) for name, v in members.items()}

    def parted(
        self, required: Set[str], optional: Set[str] = frozenset()
    ) -> tuple[dict[str, Checked], Checked]:
        """The named members of an object, and an object with all others."""
        members = self._typed(dict)
        mine = {name: value for name, value in members.items() if name in required | optional}
        rest = {name: value for name, value in members.items() if name not in mine}
        return replace(self, value=mine).fields(required, optional), replace(self, value=rest)

    def members(self) -> dict[str, Checked]:
        """The members of an object with any names."""
        found = self._typed(dict)
        return {name: Checked(v, self.file, self._below(name)) for name, v in found.items()}

    def items(self) -> Iterator[Checked]:
        """The items of a list."""
        for k, value in enumerate(self._typed(list)):
            yield Checked(value, self.file, f"{self._below()}[{k}]")

    def text(self) -> str:
        """A text."""
        text = str(self._typed(str))
        if not _is_whole(text):
            self.fail("holds half a character (a lone surrogate)")
        return text

    def texts(self) -> list[str]:
        """A list of texts."""
        return [item.text() for item in self.items()]

    def flag(self) -> bool:
        """True or false."""
        return bool(self._typed(bool))

    def whole(self) -> int:
        """A whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.fail(f"must be a whole number, not {self._shown()}")
        return self.value

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.fail(f"must be a number, not {self._shown()}")
        try:
            number = float(self.value)
        except OverflowError:  # whole numbers have no end
            number = math.inf
        if not math.isfinite(number):
            self.fail("must be a finite number")
        return number

    def numbers(self) -> NDArray[np.float64]:
        """A list of finite numbers."""
        values = self._typed(list)
        if set(map(type, values)) <= {float}:
            array = np.array(values, np.float64)
            if np.isfinite(array).all():
                return array
        return np.array([item.number() for item in self.items()], np.float64)

    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    def _typed(self, kind: type) -> Any:
        if not isinstance(self.value, kind):
            self.fail(f"must be {TYPE_NAMES[kind]}, not {self._shown()}")
        return self.value

    def _shown(self) -> str:
        return TYPE_NAMES[type(self.value)]

    def _below(self, name: str = "") -> str:
        if self.path == "the document":
            return name
        return f"{self.path}.{name}" if name else self.path


def as_checked(value: Any) -> Checked:
    """Plain data, such as `json.loads` or `to_dict` gives, to be read with care."""
    if isinstance(value, Checked):
        return value
    try:
        plain = json.loads(json.dumps(value, default=lambda part: part.tolist()))
    except (TypeError, ValueError, AttributeError, RecursionError):
        raise FileError(
            f"these data: a model is read from plain data (dicts, lists, texts, numbers), as "
            f"to_dict() gives them, not from {type(value).__name__!r} or what it holds"
        ) from None
    if isinstance(plain, dict):  # what stands in a file besides
        plain = {name: part for name, part in plain.items() if name not in ("version", "checksum")}
    return Checked(plain, "these data")


def of_kind(wanted: type[Kind], found: Any) -> Kind:
    """What was read, if it is of the class that was asked to read it."""
    if not isinstance(found, wanted):
        raise FileError(
            f"these data hold a {type(found).__name__}, not a {wanted.__name__}: "
            f"write jn.{type(found).__name__}.from_dict"
        )
    return found


def parse_json(text: str, file: str) -> Checked:
    """Parse JSON; syntax errors carry line and column, and a repeated name is an error."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name, value in pairs:
            if name in members:
                raise FileError(f"{file}: the name {name!r} stands twice in one object")
            if not _is_whole(name):
                raise FileError(f"{file}: the name {name!r} holds half a character")
            members[name] = value
        return members

    try:
        value = json.loads(text, object_pairs_hook=unique)  # NaN is refused where it stands
    except json.JSONDecodeError as error:
        raise FileError(
            f"{file}, line {error.lineno}, column {error.colno}: {error.msg.lower()}"
        ) from None
    except FileError:
        raise
    except RecursionError:
        raise FileError(f"{file}: lists are nested deeper than any network needs") from None
    except ValueError as error:  # integers with thousands of digits
        raise FileError(f"{file}: {error}") from None
    return Checked(value, file)


@contextmanager
def refusing(where: str) -> Iterator[None]:
    """Turn errors of the library into errors of the file; `where` names the part."""
    try:
        yield
    except FileError:
        raise
    except JensenError as error:
        raise FileError(f"{where}: {error.marked}") from None


def _is_whole(text: str) -> bool:
    """Whether a text has no lone surrogate, which JSON can spell and UTF-8 cannot."""
    return re.search("[\ud800-\udfff]", text) is None


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
    """An array of this shape: finite numbers, and -inf where `logs`."""
    array = at_once(value.value, shape)
    return _slowly(value, shape, logs) if array is None else array


def at_once(value: Any, shape: tuple[int, ...]) -> Array | None:
    """Nested lists of this shape with nothing but finite floats as an array; else None."""
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
    """The same value by value; the first fault is refused with its path."""
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
    """A record with the fields and shapes of `like`."""
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
