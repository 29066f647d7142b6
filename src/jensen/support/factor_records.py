"""Records of arrays that factor lists and their kernels share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Messages(NamedTuple):
    """Messages from factors to variables, logs; `make_messages` makes them."""

    slot_at: Ints  # (slots + 1,): where the message of each member of each factor begins
    state_at: Ints  # (n + 1,): where the states of each variable begin
    message: Array  # all messages
    belief: Array  # of all states: the sum of the messages to it, by the weights of factors
    heard: Array  # like `message`: the belief that a factor heard when it spoke last, less its own
    moved: Array  # (slots,): how much a message changed when it was sent last
    told: Array  # workspace: a state each
    table: Array  # workspace: twice the entries of the largest factor


def make_messages(wiring: Wiring) -> Messages:
    """Messages that say nothing."""
    cards = wiring.cards[wiring.fam_vars]
    slot_at = np.concatenate([[0], np.cumsum(cards)])
    state_at = np.concatenate([[0], np.cumsum(wiring.cards)])
    largest = int(np.diff(wiring.fam_at).max(initial=1))
    return Messages(
        slot_at,
        state_at,
        np.zeros(int(slot_at[-1])),
        np.zeros(int(state_at[-1])),
        np.zeros(int(slot_at[-1])),
        np.zeros(len(cards)),
        np.empty(int(wiring.cards.max(initial=1))),
        np.empty(2 * largest),
    )


class PairGraph(NamedTuple):
    """Variables joined by pairs, and a mixture of rooted spanning trees.

    In a tree drawn from the mixture variable i is the root with probability ``root[i]``, and end s
    of edge e is the child of its other end with probability ``child[2 * e + s]``; for every
    variable these sum to one.
    """

    ends: Ints  # (2 E,): the two variables of each edge
    table_at: Ints  # (E + 1,): where its log table begins, the second variable fastest
    table: Array
    state_at: Ints  # (n + 1,)
    slot_at: Ints  # (2 E + 1,): where what each end hears begins
    alone: Array  # of all states: the log weights of variables alone
    root: Array  # (n,)
    child: Array  # (2 E,)


FROM_FACTOR, FROM_MESSAGE, FROM_SHIFT = range(3)
"""Where a source of a mini-bucket stands."""


class BucketPlan(NamedTuple):
    """Mini-buckets in the order in which they send, each with one variable that it sums out.

    The table of a mini-bucket has the summed variable fastest. It adds up sources: tables of
    factors, messages of earlier mini-buckets, and a shift, where there are several for a variable,
    over all that these have in common. Source k moves by ``step[step_at[k] + a]`` along the a-th
    axis of the mini-bucket, by 0 where it does not have that variable.
    """

    card: Ints  # (B,): states of the variable that is summed out
    table_at: Ints  # (B + 1,): where the table of each begins
    message_at: Ints  # (B + 1,): where its message begins; a message has SIZE / card entries
    axis_at: Ints  # (B + 1,): where its axes begin in `axis_card`
    axis_card: Ints  # the states of each axis, the summed variable last
    source_at: Ints  # (B + 1,): where its sources begin
    origin: Ints  # of each source: FROM_FACTOR, FROM_MESSAGE or FROM_SHIFT
    source: Ints  # where it begins in the tables of factors, in the messages or in the shifts
    step_at: Ints  # (sources,): where the steps of each source begin
    step: Ints
    digit: Ints  # workspace, like `axis_card`
    shift_at: Ints  # (B + 1,): where the shift of each begins
