"""Methods of learning a graph by name, and the choices that each of them has.

The command line reads these tables for its help, so this module imports nothing heavy.
"""

from collections.abc import Mapping
from typing import Literal, get_args

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
