"""What stands in the box of a node: its name, and its beliefs as rows of bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from jensen.exceptions import JensenError
from jensen.plots.geometry import Size
from jensen.plots.text_width import elide, text_width, wrap

if TYPE_CHECKING:
    from jensen.inference import Distribution

SIZE = 13.0  # of the name
LINE = 16.0
SMALL = 11.0  # of the beliefs
ROW = 15.0
SIDE = 9.0  # from text to the sides of the box
EDGE = 7.0  # from text to its top and bottom
BAR = 60.0
BETWEEN = 6.0  # label, bar and number
MOST_NAME, MOST_LINES = 170.0, 3
MOST_LABEL = 90.0
MOST_ROWS = 10

Beliefs: TypeAlias = "Mapping[str, float] | Distribution | Sequence[tuple[str, float]]"
"""Probabilities by state: a mapping, the answer of a query, or pairs."""


class Row(NamedTuple):
    """One state: its label as shown, its share, and the share as text."""

    label: str
    share: float
    text: str


class Card(NamedTuple):
    """The content of a box, and how much room it needs."""

    lines: list[str]
    rows: list[Row]
    label_width: float
    number_width: float
    size: Size

    @property
    def rows_top(self) -> float:
        """Where the rows begin, from the top of the box."""
        return EDGE + LINE * len(self.lines) + 3.0


def make_card(name: str, beliefs: Sequence[tuple[str, float]], least: float = 36.0) -> Card:
    """Measure a name and its beliefs; no box is narrower than `least`.

    >>> make_card("Rain", []).size
    (48.0, 30.0)
    """
    lines = wrap(name, MOST_NAME, SIZE, MOST_LINES)
    rows = [Row(elide(k, MOST_LABEL, SMALL), p, percent(p)) for k, p in shorten(beliefs)]
    label_width = max((text_width(row.label, SMALL) for row in rows), default=0.0)
    number_width = max((text_width(row.text, SMALL) for row in rows), default=0.0)
    inner = max(text_width(line, SIZE) for line in lines)
    height = 2 * EDGE + LINE * len(lines)
    if rows:
        inner = max(inner, label_width + BAR + number_width + 2 * BETWEEN)
        height += ROW * len(rows) + 3.0
    width = max(2.0 * SIDE + inner, least)
    return Card(lines, rows, label_width, number_width, (2.0 * math.ceil(width / 2), height))


def check_beliefs(name: str, beliefs: Beliefs) -> list[tuple[str, float]]:
    """Labels and probabilities in their order; refused unless they are such."""
    pairs = beliefs if isinstance(beliefs, Sequence) else beliefs.items()
    checked = []
    for label, p in pairs:
        if isinstance(label, tuple):
            raise JensenError(
                f"the belief in {name} must be a distribution of one variable, not of several: "
                f"ask for its marginal({name!r})"
            )
        if not 0 <= p <= 1 + 1e-9:
            raise JensenError(
                f"the belief in {name} = {label} must be a probability between 0 and 1, not {p!r}"
            )
        checked.append((str(label), float(min(p, 1.0))))
    return checked


def shorten(beliefs: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """All states, or the most probable ones in their order and the sum of the rest."""
    if len(beliefs) <= MOST_ROWS:
        return list(beliefs)
    by_share = sorted(range(len(beliefs)), key=lambda k: -beliefs[k][1])
    kept = sorted(by_share[: MOST_ROWS - 1])
    rest = sum(beliefs[k][1] for k in by_share[MOST_ROWS - 1 :])
    return [*(beliefs[k] for k in kept), (f"{len(beliefs) - len(kept)} others", min(rest, 1.0))]


def percent(p: float) -> str:
    """A probability for people; 0% and 100% are exact.

    >>> percent(0.5), percent(1 / 3), percent(1e-6), percent(0.9999), percent(1.0)
    ('50%', '33.3%', '<0.1%', '>99.9%', '100%')
    """
    if 0 < p < 0.0005:
        return "<0.1%"
    if 0.9995 <= p < 1:
        return ">99.9%"
    return f"{100 * p:.1f}".removesuffix(".0") + "%"
