"""Local scores of one table, variable by variable: all that a search over graphs asks of data."""

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

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without the first parent, without the second, ..."""

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        What stands at the child and at its parents means nothing.
        """
