"""Methods of learning a graph by name, and the choices that each of them has.

The command line reads these tables for its help, so this module imports nothing heavy.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from jensen.exceptions import JensenError
from jensen.support.peer_words import called_here
from jensen.support.text import bare, either, keyword, option

Method = Literal["hill-climb", "tabu", "exact", "ges", "pc", "mmhc"]

METHODS: tuple[str, ...] = get_args(Method)

MissingValues = Literal["structural-em", "refuse", "available-case", "node-average"]
"""What a learner of graphs does with missing values."""

WAYS: tuple[str, ...] = get_args(MissingValues)

Completion = Literal["exact", "map", "draw", "mode"]
"""How structural EM completes rows for its searches."""

COMPLETIONS: tuple[str, ...] = get_args(Completion)

SCORED = tuple(method for method in METHODS if method != "pc")

CLIMBING = ("hill-climb", "tabu")

TESTED = ("pc", "mmhc")

HAVE: Mapping[str, tuple[str, ...]] = {
    "score": SCORED,
    "equivalent_sample_size": SCORED,
    "prior_network": SCORED,
    "prior": SCORED,
    "missing": (*CLIMBING, "exact", "ges"),
    "hidden": (*CLIMBING, "exact", "ges"),
    "completion": (*CLIMBING, "exact", "ges"),
    "missing_indicators": (*CLIMBING, "exact", "ges"),
    "checkpoint": (*CLIMBING, "exact", "ges"),
    "interventions": (*CLIMBING, "exact"),
    "scores": (*CLIMBING, "exact"),
    "max_parents": SCORED,
    "start": (*CLIMBING, "ges"),
    "restarts": CLIMBING,
    "tabu_length": ("tabu",),
    "time_limit": ("exact",),
    "test": TESTED,
    "alpha": TESTED,
    "max_given": TESTED,
    "permutations": TESTED,
    "correction": ("pc",),
}
"""The methods to which a choice applies; choices that are not listed apply to all."""


def check_choices(method: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """The choices that are not None; an error if one of them does not apply to the method."""
    if method not in METHODS:
        raise JensenError(
            f"there is no method {method!r}: choose one of {', '.join(METHODS)}"
            f"{called_here(method, METHODS)}"
        )
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if method not in HAVE.get(name, METHODS):
            raise JensenError(
                f"{keyword(name)} has no meaning for {option('method', method)}: only for "
                f"{', '.join(HAVE[name])}"
            )
    return chosen


def check_missing(missing: object, given: Mapping[str, Any], *, has_table: bool = True) -> None:
    """Refuse a way with missing values that there is not, and what only structural EM has."""
    _check_word("missing", missing, WAYS)
    if given.get("completion") is not None:
        _check_word("completion", given["completion"], COMPLETIONS)
    for name in [name for name, value in given.items() if value]:
        if not has_table:
            raise JensenError(f"{keyword(name)} belongs to a table: scores= says it all")
        if missing != "structural-em":
            raise JensenError(
                f"{keyword(name)} has no meaning with {option('missing', missing)}: only with "
                f"{option('missing', 'structural-em')}"
            )


def _check_word(name: str, word: object, words: tuple[str, ...]) -> None:
    if not (isinstance(word, str) and word in words):
        raise JensenError(f"{bare(name)} must be {either(map(repr, words))}, not {word!r:.80}")
