"""Methods of learning a graph by name, and the choices that each of them has.

The command line reads these tables for its help, so this module imports nothing heavy.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from jensen.exceptions import JensenError
from jensen.support.wording import keyword, option

Method = Literal["hill-climb", "tabu", "exact", "ges", "pc", "mmhc"]

METHODS: tuple[str, ...] = get_args(Method)

SCORED = tuple(method for method in METHODS if method != "pc")

CLIMBING = ("hill-climb", "tabu")

TESTED = ("pc", "mmhc")

HAVE: Mapping[str, tuple[str, ...]] = {
    "score": SCORED,
    "equivalent_sample_size": SCORED,
    "prior_network": SCORED,
    "prior": SCORED,
    "missing": (*CLIMBING, "exact"),
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
        raise JensenError(f"there is no method {method!r}: choose one of {', '.join(METHODS)}")
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if method not in HAVE.get(name, METHODS):
            raise JensenError(
                f"{keyword(name)} has no meaning for {option('method', method)}: only for "
                f"{', '.join(HAVE[name])}"
            )
    return chosen
