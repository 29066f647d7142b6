"""Passes over the blocks of a chain: forwards keeping little, then backwards, block by block.

Sequences are cut into blocks of rows that fit a processor's cache. Short sequences share a block; a
long one has several.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import segment_rows
from jensen.q_hidden.states.chain_spaces import ChainRows, ForwardPass, Logs, Scaled
from jensen.q_hidden.structures import SUM, Chain, ChainCounts, FastObserved, ReadMode
from jensen.support.fields import add
from jensen.support.row_records import ChainSums

Ints = NDArray[np.int64]


class SequenceGroup(NamedTuple):
    """Some whole sequences in one block, or a long one in several."""

    start: int  # sequences
    stop: int
    blocks: tuple[tuple[int, int], ...]  # rows


def groups(ptr: Ints, size: int) -> Iterator[SequenceGroup]:
    """All sequences, in blocks of at most `size` rows; without any, one empty group."""
    start, end = 0, len(ptr) - 1
    if end == 0:
        yield SequenceGroup(0, 0, ((0, 0),))
    while start < end:
        row = int(ptr[start])
        stop = int(np.searchsorted(ptr, row + size, side="right")) - 1
        if stop > start:
            yield SequenceGroup(start, stop, ((row, int(ptr[stop])),))
        else:
            stop, last = start + 1, int(ptr[start + 1])
            cuts = (*range(row, last, size), last)
            yield SequenceGroup(start, stop, tuple(pairwise(cuts)))
        start = stop


def spans(group: SequenceGroup, ptr: Ints, block: tuple[int, int], chosen: Ints) -> Ints:
    """(m, 2): where in a block each chosen sequence of its group begins and ends."""
    a, b = block
    found = np.empty((len(chosen), 2), np.int64)
    np.maximum(ptr[group.start + chosen], a, out=found[:, 0])
    np.minimum(ptr[group.start + chosen + 1], b, out=found[:, 1])
    found -= a
    return found


Array = NDArray[np.float64]

FORCE_LOGS = False
"""For tests: everything in log space."""


class FilteredBlock(NamedTuple):
    """Rows start:stop, filtered."""

    start: int
    stop: int
    spans: Ints  # (m, 2): rows of the sequences, counted from `start`
    first: Array  # (K,): what went in
    rows: ChainRows
    work: ForwardPass


Solve = Callable[[Scaled | Logs, SequenceGroup, Ints], tuple[Array, Any]]
"""Some sequences of a group → a value for each, -inf where it has none; and what is added up."""


def in_turn(chain: Chain, spaces: Sequence[Scaled | Logs], solve: Solve) -> tuple[Array, Any]:
    """Solve all groups in the first space, and what has no value there in the next."""
    value, total = np.full(len(chain.weight), -np.inf), None
    for group in groups(chain.ptr, segment_rows(len(chain.log_init))):
        found = value[group.start : group.stop]
        for space in spaces:
            left = np.flatnonzero(found == -np.inf)
            if len(left) or not len(value):  # no sequences have statistics too
                found[left], some = solve(space, group, left)
                total = add(total, some) if some is not None else total
    return value, total


def sum_spaces(chain: Chain) -> Sequence[Scaled | Logs]:
    """Linear space, then log space."""
    return (Logs.of(chain),) if FORCE_LOGS else (Scaled.of(chain), Logs.of(chain))


def forwards(
    space: Scaled | Logs, chain: Chain, group: SequenceGroup, chosen: Ints, how: ReadMode = SUM
) -> Iterator[FilteredBlock]:
    """The blocks of a group from first to last; a sequence without a value is not gone on with."""
    first, work = space.first, None
    for start, stop in group.blocks:
        if work is not None:
            if work.log_z[0] == -np.inf:
                return
            first = space.enter(work)
        rows = ChainRows(chain.observed, start, stop, how)
        where = spans(group, chain.ptr, (start, stop), chosen)
        work = space.forward(first, rows, where)
        yield FilteredBlock(start, stop, where, first, rows, work)


def backwards(
    space: Scaled | Logs, chain: Chain, group: SequenceGroup, chosen: Ints, how: ReadMode = SUM
) -> Iterator[FilteredBlock]:
    """The blocks of a group from last to first; all but the last are computed a second time."""
    known, block = [], None
    for block in forwards(space, chain, group, chosen, how):
        known.append((block.start, block.stop, block.spans, block.first))
    if block is not None:
        yield block
    for start, stop, where, first in reversed(known[:-1]):
        rows = ChainRows(chain.observed, start, stop, how)
        work = space.forward(first, rows, where)
        yield FilteredBlock(start, stop, where, first, rows, work)


def smooth(
    space: Scaled | Logs,
    chain: Chain,
    group: SequenceGroup,
    chosen: Ints,
    see: Callable[[FilteredBlock, Array, Array | None], None] = lambda block, nodes, message: None,
) -> tuple[Array, ChainCounts]:
    """Log Z and expected counts; `see` is shown every block, its nodes and the message after it."""
    value, message = np.zeros(len(chosen)), None
    total: Any = None
    weight = chain.weight[group.start + chosen]
    for block in backwards(space, chain, group, chosen):
        last = space.last if message is None else space.meet(message)
        nodes, pairs = space.backward(last, block.spans, weight, block.work)
        value += block.work.log_z
        if is_void(group, value):
            return value, _counts(chain, group, block, nodes, pairs)
        if message is not None:
            pairs += weight[0] * space.pairs(block.work.alpha[-1:], message[None])[0]
        see(block, nodes, message)
        total = add(total, _counts(chain, group, block, nodes, pairs))
        if len(group.blocks) > 1:
            message = space.leave(block.work)
    return value, total


def smooth_at_once(
    space: Scaled | Logs, chain: Chain, group: SequenceGroup, chosen: Ints
) -> tuple[Array, ChainCounts] | None:
    """The same from one kernel, if the rows have one and the sequences are in one block."""
    observed = chain.observed
    if (
        not isinstance(observed, FastObserved)
        or not isinstance(space, Scaled)
        or len(group.blocks) > 1
    ):
        return None
    where = spans(group, chain.ptr, group.blocks[0], chosen)
    sums = ChainSums.zero(len(space.first))
    weight = chain.weight[group.start + chosen]
    with np.errstate(all="ignore"):  # what overflows has log Z = -inf
        found = observed.expected_chains(space.tables, group.blocks[0][0], where, weight, sums)
    if found is None:
        return None
    value, stats = found
    return value, ChainCounts(sums.first, sums.pairs * space.trans, sums.last, stats)


def choose(
    space: Scaled | Logs,
    chain: Chain,
    group: SequenceGroup,
    chosen: Ints,
    how: ReadMode,
    n: int = 1,
    see: Callable[[FilteredBlock, Ints], None] = lambda block, path: None,
) -> tuple[Array, ChainCounts]:
    """Log potential and counts of one path; `see` is shown n of them, block by block.

    They are draws if that is how to read, else the best.
    """
    value, after = np.zeros(len(chosen)), np.full(n, -1)
    total: Any = None
    weight = chain.weight[group.start + chosen]
    for block in backwards(space, chain, group, chosen, how):
        if block.stop == group.blocks[-1][1]:
            space.close(block.spans, block.work)
        uniforms = how.rng.random((n, block.stop - block.start)) if how.rng else np.empty((0, 0))
        path = space.choose(block.spans, block.work, uniforms, after)
        found, nodes, pairs = _follow(space, chain, group, block, weight, path[0], int(after[0]))
        value += found
        if is_void(group, value):
            return value, _counts(chain, group, block, nodes, pairs, how)
        see(block, path)
        total = add(total, _counts(chain, group, block, nodes, pairs, how))
        if len(group.blocks) > 1:
            after = path[:, 0].copy()
    return value, total


def is_void(group: SequenceGroup, value: Array) -> bool:
    """Whether a long sequence turned out to have no value, so that no block of it counts."""
    return len(group.blocks) > 1 and value[0] == -np.inf


def _follow(
    space: Scaled | Logs,
    chain: Chain,
    group: SequenceGroup,
    block: FilteredBlock,
    weight: Array,
    path: Ints,
    after: int,
) -> tuple[Array, Array, Array]:
    """Log potential of a path within a block and up to the state after it; nodes and pairs."""
    from jensen.kernels.chains_log import follow

    n_states = len(chain.log_init)
    nodes, pairs = space.room.nodes(block.work), np.zeros((n_states, n_states))
    value = np.full(len(weight), -np.inf)
    fine = block.work.log_z > -np.inf
    where, found = block.spans[fine], np.zeros(int(fine.sum()))
    first = chain.log_init if block.start == group.blocks[0][0] else np.zeros(n_states)
    log_like = np.ascontiguousarray(block.rows.log_like)
    follow(first, chain.log_trans, where, weight[fine], log_like, path, nodes, pairs, found)
    ends = path[where[:, 1] - 1]
    if after < 0:
        found += chain.log_end[ends]
    else:
        found += chain.log_trans[ends, after]
        pairs[ends, after] += weight[fine]
    value[fine] = found
    return value, nodes, pairs


def _counts(
    chain: Chain,
    group: SequenceGroup,
    block: FilteredBlock,
    nodes: Array,
    pairs: Array,
    how: ReadMode = SUM,
) -> ChainCounts:
    """What a block adds; only the first block of a long sequence has its first step."""
    first, last = np.zeros(len(nodes)), np.zeros(len(nodes))
    if block.start == group.blocks[0][0]:
        first = nodes[:, block.spans[:, 0]].sum(1)
    if block.stop == group.blocks[-1][1]:
        last = nodes[:, block.spans[:, 1] - 1].sum(1)
    stats = chain.observed.stats(block.start, block.stop, nodes, how)
    return ChainCounts(first, pairs, last, stats)
