"""Loopy belief propagation: fixed points of the Bethe free energy, from several starts.

On a tree the answer is exact. With loops the Bethe value is an estimate of log Z and no bound;
there may be several fixed points, and none may be reached.

References
----------
Yedidia, Freeman and Weiss (2005), *Constructing free-energy approximations and generalized belief
propagation algorithms*, equations 27 and 36. Sutton and McCallum (2007), *Improved dynamic
schedules for belief propagation*, section 3.1: residuals bounded by how far the messages to a
factor moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.support.factor_records import Messages, make_messages
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Schedule = Literal["sweeps", "residual"]

TOLERANCE = 1e-9
"""Log messages that change by less have settled."""
MOST_SWEEPS = 1000
SAME = 1e-6
"""Fixed points whose marginals differ by less are one."""


class Propagation(NamedTuple):
    """How messages are sent until they settle."""

    schedule: Schedule = "residual"
    damping: float = 0.0
    seed: int | None = None  # of random first messages and a random order; None: none at all


STARTS = (
    Propagation("residual"),
    Propagation("sweeps"),
    Propagation("sweeps", 0.5),
    Propagation("residual", 0.5, seed=1),
    Propagation("sweeps", 0.5, seed=2),
)
"""The runs whose fixed points are compared."""


class FixedPoint(NamedTuple):
    """Where messages settled, or where they were when they were stopped."""

    log_z: float  # the Bethe value, an estimate
    marginals: Array  # of all states of all variables, flat
    shares: Array  # of all entries of all factors, flat
    converged: bool
    sweeps: int
    how: Propagation

    def is_same(self, other: FixedPoint) -> bool:
        """Whether both have the same marginals."""
        return bool(np.abs(self.marginals - other.marginals).max(initial=0.0) < SAME)


def loopy(
    factors: FactorList, starts: Sequence[Propagation] = STARTS, *, most_sweeps: int = MOST_SWEEPS
) -> list[FixedPoint]:
    """All different fixed points that the runs reached, those that settled first.

    Of those that settled the one with the lowest Bethe free energy (the largest value) comes first.
    """
    found: list[FixedPoint] = []
    for how in starts:
        point = propagate(factors, how, most_sweeps=most_sweeps)
        if not any(point.is_same(other) and other.converged for other in found):
            found = [other for other in found if not (point.converged and point.is_same(other))]
            found.append(point)
    return sorted(found, key=lambda point: (not point.converged, -point.log_z))


def propagate(
    factors: FactorList,
    how: Propagation = STARTS[0],
    weights: Array | None = None,
    *,
    net: Messages | None = None,
    most_sweeps: int = MOST_SWEEPS,
    tol: float = TOLERANCE,
) -> FixedPoint:
    """Send messages until they settle, or so many times.

    Parameters
    ----------
    weights
        (F,) how often each factor appears, at most 1: tree-reweighted propagation; 1 by default.
    net
        Messages to go on from; they are changed.
    """
    wiring = factors.wiring
    net = make_messages(wiring) if net is None else net
    weights = np.ones(wiring.n_families) if weights is None else weights
    order = np.arange(wiring.n_families)
    if how.seed is not None:
        rng = np.random.default_rng(how.seed)
        rng.shuffle(order)
        net.message[:] = rng.normal(0.0, 1.0, len(net.message))
        gather(wiring, net, weights)
    n_sent = _settle(factors, net, weights, order, how, most_sweeps, tol)
    return read_point(factors, net, weights, n_sent, how)


def gather(wiring: Wiring, net: Messages, weights: Array) -> None:
    """Beliefs, from the messages."""
    cards = wiring.cards[wiring.fam_vars]
    within = np.arange(len(net.message)) - np.repeat(net.slot_at[:-1], cards)
    at = np.repeat(net.state_at[wiring.fam_vars], cards) + within
    of_slot = np.repeat(weights, np.diff(wiring.fam_ptr))
    net.belief[:] = np.bincount(at, np.repeat(of_slot, cards) * net.message, len(net.belief))


def _settle(
    factors: FactorList,
    net: Messages,
    weights: Array,
    order: Ints,
    how: Propagation,
    most_sweeps: int,
    tol: float,
) -> int:
    """Run the kernel; how many sweeps it took, negative if messages did not settle."""
    from jensen.kernels import belief_propagation as kernels

    wiring, n = factors.wiring, factors.wiring.n_families
    sweep = (wiring, factors.log_tables, weights, net)
    if how.schedule == "sweeps":
        return int(kernels.propagate(*sweep, order, kernels.SUM, most_sweeps, how.damping, tol))
    first = int(kernels.propagate(*sweep, order, kernels.SUM, 1, how.damping, tol))
    if first > 0:
        return first
    several = np.diff(wiring.fam_ptr) > 1
    heap = order[several[order]]
    place = np.full(n, -1)
    place[heap] = np.arange(len(heap))
    urgency = np.zeros(n)
    urgency[heap] = 1e9  # every factor speaks once more
    n_sent: int = kernels.propagate_urgent(
        *sweep, heap, place, urgency, kernels.SUM, (most_sweeps - 1) * len(heap), how.damping, tol
    )
    sweeps = 1 + -(-abs(n_sent) // max(len(heap), 1))
    return sweeps if n_sent >= 0 else -sweeps


def read_point(
    factors: FactorList, net: Messages, weights: Array, n_sent: int, how: Propagation
) -> FixedPoint:
    """Beliefs and the (reweighted) Bethe value of messages."""
    from jensen.kernels.belief_propagation import read_factors

    wiring = factors.wiring
    shares, log_each = np.empty(len(factors.log_tables)), np.empty(wiring.n_families)
    read_factors(wiring, factors.log_tables, weights, net, shares, log_each)
    marginals, log_beliefs = softmax(net.belief, net.state_at)
    own = np.concatenate([[0.0], np.cumsum(log_beliefs[wiring.fam_vars])])
    of_members = own[wiring.fam_ptr[1:]] - own[wiring.fam_ptr[:-1]]
    log_z = factors.constant + float(log_beliefs.sum() + weights @ (log_each - of_members))
    return FixedPoint(log_z, marginals, shares, n_sent > 0, abs(n_sent), how)


def softmax(logs: Array, at: Ints) -> tuple[Array, Array]:
    """Shares of each part ``logs[at[k]:at[k + 1]]``, and the logs of the parts' sums."""
    if not len(logs):
        return logs, np.empty(0)
    sizes = np.diff(at)
    top = np.maximum.reduceat(logs, at[:-1])
    weights = np.exp(logs - np.repeat(top, sizes))
    total = np.add.reduceat(weights, at[:-1])
    return weights / np.repeat(total, sizes), top + np.log(total)
