"""Methods of learning a graph, and which choices each of them has."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from jensen.exceptions import JensenError

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
"""The methods that have a choice; all have the others."""


def check_choices(method: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """The choices that are given, refused if the method does not have one of them."""
    if method not in METHODS:
        raise JensenError(f"there is no method {method!r}: choose one of {', '.join(METHODS)}")
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if method not in HAVE.get(name, METHODS):
            raise JensenError(
                f"{name}= has no meaning for method={method!r}: only for {', '.join(HAVE[name])}"
            )
    return chosen
