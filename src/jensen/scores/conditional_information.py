"""Mutual informations of categorical columns given another one."""

import math
from collections.abc import Sequence

import numpy as np

from jensen.data import Table
from jensen.data.counting import require_states
from jensen.scores.categorical_information import Array, CategoricalInformation, Mask


class ConditionalInformation:
    """I(x; y | given) of every pair of categorical columns: a mean over the states of `given`.

    Every state has its own rows, and an equal part of the imagined ones.
    """

    def __init__(
        self, table: Table, names: Sequence[str], given: str, sample_size: float = 0.0
    ) -> None:
        self.names = tuple(names)
        self.total = table.total_weight + sample_size
        variable, codes = require_states(table, given), table.column(given).data
        parts = [
            CategoricalInformation(
                table.take(codes == state), self.names, sample_size / variable.n_states
            )
            for state in range(variable.n_states)
        ]
        self._parts = [(part.total / self.total, part) for part in parts if part.total > 0.0]

    @property
    def entropy(self) -> float:
        """Of `given` itself."""
        return -sum(share * math.log(share) for share, _ in self._parts)

    def entropies(self) -> Array:
        """(n,): of each column, given `given`."""
        zero = np.zeros(len(self.names))
        return sum((share * part.entropies() for share, part in self._parts), zero)

    def matrix(self) -> Array:
        """(n, n); the entropies given `given` on the diagonal."""
        n = len(self.names)
        return sum((share * part.matrix() for share, part in self._parts), np.zeros((n, n)))

    def row(self, k: int, wanted: Mask) -> Array:
        """(n,): for the columns that are wanted; the others hold nothing of use."""
        zero = np.zeros(len(self.names))
        return sum((share * part.row(k, wanted) for share, part in self._parts), zero)
