"""Reading a column as a model's own variable: labels match by text, numbers fall between cuts."""

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column, smallest_code_type
from jensen.data.variable import Variable, is_number, label_text, match_labels
from jensen.exceptions import DataError


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
    assert target.cuts is not None
    codes = np.searchsorted(np.array(target.cuts), column.data, side="left")
    codes[column.missing()] = target.n_states
    return Column(target, codes.astype(smallest_code_type(target.n_states)))


def _to_states(column: Column, target: Variable) -> tuple[Column, NDArray[np.bool_]]:
    if column.variable.kind == "categorical":
        labels, codes = list(column.variable.states), column.data
    else:
        numbers, codes = np.unique(column.data, return_inverse=True)  # NaN, if any, comes last
        labels = [label_text(float(x)) for x in numbers if not np.isnan(x)]
    position = np.array([*match_labels(labels, target.states), target.n_states])
    unknown = position < 0
    codes_type = smallest_code_type(target.n_states)
    lookup = np.where(unknown, target.n_states, position).astype(codes_type)
    return Column(target, lookup[codes]), unknown[codes]


def _to_numbers(column: Column, target: Variable) -> Column:
    if column.variable.kind == "categorical":
        for label in column.variable.states:
            if not is_number(label):
                raise DataError(
                    f"column {target.name!r} must be {target.kind}, but holds {label!r}"
                )
        lookup = np.array([*map(float, column.variable.states), np.nan])
        return Column(target, lookup[column.data])
    return Column(target, column.data)
