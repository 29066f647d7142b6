"""Log potentials of what is hidden, one class per shape of its graph, and what rules give."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.cluster_trees.records import Problems, Program

Array = NDArray[np.float64]


class Known(NamedTuple):
    """Nothing is hidden: counts, and the log potential of what was counted."""

    log_tables: Array  # (P,)
    counts: Array  # (P,)


class FamilyTables(NamedTuple):
    """Tables of families, and sub-problems on cluster trees; tables need not sum to one."""

    log_tables: Array  # (P,)
    program: Program
    problems: Problems


class Observed(Protocol):
    """Rows as each of K hidden states sees them, at one θ."""

    def log_like(self, start: int, stop: int) -> Array:
        """(K, rows): log p(row | state); what a row misses is summed or integrated out."""

    def stats(
        self, start: int, stop: int, nodes: Array, rng: np.random.Generator | None = None
    ) -> Any:
        """Statistics of the rows; nodes (K, rows) are weight · q(state).

        What a row misses counts as expected; with a generator as drawn.
        """


class Independent(NamedTuple):
    """One hidden state per row."""

    log_weights: Array  # (K,)
    observed: Observed
    weight: Array  # (N,): how often each row counts


class Chain(NamedTuple):
    """A hidden state per step of sequences; the rows of a sequence stand one after the other."""

    log_init: Array  # (K,)
    log_trans: Array  # (K, K), from a row to a column
    log_end: Array  # (K,): of stopping after this state; 0 where sequences are cut, not ended
    observed: Observed
    ptr: NDArray[np.int64]  # (S + 1,): where each sequence begins; none is empty
    weight: Array  # (S,): how often each sequence counts


class StateCounts(NamedTuple):
    """Moments of `Independent`, all by weight."""

    states: Array  # (K,)
    observed: Any  # what `Observed.stats` gave


class ChainCounts(NamedTuple):
    """Moments of `Chain`, all by weight."""

    first: Array  # (K,): states of first steps
    pairs: Array  # (K, K): of neighbouring steps
    last: Array  # (K,): states of last steps
    observed: Any  # what `Observed.stats` gave


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
