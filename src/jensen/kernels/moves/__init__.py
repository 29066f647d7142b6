"""Moves of chains over orders, partitions and graphs; compiled into the chains.

A move of an order is a function `propose_...(rng, order, proposal)`: it changes `proposal`, a copy
of the order, and returns the first and the last position that differ. A move of a partition also
takes and returns the number of parts, and returns log q(back) - log q(forth). A move of a graph is
a function `step_...(rng, graph, weights, room)`: it proposes and decides, and returns whether the
graph was changed. The lists below say which moves a chain draws; the chains in
`jensen.kernels` call, count and name the moves that are listed there.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from jensen.kernels import bare_part
from jensen.kernels.moves import edges, orders, partitions


class Move(NamedTuple):
    """One move of a chain."""

    name: str  # as people read it
    function: Callable[..., Any]
    share: float = 0.0  # of the moves that are drawn; 0 if a cycle has turns for this move alone


REVERSAL = Move("edge reversal", edges.step_reversal)

ORDER_MOVES = (
    Move("swap neighbours", orders.propose_neighbours, 0.5),
    Move("swap", orders.propose_swap, 0.2),
    Move("shift", orders.propose_shift, 0.3),
)

PARTITION_MOVES = (
    Move("split or join", partitions.propose_join, 0.4),
    Move("shift", partitions.propose_shift, 0.4),
    Move("swap", partitions.propose_swap, 0.2),
    REVERSAL,
)

STRUCTURE_MOVES = (
    Move("add or drop", edges.step_toggle, 0.6),
    Move("turn", edges.step_turn, 0.4),
    REVERSAL,
)


def draw_one_of(moves):
    """Declare a part (u, ...) that calls one move with the arguments after u, uniform in 0 .. 1.

    It returns the number of the move in the list, and what the move returned.
    """
    drawn = [(k, move.function) for k, move in enumerate(moves) if move.share > 0.0]
    bounds = list(accumulate(move.share for move in moves if move.share > 0.0))
    found = _last(*drawn.pop())
    for (k, function), bound in zip(drawn[::-1], bounds[-2::-1], strict=True):
        found = _before(k, function, bound, found)
    return found


def _last(k, function):
    number = np.int64(k)

    @bare_part
    def call(u, *arguments):
        return number, function(*arguments)

    return call


def _before(k, function, bound, others):
    number = np.int64(k)

    @bare_part
    def call(u, *arguments):
        if u < bound:
            return number, function(*arguments)
        return others(u, *arguments)

    return call
