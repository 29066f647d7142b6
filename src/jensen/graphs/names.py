"""Names of nodes: which are allowed, and how they are written in text."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from jensen.exceptions import GraphError
from jensen.support.text import offer

LONGEST = 10
"""The most nodes of a path that a message shows."""

BARE = r'[^\s;,"<>→←↔\[\]-]'  # one character of a name that needs no quotes


def checked(name: object) -> str:
    """Return the name as a plain string, or refuse it."""
    if not isinstance(name, str):
        raise GraphError(
            f"a node's name must be a string, but {name!r} is of type {type(name).__name__}; "
            f"rename it, for example with str()"
        )
    if not name:
        raise GraphError("a node's name must not be empty; give every node a name")
    return str(name)  # np.str_ would print differently


def distinct(names: Iterable[object]) -> list[str]:
    """Check a list of names in which each must be unique."""
    if isinstance(names, str):
        raise GraphError(f"nodes must be a list of names, not the string {names!r}")
    counts = Counter(map(checked, names))
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise GraphError(f"the name {repeated[0]!r} stands twice in the list of nodes")
    return list(counts)


def quote(name: str) -> str:
    r"""Put a name in double quotes, with ``\"`` and ``\\`` inside."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquote(text: str) -> str:
    """Undo `quote`."""
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def show(name: str) -> str:
    """Write a name as the arrow notation reads it, in quotes where it needs them."""
    return name if re.fullmatch(f"{BARE}+", name) else quote(name)


def show_path(names: Sequence[str]) -> str:
    """Write a directed path as arrow notation; of a long one the first few nodes and the last.

    >>> show_path(["A", "B", "my C", "A"])
    'A -> B -> "my C" -> A'
    """
    shown = [show(name) for name in names]
    left_out = len(names) - LONGEST
    if left_out > 0:
        shown[LONGEST - 2 : -2] = [f"... {left_out:,} more ..."]
    return " -> ".join(shown)


def unknown(name: object, nodes: Sequence[str]) -> GraphError:
    """Build the error for a name that is not in the graph, with what was probably meant."""
    return GraphError(f"there is no node {name!r} in the graph; {offer(name, nodes, 'node')}")
