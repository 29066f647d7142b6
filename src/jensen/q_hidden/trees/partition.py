"""Log Z of all variables together, and the distribution of every table, by one pass over a tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.plans import plans_of
from jensen.q_hidden.trees.problems import hidden_sets
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]


class Partition:
    """The cluster trees of all variables of a wiring, none of them known.

    A tree that does not fit in memory is refused with its size.
    """

    def __init__(self, wiring: Wiring, names: Sequence[str]) -> None:
        self.wiring = wiring
        words, begin, end = hidden_sets(wiring, range(len(wiring.cards)))
        set_of, sets = plans_of(wiring, names).number(words, begin, end)
        self.program = sets.program
        once = np.ones(len(set_of))
        self.problems = run.with_bases(wiring, sets.families, set_of, words, end, once)

    def __call__(self, log_tables: Array) -> tuple[float, Array]:
        """Log Z, and p(states) of every table, flat."""
        shifted, shift = shift_tables(log_tables, self.wiring)
        log_z, counts = run.expected_counts(shifted, self.program, self.problems)
        return float(log_z.sum()) + shift, counts


def shift_tables(log_tables: Array, wiring: Wiring) -> tuple[Array, float]:
    """Every table less its largest entry, so that none overflows, and the sum of these."""
    if not wiring.n_families:
        return log_tables, 0.0
    most = np.maximum.reduceat(log_tables, wiring.fam_at[:-1])
    most = np.where(np.isfinite(most), most, 0.0)
    return log_tables - np.repeat(most, np.diff(wiring.fam_at)), float(most.sum())
