"""Fingerprints: equal only for equal data and settings, on every run and machine."""

import hashlib
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Digested(Protocol):
    """Rows that have a hash of their own."""

    def digest(self) -> str:
        """A hash of all of them."""


def fingerprint(*parts: Any) -> str:
    """A SHA-256 that is equal only for equal data and settings, on every run and machine.

    Parameters
    ----------
    *parts
        Of str, bytes, int, float, bool, None, NumPy arrays and numbers, and lists, tuples and
        dictionaries of these. A list and a tuple are the same; 1, 1.0 and True are not; the
        order of a dictionary does not matter; of an array count dtype, shape and content.

    Returns
    -------
    str
        64 hexadecimal digits.

    References
    ----------
    NIST (2015), *Secure Hash Standard*, FIPS 180-4, doi:10.6028/NIST.FIPS.180-4, section 6.2.

    Examples
    --------
    >>> fingerprint(["ab"]) == fingerprint(["a", "b"])
    False
    >>> fingerprint({"a": 1, "b": (2, 3)}) == fingerprint({"b": [2, 3], "a": 1})
    True
    """
    digest = hashlib.sha256()
    _feed(parts, digest.update)
    return digest.hexdigest()


def _feed(part: Any, update: Callable[[Any], object]) -> None:
    """Hash one part: its kind, its size, its content, so that no two parts look alike."""

    def feed(kind: str, content: bytes) -> None:
        update(f"{kind} {len(content)}:".encode())
        update(content)

    match part:
        case None:
            feed("none", b"")
        case bool() | np.bool_():
            feed("bool", str(bool(part)).encode())
        case int() | np.integer():
            feed("int", f"{int(part):x}".encode())
        case float() | np.floating():
            feed("float", repr(float(part)).encode())
        case str():
            feed("str", part.encode("utf-8", "surrogatepass"))
        case bytes():
            feed("bytes", part)
        case list() | tuple():
            update(f"list {len(part)}:".encode())
            for item in part:
                _feed(item, update)
        case dict():
            items = sorted((fingerprint(key), value) for key, value in part.items())
            update(f"dict {len(items)}:".encode())
            for key, value in items:
                feed("key", key.encode())
                _feed(value, update)
        case np.ndarray():
            array = np.ascontiguousarray(plain_array(part))
            feed("array", f"{array.dtype.str} {part.shape}".encode())
            update(array.reshape(-1).view(np.uint8).data)
        case Digested():
            feed("digest", part.digest().encode())
        case _:
            raise TypeError(f"a fingerprint is taken of plain data, not of {type(part).__name__}")


def plain_array(array: NDArray[Any]) -> NDArray[Any]:
    """Refuse arrays whose bytes are not their content: objects, records, long doubles."""
    if array.dtype.kind not in "biufcSUmM" or array.dtype.char in "gG":
        raise TypeError(f"an array of {array.dtype} cannot be kept as plain data")
    return array
