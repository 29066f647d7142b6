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


@dataclass(frozen=True)
class StructureInfo:
    """How a graph was found, and how good it is."""

    method: str
    score_name: str
    score: float
    """Of the graph, as `jensen.score` has it."""
    trace: NDArray[np.float64] = field(repr=False)
    """The score at the start and after every move, restarts included."""
    n_scored: int
    """How many families were scored."""
    proven: bool
    """Whether no other graph that the constraints allow scores higher."""
    interrupted: bool
    """Whether the search was stopped before its end."""
    seconds: float

    @property
    def n_moves(self) -> int:
        """How many moves were made."""
        return len(self.trace) - 1
