"""Weighted mini-buckets: bounds of log Z from above and below, as tight as memory allows.

Variables are summed out one after the other. Where the factors of one are too many for a table,
they are split, and each part is summed with an exponent of its own: by Hölder's inequality the
product of the parts' power sums bounds the sum of the product from above if all weights are
positive and sum to one, from below if one alone is positive. Shifts between the parts, of terms of
all variables that they have in common, and the weights are optimised; every iterate is a bound.
With one part everywhere both are exact.

References
----------
Liu and Ihler (2011), *Bounding the partition function using Hölder's inequality*, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import inf, prod
from operator import mul
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from jensen.graphs.elimination import best_order
from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.support.arguments import check_whole
from jensen.support.factor_records import FROM_FACTOR, FROM_MESSAGE, FROM_SHIFT, BucketPlan
from jensen.support.machine import check_memory, get_memory_limit, one_blas_thread

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

ITERATIONS = 50
MOST_ENTRIES = 1 << 22
"""Entries of all tables up to which the i-bound grows by itself; each iteration takes them all."""
BYTES = 24
"""Of an entry: its log, its share, and half a message."""
MOST_SHIFT = 300.0
MOST_LOG_WEIGHTS = (-6.0, 3.0)


class Buckets(NamedTuple):
    """How the factors are split: the plan, and which mini-buckets share a variable."""

    plan: BucketPlan
    groups: tuple[tuple[int, ...], ...]  # mini-buckets of each variable that has several
    i_bound: int  # variables of the largest message
    n_bytes: int

    @property
    def is_exact(self) -> bool:
        """Whether no variable was split."""
        return not self.groups


class BucketBound(NamedTuple):
    """A bound of log Z."""

    value: float
    is_exact: bool
    i_bound: int
    iterations: int
    converged: bool  # whether the optimisation of shifts and weights came to its end


class _Source(NamedTuple):
    """A table of a factor, the message of a mini-bucket, or a shift."""

    origin: int
    scope: tuple[int, ...]
    steps: tuple[int, ...]
    at: int


def split(
    factors: FactorList, i_bound: int | None = None, order: Sequence[int] | None = None
) -> Buckets:
    """Split the factors so that messages have at most `i_bound` variables.

    Without a bound the largest is taken whose tables fit in memory and have `MOST_ENTRIES` entries
    together; a variable whose own factor is larger has a table of the size of that factor. The
    order in which variables are summed out is searched for, unless it is given.
    """
    order = elimination_order(factors) if order is None else order
    if i_bound is not None:
        check_whole("i_bound", i_bound, at_least=1)
        found = _plan(factors, order, i_bound)
        check_memory(
            float(found.n_bytes), f"mini-buckets at i-bound {i_bound}", "take a smaller i-bound"
        )
        return found
    best = _plan(factors, order, 1)
    check_memory(float(best.n_bytes), "mini-buckets at i-bound 1", "give more evidence")
    bound = 2
    while not best.is_exact:
        found = _plan(factors, order, bound)
        if found.n_bytes > min(get_memory_limit(), BYTES * MOST_ENTRIES):
            break
        best, bound = found, bound + 1
    return best


def bucket_bound(
    factors: FactorList,
    buckets: Buckets,
    side: Literal["upper", "lower"],
    iterations: int = ITERATIONS,
) -> BucketBound:
    """The best bound of so many iterations, from above or below.

    From below it is -inf where a factor is 0 in a part of negative weight.
    """
    ask = _Objective(factors, buckets, side)
    start = ask.start()
    value, _ = ask(start)
    converged = buckets.is_exact
    if not converged and np.isfinite(value) and iterations:
        with one_blas_thread():  # the vectors are short
            found = minimize(
                *(ask, start),
                jac=True,
                method="L-BFGS-B",
                bounds=ask.limits(),
                options={"maxiter": iterations},
            )
        converged = bool(found.success)
    return BucketBound(
        factors.constant + ask.best, buckets.is_exact, buckets.i_bound, ask.n_asked, converged
    )


class _Objective:
    """The bound, and its slope, as a function of free shifts and weights; lower is better."""

    def __init__(self, factors: FactorList, buckets: Buckets, side: str) -> None:
        self.tables, self.plan, self.groups = factors.log_tables, buckets.plan, buckets.groups
        self.sign = 1.0 if side == "upper" else -1.0
        self.best, self.n_asked = self.sign * inf, 0
        n = len(self.plan.card)
        self.shift_at = self.plan.shift_at
        self.shift = np.zeros(int(self.plan.shift_at[-1]))
        self.weight = np.ones(n)
        self.table = np.empty(int(self.plan.table_at[-1]))
        self.message = np.empty(int(self.plan.message_at[-1]))
        self.n_shifts = len(self.shift)

    def start(self) -> Array:
        """No shifts; equal weights above, half of one below for each part but the first."""
        n_weights = sum(map(len, self.groups))
        first = np.zeros(n_weights) if self.sign > 0 else np.full(n_weights, np.log(0.5))
        return np.concatenate([np.zeros(self.n_shifts), first])

    def limits(self) -> list[tuple[float, float]]:
        """Where shifts and weights stay, so that rounding does not matter."""
        n_weights = sum(map(len, self.groups))
        return [(-MOST_SHIFT, MOST_SHIFT)] * self.n_shifts + [MOST_LOG_WEIGHTS] * n_weights

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Sign · bound and its slope."""
        from jensen.kernels.mini_buckets import send_back, send_forward

        self._read(x)
        value = send_forward(
            self.plan, self.tables, self.shift, self.weight, self.table, self.message
        )
        self.n_asked += 1
        if not np.isnan(value):
            self.best = min(self.best, value) if self.sign > 0 else max(self.best, value)
        if not np.isfinite(value):
            return (inf, np.zeros(len(x)))
        shift_slope, weight_slope = np.zeros(len(self.shift)), np.empty(len(self.weight))
        share = np.zeros(len(self.message))
        send_back(
            self.plan, self.weight, self.table, self.message, share, shift_slope, weight_slope
        )
        return self.sign * value, self.sign * self._slope(x, shift_slope, weight_slope)

    def _read(self, x: Array) -> None:
        weight_at = self.n_shifts
        for group in self.groups:
            n = len(group)
            own = x[self._shifts_of(group)].reshape(n, -1)
            self.shift[self._shifts_of(group)] = (own - own.mean(0)).ravel()
            self.weight[list(group)] = self._weights(x[weight_at : weight_at + n])
            weight_at += n

    def _shifts_of(self, group: tuple[int, ...]) -> slice:
        """The shifts of the mini-buckets of a variable, which stand one after the other."""
        return slice(int(self.shift_at[group[0]]), int(self.shift_at[group[-1] + 1]))

    def _weights(self, free: Array) -> Array:
        if self.sign > 0:
            shares = np.exp(free - free.max())
            return np.asarray(shares / shares.sum())
        found = -np.exp(free)
        found[0] = 1.0 - found[1:].sum()
        return found

    def _slope(self, x: Array, shift_slope: Array, weight_slope: Array) -> Array:
        found, weight_at = np.empty(len(x)), self.n_shifts
        for group in self.groups:
            n = len(group)
            rows = shift_slope[self._shifts_of(group)].reshape(n, -1)
            found[self._shifts_of(group)] = (rows - rows.mean(0)).ravel()
            weights, slope = self.weight[list(group)], weight_slope[list(group)]
            if self.sign > 0:
                free = weights * (slope - weights @ slope)
            else:
                free = weights * (slope - slope[0])
                free[0] = 0.0
            found[weight_at : weight_at + n] = free
            weight_at += n
        return found


