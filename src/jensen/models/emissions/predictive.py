"""Rows drawn from predictive distributions: each with parameters of its own."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families.normal_wishart import NormalWishart
from jensen.models.emissions.changed import fewer_states
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.product import Product
from jensen.models.emissions.state_records import select_states

Array = NDArray[np.float64]

BLOCK = 1 << 20
"""Numbers of parameters that are drawn at once."""


def draw_predictive(
    emission: Any, eta: Any, states: NDArray[np.intp], rng: np.random.Generator
) -> Array:
    """Rows of these states; the parameters of each are drawn from the posterior η."""
    if isinstance(emission, Product):
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
