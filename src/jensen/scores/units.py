"""What scores of numbers leave out: the units of columns, and columns that are constant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.prior_scorer import PriorScorer
from jensen.scores.scorer import Scorer


def unitless(scorer: Scorer) -> Scorer:
    """The same scores less the log Jacobians of units, which differ in no comparison of graphs.

    Searches and sums use it: columns times powers of two then have the same scores, to the last
    bit. `left_out` brings a score back.
    """
    return replace(scorer, has_units=False) if isinstance(scorer, GaussianScorer) else scorer


def left_out(scorer: Scorer) -> float:
    """What the score of every graph lacks in a scorer without units: their log Jacobian."""
    numbers = _of_numbers(scorer)
    if numbers is None or numbers.has_units:
        return 0.0
    varying = [v for v in range(len(numbers.names)) if v not in numbers.isolated]
    unit = numbers.coordinates.unit
    return -math.fsum(numbers.weight_of(v) * math.log(unit[v]) for v in varying)


def isolated(scorer: Scorer) -> frozenset[int]:
    """The variables that stand alone in every graph: constant columns of numbers."""
    numbers = _of_numbers(scorer)
    return frozenset() if numbers is None else numbers.isolated


def _of_numbers(scorer: Scorer) -> GaussianScorer | None:
    """The scorer of numbers, if it is one; a prior of graphs may stand around it."""
    inside = scorer.data if isinstance(scorer, PriorScorer) else scorer
    return inside if isinstance(inside, GaussianScorer) else None


def total(scorer: Scorer, parents: Sequence[Sequence[int]]) -> float:
    """The score of the graph with these parents of each variable, in the units of the columns."""
    terms = [scorer.family(v, above) for v, above in enumerate(parents)]
    return math.fsum([*terms, left_out(scorer)])
