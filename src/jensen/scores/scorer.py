"""Local scores of one table, variable by variable: all that a search over graphs asks of data."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Scorer(Protocol):
    """Scores of families; a variable is its position among the sorted names."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    @property
    def is_set_function(self) -> bool:
        """Whether score(x, parents) = L(parents + x) - L(parents) for one function L of sets."""

    @property
    def total_weight(self) -> float:
        """The weight of all rows: how large scores, and so their rounding, may be."""

    @property
    def offsets(self) -> Array:
        """(n,): what is to be added to every score of each variable, whatever its parents.

        It is 0 but for `jensen.scores.gaussian_scorer.unitless`, whose scores leave out the units
        of the columns.
        """

    @property
    def isolated(self) -> frozenset[int]:
        """Variables that stand alone in every graph: constant columns of numbers."""

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without the first parent, without the second, ..."""

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        What stands at the child and at its parents means nothing.
        """


class Unitless:
    """What holds for every scorer of columns without units."""

    names: tuple[str, ...]

    @property
    def offsets(self) -> Array:
        """(n,): nothing is to be added."""
        return np.zeros(len(self.names))

    @property
    def isolated(self) -> frozenset[int]:
        """None: a constant column of states scores the same with and without an edge."""
        return frozenset()


def total(scorer: Scorer, parents: Sequence[Sequence[int]]) -> float:
    """The score of the graph with these parents of each variable."""
    terms = [scorer.family(v, above) for v, above in enumerate(parents)]
    return math.fsum([*terms, *scorer.offsets])
