"""Log potentials of what is hidden, one class per shape of its graph, and what rules give."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.gaussian_cells import GaussianCells
from jensen.q_hidden.states.records import Chain, ChainCounts, Independent, Observed, StateCounts
from jensen.q_hidden.trees.drawing import pick
from jensen.q_hidden.trees.problems import HiddenRows
from jensen.support.tree_records import Problems, Program

Array = NDArray[np.float64]

__all__ = [
    "Chain",
    "ChainCounts",
    "FamilyTables",
    "GaussianCells",
    "Hidden",
    "HiddenRule",
    "Independent",
    "NothingHidden",
    "Observed",
    "StateCounts",
    "solve_nothing_hidden",
]


class NothingHidden(NamedTuple):
    """Nothing is hidden: counts, and the log potential of what was counted."""

    log_tables: Array  # (P,)
    counts: Array  # (P,)


class FamilyTables(NamedTuple):
    """Tables of families, and the sub-problems of some rows; tables need not sum to one."""

    log_tables: Array  # (P,)
    rows: HiddenRows
    part: slice  # of the sub-problems

    @property
    def weight(self) -> Array:
        """How many rows have each sub-problem."""
        return self.rows.weight[self.part]

    @property
    def on_trees(self) -> tuple[Array, Program, Problems]:
        """The tables, and the sub-problems on cluster trees; these may be refused as too large."""
        split = self.rows.split
        return self.log_tables, split.sets.program, pick(split.problems, self.part)


class Hidden(NamedTuple):
    """What a rule for q(h) found."""

    value: Array  # weight · (E_q[log potentials] + H[q(h)]), one number per sub-problem
    moments: Any  # what `expected_stats` of this shape reads: counts, (P,), or a record
    memory: Any = None  # what this rule wants to see again in the next sweep: arrays, records


class HiddenRule(NamedTuple):
    """A choice of q(h), which dispatches on the type of the potentials."""

    solve: Callable[..., Hidden]  # (potentials, memory, rng) -> Hidden
    is_random: bool  # whether it draws, so that sweeps make a chain and no ascent
    is_bound: bool  # whether its values keep F a lower bound

    def __call__(self, potentials: Any, memory: Any = None, rng: Any = None) -> Hidden:
        """Solve what a unit hides; `rng` is used by rules that draw."""
        return self.solve(potentials, memory, rng)


def solve_nothing_hidden(potentials: NothingHidden, memory: Any = None, rng: Any = None) -> Hidden:
    """All rules agree where nothing is hidden."""
    seen = potentials.counts != 0.0
    value = (potentials.counts[seen] * potentials.log_tables[seen]).sum()  # 0 · log 0 = 0
    return Hidden(np.array([value]), potentials.counts)
