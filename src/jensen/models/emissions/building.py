"""Make the emission of some columns from a summary of their rows, and derive others from it.

Derived emissions have fewer states, a part held at known values, or masks; `draw_predictive` draws
rows from the predictive distributions of the states.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.data.variable import Variable
from jensen.families.normal_wishart import NormalWishart
from jensen.models.emissions.column_summary import ColumnSummary, summarise
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.gaussian_states import GaussianStates
from jensen.models.emissions.kinds import Chosen, PriorParts
from jensen.models.emissions.product import ProductEmission, parts_of
from jensen.models.emissions.registry import EmissionRecord, record_of
from jensen.models.emissions.state_parameters import select_states

Array = NDArray[np.float64]


def summary_for(
    records: Sequence[EmissionRecord],
    rows: NumberRows,
    prior_parts: PriorParts,
    covariance: str,
) -> ColumnSummary:
    """As much of rows as these emissions are made from under a prior in words."""
    if not any(record.reads_rows for record in records):
        return ColumnSummary.at(np.zeros(rows.n_columns))
    is_matrix = covariance in ("full", "tied") and any(record.has_spread for record in records)
    return summarise(rows, covariance=is_matrix and prior_parts is not None)


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
    parts = tuple(
        record.kind.make(n_states, columns.of([i]), prior_parts, chosen_of(variable))
        for i, (record, variable) in enumerate(zip(records, variables, strict=True))
    )
    places = tuple(np.array([i]) for i in range(len(parts)))
    return ProductEmission(parts, places, tuple(variable.name for variable in variables))


def chosen_of(variable: Variable) -> Chosen:
    """What is known of one column of a table."""
    return Chosen("diagonal", variable.states)


def completed(named: Mapping[str, Any], emission: Any, rows: NumberRows) -> Mapping[str, Any]:
    """Parameters with those of the rows as a whole, where less than all of a state is given.

    So means may be given without covariances; what a state makes is never left out.
    """
    if isinstance(emission, ProductEmission):
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


States = NDArray[np.intp]
Mask = NDArray[np.bool_]

PARTS = ("means", "covariances")
"""What can be held of Gaussian states, one without the other."""


def hold_parts(
    emission: Any, eta: Any, names: tuple[str, ...], whole: str
) -> tuple[Any, tuple[str, ...]]:
    """An emission with a part of it held at the mode of η, and the names that are no parts of it.

    Both parts together are the `whole` emission, which the model holds.
    """
    parts = [name for name in PARTS if name in names]
    others = tuple(name for name in names if name not in PARTS)
    if whole in others or not parts:
        return emission, others
    if len(parts) == len(PARTS):
        return emission, (*others, whole)
    assert isinstance(emission, GaussianStates)
    return emission.hold(eta, parts[0]), others


def fewer_states(emission: Any, states: States) -> Any:
    """An emission of these states only, in this order; its prior stays as it was."""
    if isinstance(emission, ProductEmission):
        parts = tuple(fewer_states(part, states) for part in emission.parts)
        return replace(emission, parts=parts)
    if isinstance(emission, GaussianStates):
        return emission.fewer(states)
    if isinstance(emission, Discrete) and emission.mask is not None:
        emission = replace(emission, mask=emission.mask[states])
    return replace(emission, n_states=len(states))


def kept_states(emission: Any, eta: Any, states: States) -> Any:
    """η of these states for good: what the others say of a shared precision stays in it."""
    if isinstance(emission, Gaussian):
        return emission.keep(eta, states)
    return select_states(eta, states)


def labels_of(emission: Any) -> list[Discrete]:
    """The parts of an emission if all of them make labels, else none."""
    parts = [part.emission for part in parts_of(emission)]
    labels = [part for part in parts if isinstance(part, Discrete)]
    return labels if len(labels) == len(parts) else []


def with_masks(emission: Any, masks: Sequence[Mask | None]) -> Any:
    """An emission of labels whose parts may make what their masks (K, columns, labels) allow."""
    pairs = zip(labels_of(emission), masks, strict=True)
    parts = tuple(part if mask is None else part.masked(mask) for part, mask in pairs)
    return replace(emission, parts=parts) if isinstance(emission, ProductEmission) else parts[0]


BLOCK = 1 << 20
"""Numbers of parameters that are drawn at once."""


def draw_predictive(
    emission: Any, eta: Any, states: NDArray[np.intp], rng: np.random.Generator
) -> Array:
    """Rows of these states; the parameters of each are drawn from the posterior η."""
    if isinstance(emission, ProductEmission):
        values = np.empty((len(states), sum(map(len, emission.columns))))
        for part, own, columns in zip(emission.parts, eta, emission.columns, strict=True):
            values[:, columns] = draw_predictive(part, own, states, rng)
        return values
    if isinstance(emission, Discrete):  # the mean is the predictive distribution
        return emission.simulate(emission.point(eta), states, rng)
    if isinstance(emission, Gaussian) and emission.is_tied:
        emission, eta = _untied(emission, eta)
    size = max(1, BLOCK * emission.n_states // _width(eta))
    blocks = [states[a : a + size] for a in range(0, len(states), size)]
    return np.concatenate([_draw_block(emission, eta, block, rng) for block in blocks])


def _draw_block(
    emission: Any, eta: Any, states: NDArray[np.intp], rng: np.random.Generator
) -> Array:
    """As if every row had a state of its own."""
    own = fewer_states(emission, states)
    t = own.family.sample_stats(select_states(eta, states), rng)
    return np.asarray(own.simulate(t, np.arange(len(states)), rng))


def _untied(emission: Gaussian, eta: Any) -> tuple[Gaussian, NormalWishart]:
    """States with precisions of their own, each distributed as the one that they share.

    The means of all other states are integrated out: of one state a tied η is the η of a full one.
    """
    K, D = eta.first.shape
    alone: list[Any] = [emission.keep(eta, np.array([k])) for k in range(K)]
    full = NormalWishart(
        np.array([one.count for one in alone]),
        np.array([one.second for one in alone]),
        np.concatenate([one.first for one in alone]),
        np.concatenate([one.strength for one in alone]),
    )
    held = emission.held
    if "covariances" in held:
        held = {"covariances": np.broadcast_to(held["covariances"], (K, D, D))}
    return replace(emission, prior=None, is_tied=False, held=held), full


def _width(eta: Any) -> int:
    """How many numbers the parameters of all states are."""
    return int(sum(np.size(x) for x in eta))
