"""Emissions derived from others: with fewer states, a part held at known values, or masks.

`draw_predictive` draws rows from the predictive distributions of the states.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.models.emissions.kinds import Array, States
from jensen.models.emissions.product import (
    joined_records,
    parts_of,
    records_of,
    with_parts,
)
from jensen.models.emissions.registry import EMISSIONS, record_of

Mask = NDArray[np.bool_]


def completed(named: Mapping[str, Any], emission: Any, rows: NumberRows) -> Mapping[str, Any]:
    """Parameters with those of the rows as a whole, where less than all of a state is given.

    So means may be given without covariances; what a state makes is never left out.
    """
    found = dict(named)
    for part, columns, name in parts_of(emission):
        if not name:
            return _completed(named, part, rows)
        if isinstance(named.get(name), Mapping):
            found[name] = _completed(named[name], part, rows.columns(columns))
    return found


def _completed(named: Mapping[str, Any], part: Any, rows: NumberRows) -> Mapping[str, Any]:
    """The same for one part of an emission."""
    first, *others = record_of(part).parameters
    if first not in named or named.keys() >= {*others}:
        return named
    wide = part.show(part.family.mode_stats(part.survey(rows.values()).wide))
    return {**{name: wide[name] for name in others}, **named}


def hold_parts(
    emission: Any, eta: Any, names: tuple[str, ...], whole: str
) -> tuple[Any, tuple[str, ...]]:
    """An emission with a part of it held at the mode of η, and the names that are no parts of it.

    All parts together are the `whole` emission, which the model holds.
    """
    parts = [name for name in names if name in PARTS]
    others = tuple(name for name in names if name not in PARTS)
    if whole in others or not parts:
        return emission, others
    record = record_of(emission)
    if {*parts} == {*record.held}:
        return emission, (*others, whole)
    return record.kind.hold(emission, eta, parts[0]), others


PARTS = tuple(name for record in EMISSIONS.values() for name in record.held)
"""What can be held of an emission without the rest."""


def fewer_states(emission: Any, states: States) -> Any:
    """An emission of these states only, in this order; its prior stays as it was."""
    parts = [record_of(part).kind.fewer(part, states) for part, _, _ in parts_of(emission)]
    return with_parts(emission, parts)


def kept_states(emission: Any, eta: Any, states: States) -> Any:
    """η of these states for good: what the others say of a shared precision stays in it."""
    pairs = zip(parts_of(emission), records_of(emission, eta), strict=True)
    kept = [record_of(part).kind.keep(part, own, states) for (part, _, _), own in pairs]
    return joined_records(emission, kept)


def labels_of(emission: Any) -> list[Any]:
    """The parts of an emission if all of them make labels that masks can leave out, else none."""
    parts = [part.emission for part in parts_of(emission)]
    return parts if all("masks" in record_of(part).options for part in parts) else []


def with_masks(emission: Any, masks: Sequence[Mask | None]) -> Any:
    """An emission of labels whose parts may make what their masks (K, columns, labels) allow."""
    pairs = zip(labels_of(emission), masks, strict=True)
    return with_parts(emission, [x if mask is None else x.masked(mask) for x, mask in pairs])


def draw_predictive(emission: Any, eta: Any, states: States, rng: np.random.Generator) -> Array:
    """Rows of these states; the parameters of each are drawn from the posterior η."""
    values = np.empty((len(states), emission.n_columns))
    for (part, columns, _), own in zip(parts_of(emission), records_of(emission, eta), strict=True):
        values[:, columns] = record_of(part).kind.draw(part, own, states, rng)
    return values