def elimination_order(factors: FactorList) -> list[int]:
    """An order of summing out that makes small tables."""
    n = factors.n_variables
    adjacent = np.zeros((n, n), bool)
    for scope in factors.wiring.scopes():
        adjacent[np.ix_(scope, scope)] = True
    np.fill_diagonal(adjacent, False)
    return best_order(adjacent, factors.wiring.cards).order.tolist() if n else []


def _plan(factors: FactorList, order: Sequence[int], i_bound: int) -> Buckets:
    w = factors.wiring
    cards = w.cards.tolist()
    holding: list[list[_Source]] = [[] for _ in cards]
    rank = {v: k for k, v in enumerate(order)}

    def hand_over(source: _Source) -> None:
        holding[min(source.scope, key=rank.__getitem__)].append(source)

    for f, scope in enumerate(w.scopes()):
        steps = w.fam_stride[w.fam_ptr[f] : w.fam_ptr[f + 1]].tolist()
        hand_over(_Source(FROM_FACTOR, scope, tuple(steps), int(w.fam_at[f])))
    drawn = _Draft()
    groups = []
    for v in order:
        parts = _partition(holding[v], i_bound + 1)
        common = sorted(set.intersection(*(members for members, _ in parts)) - {v}) if parts else []
        own = []
        for members, sources in parts or [({v}, [])]:
            axes = (*sorted(u for u in members if u != v), v)
            own.append(len(drawn.card))
            shared = (*common, v) if len(parts) > 1 else ()
            message = drawn.add(axes, [cards[u] for u in axes], sources, shared)
            if message.scope:
                hand_over(message)
        if len(parts) > 1:
            groups.append(tuple(own))
    plan = drawn.finish()
    n_bytes = BYTES * int(plan.table_at[-1])
    widest = int(np.diff(plan.axis_at).max(initial=1)) - 1
    return Buckets(plan, tuple(groups), widest, n_bytes)


