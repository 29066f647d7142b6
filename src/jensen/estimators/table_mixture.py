"""Mixtures over tables, whose columns are known by their names and kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, as_table
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.encode import Column, smallest_code_type
from jensen.data.model_columns import UnknownLabels, nearest, read_known
from jensen.data.number_rows import NumberRows, numbers_of
from jensen.data.table_choices import check_weights
from jensen.data.variable import EXACT, Variable
from jensen.estimators.arrays import check_size
from jensen.estimators.mixture_estimator import MixtureQuestions
from jensen.exceptions import DataError
from jensen.models.emissions.registry import USUAL
from jensen.scores.table_checks import warn_of_constant_labels
from jensen.support.text import some

Array = NDArray[np.float64]


class TableMixture(MixtureQuestions):
    """A mixture over a table; its rows are read by the columns that it was fitted to."""

    variables_: tuple[Variable, ...]
    problem: Any
    reads_tables = True  # not arrays without names

    def fit(self, table: Any, y: None = None, *, checkpoint: str | Path | None = None) -> Self:
        """Learn from anything a `Table` can be built from; the weights of rows are the table's.

        Parameters
        ----------
        table
            Values may be missing anywhere.
        y
            Nothing: scikit-learn's pipelines pass it.
        checkpoint
            A file that holds the state of the run: if it is killed, the same call goes on from
            there to the identical result.
        """
        self._learn(self.problem(table), checkpoint)
        return self

    def _columns_of(self, rows: RowSource, *, counts: bool) -> NumberRows:
        """The rows as numbers; the columns are learned from them."""
        if not rows.names or rows.total_weight == 0:
            raise DataError("there is nothing to learn from: no columns, no rows, or no weight")
        warn_of_row_names(rows, counts=counts)
        warn_of_constant_labels(rows, learned="states")
        self.variables_ = tuple(rows.variable(name) for name in sorted(rows.names))
        return self._numbers(rows)

    def _numbers(self, rows: RowSource) -> NumberRows:
        """The columns of rows that count as numbers, each refused if it cannot be of its kind."""
        for table in rows.tables() if rows.is_weighted else ():
            if table.weights is not None:
                check_weights(table.weights, len(table), most=EXACT)
        names = [variable.name for variable in self.variables_]
        numbers = NumberRows.scanned(rows, names).counted()
        numbers.sum(lambda block: self._check(block.values, block.start))
        return numbers

    def _check(self, values: Array, start: int = 0) -> int:
        """Refuse numbers that no class can make."""
        names = [variable.name for variable in self.variables_]
        check_size(values, names, start)
        for i, variable in enumerate(self.variables_):
            USUAL[variable.kind].kind.check(values[:, i : i + 1], [variable.name])
        return 0

    def _read(self, X: Any, without: str | None = None) -> tuple[Array, UnknownLabels | None]:
        table, others = as_table(X), [v for v in self.variables_ if v.name != without]
        for variable in others:
            if variable.name not in table:
                other = nearest(variable.name, table.names)
                meant = f" (is it {other!r}?)" if other is not None else ""
                raise DataError(
                    f"the column {variable.name!r} is missing{meant}: this model knows "
                    f"{some(v.name for v in self.variables_)}"
                )
        rows, unknown = read_known(table, others)
        values = numbers_of(rows, [variable.name for variable in self.variables_])
        if without is not None:
            values[:, [variable.name == without for variable in self.variables_]] = np.nan
        self._check(values)
        return values, unknown

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[np.intp]]:
        """Draw rows, as a pandas dataframe, and the classes that made them."""
        values, states = super().sample(n_samples, random_state)
        columns = [_column(variable, values[:, i]) for i, variable in enumerate(self.variables_)]
        return Table.from_columns(columns).to_pandas(), states


def _column(variable: Variable, values: Array) -> Column:
    if variable.kind != "categorical":
        return Column(variable, values)
    return Column(variable, values.astype(smallest_code_type(variable.n_states)))
