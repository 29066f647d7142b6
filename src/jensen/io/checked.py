"""JSON read with care: every value is asked for by type, and an error says where it stands."""

import json
import math
import re
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import FileError, JensenError

WORDS = {
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
        """Refuse, saying where."""
        raise FileError(f"{self.file}: {self.path} {message}")

    def fields(self, required: Set[str], optional: Set[str] = frozenset()) -> dict[str, "Checked"]:
        """The members of an object; none may be absent, none unknown."""
        members = self._typed(dict)
        for name in sorted(required - members.keys()):
            self.fail(f"lacks {name!r}")
        for name in members:
            if name not in required | optional:
                self.fail(f"holds {name!r}, which this format does not know")
        return {name: Checked(v, self.file, self._below(name)) for name, v in members.items()}

    def parted(
        self, required: Set[str], optional: Set[str] = frozenset()
    ) -> tuple[dict[str, "Checked"], "Checked"]:
        """Some members of an object, and an object of all others."""
        members = self._typed(dict)
        mine = {name: value for name, value in members.items() if name in required | optional}
        rest = {name: value for name, value in members.items() if name not in mine}
        return replace(self, value=mine).fields(required, optional), replace(self, value=rest)

    def members(self) -> dict[str, "Checked"]:
        """The members of an object with any names."""
        found = self._typed(dict)
        return {name: Checked(v, self.file, self._below(name)) for name, v in found.items()}

    def items(self) -> Iterator["Checked"]:
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
            self.fail(f"must be {WORDS[kind]}, not {self._shown()}")
        return self.value

    def _shown(self) -> str:
        return WORDS[type(self.value)]

    def _below(self, name: str = "") -> str:
        if self.path == "the document":
            return name
        return f"{self.path}.{name}" if name else self.path


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
    """What makes no sense is a fault of the file, and the message says of which part."""
    try:
        yield
    except FileError:
        raise
    except JensenError as error:
        raise FileError(f"{where}: {error}") from None


def dump(value: Any) -> str:
    """One value as JSON; letters stay as they are."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _is_whole(text: str) -> bool:
    """Whether no half of a character stands alone, which JSON can spell and UTF-8 cannot."""
    return re.search("[\ud800-\udfff]", text) is None
