"""Log potentials of what is hidden, one class per shape of its graph, and what rules give.

Discrete states of rows have two shapes: `Independent`, one state per row, and `Chain`, one state
per step of a sequence. Sum, maximum and draw are the same passes over the same potentials;
`ReadMode` says which is wanted. Rows are worked on in segments that fit a processor's cache.
"""

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.support.row_records import ChainSums, ChainTables

Array = NDArray[np.float64]
Stream = np.random.Generator | None
"""Random numbers of rules that draw; others look at none."""


class NothingHidden(NamedTuple):
    """Nothing is hidden: counts, and the log potential of what was counted."""

    log_tables: Array  # (P,)
    counts: Array  # (P,)


class Hidden(NamedTuple):
    """What a rule for q(h) found."""

    value: Array  # weight · (E_q[log potentials] + H[q(h)]), one number per sub-problem
    moments: Any  # what `expected_stats` of this shape reads: counts, (P,), or a record
    memory: object = None  # what this rule wants to see again in the next sweep: arrays, records


class ReadMode(NamedTuple):
    """How hidden values are read out of log potentials: summed out, at the maximum, or drawn.

    A row may hide a missing cell besides its state; the emission completes it in the same mode.
    """

    word: Literal["sum", "max", "draw"]
    rng: Stream = None  # used by "draw" alone


SUM = ReadMode("sum")
MAX = ReadMode("max")


def draw(rng: np.random.Generator) -> ReadMode:
    """Read by drawing from this stream."""
    return ReadMode("draw", rng)


class RowLikelihood(Protocol):
    """Rows whose likelihood under each of K hidden states can be computed."""

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows): log p(row | state); what a row misses is summed or integrated out.

        Under `MAX` a missing label or count has its most probable value instead; a missing real
        number is integrated out all the same, for a density has no unit to be compared in.
        """


class Observed(RowLikelihood, Protocol):
    """Rows at one θ, from which the statistics of the states are learned."""

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> Any:
        """Statistics of the rows; nodes (K, rows) are weight · q(state).

        What a row misses counts as expected (`SUM`), as most probable (`MAX`), or as drawn.
        """


class FastObserved(Observed):
    """Rows with a fused kernel, which needs no array of all rows times states.

    A method returns None, or False, where there is no such kernel; callers then use `Observed`.
    """

    def fill_scaled(self, start: int, stop: int, like: Array, shift: Array) -> bool:
        """Fill like (rows, K) and shift (rows,): the likelihoods are like · exp(shift)."""
        return False

    def expected_rows(
        self, log_weights: Array, weight: Array
    ) -> "tuple[Array, StateCounts] | None":
        """Log Z of every row, and the statistics under p(state | row)."""
        return None

    def expected_chains(
        self,
        tables: "ChainTables",
        start: int,
        spans: NDArray[np.int64],
        weight: Array,
        sums: "ChainSums",
    ) -> tuple[Array, Any] | None:
        """Log Z of sequences that follow each other, and the statistics of their rows.

        Spans (m, 2) are counted from the row `start`; fills sums. A sequence that linear space
        cannot do has log Z = -inf and adds nothing.
        """
        return None


class SeenSteps(FastObserved):
    """Rows of which some show nothing: these rows are time that passes, and no values are hidden.

    Whatever was there integrates to one. Left out, its expected statistics do not slow EM down, and
    the bound of VB is closer.
    """

    def __init__(self, observed: Any, blank: NDArray[np.bool_]) -> None:
        self.observed = observed
        self.blank = blank

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows): 0 where nothing was seen."""
        found: Array = self.observed.log_like(start, stop, how)
        found[:, self.blank[start:stop]] = 0.0
        return found

    def fill_scaled(self, start: int, stop: int, like: Array, shift: Array) -> bool:
        """1 where nothing was seen."""
        observed, blank = self.observed, self.blank[start:stop]
        if not isinstance(observed, FastObserved):
            return False
        is_filled = observed.fill_scaled(start, stop, like, shift)
        if is_filled:
            like[: stop - start][blank] = 1.0
            shift[: stop - start][blank] = 0.0
        return is_filled

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> Any:
        """Those of the other rows."""
        seen = np.where(self.blank[start:stop], 0.0, nodes)
        return self.observed.stats(start, stop, seen, how)


class Independent(NamedTuple):
    """One hidden state per row."""

    log_weights: Array  # (K,)
    observed: Any  # Observed; Likely is enough where no statistics are asked
    weight: Array  # (N,): how often each row counts


class Chain(NamedTuple):
    """A hidden state per step of sequences; the rows of a sequence stand one after the other."""

    log_init: Array  # (K,)
    log_trans: Array  # (K, K), from a row to a column
    log_end: Array  # (K,): of stopping after this state; 0 where sequences are cut, not ended
    observed: Any  # Observed; Likely is enough where no statistics are asked
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
