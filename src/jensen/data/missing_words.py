"""Labels that probably mean missing: told once for a table, with what to say about them."""

from collections.abc import Iterable, Sequence

from jensen.data.encode import Column
from jensen.data.variable import is_number, sort_naturally
from jensen.exceptions import warn
from jensen.text import some
from jensen.wording import Say, of_file

_OF_SPREADSHEETS = {"#n/a", "#na", "#nv", "#n/d", "#div/0!", "#ref!", "#name?", "#null!"} | {
    *("#value!", "#wert!", "#valeur!", "#num!", "#zahl!", "#nombre!")
}
BESIDE_LABELS = _OF_SPREADSHEETS | {
    *("na", "n/a", "n.a.", "<na>", "nan", "-nan", "null", "(null)", "\\n", "?", "missing")
}
"""Words for missing that are seldom labels, in small letters; `none` and `-` often are."""

MISSING_WORDS = BESIDE_LABELS | {"", "none", "nil", "unknown", "-", "--", "\u2013", ".", "*"}
"""Words for missing in a column of numbers."""

LONGEST = 12
"""Letters of a word for missing, with spaces around it: longer labels need no second look."""


def warn_of_missing_words(columns: Iterable[Column], where: str, say: Say = of_file) -> None:
    """Warn if states of these columns are words for missing; labels they remain.

    `say` spells choices as the caller makes them.
    """
    found = {column.variable.name: words_for_missing(column.variable.states) for column in columns}
    found = {name: words for name, words in found.items() if words}
    if not found:
        return
    words = sort_naturally(word for each in found.values() for word in each)
    shown = some(f"{name!r} ({', '.join(each)})" for name, each in found.items())
    warn(
        f"{where}: labels that may mean missing are read as states, in {shown}: if they mean "
        f"missing, say {say(missing=words)}; if they are labels, say {say(missing=[])}"
    )


def words_for_missing(states: Sequence[str]) -> list[str]:
    """The states that are words for missing; beside numbers there are more of them."""
    words = [s for s in states if len(s) <= LONGEST and _plain(s) in MISSING_WORDS]
    if words and all(is_number(s.strip()) for s in states if s not in words):
        return words if len(words) < len(states) else _sure(words)
    return _sure(words)


def _sure(words: Sequence[str]) -> list[str]:
    return [word for word in words if _plain(word) in BESIDE_LABELS]


def _plain(label: str) -> str:
    return label.strip().casefold()
