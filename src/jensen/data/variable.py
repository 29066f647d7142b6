"""What a column is: its name, its kind, and the labels of its states."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Literal, get_args

import numpy as np

from jensen.exceptions import DataError, JensenError
from jensen.support.machine import check_many
from jensen.support.text import some

Kind = Literal["categorical", "count", "continuous"]

EXACT = 2.0**53
"""Whole numbers beyond this lose digits as floats."""

_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ANY_NUMBER = re.compile(
    r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity)\s*", re.IGNORECASE
)
_INTEGER = re.compile(r"-?[0-9]+")
_DIGITS = re.compile(r"[0-9]+")
_MIDNIGHT = re.compile(r" 00:00:00(?:\.0+)?$")
_FRACTION_ZEROS = re.compile(r"(:[0-9]{2})(?:\.0+|(\.[0-9]*[1-9])0+)$")


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
    is_declared
        Whether the caller says that a column holds counts. Graphs take such a column as Poisson
        counts, and other whole numbers as measurements; it is no part of comparisons.

    Examples
    --------
    >>> Variable("smoker", "categorical", ("no", "yes"))
    Variable(name='smoker', kind='categorical', states=('no', 'yes'), cuts=None)
    """

    name: str
    kind: Kind
    states: tuple[str, ...] = ()
    cuts: tuple[float, ...] | None = None
    is_declared: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DataError(f"a variable is named by text, not by {self.name!r}")
        if self.kind not in get_args(Kind):
            raise DataError(
                f"{self.name!r} cannot be of kind {self.kind!r}: use one of {list(get_args(Kind))}"
            )
        if self.states and self.kind != "categorical":
            raise DataError(f"{self.name!r} is {self.kind}, so it has no states")
        if not isinstance(self.states, tuple):
            raise DataError(f"the states of {self.name!r} must be a tuple, not {self.states!r}")
        check_states(self.name, self.states)
        if self.cuts is not None:
            _check_cuts(self.name, self.cuts, len(self.states))

    @property
    def n_states(self) -> int:
        """How many states a categorical variable has; also the code that stands for missing."""
        return len(self.states)


def kind_in_graphs(variable: Variable) -> Kind:
    """What a column is in a graph: whole numbers are numbers, if they are not declared counts."""
    is_number = variable.kind == "count" and not variable.is_declared
    return "continuous" if is_number else variable.kind


def check_states(name: str, states: Sequence[str]) -> None:
    """Refuse labels that are no text, or that stand twice."""
    seen: set[str] = set()
    for label in states:
        if not isinstance(label, str):
            raise DataError(f"the states of {name!r} must be text, but {label!r} is not")
        if label in seen:
            raise DataError(f"the states of {name!r} repeat {label!r}: every label stands once")
        seen.add(label)


def _check_cuts(name: str, cuts: Sequence[float], n_states: int) -> None:
    rising = all(map(math.isfinite, cuts)) and list(cuts) == sorted(set(cuts))
    if not rising or len(cuts) + 1 != n_states:
        raise DataError(
            f"{name!r} needs finite, rising cut points, one fewer than its {n_states} states, "
            f"but has {list(cuts)}"
        )


def label_text(value: object) -> str:
    """The label of any value: whole numbers without a point, so that 1, 1.0 and "1" agree.

    >>> label_text(1.0), label_text("01"), label_text(True), label_text(0.5)
    ('1', '01', 'True', '0.5')
    """
    if isinstance(value, (str, bool, np.bool_)):
        return str(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, (Real, Decimal)):
        number = float(value)
        return str(int(number)) if abs(number) <= EXACT and number == int(number) else repr(number)
    return time_text(str(value)) if isinstance(value, datetime) else str(value)


def time_text(text: str) -> str:
    """A date and time without zeros at its end, which depend on where it comes from.

    >>> time_text("2020-01-31 00:00:00"), time_text("2020-01-31 06:30:00.500000")
    ('2020-01-31', '2020-01-31 06:30:00.5')
    """
    return _FRACTION_ZEROS.sub(r"\1\2", _MIDNIGHT.sub("", text))


def is_number(text: str) -> bool:
    """Whether a text is a number as numbers are usually written (`01` and `nan` are not)."""
    return _NUMBER.fullmatch(text) is not None


def parse_number(text: str) -> float | None:
    """The number, where the caller says that there is one: 01, +1 and inf are; nan is not."""
    return float(text) if _ANY_NUMBER.fullmatch(text) else None


