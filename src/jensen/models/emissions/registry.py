"""Every emission, by the word that people choose it with.

Estimators, files, the command line and the tests read this table, so that a new emission is a
module in this folder, its family, and a row here. The rows are plain words, which cost no import;
what takes numbers is in `record.kind`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from jensen.models.emissions.kinds import EmissionKind


@dataclass(frozen=True)
class EmissionRecord:
    """An emission in words."""

    word: str
    home: str  # "module:class" in this folder: its `EmissionKind`
    column: Literal["categorical", "continuous", "count", "binary"]  # what files call its columns
    makes: str  # what a state makes of a column, for people
    parameters: tuple[str, ...]  # as `show` and `start=` name them, the expected row first
    prior: tuple[str, ...]  # the parts of its prior
    from_rows: tuple[str, ...] = ()  # those that come from the rows by default
    held: tuple[str, ...] = ()  # parameters that can be held without the others
    options: tuple[str, ...] = ()  # choices of a hidden Markov model that belong to it
    is_positive: bool = False  # whether values below 0 are refused
    is_shifted: bool = False  # whether rows are kept relative to a mean, which files hold

    @property
    def has_labels(self) -> bool:
        """Whether columns are labels: each has its own, and is an emission by itself."""
        return self.column == "categorical"

    @property
    def has_spread(self) -> bool:
        """Whether states have a variance, which a row alone does not tell."""
        return "covariances" in self.parameters

    @property
    def reads_rows(self) -> bool:
        """Whether it is made from what the rows look like as a whole."""
        return self.is_shifted or bool(self.from_rows)

    @cached_property
    def kind(self) -> "EmissionKind":
        """What it takes to make, check and tell it."""
        module, _, name = self.home.partition(":")
        found: EmissionKind = getattr(import_module(f"{__package__}.{module}"), name)()
        return found


EMISSIONS = {
    record.word: record
    for record in (
        EmissionRecord(
            "categorical",
            home="discrete:Categorical",
            column="categorical",
            makes="labels",
            parameters=("emission",),
            prior=("emission",),
            options=("symbols", "masks"),
        ),
        EmissionRecord(
            "gaussian",
            home="gaussian:GaussianKind",
            column="continuous",
            makes="real numbers",
            parameters=("means", "covariances"),
            prior=("mean", "mean_strength", "degrees_of_freedom", "scale"),
            from_rows=("mean", "scale"),
            held=("means", "covariances"),
            options=("covariance",),
            is_shifted=True,
        ),
        EmissionRecord(
            "poisson",
            home="poisson:PoissonKind",
            column="count",
            makes="counts",
            parameters=("emission",),
            prior=("shape", "rate"),
            from_rows=("rate",),
            is_positive=True,
        ),
        EmissionRecord(
            "bernoulli",
            home="discrete:Bernoulli",
            column="binary",
            makes="0 and 1",
            parameters=("emission",),
            prior=("emission",),
            options=("masks",),
            is_positive=True,
        ),
    )
}

USUAL: dict[str, EmissionRecord] = {
    record.column: record for record in reversed(EMISSIONS.values())
}
"""What is taken for columns of a kind, where nobody says more: the first that makes such."""


def owner_of(option: str) -> EmissionRecord:
    """The first emission that an option belongs to."""
    return next(record for record in EMISSIONS.values() if option in record.options)


def prior_names_of_columns(kinds: Iterable[str]) -> tuple[str, ...]:
    """The parts of the prior of columns of these kinds."""
    return tuple(name for kind in kinds for name in USUAL[kind].prior)


def named_parameters(fitted: Any) -> dict[str, Any]:
    """The parameters of the states of a fitted estimator by name, as `start=` takes them."""
    found: dict[str, Any] = {}
    for record in EMISSIONS.values():
        own = {name: getattr(fitted, f"{name}_", None) for name in record.parameters}
        if len(own) > len(found) and all(value is not None for value in own.values()):
            found = own
    return found


def record_of(emission: Any) -> EmissionRecord:
    """The row of an emission that was made."""
    return next(record for record in EMISSIONS.values() if record.kind.owns(emission))
