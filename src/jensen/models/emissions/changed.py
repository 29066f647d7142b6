"""Emissions that are as others are, but of fewer states, with a part held, or with masks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.gaussian_states import GaussianStates
from jensen.models.emissions.product import Product, parts_of
from jensen.models.emissions.state_records import select_states

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
    if isinstance(emission, Product):
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
    return replace(emission, parts=parts) if isinstance(emission, Product) else parts[0]
