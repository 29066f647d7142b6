"""Reading a column as a model's own variable: labels match by text, numbers fall between cuts."""

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column, check_counts, numbers_of, smallest_code_type
from jensen.data.variable import Variable, find_states, label_text


def recode(column: Column, target: Variable) -> tuple[Column, NDArray[np.bool_]]:
    """The column as `target`, and the rows whose label no state of it has (coded as missing)."""
    source = column.variable
    if source == target:
        return column, np.zeros(len(column.data), bool)
    if target.kind == "categorical":
        if target.cuts is not None and source.kind != "categorical":
            return cut(column, target), np.zeros(len(column.data), bool)
        return _to_states(column, target)
    return _to_numbers(column, target), np.zeros(len(column.data), bool)


def cut(column: Column, target: Variable) -> Column:
    """Continuous values into the states of a discretised variable."""
    codes = np.searchsorted(np.array(target.cuts, np.float64), column.data, side="left")
    codes[column.missing()] = target.n_states
    return Column(target, codes.astype(smallest_code_type(target.n_states)))


def _to_states(column: Column, target: Variable) -> tuple[Column, NDArray[np.bool_]]:
    if column.variable.kind == "categorical":
        labels, codes = list(column.variable.states), column.data
    else:
        numbers, codes = np.unique(column.data, return_inverse=True)  # NaN, if any, comes last
        labels = [label_text(float(x)) for x in numbers if not np.isnan(x)]
    position = np.array([*find_states(target, labels), target.n_states])
    unknown = position < 0
    codes_type = smallest_code_type(target.n_states)
    lookup = np.where(unknown, target.n_states, position).astype(codes_type)
    return Column(target, lookup[codes]), unknown[codes]


def _to_numbers(column: Column, target: Variable) -> Column:
    values = np.asarray(column.data, np.float64)
    if column.variable.kind == "categorical":
        states, codes = column.variable.states, column.data.astype(np.int64)
        used = np.unique(codes[~column.missing()])
        numbers = numbers_of(target.name, target.kind, states, used, codes)
        values = np.append(numbers, np.nan)[codes]
    if target.kind == "count":
        check_counts(target.name, values)
    return Column(target, values)
