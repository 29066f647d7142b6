"""Labels that probably mean missing: told once for a file, with what to say about them."""

import warnings
from collections.abc import Iterable, Sequence

from jensen.data.encode import Column
from jensen.data.variable import is_number, sort_naturally
from jensen.exceptions import DataWarning
from jensen.text import some
from jensen.wording import option

BESIDE_LABELS = frozenset({"NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "?"})
"""Words for missing that are seldom labels; `None` and `-` often are."""

MISSING_WORDS = BESIDE_LABELS | {"", "None", "-", "."}
"""Words for missing in a column of numbers."""


def warn_of_missing_words(columns: Iterable[Column], where: str) -> None:
    """Warn if states of these columns are words for missing; labels they remain."""
    found = {column.variable.name: _words(column.variable.states) for column in columns}
    found = {name: words for name, words in found.items() if words}
    if not found:
        return
    words = sort_naturally(word for each in found.values() for word in each)
    shown = some(f"{name!r} ({', '.join(each)})" for name, each in found.items())
    warnings.warn(
        f"{where}: labels that may mean missing are read as states, in {shown}: if they mean "
        f"missing, say {option('missing', words)}; if they are labels, say {_silence()}",
        DataWarning,
        stacklevel=2,
    )


def _words(states: Sequence[str]) -> list[str]:
    """The states that are words for missing; beside numbers there are more of them."""
    words = [state for state in states if state.strip() in MISSING_WORDS]
    if words and all(is_number(s.strip()) for s in states if s not in words):
        return words if len(words) < len(states) else _sure(words)
    return _sure(words)


def _sure(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.strip() in BESIDE_LABELS]


def _silence() -> str:
    return option("missing", [])
