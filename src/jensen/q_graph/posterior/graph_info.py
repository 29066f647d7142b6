"""What the best graph of a posterior tells of itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GraphInfo:
    """How good a graph of a posterior is.

    Attributes
    ----------
    method, score_name
        As they were chosen.
    score
        As `jensen.score` has it; nan if the data are not at hand.
    log_weight
        The score plus the log prior, up to its constant.
    probability
        Of this graph: exact if it is proven, else as the samples have it.
    proven
        Whether no other graph is more probable.
    """

    method: str
    score_name: str
    score: float
    log_weight: float
    probability: float
    proven: bool
