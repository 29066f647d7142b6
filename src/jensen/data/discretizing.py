"""Continuous columns cut into intervals, which become the states of categorical columns.

A rule that finds cut points sees the distinct values of a column in rising order and how often each
occurs, so a row of weight 2 is the same as two rows.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import index
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column, cut
from jensen.data.table import Table, as_table
from jensen.data.table_choices import list_of_columns
from jensen.data.variable import Variable, column_name, label_text
from jensen.exceptions import DataError
from jensen.support.machine import check_many, ordered_map

Floats = NDArray[np.float64]

TIE = 1e-12
"""Relative tolerance of ties between entropies; of equal ones the lowest cut is taken."""


def quantile_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    """Cuts nearest to equal frequency; equal values stay in one interval."""
    below, last = np.cumsum(weights), len(values) - 1
    goals = [k * below[-1] / bins for k in range(1, bins)]
    nearest = {_nearest(below[:last], goal) for goal in goals} if last else set()
    return [between(values[k], values[k + 1]) for k in sorted(nearest)]


def _nearest(rising: Floats, goal: float) -> int:
    """Position of the number nearest to the goal; the first of two that are equally near."""
    k = int(np.searchsorted(rising, goal))
    if k == len(rising) or (k > 0 and goal - rising[k - 1] <= rising[k] - goal):
        return k - 1
    return k


def interval_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    """Cuts of equal width; an inner bin may be empty."""
    low, high = float(values[0]), float(values[-1])
    shares = [k / bins for k in range(1, bins)]
    exact = [(1 - share) * low + share * high for share in shares]
    digits = -_exponent(high / bins - low / bins)
    cuts = {_rounded(cut, values, digits) for cut in exact} if high > low else set()
    return sorted(cut for cut in cuts if low <= cut < high)


def _rounded(cut: float, values: Floats, digits: int) -> float:
    """The cut rounded to six digits of the width if that divides the data alike, else to twelve."""
    clean, short = _round(cut, digits + 12), _round(cut, digits + 6)
    same = np.searchsorted(values, clean, "right") == np.searchsorted(values, short, "right")
    return (short if same else clean) + 0.0  # no -0.0


def mdl_cuts(values: Floats, counts: Floats) -> list[float]:
    """Cuts that tell most about a class, as many as the minimum description length allows.

    Parameters
    ----------
    values
        (V,) Distinct values in rising order.
    counts
        (V, C) How often each value comes with each class.

    References
    ----------
    Fayyad and Irani (1993), *Multi-interval discretization of continuous-valued attributes for
    classification learning*, section 3, criterion (MDLPC).
    """
    below = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    open_ranges, found = [(0, len(values))], []
    while open_ranges:
        start, stop = open_ranges.pop()
        k = _best_split(below[start : stop + 1] - below[start])
        if k is not None:
            found.append(start + k - 1)
            open_ranges += [(start, start + k), (start + k, stop)]
    return [between(values[k], values[k + 1]) for k in sorted(found)]


def _best_split(below: Floats) -> int | None:
    """How many values the best split puts left; None if no split shortens the description."""
    total = below[-1]
    n = total.sum()
    classes = np.count_nonzero(total)
    if len(below) <= 2 or n <= 1 or classes == 1:
        return None
    left, right = below[1:-1], total - below[1:-1]
    cost = _bits(left) + _bits(right)
    k = int(np.argmax(cost <= cost.min() + TIE * n))
    whole = float(_bits(total))
    saved = _class_bits(total) - _class_bits(left[k]) - _class_bits(right[k])
    choices = classes * math.log2(3) + math.log1p(-2 * 3.0**-classes) / math.log(2)  # log2(3^k - 2)
    price = math.log2(n - 1) + choices - saved
    return k + 1 if whole - cost[k] > price else None


def _class_bits(counts: Floats) -> float:
    """The number of classes that occur, times the entropy of the counts (C,)."""
    return float(np.count_nonzero(counts) * _bits(counts) / counts.sum())


def _bits(counts: Floats) -> Floats:
    """N times the entropy of counts (..., C), in bits: N log N - Σ n log n."""
    n = counts.sum(-1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    log_n = np.log2(n, out=np.zeros_like(n), where=n > 0)
    return np.asarray(n * log_n - (counts * logs).sum(-1))


def between(low: float, high: float) -> float:
    """A short number c with low <= c < high, near the middle: all such cut the data alike.

    >>> between(3, 4), between(1.4142, 1.7321), between(10, 1000)
    (3.0, 1.6, 500.0)
    """
    low, high = float(low), float(high)
    coarse = -_exponent(high / 2 - low / 2, 2) - 1
    for digits in (coarse, coarse + 1):
        cut = _round(low / 2 + high / 2, digits)
        if cut >= high:
            cut = _round(cut - float(f"1e{-digits}"), digits)
        if low <= cut < high:
            return cut + 0.0  # no -0.0
    return low  # the two are neighbours among floats


def _round(number: float, digits: int) -> float:
    try:
        return round(number, digits)
    except OverflowError:  # up, beyond the largest float
        return number


def _exponent(size: float, times: int = 1) -> int:
    """The exponent of the power of ten just below times · size; that product may overflow."""
    return math.floor(math.log10(size) + math.log10(times)) if size > 0 else -323


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Names of the intervals between cuts.

    >>> interval_labels([1.5, 3.0])
    ('<= 1.5', '(1.5, 3]', '> 3')
    """
    if not cuts:
        return ("all",)
    texts = [label_text(cut) for cut in cuts]
    inner = [f"({a}, {b}]" for a, b in pairwise(texts)]
    return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")


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
    return with_cuts(table, dict(zip(chosen, cut_points, strict=True)))


class _Distinct(NamedTuple):
    """Distinct values of a column in rows with a weight, their weights, and each row's value."""

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


def with_cuts(table: Table, cut_points: Mapping[str, Sequence[float]]) -> Table:
    """The same table with columns of numbers cut at these points, which their variables keep."""
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
