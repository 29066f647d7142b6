"""A chain of hidden states: sums, maxima and draws, in memory that does not grow with its length.

Sequences are done in linear space; those that lose something there are done in log space.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import ImpossibleSequenceError
from jensen.q_hidden.states.chain_spaces import Best, Logs, Scaled
from jensen.q_hidden.states.chain_sweeps import (
    FilteredBlock,
    SequenceGroup,
    choose,
    forwards,
    in_turn,
    smooth,
    smooth_at_once,
    sum_spaces,
)
from jensen.q_hidden.structures import (
    MAX,
    SUM,
    Chain,
    ChainCounts,
    FastObserved,
    Observed,
    ReadMode,
    draw,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Space = Scaled | Logs


def expected(chain: Chain) -> tuple[Array, ChainCounts]:
    """Log Z of every sequence, and the statistics under p(h | x)."""

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, ChainCounts]:
        found = smooth_at_once(space, chain, group, chosen)
        return smooth(space, chain, group, chosen) if found is None else found

    return in_turn(chain, sum_spaces(chain), solve)


def best(chain: Chain) -> tuple[Array, ChainCounts]:
    """Log potential of the most probable path of every sequence, and its statistics."""

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, ChainCounts]:
        return choose(space, chain, group, chosen, MAX)

    return in_turn(chain, [Best.of(chain)], solve)


def drawn(chain: Chain, rng: np.random.Generator) -> tuple[Array, ChainCounts]:
    """Log potential of a path drawn from p(h | x) for every sequence, and its statistics."""

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, Any]:
        value, fine = _trusted(space, chain, group, chosen)
        if not len(fine):
            return value, None
        value[fine], counts = choose(space, chain, group, chosen[fine], draw(rng))
        return value, counts

    return in_turn(chain, sum_spaces(chain), solve)


def log_evidence(chain: Chain) -> Array:
    """Log Z of every sequence."""

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, None]:
        if not space.is_sound_forwards:
            return smooth(space, _unasked(chain), group, chosen)[0], None
        value = np.zeros(len(chosen))
        for block in forwards(space, chain, group, chosen):
            if block.stop == group.blocks[-1][1]:
                space.close(block.spans, block.work)
            value += block.work.log_z
        return value, None

    return in_turn(chain, sum_spaces(chain), solve)[0]


def filtered(chain: Chain) -> Array:
    """(T, K): p(h_t | x_1..t); how sequences end is not used."""
    out = np.zeros((int(chain.ptr[-1]), len(chain.log_init)))

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, None]:
        value = np.zeros(len(chosen))
        for block in forwards(space, chain, group, chosen):
            rows = _rows(block)
            out[block.start + rows] = space.states(block.work.alpha[rows])
            value += block.work.log_z
        return value, None

    spaces = [space for space in sum_spaces(chain) if space.is_sound_forwards]
    check_possible(in_turn(chain, spaces, solve)[0])
    return out


def smoothed(chain: Chain) -> Array:
    """(T, K): p(h_t | x)."""
    out = np.zeros((int(chain.ptr[-1]), len(chain.log_init)))

    def see(space: Space, block: FilteredBlock, nodes: Array, message: Array | None) -> None:
        rows = _rows(block)
        out[block.start + rows] = nodes.T[rows]

    _see_smoothed(chain, see)
    return out


def pair_posteriors(chain: Chain) -> Array:
    """(T - S, K, K): p(h_t, h_t+1 | x) of the neighbouring steps of all sequences."""
    out = np.zeros((int(chain.ptr[-1]) - len(chain.weight), *chain.log_trans.shape))

    def see(space: Space, block: FilteredBlock, nodes: Array, message: Array | None) -> None:
        messages = block.work.like
        if message is not None:
            messages = np.concatenate([messages, message[None]])
        rows = _rows(block, last=message is not None)
        sequence = np.searchsorted(chain.ptr, block.start + rows, side="right") - 1
        at = block.start + rows - sequence  # every sequence before has a pair less than rows
        out[at] = space.pairs(block.work.alpha[rows], messages[rows + 1])

    _see_smoothed(chain, see)
    return out


def best_path(chain: Chain) -> tuple[Array, Ints]:
    """Log potential (S,) and states (T,) of the most probable paths; the first of equal states."""
    out = np.zeros(int(chain.ptr[-1]), np.int64)
    once = _unasked(chain)

    def see(block: FilteredBlock, paths: Ints) -> None:
        out[block.start : block.stop] = paths[0]

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, Any]:
        return choose(space, once, group, chosen, SUM, see=see)

    return in_turn(chain, [Best.of(chain)], solve)[0], out


def drawn_paths(chain: Chain, n: int, rng: np.random.Generator) -> Ints:
    """(n, T): paths drawn from p(h | x)."""
    out = np.zeros((n, int(chain.ptr[-1])), np.int64)
    once = _unasked(chain)

    def see(block: FilteredBlock, paths: Ints) -> None:
        rows = _rows(block)
        out[:, block.start + rows] = paths[:, rows]

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, None]:
        value, fine = _trusted(space, chain, group, chosen)
        if n and len(fine):
            value[fine], _ = choose(space, once, group, chosen[fine], draw(rng), n, see)
        return value, None

    check_possible(in_turn(chain, sum_spaces(chain), solve)[0])
    return out


class _Unasked(FastObserved):
    """Observations of which no statistics are wanted."""

    def __init__(self, observed: Observed) -> None:
        self.observed = observed

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """As they are."""
        return self.observed.log_like(start, stop, how)

    def fill_scaled(self, start: int, stop: int, like: Array, shift: Array) -> bool:
        """As they are."""
        observed = self.observed
        return isinstance(observed, FastObserved) and observed.fill_scaled(start, stop, like, shift)

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> None:
        """Nothing."""


def _unasked(chain: Chain) -> Chain:
    return chain._replace(observed=_Unasked(chain.observed), weight=np.ones(len(chain.weight)))


def _trusted(space: Space, chain: Chain, group: SequenceGroup, chosen: Ints) -> tuple[Array, Ints]:
    """Which of the chosen can be drawn in this space: only a pass backwards tells what was lost."""
    value = np.zeros(len(chosen))
    if not space.is_sound_forwards:
        value, _ = smooth(space, _unasked(chain), group, chosen)
    return value, np.flatnonzero(value > -np.inf)


def _see_smoothed(
    chain: Chain, see: Callable[[Space, FilteredBlock, Array, Array | None], None]
) -> None:
    """Show every block of a chain that has been smoothed; one that was void is shown again."""
    once = _unasked(chain)

    def solve(space: Space, group: SequenceGroup, chosen: Ints) -> tuple[Array, Any]:
        return smooth(space, once, group, chosen, partial(see, space))

    check_possible(in_turn(chain, sum_spaces(chain), solve)[0])


def _rows(block: FilteredBlock, *, last: bool = True) -> Ints:
    """The rows of the sequences of a block that have a value, with or without their last ones."""
    start, stop = block.spans[block.work.log_z > -np.inf].T
    n = stop - start - (not last)
    return np.repeat(start - np.cumsum(n) + n, n) + np.arange(n.sum())


def check_possible(value: Array) -> None:
    """Refuse sequences without any path, by their log Z."""
    impossible = np.flatnonzero(value == -np.inf)
    if len(impossible):
        raise ImpossibleSequenceError(
            impossible[0], "Correct it, or learn with a prior, which leaves nothing impossible"
        )
