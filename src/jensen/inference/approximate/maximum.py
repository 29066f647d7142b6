"""The most probable states of a network of labels, by dual decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.inference.approximate.conditioned import condition
from jensen.inference.approximate.labels import Label
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

    def assignments(
        self,
        found: Sequence[tuple[dict[int, int], float]],
        hidden: Sequence[int],
        notes: tuple[str, ...],
    ) -> list[Assignment]:
        """The answers, the best first, each with what no other assignment that is left exceeds.

        Where all sub-problems were solved with certainty, so is the order of the answers.
        """
        solved = [self.found[tuple(sorted(states.items()))] for states, _ in found]
        is_certain = all(best.is_certain for best in solved)
        highest = max(best.bound for best in solved)
        answers = []
        for states, value in found:
            names = {
                self.network.variables[v].name: self.network.variables[v].states[states[v]]
                for v in hidden
            }
            label = Label(
                "dual decomposition",
                "exact" if is_certain else "lower bound",
                is_certain,
                sum(best.sweeps for best in solved),
                notes,
            )
            answers.append(
                Assignment(
                    names,
                    value if self.network.sums_to_one else np.nan,
                    np.nan,
                    log_product=value,
                    bound=value if is_certain else highest,
                    label=label,
                )
            )
        return answers
