"""What a column is: its name, its kind, and the labels of its states."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from jensen.exceptions import DataError

Kind = Literal["categorical", "count", "continuous"]

_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Variable:
    """A name and a kind; a categorical variable has its state labels in a fixed order.

    Parameters
    ----------
    name
        The name of the column.
    kind
        "categorical", "count" (whole numbers ≥ 0) or "continuous".
    states
        Labels of a categorical variable; the order is the order of codes and of table axes.
    cuts
        Inner cut points of a discretised variable: state k holds cuts[k-1] < x <= cuts[k].

    Examples
    --------
    >>> Variable("smoker", "categorical", ("no", "yes"))
    Variable(name='smoker', kind='categorical', states=('no', 'yes'), cuts=None)
    """

    name: str
    kind: Kind
    states: tuple[str, ...] = ()
    cuts: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise DataError(
                f"{self.name!r} cannot be of kind {self.kind!r}: use one of {list(get_args(Kind))}"
            )
        check_states(self.name, self.states)
        if self.cuts is not None and (
            list(self.cuts) != sorted(set(self.cuts)) or len(self.cuts) + 1 != len(self.states)
        ):
            raise DataError(
                f"{self.name!r} needs rising cut points, one fewer than its {len(self.states)} "
                f"states, but has {list(self.cuts)}"
            )

    @property
    def n_states(self) -> int:
        """How many states a categorical variable has; also the code that stands for missing."""
        return len(self.states)


def check_states(name: str, states: Sequence[str]) -> None:
    """Refuse labels that are no text, or that stand twice."""
    seen: set[str] = set()
    for label in states:
        if not isinstance(label, str):
            raise DataError(f"the states of {name!r} must be text, but {label!r} is not")
        if label in seen:
            raise DataError(f"the states of {name!r} repeat {label!r}: every label stands once")
        seen.add(label)


def label_text(value: object) -> str:
    """The label of any value: whole numbers without a point, so that 1, 1.0 and "1" agree.

    >>> label_text(1.0), label_text("01"), label_text(True), label_text(0.5)
    ('1', '01', 'True', '0.5')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return str(value)
    number = float(value)
    if math.isfinite(number) and number == int(number):
        return str(int(value)) if hasattr(value, "__int__") else str(int(number))
    return repr(number)


def is_number(text: str) -> bool:
    """Whether a text is a number as numbers are usually written (`01` and `nan` are not)."""
    return _NUMBER.fullmatch(text) is not None


def canonical(text: str) -> str:
    """The text under which labels match: numbers lose what does not change them ("1.0" → "1")."""
    return label_text(float(text)) if is_number(text) else text


def match_labels(labels: Iterable[str], states: Sequence[str]) -> list[int]:
    """Position of each label among the states, by its text, else as a number; -1 if unknown."""
    exact = {state: k for k, state in enumerate(states)}
    loose = {canonical(state): k for k, state in reversed(list(enumerate(states)))}
    return [exact.get(label, loose.get(canonical(label), -1)) for label in labels]


def sort_naturally(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as people do: numbers by value, digits inside text as numbers.

    >>> sort_naturally(["10", "9", "-1"]), sort_naturally(["x10", "x9"])
    (('-1', '9', '10'), ('x9', 'x10'))
    """
    unique = set(labels)
    if all(map(is_number, unique)):
        return tuple(sorted(unique, key=lambda text: (float(text), text)))
    return tuple(sorted(unique, key=lambda text: (_chunks(text), text)))


def _chunks(text: str) -> list[tuple[int, int, str]]:
    """Text cut at its digits; numbers compare by value and come before words."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in _DIGITS.split(text)
        if part
    ]
