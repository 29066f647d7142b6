"""Every structure score, in one record each: what it is called, what it asks for, where it is.

Learners, messages, the command line and the tests read these records, and there is no other list of
scores. Nothing heavy is imported: the help of the command line reads them too.

A new score is a module with an object (`jensen.scores.by_name.Score`) and its record here; one that
is a likelihood less a penalty of its parameters is a record alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from jensen.support.text import either

Kind = Literal["categorical", "continuous"]
Spread = Literal["everywhere", "where counted", "one each"]


@dataclass(frozen=True)
class ScoreSpec:
    """A score by its name.

    Parameters
    ----------
    states, numbers
        "module:object" within `jensen.scores`, of categorical and of continuous columns; none: it
        has no meaning there. An object with an equivalent sample size is a function of it.
    penalty
        Of a likelihood: what one free parameter costs, by the weight of all rows.
    has_sample_size
        Whether it takes an equivalent sample size.
    kernel
        What `jensen.kernels.local_terms` calls it, if complete rows can be scored there.
    has_sums
        Whether `jensen.scores.counted_families` knows it, and all families are scored at once.
    is_set_function
        Whether a term is L(parents + variable) - L(parents) on complete rows without interventions,
        so that equivalent graphs score the same.
    allows_missing
        Whether available cases have a meaning.
    needs_prior_network
        Whether a network has to say how the equivalent sample is spread.
    has_joint_prior
        Whether it has a normal-Wishart prior of all columns, with its parts to be chosen.
    why_integers
        Why row weights must be whole numbers; empty where they need not.
    prior
        Over which cells its Dirichlet prior is spread, if tables can be learned with it (`prior=`).
    """

    name: str
    states: str = ""
    numbers: str = ""
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
        return bool(self.states if kind == "categorical" else self.numbers)

    def load(self, kind: Kind) -> Any:
        """Its object for columns of a kind; a penalised likelihood is made with its penalty."""
        module, name = (self.states if kind == "categorical" else self.numbers).split(":")
        found = getattr(import_module(f"jensen.scores.{module}"), name)
        return found if self.penalty is None else found(self.penalty)

    def kernel_kind(self, n_rows: float, sample_size: float) -> tuple[int, float] | None:
        """Which compiled score it is, and its amount; None: it is not compiled."""
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
        states="likelihood:PenalisedLikelihood",
        numbers="gaussian:PenalisedGaussian",
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
            "bdeu", "dirichlet:bdeu", has_sample_size=True, kernel="BDEU", has_sums=True,
            prior="everywhere",
        ),
        ScoreSpec(
            "bds", "dirichlet:bds", has_sample_size=True, kernel="BDS", has_sums=True,
            is_set_function=False, prior="where counted",
        ),
        ScoreSpec(
            "k2", "dirichlet:k2", kernel="K2", has_sums=True, is_set_function=False,
            prior="one each",
        ),
        ScoreSpec(
            "fnml", "fnml:fnml", has_sums=True, is_set_function=False,
            why_integers="sums over data sets of a size",
        ),
        ScoreSpec("bde", "bde:bde", has_sample_size=True, needs_prior_network=True),
        ScoreSpec("bge", numbers="gaussian:BGe", has_joint_prior=True),
    )
}  # fmt: skip
"""By name, in the order in which they are listed to people."""

DEFAULTS: dict[Kind, str] = {"categorical": "bdeu", "continuous": "bge"}
"""The score of columns of a kind where none is chosen; of states also the prior of tables."""


def names_of(kind: Kind) -> tuple[str, ...]:
    """The scores of columns of a kind."""
    return names_where(lambda spec: spec.has(kind))


def names_where(holds: Callable[[ScoreSpec], object]) -> tuple[str, ...]:
    """The scores of whose records something holds."""
    return tuple(name for name, spec in SPECS.items() if holds(spec))


def penalty_of(name: str) -> Callable[[float], float]:
    """What one free parameter costs, by the weight of all rows, in a penalised likelihood."""
    found = SPECS[name].penalty
    assert found is not None, f"{name} is no penalised likelihood"
    return found


SAMPLE_SIZED = names_where(lambda spec: spec.has_sample_size)
UNPENALISED = "loglik"
PENALISED = names_where(lambda spec: spec.penalty is not None)[::-1]
"""Likelihoods, from the most cautious on."""

AVAILABLE = names_where(lambda spec: spec.allows_missing)[::-1]
PRIORS = names_where(lambda spec: spec.prior is not None)
"""Names that are also priors of tables."""

SPREAD_PRIORS = names_where(lambda spec: spec.prior is not None and spec.has_sample_size)
"""Those that spread an equivalent sample."""

WITH_NETWORK = names_where(lambda spec: spec.needs_prior_network)
WITH_JOINT_PRIOR = names_where(lambda spec: spec.has_joint_prior)

TOLD = (
    f"{either(names_of('categorical'))}; of columns of numbers {either(names_of('continuous'))}; "
    f"{either(DEFAULTS.values())} unless given."
)
"""For the help of the command line."""