def canonical(text: str) -> str:
    """The text under which labels match: numbers lose what does not change them ("1.0" → "1")."""
    if not is_number(text):
        return text
    if _INTEGER.fullmatch(text):  # of any length: a float would forget the digits of identifiers
        return "0" if text == "-0" else text
    return label_text(float(text)) if math.isfinite(float(text)) else text


def match_labels(labels: Iterable[str], states: Sequence[str]) -> list[int]:
    """Position of each label among the states, by its text, else as a number; -1 if unknown."""
    exact = {state: k for k, state in enumerate(states)}
    loose = {canonical(state): k for k, state in reversed(list(enumerate(states)))}
    return [exact.get(label, loose.get(canonical(label), -1)) for label in labels]


def find_states(variable: Variable, labels: Sequence[str]) -> list[int]:
    """Position of each label among the states; of a discretised variable also of each number.

    >>> find_states(Variable("x", "categorical", ("<= 1.5", "> 1.5"), (1.5,)), ["> 1.5", "0", "a"])
    [1, 0, -1]
    """
    found = match_labels(labels, variable.states)
    if variable.cuts is None or min(found, default=0) >= 0:
        return found
    numbers = [
        parse_number(label) if k < 0 else None for k, label in zip(found, labels, strict=True)
    ]
    return [
        k if number is None else bisect_left(variable.cuts, number)
        for k, number in zip(found, numbers, strict=True)
    ]


def find_state(variable: Variable, label: object) -> int:
    """The position of a label among the states of a variable; -1 if it is unknown.

    Labels match by their text; a number is in the interval of a discretised variable around it.
    """
    if isinstance(label, str) and label in variable.states:  # most are, and this is much faster
        return variable.states.index(label)
    return find_states(variable, [label_text(label)])[0]


def state_of(variable: Variable, label: object) -> int:
    """The position of a label among the states of a variable; refused if it is none of them.

    >>> state_of(Variable("x", "categorical", ("0", "1")), 1.0)
    1
    """
    position = find_state(variable, label)
    if position < 0:
        number = "" if variable.cuts is None else ", or give a number, which lies in one of them"
        raise DataError(
            f"{variable.name!r} has no state {label!r}; its states are {some(variable.states)}"
            f"{number}"
        )
    return position


def sort_naturally(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as people do: numbers by value, digits inside text as numbers.

    >>> sort_naturally(["10", "9", "-1"]), sort_naturally(["x10", "x9"])
    (('-1', '9', '10'), ('x9', 'x10'))
    """
    unique = set(labels)
    if all(map(is_number, unique)):
        return tuple(sorted(unique, key=lambda text: (_value(text), text)))
    return tuple(sorted(sorted(unique), key=_natural_key))


def _value(text: str) -> float:
    """The number, exactly; Python compares int and float without rounding."""
    return int(text) if _INTEGER.fullmatch(text) and len(text) < 400 else float(text)


def _natural_key(text: str) -> str:
    """Text in which every run of digits stands behind its length, below all other characters."""
    return _DIGITS.sub(_longer_is_larger, text)


def _longer_is_larger(run: re.Match[str]) -> str:
    digits = run.group().lstrip("0")
    return f"\0{chr(len(digits))}{digits}"


def hidden_variable(name: str, states: int | Sequence[object]) -> Variable:
    """A variable without a column, by its number of states or by their labels."""
    if isinstance(states, str | bool) or not isinstance(states, Integral | Sequence):
        raise JensenError(
            f"hidden={{{name!r}: {states!r}}}: give its number of states, or their labels"
        )
    if isinstance(states, Integral):
        check_many(int(states), 128.0, f"states of {name!r} (hidden)", "choose fewer")
    labels = tuple(map(label_text, range(int(states)) if isinstance(states, Integral) else states))
    if len(labels) < 2:
        n = states if isinstance(states, Integral) else len(labels)
        raise JensenError(
            f"the hidden variable {name!r} needs two states at least, not {n}: with one "
            f"state it says nothing, so leave it out of the graph"
        )
    return Variable(name, "categorical", labels)


def column_name(name: object) -> str:
    """The name of a column, as text; pandas also numbers columns."""
    if not isinstance(name, (str, int, np.integer)):
        raise DataError(f"a column is named by text, not by {name!r}")
    return str(name)
