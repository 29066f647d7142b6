"""Missing labels by loopy belief propagation: each sub-problem is a list of factors.

The expected counts are the beliefs of the factors, and the value is the Bethe one: an estimate of
log Z, no bound, so that sweeps need not raise F.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.indexed_graph import wire_families
from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.q_hidden.factor_lists.loopy import FixedPoint, Propagation, propagate
from jensen.q_hidden.trees.blocks import SetPlan
from jensen.q_hidden.trees.run import Sites
from jensen.support.fields import add_at
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]

FLOOR = -1e5
"""Stands for log 0 in messages, which are differences; its exponential is 0 all the same."""
DAMPED = Propagation("sweeps", 0.5)
"""How messages are sent that do not settle otherwise."""
KEPT = 256


def loopy_counts(
    sites: Sites, plans: tuple[SetPlan, ...], part: slice, log_tables: Array
) -> tuple[Array, Array]:
    """The Bethe value of every sub-problem, and expected counts of all tables, by weight."""
    set_of = sites.problems.set_of[part]
    weight, base_ptr = sites.problems.weight[part], sites.problems.base_ptr[part]
    value, counts = np.empty(len(set_of)), np.zeros(len(log_tables))
    for k, p in enumerate(set_of.tolist()):
        plan = plans[p]
        bases = sites.problems.bases[base_ptr[k] : base_ptr[k] + len(plan.potentials)]
        at = [
            (base + potential.offsets).ravel()
            for base, potential in zip(bases.tolist(), plan.potentials, strict=True)
        ]
        places = np.concatenate([np.empty(0, np.int64), *at])
        point = _settled(plan, log_tables[places])
        value[k] = point.log_z if point.log_z > 0.5 * FLOOR else -np.inf
        if value[k] > -np.inf:
            add_at(counts, places, weight[k] * point.shares)
    return value, counts


def _settled(plan: SetPlan, tables: Array) -> FixedPoint:
    """A fixed point of the messages between the factors of a sub-problem."""
    wiring = _wire(plan.cards, tuple(potential.members for potential in plan.potentials))
    n = len(plan.cards)
    factors = FactorList(
        wiring, np.maximum(tables, FLOOR), 0.0, np.arange(n), (np.empty(0, np.int64),) * n, {}
    )
    point = propagate(factors)
    return point if point.converged else propagate(factors, DAMPED)


@lru_cache(maxsize=KEPT)
def _wire(cards: tuple[int, ...], scopes: tuple[tuple[int, ...], ...]) -> Wiring:
    return wire_families(scopes, cards)
