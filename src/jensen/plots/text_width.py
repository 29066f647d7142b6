"""How wide a text is in a sans-serif font, and how to break one that is too wide."""

import re
import unicodedata
from functools import lru_cache

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
    """At least as wide as the text is in common sans-serif fonts of this size.

    >>> text_width("Rain", 10.0)
    22.8
    """
    return sum(map(_character_width, text)) * size / 100


@lru_cache(maxsize=4096)
def _character_width(character: str) -> int:
    """Hundredths of the font size; an accent may make a letter a little wider."""
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
    """The text, or as much of it as fits with an ellipsis.

    >>> elide("temperature", 40.0, 10.0)
    'temp…'
    """
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def wrap(text: str, width: float, size: float, most: int) -> list[str]:
    """Lines that fit, at most so many; broken between words where that is possible.

    >>> wrap("LeftVentricularFailure", 60.0, 10.0, most=3)
    ['Left', 'Ventricular', 'Failure']
    """
    lines = [line for part in text.splitlines() or [""] for line in _fill(part, width, size)]
    if len(lines) > most:
        rest = "".join(lines[most - 1 :])
        lines = [*lines[: most - 1], elide(rest, width, size)]
    return [line.strip() for line in lines]


def _fill(text: str, width: float, size: float) -> list[str]:
    """Words in as few lines as they need; a word that is too long is cut."""
    lines = [""]
    for word in _BREAKS.split(text):
        if lines[-1] and text_width((lines[-1] + word).rstrip(), size) > width:
            lines.append("")
        for character in word:
            if lines[-1] and text_width(lines[-1] + character, size) > width:
                lines.append("")
            lines[-1] += character
    return lines
