"""Records about graphs that were learned: `graph.info` after a search, or of a posterior."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
    notes
        What to know when the graph is read: of labels and numbers together, that arrows from labels
        to numbers are a convention; that whole numbers were taken as numbers.
    cuts
        The cut points of columns that were made labels (`discretize=`), by their names.
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
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict, kw_only=True)

    @property
    def n_moves(self) -> int:
        """How many moves were made."""
        return len(self.trace) - 1


@dataclass(frozen=True, eq=False)
class StructuralInfo(StructureInfo):
    """How structural EM found a graph in incomplete rows.

    `score` is J: the log-likelihood of what was observed less the penalty (bic, aic), or a lower
    bound of log p(observed | graph) (bdeu, k2, bge), with the log prior of the graph; `is_bound`
    says which. `trace` is J after every sweep and every change of the graph of the climb that found
    the graph, and then where the last fit of its parameters, which may begin anew, is higher.

    Attributes
    ----------
    completion
        "exact", "map", "draw" or "mode": how rows were completed for the searches.
    ascends
        Whether J can only rise: with "exact" alone.
    statistics
        What the searches read: "exact", or "drawn to search, exact to decide" where draws were
        chosen or a row has too many completions; "completed at modes to search, exact to decide"
        where that was chosen. Searches leave out completions below a probability of 1e-6; J, which
        decides, leaves out none.
    is_bound
        Whether `score` bounds log p(observed, graph) from below.
    starts
        J at the end of every climb, by where it began.
    expected
        Expected statistics of the families of the graph, smoothed, from which its parameters can be
        fitted again.
    """

    completion: str
    ascends: bool
    statistics: str
    is_bound: bool
    starts: Mapping[str, float]
    expected: Any = field(default=None, repr=False)


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
