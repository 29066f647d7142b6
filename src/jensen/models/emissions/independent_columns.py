"""Rows whose columns are independent given the state, as one kernel reads them: by their kinds.

Labels, real numbers and counts are kept apart; of each kind there may be no column. `FastColumns`
gets the statistics of all columns from one kernel.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.structures import FastObserved, StateCounts
from jensen.support.machine import pooled_array
from jensen.support.row_records import (
    ChainSums,
    ChainTables,
    ColumnRows,
    ColumnSums,
    ColumnTables,
    room_size,
)

Array = NDArray[np.float64]


class FastColumns(FastObserved, ABC):
    """Rows at one θ that know their columns by kind."""

    @abstractmethod
    def column_rows(self) -> ColumnRows:
        """The rows."""

    @abstractmethod
    def column_tables(self) -> ColumnTables:
        """θ."""

    @abstractmethod
    def gather(self, states: Array, sums: ColumnSums) -> Any:
        """Statistics as the family has them; states (K,) is how many rows each state has."""

    def expected_rows(self, log_weights: Array, weight: Array) -> tuple[Array, StateCounts]:
        """Log Z of every row and the statistics under p(state | row)."""
        from jensen.kernels.columns import learn_columns

        tables = self.column_tables()
        value, states = pooled_array(len(weight)), np.zeros(len(log_weights))
        sums = ColumnSums.zero(tables)
        learn_columns(self.column_rows(), tables, log_weights, weight, value, states, sums)
        return value, StateCounts(states, self.gather(states, sums))

    def expected_chains(
        self,
        tables: ChainTables,
        start: int,
        spans: NDArray[np.int64],
        weight: Array,
        sums: ChainSums,
    ) -> tuple[Array, Any]:
        """Log Z of sequences and the statistics of their rows."""
        from jensen.kernels.chains import learn_column_chains

        of_columns = self.column_tables()
        log_z, room = np.zeros(len(spans)), pooled_array(room_size(spans, len(sums.states)))
        found = ColumnSums.zero(of_columns)
        learn_column_chains(
            tables, spans, weight, self.column_rows(), start, of_columns, room, log_z, sums, found
        )
        return log_z, self.gather(sums.states, found)
