"""The states of the largest product: max-product, and dual decomposition with a certificate.

The dual bounds every product from above. States whose product reaches it are the best there are,
which no local search could tell; where a gap remains, both are given.

References
----------
Globerson and Jaakkola (2007), *Fixing max-product: convergent message passing algorithms for MAP
LP-relaxations*, algorithm 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.q_hidden.factor_lists.feasible import feasible_states
from jensen.q_hidden.factor_lists.loopy import softmax
from jensen.support.factor_records import Messages, make_messages

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS, SWEEPS = 40, 25
"""States are read after every so many sweeps; at most so many times."""
TIGHT = 1e-9
STILL = 1e-10


class BestStates(NamedTuple):
    """States, their product, and what no product exceeds."""

    states: Ints | None  # None if none were found that are possible together
    value: float
    bound: float
    sweeps: int

    @property
    def is_certain(self) -> bool:
        """Whether no product is larger."""
        return bool(self.bound - self.value <= TIGHT * max(1.0, abs(self.value)))


def best_states(factors: FactorList, rng: np.random.Generator) -> BestStates:
    """The best states found, and a bound of the best there are."""
    from jensen.kernels import belief_propagation as kernels

    if not factors.n_variables:
        return BestStates(np.empty(0, np.int64), factors.constant, factors.constant, 0)
    wiring, tables = factors.wiring, factors.log_tables
    order, ones = np.arange(wiring.n_families), np.ones(wiring.n_families)
    best = BestStates(None, -np.inf, np.inf, 0)
    for mode, damping in ((kernels.SHARE, 0.0), (kernels.MAX, 0.5)):
        net = make_messages(wiring)
        for _ in range(ROUNDS):
            n = kernels.propagate(wiring, tables, ones, net, order, mode, SWEEPS, damping, STILL)
            best = _read(factors, net, best, rng)
            best = best._replace(sweeps=best.sweeps + abs(n))
            if mode == kernels.SHARE:
                bound = factors.constant + kernels.dual_value(wiring, tables, net)
                best = best._replace(bound=min(best.bound, bound))
            if best.is_certain:
                return best
            if n > 0:
                break
    return best


def _read(
    factors: FactorList, net: Messages, best: BestStates, rng: np.random.Generator
) -> BestStates:
    """The better of the best states and those that the beliefs lead to."""
    from jensen.kernels.belief_propagation import improve_states

    shares, _ = softmax(net.belief, net.state_at)
    for choice in (None, rng):
        states = feasible_states(factors, shares, choice)
        if states is None:
            continue
        improve_states(factors.wiring, factors.log_tables, states, SWEEPS)
        value = factors.log_value(states)
        if value > best.value:
            best = best._replace(states=states, value=value)
    return best
