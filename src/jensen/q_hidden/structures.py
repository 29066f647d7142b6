"""Log potentials of what is hidden, one class per shape of its graph, and what rules give."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.cluster_trees.records import Problems, Program
from jensen.hidden_states.records import Chain, ChainCounts, Independent, Observed, StateCounts
from jensen.q_hidden.gaussian_cells import GaussianCells

Array = NDArray[np.float64]

__all__ = [
    "Chain",
    "ChainCounts",
    "FamilyTables",
    "GaussianCells",
    "Hidden",
    "Independent",
    "Known",
    "Observed",
    "StateCounts",
    "known",
]


class Known(NamedTuple):
    """Nothing is hidden: counts, and the log potential of what was counted."""

    log_tables: Array  # (P,)
    counts: Array  # (P,)


class FamilyTables(NamedTuple):
    """Tables of families, and sub-problems on cluster trees; tables need not sum to one."""

    log_tables: Array  # (P,)
    program: Program
    problems: Problems


class Hidden(NamedTuple):
    """What a rule for q(h) found."""

    value: Array  # E_q[log potentials] + H[q(h)], one number per sub-problem
    moments: Any  # what `expected_stats` of this shape reads: counts, (P,), or a record
    memory: Any = None  # what this rule wants to see again in the next sweep
    is_bound: bool = True


def known(potentials: Known, memory: Any = None, rng: Any = None) -> Hidden:
    """All rules agree where nothing is hidden."""
    seen = potentials.counts != 0.0
    value = (potentials.counts[seen] * potentials.log_tables[seen]).sum()  # 0 · log 0 = 0
    return Hidden(np.array([value]), potentials.counts)
