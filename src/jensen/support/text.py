"""Plain text for messages: aligned tables, short lists, plurals, corrections of misspelt names."""

import difflib
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


def offer(name: object, names: Iterable[str], noun: str = "variable") -> str:
    """The end of a message about an unknown name: what was probably meant, and what there is.

    Names that are spelt like it come first, whatever their case; of many names only a few are
    listed, with the number of all.

    >>> offer("Rian", ["cloudy", "rain", "sprinkler"])
    "did you mean 'rain'? The variables are: rain, cloudy, sprinkler"
    >>> offer("x", ["a", "b"], "column")
    'the columns are: a, b'
    """
    known = list(names)
    near = _nearest(str(name), known)
    listed = some([*near, *(other for other in known if other not in near)])
    there = f"{many(noun)} are: {listed}" if len(known) > 1 else f"only {noun} is {listed}"
    if not known:
        return f"there are no {many(noun)}"
    return f"did you mean {near[0]!r}? The {there}" if near else f"the {there}"


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    """Up to three names that are spelt almost alike, the nearest first."""
    by_letters: dict[str, list[str]] = {}
    for known in names:
        by_letters.setdefault(known.casefold(), []).append(known)
    close = difflib.get_close_matches(name.casefold(), by_letters, n=3)
    return [known for letters in close for known in by_letters[letters]][:3]


def either(items: Iterable[object], word: str = "or") -> str:
    """Words to choose from, or with "and" all of them.

    >>> either(["a", "b", "c"]), either(["a", "b"], "and"), either(["a"])
    ('a, b or c', 'a and b', 'a')
    """
    *others, last = map(str, items)
    return f"{', '.join(others)} {word} {last}" if others else last


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
