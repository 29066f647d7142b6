"""The content of a node's box: its name, and the probabilities of its states as rows of bars.

The belief about a number is a small curve of its density.

Text is measured here, because a box is made as wide as its text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from jensen.exceptions import JensenError
from jensen.inference.count_distribution import CountDistribution
from jensen.inference.number_mixture import MixtureDistribution, NumberAnswer, NumberMoments
from jensen.plots.geometry import Size
from jensen.plots.markup import show_number

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
CURVE = 34.0  # the height of a density
WIDEST = 0.998  # the probability between the ends of a density
N_POINTS = 61

Beliefs: TypeAlias = (
    "Mapping[str, float] | Distribution | Sequence[tuple[str, float]] | NumberAnswer | float"
)
"""Probabilities by state: a mapping, the answer of a query, or pairs. Of a number the answer of a
query, or its value."""


class StateBar(NamedTuple):
    """One state: its label as shown, its probability, and that probability as text."""

    label: str
    share: float
    text: str


class Curve(NamedTuple):
    """The density of a number: heights between 0 and 1, from left to right; and a text under it."""

    heights: list[float]  # none of a number that is known
    text: str


class Card(NamedTuple):
    """The content of a box, and the size that it needs."""

    lines: list[str]
    rows: list[StateBar]
    label_width: float
    number_width: float
    size: Size
    curve: Curve | None = None
    note: str = ""  # small, under the name

    @property
    def rows_top(self) -> float:
        """Distance from the top of the box to the first bar."""
        return EDGE + LINE * len(self.lines) + 3.0 + (ROW if self.note else 0.0)


def make_card(
    name: str,
    beliefs: Sequence[tuple[str, float]],
    least: float = 36.0,
    curve: Curve | None = None,
    note: str = "",
) -> Card:
    """Lay out a name, a note and beliefs in a box that is at least `least` wide.

    >>> make_card("Rain", []).size
    (48.0, 30.0)
    """
    lines = wrap(name, MOST_NAME, SIZE, MOST_LINES)
    rows = [StateBar(elide(k, MOST_LABEL, SMALL), p, percent(p)) for k, p in shorten(beliefs)]
    label_width = max((text_width(row.label, SMALL) for row in rows), default=0.0)
    number_width = max((text_width(row.text, SMALL) for row in rows), default=0.0)
    inner = max(*(text_width(line, SIZE) for line in lines), text_width(note, SMALL))
    height = 2 * EDGE + LINE * len(lines) + (ROW if note else 0.0)
    if rows:
        inner = max(inner, label_width + BAR + number_width + 2 * BETWEEN)
        height += ROW * len(rows) + 3.0
    if curve is not None:
        inner = max(inner, text_width(curve.text, SMALL), BAR if curve.heights else 0.0)
        height += ROW + 3.0 + (CURVE if curve.heights else 0.0)
    width = max(2.0 * SIDE + inner, least)
    size = 2.0 * math.ceil(width / 2), height
    return Card(lines, rows, label_width, number_width, size, curve, note)


def make_curve(beliefs: Beliefs) -> Curve | None:
    """The density of a belief about a number; None of any other."""
    if isinstance(beliefs, int | float):
        return Curve([], show_number(float(beliefs)))
    if isinstance(beliefs, NumberMoments):
        return Curve([], _moments(beliefs))
    if not isinstance(beliefs, MixtureDistribution | CountDistribution):
        return None
    low, high = beliefs.interval(WIDEST)
    edges = low + (high - low) * np.linspace(0.0, 1.0, N_POINTS + 1)
    if isinstance(beliefs, CountDistribution):  # a bar for each count, while there is room
        n = int(high - low) + 2
        edges = low - 1 + n * np.linspace(0.0, 1.0, min(n, N_POINTS) + 1)
    shares = np.diff(beliefs.cdf(edges))  # no peak is too narrow to be seen
    return Curve((shares / shares.max()).tolist(), _moments(beliefs))


def _moments(beliefs: NumberAnswer) -> str:
    return f"{show_number(beliefs.mean)} ± {show_number(beliefs.standard_deviation)}"


def check_beliefs(name: str, beliefs: Beliefs) -> list[tuple[str, float]]:
    """Pairs of label and probability, none of a number; anything else is refused."""
    if isinstance(beliefs, int | float | NumberAnswer):
        return []
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
    """All states; of many, the most probable ones in their order and the sum of the rest."""
    if len(beliefs) <= MOST_ROWS:
        return list(beliefs)
    by_share = sorted(range(len(beliefs)), key=lambda k: -beliefs[k][1])
    kept = sorted(by_share[: MOST_ROWS - 1])
    rest = sum(beliefs[k][1] for k in by_share[MOST_ROWS - 1 :])
    return [*(beliefs[k] for k in kept), (f"{len(beliefs) - len(kept)} others", min(rest, 1.0))]


def percent(p: float) -> str:
    """A probability as a percentage; only exact 0 and 1 are shown as 0% and 100%.

    >>> percent(0.5), percent(1 / 3), percent(1e-6), percent(0.9999), percent(1.0)
    ('50%', '33.3%', '<0.1%', '>99.9%', '100%')
    """
    if 0 < p < 0.0005:
        return "<0.1%"
    if 0.9995 <= p < 1:
        return ">99.9%"
    return f"{100 * p:.1f}".removesuffix(".0") + "%"


# --- width of text ---

# Hundredths of the font size: the wider of DejaVu Sans (like Verdana) and Liberation Sans (like
# Arial and Helvetica), so that a text fits in whichever font the reader has.
_GROUPS = {
    28: "'ijl",
    30: "I",
    32: " ,.",
    34: "/:;\\|",
    36: "f",
    37: "-",
    41: "()[]t!",
    42: "r",
    46: '"',
    50: "*J`",
    53: "sz",
    56: "c?L_",
    58: "k",
    60: "vxy",
    62: "FTaeo",
    64: "$0123456789bdghnpqu{}",
    67: "EKPSY",
    69: "ABVXZ",
    74: "CRU",
    76: "NH",
    79: "&DGOQ",
    84: "w#+<=>^~",
    87: "M",
    99: "%mW",
    102: "@",
}
_WIDTHS = {character: width for width, group in _GROUPS.items() for character in group}

_BREAKS = re.compile(r"(?<=[\s_\-./:,;|])|(?<=[a-z])(?=[A-Z])")
"""Where a name may be broken: after a space or a sign, and before a Capital in camelCase."""


def text_width(text: str, size: float) -> float:
    """An upper bound of the width of a text in common sans-serif fonts of this size.

    >>> text_width("Rain", 10.0)
    22.8
    """
    return sum(map(_character_width, text)) * size / 100


@lru_cache(maxsize=4096)
def _character_width(character: str) -> int:
    """The width in hundredths of the font size; an accent may make a letter a little wider."""
    base = unicodedata.normalize("NFD", character)[0]
    if base in _WIDTHS:
        return _WIDTHS[base] + (0 if base == character else 10)
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 140 if unicodedata.category(character) == "So" else 105  # emoji, ideographs
    if ord(character) < 0x530:
        return 110 if character.isupper() else 103  # Latin, Greek, Cyrillic
    return 125


def elide(text: str, width: float, size: float) -> str:
    """The text, cut and ended by an ellipsis where it is too wide.

    >>> elide("temperature", 40.0, 10.0)
    'temp…'
    """
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def wrap(text: str, width: float, size: float, most: int) -> list[str]:
    """Break a text into at most `most` lines that fit, between words where that is possible.

    >>> wrap("LeftVentricularFailure", 60.0, 10.0, most=3)
    ['Left', 'Ventricular', 'Failure']
    """
    lines = [line for part in text.splitlines() or [""] for line in _fill(part, width, size)]
    if len(lines) > most:
        rest = "".join(lines[most - 1 :])
        lines = [*lines[: most - 1], elide(rest, width, size)]
    return [line.strip() for line in lines]


def _fill(text: str, width: float, size: float) -> list[str]:
    """Fill lines with words, one after the other; a word that is too long is cut."""
    lines = [""]
    for word in _BREAKS.split(text):
        if lines[-1] and text_width((lines[-1] + word).rstrip(), size) > width:
            lines.append("")
        for character in word:
            if lines[-1] and text_width(lines[-1] + character, size) > width:
                lines.append("")
            lines[-1] += character
    return lines
