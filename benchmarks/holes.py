"""Cells go missing: one in so many, whatever they hold."""

from typing import Any

import numpy as np

HOLE = "?"
"""Stands for a missing cell in the files; pyAgrum's own sign."""

SEED = 1977


def punch(table: Any, share: float) -> Any:
    """The same rows, every cell missing with this probability."""
    from jensen import Table, Variable
    from jensen.data.encode import Column

    rng = np.random.default_rng(SEED)
    columns = []
    for name in table.names:
        column, lost = table.column(name), rng.random(table.n_rows) < share
        states = (*column.variable.states, HOLE)
        codes = np.where(lost, column.data.dtype.type(len(states) - 1), column.data)
        columns.append(Column(Variable(name, "categorical", states), codes))
    return Table.from_columns(columns)
