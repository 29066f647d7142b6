"""All structure scores, a record for each: its name, what it needs, where its formula is.

Learners, messages, the command line and the tests read these records; there is no other list of
scores. Nothing heavy is imported, because the help of the command line reads them too.

A new score is an object that implements `jensen.scores.registry.Score`, and its record here; a
likelihood less a penalty for its parameters is a record alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

from jensen.exceptions import DataError, JensenError
from jensen.support.arguments import check_sample_size
from jensen.support.text import bare, called_here, either, for_reader, keyword

if TYPE_CHECKING:
    from jensen.data.statistics import CountStatistics, FamilyCounts
    from jensen.data.variable import Variable

Kind = Literal["categorical", "continuous", "mixed"]
"""Of all columns of a table: labels, numbers, or both together."""

Spread = Literal["everywhere", "where counted", "one each"]


@dataclass(frozen=True)
class ScoreSpec:
    """A score by its name.

    Parameters
    ----------
    states, numbers
        "module:object" within `jensen.scores`, for categorical and for continuous columns; empty if
        the score is not defined there. With an equivalent sample size it is a function of that.
    parts
        Of labels and numbers together: the names of the scores of the labels and of the numbers.
    penalty
        For a likelihood: the cost of one free parameter, as a function of the weight of all rows.
    has_sample_size
        Whether it takes an equivalent sample size.
    kernel
        Its name in `jensen.kernels.local_terms`, if a kernel scores complete rows by it.
    has_sums
        Whether `jensen.scores.categorical_scorer.AllFamilies` can score all families at once by it.
    is_set_function
        Whether a term is L(parents + variable) - L(parents) on complete rows without interventions,
        so that equivalent graphs score the same.
    allows_missing
        Whether it is defined for the available cases of incomplete rows.
    needs_prior_network
        Whether a prior network says how the equivalent sample is spread.
    has_joint_prior
        Whether it has a normal-Wishart prior of all columns, whose parts can be chosen.
    why_integers
        Why row weights must be whole numbers; empty where they need not.
    prior
        Over which cells its Dirichlet prior is spread, if it is also a `prior=` of tables.
    """

    name: str
    states: str = ""
    numbers: str = ""
    parts: tuple[str, str] | None = None
    penalty: Callable[[float], float] | None = None
    has_sample_size: bool = False
    kernel: str = ""
    has_sums: bool = False
    is_set_function: bool = True
    allows_missing: bool = False
    needs_prior_network: bool = False
    has_joint_prior: bool = False
    why_integers: str = ""
    prior: Spread | None = None

    @property
    def needs_integer_weights(self) -> bool:
        """Whether rows must count a whole number of times."""
        return bool(self.why_integers)

    def has(self, kind: Kind) -> bool:
        """Whether it scores columns of a kind."""
        if kind == "mixed":
            return self.parts is not None
        return bool(self.states if kind == "categorical" else self.numbers)

    def load(self, kind: Kind) -> Any:
        """Import its formula for columns of a kind; a penalised likelihood gets its penalty."""
        module, name = (self.states if kind == "categorical" else self.numbers).split(":")
        found = getattr(import_module(f"jensen.scores.{module}"), name)
        return found if self.penalty is None else found(self.penalty)

    def kernel_kind(self, n_rows: float, sample_size: float) -> tuple[int, float] | None:
        """The number of its kernel and the parameter of that; None if no kernel scores it."""
        if not self.kernel:
            return None
        kind: int = getattr(import_module("jensen.kernels.local_terms"), self.kernel)
        if self.penalty is not None:
            return kind, self.penalty(n_rows)
        return kind, sample_size if self.has_sample_size else 0.0


def _likelihood(
    name: str, penalty: Callable[[float], float], *, has_sums: bool = False
) -> ScoreSpec:
    """The maximised log-likelihood, less a penalty for every free parameter."""
    return ScoreSpec(
        name,
        states="categorical:PenalisedLikelihood",
        numbers="gaussian:PenalisedGaussian",
        parts=(name, name),
        penalty=penalty,
        kernel="LIKELIHOOD",
        has_sums=has_sums,
        allows_missing=True,
    )


SPECS = {
    spec.name: spec
    for spec in (
        _likelihood("loglik", lambda n: 0.0, has_sums=True),
        _likelihood("aic", lambda n: 1.0, has_sums=True),
        _likelihood("bic", lambda n: 0.5 * math.log(n) if n > 0 else 0.0, has_sums=True),
        ScoreSpec(
            "bdeu", "categorical:bdeu", has_sample_size=True, kernel="BDEU", has_sums=True,
            prior="everywhere",
        ),
        ScoreSpec(
            "bds", "categorical:bds", has_sample_size=True, kernel="BDS", has_sums=True,
            is_set_function=False, prior="where counted",
        ),
        ScoreSpec(
            "k2", "categorical:k2", kernel="K2", has_sums=True, is_set_function=False,
            prior="one each",
        ),
        ScoreSpec(
            "fnml", "categorical:fnml", has_sums=True, is_set_function=False,
            why_integers="sums over data sets of a size",
        ),
        ScoreSpec("bde", "categorical:bde", has_sample_size=True, needs_prior_network=True),
        ScoreSpec("bge", numbers="gaussian:BGe", has_joint_prior=True),
        ScoreSpec(
            "bdeu-bge", parts=("bdeu", "bge"), has_sample_size=True, has_joint_prior=True,
        ),
    )
}  # fmt: skip
"""All scores by name, in the order in which messages list them; likelihoods by their penalty."""

DEFAULTS: dict[Kind, str] = {"categorical": "bdeu", "continuous": "bge", "mixed": "bdeu-bge"}
"""The default score by kind of columns; the categorical one is also the prior of tables."""


def names_of(kind: Kind) -> tuple[str, ...]:
    """Names of the scores of columns of a kind."""
    return names_where(lambda spec: spec.has(kind))


def names_where(holds: Callable[[ScoreSpec], object]) -> tuple[str, ...]:
    """Names of the scores whose records satisfy a condition."""
    return tuple(name for name, spec in SPECS.items() if holds(spec))


def penalty_of(name: str) -> Callable[[float], float]:
    """The cost of one free parameter of a penalised likelihood, by the weight of all rows."""
    found = SPECS[name].penalty
    assert found is not None, f"{name} is no penalised likelihood"
    return found


def check_gaussian_score(score: str) -> None:
    """Refuse the name of a score that continuous columns do not have."""
    names = sorted(names_of("continuous"), key=lambda name: name != DEFAULTS["continuous"])
    if score not in names:
        raise JensenError(
            f"there is no score {score!r} of continuous columns: choose one of "
            f"{', '.join(names)}, or make states of the columns with jn.discretize"
            f"{'' if score in SPECS else called_here(score, names)}"
        )


def check_mixed_score(score: str, label: str, number: str) -> None:
    """Refuse the name of a score that labels and numbers together do not have."""
    names = sorted(names_of("mixed"), key=lambda name: name != DEFAULTS["mixed"])
    if score not in names:
        raise DataError(
            f"there is no score {score!r} of labels and numbers together, and {label!r} is "
            f"categorical and {number!r} holds numbers: choose one of {', '.join(names)}, make "
            f"states of the numbers with jn.discretize, or leave out the columns of one kind"
            f"{'' if score in SPECS else called_here(score, names)}"
        )


SAMPLE_SIZED = names_where(lambda spec: spec.has_sample_size)
UNPENALISED = "loglik"
PENALISED = names_where(lambda spec: spec.penalty is not None)[::-1]
"""Likelihoods, the largest penalty first."""

AVAILABLE = names_where(lambda spec: spec.allows_missing)[::-1]
PRIORS = names_where(lambda spec: spec.prior is not None)
"""Scores whose Dirichlet prior is also a `prior=` of tables."""

SPREAD_PRIORS = names_where(lambda spec: spec.prior is not None and spec.has_sample_size)
"""Those priors that spread an equivalent sample."""

WITH_NETWORK = names_where(lambda spec: spec.needs_prior_network)
WITH_JOINT_PRIOR = names_where(lambda spec: spec.has_joint_prior)
NUMBER_PRIORS = names_where(lambda spec: spec.has_joint_prior and spec.has("continuous"))
"""Scores of columns of numbers whose prior is also a `prior=` of networks of these."""

TOLD = (
    f"{either(names_of('categorical'))}; of columns of numbers {either(names_of('continuous'))}; "
    f"of both together {either(names_of('mixed'))}; {either(DEFAULTS.values())} unless given."
)
"""For the help of the command line."""


# --- scores with the choices that they take, checked ---


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

    def make(size: float) -> Score:
        found = spec.load("categorical")
        made: Score = found(size) if spec.has_sample_size else found
        return made

    return make


SCORES: Mapping[str, Callable[[float], Score]] = _makers()


@cache
def available_case() -> Mapping[str, Score]:
    """Scores of the rows in which a family is known.

    Every family has its own rows then, so a term is no difference of one set function.
    """
    names = names_where(lambda spec: spec.allows_missing)
    return {n: replace(SPECS[n].load("categorical"), is_set_function=False) for n in names}


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
        if name not in available_case():
            raise JensenError(
                f"{IN_AVAILABLE_CASES} has a meaning for {either(available_case(), 'and')} only, "
                f"not {name}"
            )
        return available_case()[name]
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


PARTS = ("prior_mean", "mean_strength", "degrees_of_freedom", "scale")
"""Of the prior of continuous columns."""

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
WITH_AVAILABLE_CASES = for_reader(
    "use 'bic' with missing='available-case'", "use --score bic with --available-case"
)


def check_integer_counts(statistics: CountStatistics, name: str) -> None:
    """Refuse counts that are not whole numbers, for a score that needs these."""
    why = SPECS[name].why_integers
    if why and not statistics.is_whole:
        raise DataError(f"{name} {why}, so row weights must be integers")


def kind_of_columns(variables: Sequence[Variable]) -> Kind:
    """Of all variables: labels, numbers (whole ones too), or both together."""
    are_labels = {variable.kind == "categorical" for variable in variables}
    if len(are_labels) > 1:
        return "mixed"
    return "categorical" if True in are_labels else "continuous"