def _partition(sources: list[_Source], most: int) -> list[tuple[set[int], list[_Source]]]:
    """Sources in as few parts as a greedy rule finds, each of at most so many variables."""
    parts: list[tuple[set[int], list[_Source]]] = []
    for source in sorted(sources, key=lambda s: -len(s.scope)):
        fitting = [p for p in parts if len(p[0] | set(source.scope)) <= most]
        if fitting:
            best = min(fitting, key=lambda p: len(set(source.scope) - p[0]))
            best[0].update(source.scope)
            best[1].append(source)
        else:
            parts.append((set(source.scope), [source]))
    return parts


class _Draft:
    """A plan that grows."""

    def __init__(self) -> None:
        self.card: list[int] = []
        self.axis_card: list[int] = []
        self.origin: list[int] = []
        self.source: list[int] = []
        self.step_at: list[int] = []
        self.step: list[int] = []
        self.ends: list[tuple[int, int, int, int, int]] = [(0, 0, 0, 0, 0)]

    def add(
        self,
        axes: tuple[int, ...],
        cards: list[int],
        sources: list[_Source],
        shared: tuple[int, ...],
    ) -> _Source:
        """Add a mini-bucket with these axes, which shares some with others; its message."""
        table_at, message_at, axis_at, source_at, shift_at = self.ends[-1]
        shared_cards = [cards[axes.index(u)] for u in shared]
        if shared:
            shift = _Source(FROM_SHIFT, shared, _steps(shared_cards), shift_at)
            sources = [*sources, shift]
        for source in sources:
            self.origin.append(source.origin)
            step = dict(zip(source.scope, source.steps, strict=True))
            self.source.append(source.at)
            self.step_at.append(len(self.step))
            self.step.extend(step.get(u, 0) for u in axes)
        self.card.append(cards[-1])
        self.axis_card.extend(cards)
        n_message = prod(cards[:-1])
        self.ends.append(
            (
                table_at + n_message * cards[-1],
                message_at + n_message,
                axis_at + len(axes),
                source_at + len(sources),
                shift_at + (prod(shared_cards) if shared else 0),
            )
        )
        return _Source(FROM_MESSAGE, axes[:-1], _steps(cards[:-1]), message_at)

    def finish(self) -> BucketPlan:
        """The plan as arrays."""
        table_at, message_at, axis_at, source_at, shift_at = (
            np.array(column, np.int64) for column in zip(*self.ends, strict=True)
        )
        card, axis_card, origin, source, step_at, step = (
            np.array(found, np.int64)
            for found in (
                *(self.card, self.axis_card, self.origin),
                *(self.source, self.step_at, self.step),
            )
        )
        digit = np.empty(len(axis_card), np.int64)
        return BucketPlan(
            *(card, table_at, message_at, axis_at, axis_card, source_at),
            *(origin, source, step_at, step, digit, shift_at),
        )


def _steps(cards: Sequence[int]) -> tuple[int, ...]:
    """Steps of the axes of a table in which the last one runs fastest."""
    return tuple(accumulate(cards[:0:-1], mul, initial=1))[::-1] if cards else ()
