"""The lists of moves: those that a chain draws and counts, and the names of the counts."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jensen.kernels.moves import (
    edge_reversal,
    edge_toggle,
    edge_turn,
    order_neighbours,
    order_shift,
    order_swap,
    partition_join,
    partition_shift,
    partition_swap,
)


class Move(NamedTuple):
    """One move of a chain."""

    name: str  # as people read it
    function: Callable[..., Any]
    share: float = 0.0  # of the moves that are drawn; 0 if a cycle has turns for this move alone


REVERSAL = Move("edge reversal", edge_reversal.step)

ORDER_MOVES = (
    Move("swap neighbours", order_neighbours.propose, 0.5),
    Move("swap", order_swap.propose, 0.2),
    Move("shift", order_shift.propose, 0.3),
)

PARTITION_MOVES = (
    Move("split or join", partition_join.propose, 0.4),
    Move("shift", partition_shift.propose, 0.4),
    Move("swap", partition_swap.propose, 0.2),
    REVERSAL,
)

STRUCTURE_MOVES = (
    Move("add or drop", edge_toggle.step, 0.6),
    Move("turn", edge_turn.step, 0.4),
    REVERSAL,
)
