"""Names and properties, as several formats write them."""

import re
from collections.abc import Iterable

from jensen.exceptions import JensenError

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = r"(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)"
_POINT = re.compile(rf"\(\s*{_NUMBER}(?:\s*,\s*|\s+){_NUMBER}\s*\)")


def check_identifier(name: str, form: str) -> str:
    """The name of a variable, or a refusal where the format has no way to write it."""
    if not IDENTIFIER.fullmatch(name):
        raise JensenError(
            f"{form} cannot hold the name {name!r}: there a name has letters without accents, "
            f"digits and underscores only, and begins with no digit; a file that ends in .json can"
        )
    return name


def read_pairs(texts: Iterable[str]) -> dict[str, str]:
    """Properties ``key = text`` by their keys; a second text with the same key is its own key."""
    pairs: dict[str, str] = {}
    for text in texts:
        head, _, tail = text.partition("=")
        key, value = head.strip(), tail.strip()
        if pairs.get(key, value) != value:
            key, value = text, ""
        pairs[key] = value
    return pairs


def write_pair(key: str, value: str) -> str:
    """A property as one text.

    >>> write_pair("author", "me"), write_pair("flag", "")
    ('author = me', 'flag')
    """
    return (f"{key} = {value}" if value else key).strip()


def read_point(text: str) -> tuple[str, str] | None:
    """A position in a drawing, however it is written; None if it is none.

    >>> read_point("(1 -2)"), read_point("( 1.5, 2 )"), read_point("here")
    (('1', '-2'), ('1.5', '2'), None)
    """
    match = _POINT.fullmatch(text.strip())
    return None if match is None else (match[1], match[2])


def show_point(text: str) -> str:
    """A position as all formats keep it among their properties: ``(1, 2)``."""
    point = read_point(text)
    return text if point is None else f"({point[0]}, {point[1]})"
