"""Hidden states: the potentials of their two shapes, and the counts that are read from them."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Likely(Protocol):
    """Rows of which every one of K hidden states can tell how likely they are."""

    def log_like(self, start: int, stop: int, *, peak: bool = False) -> Array:
        """(K, rows): log p(row | state); what a row misses is summed or integrated out.

        With `peak` a missing label or count has its most probable value instead; a missing real
        number is integrated out all the same, for a density has no unit to be compared in.
        """


class Observed(Likely, Protocol):
    """Rows as each hidden state sees them at one θ, to be learned from."""

    def stats(
        self,
        start: int,
        stop: int,
        nodes: Array,
        rng: np.random.Generator | None = None,
        *,
        peak: bool = False,
    ) -> Any:
        """Statistics of the rows; nodes (K, rows) are weight · q(state).

        What a row misses counts as expected; with a generator as drawn, with `peak` as most
        probable.
        """


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
