"""Records about graphs that were learned: `graph.info` after a search, or of a posterior."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class SearchOutcome(NamedTuple):
    """The result of a method, before it becomes a graph with names.

    `gap`, where it is known: how much higher another graph may score. `n_tried`: moves whose gain
    was compared.
    """

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
        The method and the score that were chosen.
    score
        The score of the graph, as `jensen.score` gives it with the same `prior`: the log prior of
        the graph (up to a constant that is the same for all graphs) is part of it.
    trace
        The score at the start and after every move, restarts included. Turns that change nothing
        are moves too, so the trace may fall by rounding; it also falls where hill climbing starts
        again.
    n_moves, n_tried, n_scored
        The number of moves that were made, of moves whose gain was compared (None if the method
        makes no moves), and of families that were scored.
    proven
        Whether no other graph that the constraints allow scores higher.
    interrupted
        Whether the search was stopped before its end.
    gap
        For "exact" and trees: how much higher another graph may score; 0 if it is proven that none
        does, infinite if time ran out before any bound was known.
    seconds
        Wall-clock time of the search.
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


@dataclass(frozen=True)
class GraphInfo:
    """How good a graph of a posterior is.

    Attributes
    ----------
    method, score_name
        The method and the score that were chosen.
    score
        The score of the graph, as `jensen.score` gives it; nan if the posterior has no data.
    log_weight
        The score plus the log prior, up to the constant of the prior.
    probability
        The posterior probability of this graph: exact if `proven`, else its share of the samples.
    proven
        Whether no other graph is more probable.
    """

    method: str
    score_name: str
    score: float
    log_weight: float
    probability: float
    proven: bool
