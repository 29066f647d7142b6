"""What scores of numbers leave out: the units of columns, and columns that are constant."""

import math
from collections.abc import Sequence

from jensen.scores.abilities import HasUnits, offered
from jensen.scores.scorer import Scorer


def unitless(scorer: Scorer) -> Scorer:
    """The same scores less the log Jacobians of units, which differ in no comparison of graphs.

    Searches and sums use it: columns times powers of two then have the same scores, to the last
    bit. `left_out` brings a score back.
    """
    able = offered(scorer, HasUnits)
    return scorer if able is None else able.unitless()


def left_out(scorer: Scorer) -> float:
    """What the score of every graph lacks in a scorer without units: their log Jacobian."""
    able = offered(scorer, HasUnits)
    return 0.0 if able is None else able.left_out()


def isolated(scorer: Scorer) -> frozenset[int]:
    """The variables that stand alone in every graph: constant columns of numbers."""
    able = offered(scorer, HasUnits)
    return frozenset() if able is None else able.isolated


def total(scorer: Scorer, parents: Sequence[Sequence[int]]) -> float:
    """The score of the graph with these parents of each variable, in the units of the columns."""
    terms = [scorer.family(v, above) for v, above in enumerate(parents)]
    return math.fsum([*terms, left_out(scorer)])
