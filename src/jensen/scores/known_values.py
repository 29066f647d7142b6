"""Tables that are refused for what is not known in them."""

from collections.abc import Sequence

from jensen.data import RowSource
from jensen.data.counting import WayOut, require_complete
from jensen.exceptions import DataError


def require_rows(table: RowSource) -> None:
    """Refuse a table without rows, by which all graphs would be alike."""
    if table.total_weight == 0.0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")


def require_values(table: RowSource, names: Sequence[str], task: str, way_out: WayOut) -> None:
    """Refuse missing values; of a column without any, no way out but to leave it out is told."""
    counted = table.counted()
    absent = counted.n_missing(names)
    for name, n_missing in absent.items():
        if n_missing == counted.n_rows:
            raise DataError(f"column {name!r} has no value at all: leave it out")
    if absent:
        require_complete(counted, list(absent), task, way_out)


def refuse_stateless(table: RowSource, names: Sequence[str]) -> None:
    """Refuse columns that no value, and nobody, says the kind of."""
    for name in names:
        variable = table.variable(name)
        if variable.kind != "categorical" or variable.states:
            continue
        raise DataError(f"column {name!r} has no value at all: leave it out")
