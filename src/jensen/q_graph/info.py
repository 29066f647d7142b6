"""What a learner of structures tells about its graph."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Outcome(NamedTuple):
    """What a method found."""

    joined: NDArray[np.bool_]  # (n, n), [parent, child]
    score: float
    trace: NDArray[np.float64]
    n_scored: int
    proven: bool
    interrupted: bool = False
    gap: float | None = None
    n_tried: int | None = None


@dataclass(frozen=True, eq=False)
class StructureInfo:
    """How a graph was found, and how good it is.

    Attributes
    ----------
    method, score_name
        As they were chosen.
    score
        Of the graph, as `jensen.score` has it with the same `prior`: the log prior of the graph
        (up to a constant that is the same for all graphs) is part of it.
    trace
        The score at the start and after every move, restarts included. Edges that are turned for
        nothing are moves too, so it may fall by a rounding; and it falls where hill climbing
        begins again.
    n_moves, n_tried, n_scored
        How many moves were made, how many were looked at (None where there are none), and how many
        families were scored to choose them.
    proven
        Whether no other graph that the constraints allow scores higher.
    interrupted
        Whether the search was stopped before its end.
    gap
        Of "exact" and trees: how much higher another may score; 0 if it is proven that none does,
        infinite if time was over before anything was known.
    seconds
        How long it took.
    """

    method: str
    score_name: str
    score: float
    trace: NDArray[np.float64] = field(repr=False)
    n_scored: int
    proven: bool
    interrupted: bool
    gap: float | None
    n_tried: int | None
    seconds: float

    @property
    def n_moves(self) -> int:
        """How many moves were made."""
        return len(self.trace) - 1
