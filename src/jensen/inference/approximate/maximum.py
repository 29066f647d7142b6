"""The most probable states of a network of labels, by dual decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.inference.approximate.conditioned import condition
from jensen.inference.findings import Findings
from jensen.inference.most_probable import Assignment
from jensen.q_hidden.factor_lists.best_states import BestStates, best_states

if TYPE_CHECKING:
    from jensen.inference.table_network import TableNetwork

Array = NDArray[np.float64]


class Maximum:
    """The best states under masks, by dual decomposition."""

    def __init__(self, network: TableNetwork, findings: Findings) -> None:
        self.network, self.findings = network, findings
        self.known = {*findings.hard, *findings.do}
        self.found: dict[tuple[tuple[int, int], ...], BestStates] = {}

    def solve(self, masks: dict[int, Array]) -> tuple[dict[int, int], float]:
        """The best states found, and their log product."""
        soft = dict(self.findings.soft)
        for v, mask in masks.items():
            soft[v] = soft.get(v, 1.0) * mask
        factors = condition(self.network, self.findings._replace(soft=soft), None)
        if factors.constant == -np.inf:
            return {}, -np.inf
        best = best_states(factors, np.random.default_rng(0))
        if best.states is None:
            return {}, -np.inf
        states = factors.original(best.states)
        self.found[tuple(sorted(states.items()))] = best
        return states, best.value

    def assignment(self, states: dict[int, int], value: float, hidden: Sequence[int]) -> Assignment:
        """The answer, with what no assignment exceeds."""
        best = self.found[tuple(sorted(states.items()))]
        names = {
            self.network.variables[v].name: self.network.variables[v].states[states[v]]
            for v in hidden
        }
        log_p = value if self.network.sums_to_one else np.nan
        return Assignment(names, log_p, np.nan, log_product=value, bound=best.bound)
