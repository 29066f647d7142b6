"""Plain text for people: aligned tables and short lists."""

from collections.abc import Iterable, Sequence


def grid(rows: Iterable[Sequence[str]], *, left: int, rule: bool = False) -> str:
    """Align rows of cells; the first `left` columns to the left, the rest to the right.

    >>> print(grid([["a", "p"], ["long", "0.5"]], left=1))
    a       p
    long  0.5
    """
    lines = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = []
    for line in lines:
        cells = [
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown.append("  ".join(cells).rstrip())
    if rule and shown:
        shown.insert(1, "-" * max(map(len, shown)))
    return "\n".join(shown)


def some(items: Iterable[object], most: int = 8) -> str:
    """The first few of many, for a message.

    >>> some(["a", "b", "c"], most=2)
    'a, b, ... (3 in all)'
    """
    texts = list(map(str, items))
    tail = f", ... ({len(texts):,} in all)" if len(texts) > most else ""
    return ", ".join(texts[:most]) + tail


def plural(n: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun if n == 1 else many(noun)}"


def many(noun: str) -> str:
    """A noun in the plural.

    >>> many("state"), many("class")
    ('states', 'classes')
    """
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"
