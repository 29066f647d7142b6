"""Continuous columns into states, with cut points that are kept."""

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.choices import list_of_columns
from jensen.data.cuts import interval_cuts, interval_labels, mdl_cuts, quantile_cuts
from jensen.data.encode import Column
from jensen.data.recode import cut
from jensen.data.sources import column_name
from jensen.data.table import Table
from jensen.data.table_scan import as_table
from jensen.data.threads import ordered_map
from jensen.data.variable import Variable
from jensen.exceptions import DataError
from jensen.support.memory import check_many

Method = Literal["quantile", "interval", "mdl"]

RULES = {"quantile": quantile_cuts, "interval": interval_cuts}
DEFAULT_BINS = 3


def discretize(
    table: Any,
    method: Method = "quantile",
    bins: int | Mapping[str, int] | None = None,
    columns: Iterable[str] | None = None,
    target: str | None = None,
) -> Table:
    """Cut numbers into intervals, which become the states of categorical columns.

    The new variables keep their cut points, so a model of them reads raw numbers too.

    Parameters
    ----------
    table
        Anything a `Table` can be built from.
    method
        "quantile": equal frequency, as near as equal values allow. "interval": equal width.
        "mdl": the cuts that tell most about the column `target`, as many as pay for themselves.
    bins
        How many intervals ("quantile", "interval"; default 3), for all or by column. There are
        fewer where the distinct values are fewer. A column without any cut has one state, "all".
    columns
        Which columns are cut; default all continuous and count columns.
    target
        A categorical column, for "mdl" alone. Rows that miss it, or the value, choose no cut.

    Returns
    -------
    Table
        The same rows and columns in the same order. Missing stays missing.

    References
    ----------
    Fayyad and Irani (1993), *Multi-interval discretization of continuous-valued attributes for
    classification learning*.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"dose": [0.5, 1.25, None, 2.5, 7.75]})
    >>> jn.discretize(table, bins=2)
    Table: 5 rows, 1 column, 1 value missing
      dose  categorical  <= 2, > 2  1 missing
    """
    table = as_table(table)
    if method not in (*RULES, "mdl"):
        raise DataError(f"method={method!r} is none of {[*RULES, 'mdl']}")
    chosen = _chosen_columns(table, columns)
    if method == "mdl":
        if bins is not None:
            raise DataError("bins does not go with method='mdl', which finds how many there are")
        classes = _classes(table, target)
        cut_points = ordered_map(lambda name: _cut_by_class(table, name, classes), chosen)
    else:
        if target is not None:
            raise DataError(f"target does not go with method={method!r}: use method='mdl'")
        sizes, rule = _bins_by_column(bins, chosen), RULES[method]
        cut_points = ordered_map(lambda name: _cut_by_rule(table, name, rule, sizes[name]), chosen)
    return _with_cuts(table, dict(zip(chosen, cut_points, strict=True)))


class _Distinct(NamedTuple):
    """The distinct values of a column that count, how often each does, and where each row is."""

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    rows: NDArray[np.intp]
    position: NDArray[np.intp]


def _distinct(table: Table, name: str, counts: NDArray[np.bool_] | None = None) -> _Distinct:
    column = table.column(name)
    infinite = np.isinf(column.data)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"column {name!r} cannot be cut: row {row + 1} holds {column.data[row]}; make it "
            f"missing or finite"
        )
    keep = ~column.missing()
    if counts is not None:
        keep &= counts
    if table.weights is not None:
        keep &= table.weights > 0
    rows = np.flatnonzero(keep)
    values, position = np.unique(column.data[rows] + 0.0, return_inverse=True)
    weights = None if table.weights is None else table.weights[rows]
    sums = np.bincount(position, weights, len(values)).astype(np.float64)
    return _Distinct(values, sums, rows, position)


def _cut_by_rule(table: Table, name: str, rule: Any, bins: int) -> list[float]:
    data = _distinct(table, name)
    return list(rule(data.values, data.weights, bins)) if len(data.values) else []


def _cut_by_class(table: Table, name: str, classes: Column) -> list[float]:
    data = _distinct(table, name, ~classes.missing())
    n_classes = classes.variable.n_states
    cell = data.position * n_classes + classes.data[data.rows]
    weights = None if table.weights is None else table.weights[data.rows]
    counts = np.bincount(cell, weights, len(data.values) * n_classes).astype(np.float64)
    return mdl_cuts(data.values, counts.reshape(len(data.values), n_classes))


def _with_cuts(table: Table, cut_points: Mapping[str, list[float]]) -> Table:
    columns = []
    for name in table.names:
        column = table.column(name)
        if name in cut_points:
            cuts = tuple(cut_points[name])
            column = cut(column, Variable(name, "categorical", interval_labels(cuts), cuts))
        columns.append(column)
    return Table.from_columns(columns, table.weights, table.source)


def _chosen_columns(table: Table, columns: Iterable[str] | None) -> list[str]:
    if columns is None:
        return [v.name for v in table.variables if v.kind != "categorical"]
    chosen = list(dict.fromkeys(list_of_columns(columns, "columns")))
    for name in chosen:
        if table.variable(name).kind == "categorical":
            raise DataError(
                f"column {name!r} is categorical, so there is nothing to cut; if its labels are "
                f"numbers, read it as such: jn.Table(..., continuous=[{name!r}])"
            )
    return chosen


def _bins_by_column(bins: Any, chosen: list[str]) -> dict[str, int]:
    if not isinstance(bins, Mapping):
        bins = dict.fromkeys(chosen, DEFAULT_BINS if bins is None else bins)
    bins = {column_name(name): size for name, size in bins.items()}
    for name, size in bins.items():
        if name not in chosen:
            raise DataError(f"bins names {name!r}, which is none of the columns to cut: {chosen}")
        if isinstance(size, bool) or not hasattr(size, "__index__") or size < 2:
            raise DataError(f"bins of {name!r} must be a whole number, 2 or more, not {size!r}")
        check_many(index(size), 256.0, f"intervals of {name!r} (bins)", "choose fewer")
    return {name: index(bins.get(name, DEFAULT_BINS)) for name in chosen}


def _classes(table: Table, target: str | None) -> Column:
    if target is None:
        raise DataError("method='mdl' needs target=, the categorical column to tell about")
    column = table.column(target)
    if column.variable.kind != "categorical":
        raise DataError(
            f"target {target!r} is {column.variable.kind}, but must be categorical: cut it first, "
            f"or read it as such, jn.Table(..., categorical=[{target!r}])"
        )
    return column
