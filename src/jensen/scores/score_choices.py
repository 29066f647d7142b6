"""Scores by name, with the choices that they take, checked.

A score of categorical columns is an object that implements `Score`; continuous columns have
`jensen.scores.gaussian`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from jensen.data.statistics import CountStatistics, FamilyCounts
from jensen.exceptions import DataError, JensenError
from jensen.scores.gaussian import PARTS
from jensen.scores.registry import (
    DEFAULTS,
    SAMPLE_SIZED,
    SPECS,
    WITH_NETWORK,
    ScoreSpec,
    names_where,
)
from jensen.support.arguments import check_sample_size
from jensen.support.text import bare, called_here, either, for_reader, keyword


class Score(Protocol):
    """A score of categorical columns: a sum of terms, each a function of the counts of a family."""

    @property
    def is_set_function(self) -> bool:
        """Whether a term is L(parents + variable) - L(parents) for one function L of sets."""

    @property
    def needs_integer_weights(self) -> bool:
        """Whether rows must count a whole number of times."""

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; `n_total` is the weight of all rows."""


@runtime_checkable
class HasPrior(Protocol):
    """A score with a Dirichlet prior."""

    @property
    def concentration(self) -> Callable[[FamilyCounts], Any]:
        """Concentrations of a family: one number for all cells, or an array with one per cell."""


def _makers() -> dict[str, Callable[[float], Score]]:
    """Makers of the categorical scores that need no more than an equivalent sample size."""
    names = names_where(lambda spec: spec.has("categorical") and not spec.needs_prior_network)
    return {name: _maker(SPECS[name]) for name in names}


def _maker(spec: ScoreSpec) -> Callable[[float], Score]:
    """A function of the equivalent sample size, which most scores ignore."""
    found = spec.load("categorical")
    make: Callable[[float], Score] = found if spec.has_sample_size else lambda size: found
    return make


SCORES: Mapping[str, Callable[[float], Score]] = _makers()


AVAILABLE_CASE: Mapping[str, Score] = {
    # Every family has its own rows then, so a term is no difference of one set function.
    name: replace(SPECS[name].load("categorical"), is_set_function=False)
    for name in names_where(lambda spec: spec.allows_missing)
}


Missing = Literal["refuse", "available-case"]
"""What scores of incomplete rows are; `learn_structure` knows further answers."""


def make_score(
    name: str,
    equivalent_sample_size: float | None = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
) -> Score:
    """A categorical score by its name; the equivalent sample size is 1 by default."""
    spec = SPECS.get(name) if isinstance(name, str) else None
    if spec is None:
        raise JensenError(
            f"there is no score {name!r}: choose one of {', '.join(SPECS)}"
            f"{called_here(name, SPECS)}"
        )
    if not spec.has("categorical"):
        what = "continuous columns" if spec.has("continuous") else "labels and numbers together"
        raise JensenError(
            f"{name!r} is a score of {what}: use {DEFAULTS['categorical']!r} for states"
        )
    if spec.needs_prior_network != (prior_network is not None):
        raise JensenError(
            f"the score {either(map(repr, WITH_NETWORK))} and {keyword('prior_network')} "
            f"go together: it spreads the equivalent sample as that network says"
        )
    if missing not in get_args(Missing):
        raise JensenError(f"missing must be 'refuse' or 'available-case', not {missing!r}")
    if missing == "available-case":
        if name not in AVAILABLE_CASE:
            raise JensenError(
                f"{IN_AVAILABLE_CASES} has a meaning for {either(AVAILABLE_CASE, 'and')} only, "
                f"not {name}"
            )
        return AVAILABLE_CASE[name]
    size = 1.0 if equivalent_sample_size is None else equivalent_sample_size
    if equivalent_sample_size is not None and not spec.has_sample_size:
        raise JensenError(
            f"{name} has no {bare('equivalent_sample_size')}: only "
            f"{either(SAMPLE_SIZED, 'and')} have one"
        )
    check_sample_size(size)
    if spec.needs_prior_network:
        with_network: Score = spec.load("categorical")(prior_network, size)
        return with_network
    return SCORES[name](size)


def check_gaussian_choices(choices: Mapping[str, Any]) -> None:
    """Refuse keywords that are no part of the prior of bge."""
    for name in choices:
        if name in OF_NUMBERS:
            continue
        near = get_close_matches(name, [*CHOICES, *OF_NUMBERS], 1)
        if near and near[0] != name:
            raise JensenError(f"there is no choice {name!r}: did you mean {near[0]!r}?")
        raise JensenError(
            f"there is no choice {name!r} here: scores have {', '.join(OF_SCORES)}, and those of "
            f"continuous columns {', '.join(OF_NUMBERS)}"
        )


OF_NUMBERS = (*PARTS, "strength")
"""Choices of the prior of continuous columns; `strength` stands for parts of it."""

OF_SCORES = ("prior", "equivalent_sample_size", "missing", "prior_network", "interventions")


CHOICES = (
    *OF_SCORES, "method", "score",
    "max_parents", "required", "forbidden", "tiers", "start", "restarts", "tabu_length",
    "random_state", "scores", "test", "alpha", "max_given", "permutations", "correction",
    "time_limit", "progress", "hidden", "completion", "missing_indicators", "checkpoint",
    "discretize",
)  # fmt: skip
"""Keywords that may have been meant where one is mistyped: of scores and of structure learning."""


IN_AVAILABLE_CASES = for_reader("missing='available-case'", "--available-case")
AVAILABLE = for_reader(
    "use 'bic' with missing='available-case'", "use --score bic with --available-case"
)


def check_integer_counts(statistics: CountStatistics, name: str) -> None:
    """Refuse counts that are not whole numbers, for a score that needs these."""
    why = SPECS[name].why_integers
    if why and not statistics.is_whole:
        raise DataError(f"{name} {why}, so row weights must be integers")
