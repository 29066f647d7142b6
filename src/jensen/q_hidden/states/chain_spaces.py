"""Sums along a chain in linear space, and in log space where that underflows; and its maxima.

The three have the same functions, on blocks of rows. What goes into a block at its first step is
`first`, what comes in at its last is `last`. The pass backwards overwrites a `ForwardPass`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.structures import Chain, FastObserved, Observed, ReadMode
from jensen.support.machine import pooled_array
from jensen.support.row_records import ChainTables

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class ForwardPass(NamedTuple):
    """A block, after the pass forwards."""

    like: Array  # (n, K): afterwards messages to the step before
    alpha: Array  # (n, K): p(h_t | x_1..t) up to a factor
    scale: Array  # (n,): what alpha was divided by
    log_z: Array  # (m,): -inf where this space has no answer


class ChainRows:
    """Some rows as the states see them."""

    def __init__(self, observed: Observed, start: int, stop: int, how: ReadMode) -> None:
        self.observed = observed
        self.start = start
        self.stop = stop
        self.how = how

    @cached_property
    def log_like(self) -> Array:
        """(K, n)."""
        return self.observed.log_like(self.start, self.stop, self.how)

    def fill_scaled(self, like: Array, shift: Array) -> None:
        """Fill like (n, K) and shift (n,): the likelihoods are like · exp(shift)."""
        from jensen.kernels.log_tables import scale_rows

        quick = self.observed  # rows may be few different ones
        if isinstance(quick, FastObserved) and quick.fill_scaled(
            self.start, self.stop, like, shift
        ):
            return
        scale_rows(np.ascontiguousarray(self.log_like), like, shift)


class SumWorkspace:
    """Arrays that all blocks use in turn."""

    def __init__(self) -> None:
        self.known: dict[str, Array] = {}

    def array(self, name: str, *shape: int) -> Array:
        """Of any content."""
        size = math.prod(shape)
        if name not in self.known or self.known[name].size < size:
            self.known[name] = pooled_array(size)
        return self.known[name][:size].reshape(shape)

    def work(self, rows: ChainRows, n_states: int, spans: Ints) -> ForwardPass:
        """For the pass forwards."""
        n = rows.stop - rows.start
        like, alpha = self.array("like", n, n_states), self.array("alpha", n, n_states)
        return ForwardPass(like, alpha, self.array("scale", n), np.zeros(len(spans)))

    def nodes(self, work: ForwardPass) -> Array:
        """(K, n), of zeros."""
        n, n_states = work.alpha.shape
        nodes = self.array("nodes", n_states, n)
        nodes[:] = 0.0
        return nodes


class Scaled(NamedTuple):
    """Linear space, scaled."""

    first: Array  # (K,)
    trans: Array  # (K, K)
    last: Array  # (K,)
    wide: Array  # (K, at least 8): the transitions
    wide_t: Array  # (K, at least 8): and transposed
    room: SumWorkspace

    @classmethod
    def of(cls, chain: Chain) -> Scaled:
        """The tables of a chain."""
        trans = np.exp(chain.log_trans)
        tables = _widened(trans), _widened(trans.T)
        return cls(np.exp(chain.log_init), trans, np.exp(chain.log_end), *tables, SumWorkspace())

    @property
    def tables(self) -> ChainTables:
        """What kernels read of it."""
        return ChainTables(self.first, self.wide, self.wide_t, self.last)

    @property
    def is_sound_forwards(self) -> bool:
        """Whether all steps lead everywhere: then what underflows is outweighed at the next."""
        return bool(self.trans.min() >= 1e-100)

    def forward(self, first: Array, rows: ChainRows, spans: Ints) -> ForwardPass:
        """Filter the sequences of a block."""
        from jensen.kernels.chains import filter_scaled

        work = self.room.work(rows, len(first), spans)
        shift = self.room.array("shift", len(work.alpha))
        rows.fill_scaled(work.like, shift)
        filter_scaled(first, self.wide, spans, work.like, shift, *work[1:])
        return work

    def enter(self, work: ForwardPass) -> Array:
        """What goes into the next block."""
        into: Array = (work.alpha[-1][:, None] * self.trans).sum(0)
        return into

    def backward(
        self, last: Array, spans: Ints, weight: Array, work: ForwardPass
    ) -> tuple[Array, Array]:
        """Nodes (K, n) and pairs (K, K) of the sequences of a block, by weight."""
        from jensen.kernels.chains import smooth_scaled

        nodes, pairs = self.room.nodes(work), np.zeros(self.trans.shape)
        fine = work.log_z > -np.inf
        log_z = work.log_z[fine]
        with np.errstate(all="ignore"):  # what overflows has log Z = -inf
            smooth_scaled(
                last, self.wide_t, spans[fine], weight[fine], work.scale, work.alpha, work.like,
                nodes, pairs, log_z,
            )  # fmt: skip
        work.log_z[fine] = log_z
        return nodes, pairs * self.trans

    def leave(self, work: ForwardPass) -> Array:
        """The message of a block to the one before it."""
        message: Array = work.like[0].copy()
        return message

    def meet(self, message: Array) -> Array:
        """What comes into a block at its last step."""
        last: Array = (self.trans * message).sum(1)
        return last

    def pairs(self, alpha: Array, messages: Array) -> Array:
        """(n, K, K): q(h_t, h_t+1), from alpha at t and the messages of t + 1."""
        return _normalised(alpha[:, :, None] * self.trans * messages[:, None, :])

    def states(self, alpha: Array) -> Array:
        """Probabilities."""
        p: Array = alpha / alpha.sum(1, keepdims=True)
        return p

    def close(self, spans: Ints, work: ForwardPass) -> None:
        """Add to log Z how the sequences end."""
        from jensen.kernels.chains import TINY

        ends = (work.alpha[spans[:, 1] - 1] * self.last).sum(1)
        work.log_z[:] += np.log(ends, out=np.full(len(ends), -np.inf), where=ends >= TINY)

    def choose(self, spans: Ints, work: ForwardPass, uniforms: Array, after: Ints) -> Ints:
        """Paths (n, rows), drawn."""
        from jensen.kernels.chains import draw_scaled

        path = np.zeros((len(after), len(work.alpha)), np.int64)
        fine = spans[work.log_z > -np.inf]
        draw_scaled(self.last, self.wide_t, fine, work.alpha, uniforms, after, path)
        return path


class Logs(NamedTuple):
    """Log space: slower; what is -inf is impossible."""

    first: Array  # (K,)
    trans: Array  # (K, K)
    last: Array  # (K,)
    trans_t: Array  # (K, K)
    room: SumWorkspace

    @classmethod
    def of(cls, chain: Chain) -> Logs:
        """The tables of a chain."""
        trans_t = chain.log_trans.T.copy()
        return cls(chain.log_init, chain.log_trans, chain.log_end, trans_t, SumWorkspace())

    @property
    def is_sound_forwards(self) -> bool:
        """Nothing underflows here."""
        return True

    def forward(self, first: Array, rows: ChainRows, spans: Ints) -> ForwardPass:
        """Filter the sequences of a block."""
        from jensen.kernels.chains_log import filter_logs

        work = self.room.work(rows, len(first), spans)
        work.like[:] = rows.log_like.T
        filter_logs(first, self.trans_t, spans, *work)
        return work

    def enter(self, work: ForwardPass) -> Array:
        """What goes into the next block."""
        return log_sums(work.alpha[-1] + self.trans_t)

    def backward(
        self, last: Array, spans: Ints, weight: Array, work: ForwardPass
    ) -> tuple[Array, Array]:
        """Nodes (K, n) and pairs (K, K) of the sequences of a block, by weight."""
        from jensen.kernels.chains_log import smooth_logs

        nodes, pairs = self.room.nodes(work), np.zeros(self.trans.shape)
        fine = work.log_z > -np.inf
        log_z = work.log_z[fine]
        smooth_logs(
            last, self.trans, spans[fine], weight[fine], work.alpha, work.like, nodes, pairs, log_z
        )
        work.log_z[fine] = log_z
        return nodes, pairs

    def leave(self, work: ForwardPass) -> Array:
        """The message of a block to the one before it."""
        message: Array = work.like[0] - work.scale[0]
        return message

    def meet(self, message: Array) -> Array:
        """What comes into a block at its last step."""
        return log_sums(self.trans + message)

    def pairs(self, alpha: Array, messages: Array) -> Array:
        """(n, K, K): q(h_t, h_t+1), from alpha at t and the messages of t + 1."""
        return _exponential(alpha[:, :, None] + self.trans + messages[:, None, :])

    def states(self, alpha: Array) -> Array:
        """Probabilities."""
        p: Array = np.exp(alpha)
        return p

    def close(self, spans: Ints, work: ForwardPass) -> None:
        """Add to log Z how the sequences end."""
        work.log_z[:] += log_sums(work.alpha[spans[:, 1] - 1] + self.last)

    def choose(self, spans: Ints, work: ForwardPass, uniforms: Array, after: Ints) -> Ints:
        """Paths (n, rows), drawn; the best without uniforms."""
        from jensen.kernels.chains_log import choose_logs

        path = np.zeros((len(after), len(work.alpha)), np.int64)
        fine = spans[work.log_z > -np.inf]
        choose_logs(self.last, self.trans_t, fine, work.alpha, uniforms, after, path)
        return path


class Best(Logs):
    """Maxima in place of sums."""

    def forward(self, first: Array, rows: ChainRows, spans: Ints) -> ForwardPass:
        """The best path to every state."""
        from jensen.kernels.chains_log import filter_best

        work = self.room.work(rows, len(first), spans)
        work.like[:] = rows.log_like.T
        filter_best(first, self.trans, spans, work.like, work.alpha, work.log_z)
        return work

    def enter(self, work: ForwardPass) -> Array:
        """What goes into the next block; its level does not matter, so it stays near 0."""
        before = work.alpha[-1]
        into: Array = (before - before.max() + self.trans_t).max(1)
        return into


def log_sums(logs: Array) -> Array:
    """Log Σ exp over the last axis."""
    top = logs.max(-1, keepdims=True)
    top[top == -np.inf] = 0.0
    with np.errstate(divide="ignore"):
        sums: Array = np.log(np.exp(logs - top).sum(-1)) + top[..., 0]
    return sums


def _widened(table: Array) -> Array:
    """With columns of zeros up to the eight that kernels read at once."""
    wide = np.zeros((len(table), max(8, len(table))))
    wide[:, : len(table)] = table
    return wide


def _normalised(pairs: Array) -> Array:
    normal: Array = pairs / pairs.sum((-2, -1), keepdims=True)
    return normal


def _exponential(logs: Array) -> Array:
    return _normalised(np.exp(logs - logs.max((-2, -1), keepdims=True)))
