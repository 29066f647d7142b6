"""Good networks from orders of the variables: what bounds are compared with."""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.order import topological_order
from jensen.q_graph.optimum.families import Families

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Wish = Callable[[], bool]

STARTS = 20
"""Random orders that are climbed from."""

PATIENCE = 150
"""Orders near the best one that are climbed from in vain before that is enough."""


class Network(NamedTuple):
    """One family for each variable, without a cycle."""

    parents: tuple[tuple[int, ...], ...]
    score: float


def network_of(families: Families, chosen: Ints) -> Network | None:
    """The network of one family for each variable; None if it has a cycle, or lacks a family."""
    if (chosen < 0).any():
        return None
    parents = tuple(families.parents(j) for j in chosen)
    if len(topological_order(parents)) < len(parents):
        return None
    return Network(parents, math.fsum(families.score[chosen]))


def climb(families: Families, order: Ints, tie: float) -> Network | None:
    """The best network of an order, after moves of single variables that gain something."""
    from jensen.kernels.orders import climb_order

    chosen = np.empty(families.n, np.int64)
    climb_order(
        families.first, families.ptr, families.parent, families.score, tie, order.copy(), chosen
    )
    return network_of(families, chosen)


def best_of(networks: Iterable[Network | None], tie: float) -> Network | None:
    """The first of the best."""
    best: Network | None = None
    for network in networks:
        if network is not None and (best is None or network.score > best.score + tie):
            best = network
    return best


def climb_at_random(families: Families, tie: float) -> Network | None:
    """The best network that orders drawn at random lead to; the same for the same families."""
    rng = np.random.default_rng(0)
    starts = [np.arange(families.n), *(rng.permutation(families.n) for _ in range(STARTS - 1))]
    return best_of((climb(families, order, tie) for order in starts), tie)


def climb_further(families: Families, best: Network, tie: float, is_over: Wish) -> Network:
    """Move some variables of the best network's order at random, climb, and go on from the better.

    Greedy climbs from anywhere end in many places; those from near a good one end in better ones.
    """
    rng, idle = np.random.default_rng(0), 0
    while idle < PATIENCE and not is_over():
        order = topological_order(best.parents)
        for _ in range(rng.integers(1, max(2, families.n // 5) + 1)):
            here, there = rng.integers(0, families.n, 2)
            order.insert(there, order.pop(here))
        found = climb(families, np.array(order, np.int64), tie)
        is_better = found is not None and found.score > best.score + tie
        best, idle = (found, 0) if found is not None and is_better else (best, idle + 1)
    return best


def rounded_order(families: Families, weight: Array) -> Ints:
    """Variables by how little they need of those that are not placed yet."""
    used = np.flatnonzero(weight > 0.0)
    some = families.take(used)
    holds, weights = some.holds, weight[used]
    left = np.ones(families.n, bool)
    order = []
    for _ in range(families.n):
        waits = holds[:, left].any(axis=1)
        need = np.bincount(some.child[waits], weights[waits], families.n).astype(float)
        need[~left] = np.inf
        order.append(int(need.argmin()))
        left[order[-1]] = False
    return np.array(order, np.int64)
