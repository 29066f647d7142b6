"""Emissions of all the columns of a table or of sequences, from what their rows look like."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.data.variable import Variable
from jensen.models.emissions.columns import ColumnSummary, summarise
from jensen.models.emissions.kinds import Chosen, Words
from jensen.models.emissions.product import Product, parts_of
from jensen.models.emissions.registry import EmissionRecord, record_of

Array = NDArray[np.float64]


def summary_for(
    records: Sequence[EmissionRecord],
    rows: NumberRows,
    words: Words,
    covariance: str,
) -> ColumnSummary:
    """As much of rows as these emissions are made from under a prior in words."""
    if not any(record.reads_rows for record in records):
        return ColumnSummary.at(np.zeros(rows.n_columns))
    is_matrix = covariance in ("full", "tied") and any(record.has_spread for record in records)
    return summarise(rows, covariance=is_matrix and words is not None)


def make_emission(
    record: EmissionRecord,
    n_states: int,
    columns: ColumnSummary,
    words: Words,
    *,
    covariance: str = "full",
    variables: Sequence[Variable] = (),
) -> Any:
    """The emission of columns that are all of one kind; `variables` are those with labels.

    Columns of labels are emissions by themselves, known by their names where there are several.
    """
    if not record.has_labels:
        return record.kind.make(n_states, columns, words, Chosen(covariance))
    if len(variables) > 1:
        return make_columns([record] * len(variables), variables, n_states, columns, words)
    return record.kind.make(n_states, columns, words, Chosen(labels=variables[0].states))


def make_columns(
    records: Sequence[EmissionRecord],
    variables: Sequence[Variable],
    n_states: int,
    columns: ColumnSummary,
    words: Words,
) -> Product:
    """The emission of columns that may be of different kinds, known by their names."""
    parts = tuple(
        record.kind.make(n_states, columns.of([i]), words, chosen_of(variable))
        for i, (record, variable) in enumerate(zip(records, variables, strict=True))
    )
    places = tuple(np.array([i]) for i in range(len(parts)))
    return Product(parts, places, tuple(variable.name for variable in variables))


def chosen_of(variable: Variable) -> Chosen:
    """What is known of one column of a table."""
    return Chosen("diagonal", variable.states)


def completed(named: Mapping[str, Any], emission: Any, rows: NumberRows) -> Mapping[str, Any]:
    """Parameters with those of the rows as a whole, where less than all of a state is given.

    So means may be given without covariances; what a state makes is never left out.
    """
    if isinstance(emission, Product):
        return dict(named) | {
            name: completed(named[name], part, rows.columns(columns))
            for part, columns, name in parts_of(emission)
            if isinstance(named.get(name), Mapping)
        }
    first, *others = record_of(emission).parameters
    if first not in named or named.keys() >= {*others}:
        return named
    wide = emission.show(emission.family.mode_stats(emission.survey(rows.values()).wide))
    return {**{name: wide[name] for name in others}, **named}
