"""What several formats share: names, properties, and the warning of what a format cannot hold."""

import re
import warnings
from collections.abc import Iterable

from jensen.exceptions import FormatWarning, JensenError
from jensen.inference.table_network import TableNetwork
from jensen.support.text import some

UNNAMED = "unknown"
"""What other programs call a network without a name."""

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = r"(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)"
_POINT = re.compile(rf"\(\s*{_NUMBER}(?:\s*,\s*|\s+){_NUMBER}\s*\)")


def check_identifier(name: str, form: str) -> str:
    """The name of a variable; a name that the format cannot write is refused."""
    if not IDENTIFIER.fullmatch(name):
        raise JensenError(
            f"{form} cannot hold the name {name!r}: there a name has letters without accents, "
            f"digits and underscores only, and begins with no digit; a file that ends in .json can"
        )
    return name


def read_pairs(texts: Iterable[str]) -> dict[str, str]:
    """Split properties ``key = text``; a second text of the same key is kept whole, as a key."""
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
    """The two coordinates of a position in a drawing; None if the text is not a position.

    >>> read_point("(1 -2)"), read_point("( 1.5, 2 )"), read_point("here")
    (('1', '-2'), ('1.5', '2'), None)
    """
    match = _POINT.fullmatch(text.strip())
    return None if match is None else (match[1], match[2])


def show_point(text: str) -> str:
    """A position in the one spelling that all formats keep among their properties: ``(1, 2)``."""
    point = read_point(text)
    return text if point is None else f"({point[0]}, {point[1]})"


def warn_of_losses(
    network: TableNetwork, name: str, properties: list[str] | None = None, *, names: bool = False
) -> None:
    """Warn of what a file format leaves out.

    `dumps` must call this directly: the warning then points to the line that called `net.save`.

    Parameters
    ----------
    network
        What is to be written.
    name
        The name of the format.
    properties
        Those that it cannot hold.
    names
        Whether names of variables and states are lost.
    """
    lost = ["the names of variables and states (they become numbers)"] if names else []
    if network.concentration is not None:
        lost.append("the posterior (the probabilities are kept)")
    if network.samples is not None:
        lost.append("the samples of the posterior (their mean is kept)")
    cut = [v.name for v in network.variables if v.cuts is not None]
    if cut:
        lost.append(f"the cut points of {some(cut)}")
    if properties:
        lost.append(f"the properties {some(dict.fromkeys(properties))}")
    if lost:
        warnings.warn(
            f"{name} cannot hold {' and '.join(lost)}; a file that ends in .json can",
            FormatWarning,
            stacklevel=6,  # where net.save was called
        )
