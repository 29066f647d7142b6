"""What `jensen learn` does with missing values where it learns a graph, by --missing."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.exceptions import JensenError
from jensen.q_graph.method_choices import HAVE, WAYS
from jensen.scores.registry import AVAILABLE
from jensen.support.text import either

if TYPE_CHECKING:
    from jensen.data import Table

DEFAULT, *OTHERS = WAYS


def refuse_ways(given: Given) -> None:
    """Refuse --missing with the name of a way where no graph is learned."""
    for word in given.missing:
        if word in WAYS and word != "refuse":  # which may be a label
            raise JensenError(f"--missing {word} belongs to a graph that is learned")


def read_incomplete(given: Given) -> tuple[Table, str]:
    """The table, and the way with missing values; words that are labels of the table are labels."""
    for word in given.missing:
        _refuse_misspelt(word)
    labels = [word for word in given.missing if word not in WAYS]
    ways = [word for word in given.missing if word in WAYS]
    table = inputs.read_table(given, given.states, labels)
    known = {label for variable in table.variables for label in variable.states}
    if known.intersection(ways):
        labels += [word for word in ways if word in known]
        ways = [word for word in ways if word not in known]
        table = inputs.read_table(given, given.states, labels)
    chosen = dict.fromkeys([*ways, *(["available-case"] if given.available_case else [])])
    if len(chosen) > 1:
        one, other = (f"--missing {way}" for way in list(chosen)[:2])
        raise JensenError(f"{one} and {other} do not go together: choose one")
    way = next(iter(chosen), DEFAULT)
    _refuse_foreign(given, way)
    return table, way


def can_learn(way: str, structure: str, table: Table, names: Sequence[str]) -> bool:
    """Whether a graph is learned from rows with missing values in this way."""
    from jensen.q_graph.structural.learning import needs_structural_em
    from jensen.q_graph.trees.incomplete import has_holes

    if way != DEFAULT:
        return way != "refuse"
    if structure == "pc":
        return True  # a test reads the rows that it needs
    rows = table.select(names)
    if structure == "tree":
        return has_holes(rows)
    return structure in HAVE["completion"] and needs_structural_em(rows, {})


def _refuse_misspelt(word: str) -> None:
    """Refuse what was meant for a way; refuse and refused may both be labels."""
    plain = word.lower().replace("_", "-").replace(" ", "-")
    near = get_close_matches(plain, [way for way in WAYS if way != "refuse"], 1, 0.75)
    if near and word not in WAYS:
        raise JensenError(
            f"there is no --missing {word}: choose {either(WAYS)}, or a label that means missing"
        )


def _refuse_foreign(given: Given, way: str) -> None:
    """Refuse a way that the structure does not have, and what only structural EM has."""
    if way == DEFAULT:
        return
    owners = HAVE["missing"]
    if way != "refuse" and given.structure not in owners:
        raise JensenError(
            f"--missing {way} belongs to --structure {either(owners)}, not to --structure "
            f"{given.structure}"
        )
    if way == "available-case" and given.score not in AVAILABLE:
        raise JensenError(f"--missing {way} belongs to --score {either(AVAILABLE)}: add one")
    for name in ("hidden", "completion", "missing_indicators"):
        if name in given.typed:
            flag = given.table[name].flag
            raise JensenError(
                f"{flag} has no meaning with --missing {way}: only with --missing {DEFAULT}"
            )
