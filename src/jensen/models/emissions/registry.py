"""Every emission, by the word that people choose it with.

Estimators, files, the command line and the tests read this table, so that a new emission is a
module in this folder, its family, and a row here. The rows are plain words, which cost no import;
what takes numbers is in `record.kind`. Emissions are made here of a summary of their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from jensen.data.number_rows import ColumnSummary, NumberRows
    from jensen.data.variable import Variable
    from jensen.models.emissions.kinds import Chosen, EmissionKind, PriorParts
    from jensen.models.emissions.product import ProductEmission


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
    def kind(self) -> EmissionKind:
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

TREES = EmissionRecord(
    "trees",
    home="trees:TreeKind",
    column="categorical",
    makes="labels",
    parameters=("margins",),
    prior=("equivalent_sample_size", "edges"),
)
"""Trees over columns of labels, which only their own mixtures have."""

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
    known = (*EMISSIONS.values(), TREES)
    return next(record for record in known if record.kind.owns(emission))


# --- emissions, made of columns ---


def summary_for(
    records: Sequence[EmissionRecord],
    rows: NumberRows,
    prior_parts: PriorParts,
    covariance: str,
) -> ColumnSummary:
    """As much of rows as these emissions are made from under a prior in words."""
    from jensen.data.number_rows import ColumnSummary, summarise

    if not any(record.reads_rows for record in records):
        return ColumnSummary.at(np.zeros(rows.n_columns))
    is_asked = prior_parts is not None and prior_parts.get("scale") is None
    is_matrix = covariance in ("full", "tied") and any(record.has_spread for record in records)
    return summarise(rows, covariance=is_asked and is_matrix)


def make_emission(
    record: EmissionRecord,
    n_states: int,
    columns: ColumnSummary,
    prior_parts: PriorParts,
    *,
    covariance: str = "full",
    variables: Sequence[Variable] = (),
) -> Any:
    """The emission of columns that are all of one kind; `variables` are those with labels.

    Columns of labels are emissions by themselves, known by their names where there are several.
    """
    from jensen.models.emissions.kinds import Chosen

    if not record.has_labels:
        return record.kind.make(n_states, columns, prior_parts, Chosen(covariance))
    if len(variables) > 1:
        return make_columns([record] * len(variables), variables, n_states, columns, prior_parts)
    return record.kind.make(n_states, columns, prior_parts, Chosen(labels=variables[0].states))


def make_columns(
    records: Sequence[EmissionRecord],
    variables: Sequence[Variable],
    n_states: int,
    columns: ColumnSummary,
    prior_parts: PriorParts,
) -> ProductEmission:
    """The emission of columns that may be of different kinds, known by their names."""
    from jensen.models.emissions.product import ProductEmission

    parts = tuple(
        record.kind.make(n_states, columns.of([i]), prior_parts, chosen_of(variable))
        for i, (record, variable) in enumerate(zip(records, variables, strict=True))
    )
    places = tuple(np.array([i]) for i in range(len(parts)))
    return ProductEmission(parts, places, tuple(variable.name for variable in variables))


def chosen_of(variable: Variable) -> Chosen:
    """What is known of one column of a table."""
    from jensen.models.emissions.kinds import Chosen

    return Chosen("diagonal", variable.states)
