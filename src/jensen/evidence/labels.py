"""Labels of hidden states that nothing tells apart: how many copies of a posterior there are.

A relabelling is an array of places: the flat parameters, read in that order, are those of the same
model with its states renamed.
"""

from __future__ import annotations

from itertools import permutations, product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.models.discrete_network import DiscreteNetwork, Tables, permute
from jensen.models.mixed_network import MixedParameters, MixedRegressionNetwork
from jensen.models.state_model import StateModel, flatten, unflatten

Array = NDArray[np.float64]
Ints = NDArray[np.intp]


def symmetric_sizes(model: Any) -> tuple[int, ...]:
    """How many states each hidden variable has whose labels mean nothing; empty if none has."""
    if isinstance(model, StateModel):
        return (model.n_states,) if model.is_symmetric and model.n_states > 1 else ()
    if isinstance(model, DiscreteNetwork | MixedRegressionNetwork) and model.may_relabel:
        return tuple(_cards(model)[v] for v in model.hidden)
    return ()


def n_labellings(model: Any) -> int:
    """How many labellings have the same posterior."""
    return prod(map(factorial, symmetric_sizes(model)))


def relabellings(model: Any) -> NDArray[np.intp]:
    """(labellings, P): where each flat parameter comes from; the first changes nothing."""
    choices = [list(permutations(range(size))) for size in symmetric_sizes(model)]
    return np.array([_places(model, orders) for orders in product(*choices)])


def drawn_relabelling(model: Any, rng: np.random.Generator) -> NDArray[np.intp]:
    """One of them."""
    return _places(model, tuple(tuple(rng.permutation(n)) for n in symmetric_sizes(model)))


def _places(model: Any, orders: tuple[tuple[int, ...], ...]) -> NDArray[np.intp]:
    like = shape_of(model)
    places = unflatten(like, np.arange(len(flatten(like)), dtype=np.float64))
    return flatten(relabel(model, places, orders)).astype(np.intp)


def relabel(model: Any, record: Any, orders: tuple[tuple[int, ...], ...]) -> Any:
    """η, t or statistics with the states of hidden variables in these orders."""
    if not orders:
        return record
    if isinstance(model, StateModel):
        return model.select(record, np.array(orders[0]))
    by_node = {v: np.array(order) for v, order in zip(model.hidden, orders, strict=True)}
    if isinstance(model, DiscreteNetwork):
        return Tables(permute(model.wiring, by_node, record.tables))
    moved = zip(record.regressions, model.layout.permuted_configs(by_node), strict=True)
    regressions = tuple(type(one)(*(part[configs] for part in one)) for one, configs in moved)
    return MixedParameters(permute(model.layout.wiring, by_node, record.tables), regressions)


def shape_of(model: Any) -> Any:
    """A record of zeros, shaped as η, t and statistics are."""
    if isinstance(model, MixedRegressionNetwork):
        layout = model.layout
        return MixedParameters(
            np.zeros(int(layout.wiring.fam_at[-1])), layout.stats_of(np.zeros(layout.form_at[-1]))
        )
    return model.blank


def _cards(model: Any) -> Any:
    wiring = model.wiring if isinstance(model, DiscreteNetwork) else model.layout.wiring
    return [int(card) for card in wiring.cards]
