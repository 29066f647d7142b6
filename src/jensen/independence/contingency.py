"""Statistics of contingency tables of any size, from the cells that occur; permutations."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import random_table

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

MOST_AT_ONCE = 1 << 22
"""Cells of drawn tables that are held at a time."""


class Cells(NamedTuple):
    """The cells that occur: which stratum, row and column, and the weight of each."""

    stratum: Codes
    x: Codes
    y: Codes
    weight: Array
    n_strata: int


def cells_of(x: Codes, y: Codes, given: list[Codes], weights: Array | None) -> Cells:
    """The cells of complete rows, strata numbered by those that occur."""
    stratum = np.zeros(len(x), np.int64)
    for codes in given:
        stratum = np.unique(stratum * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    row, column = (np.unique(codes, return_inverse=True)[1] for codes in (x, y))
    width, height = column.max(initial=0) + 1, row.max(initial=0) + 1
    # strata and rows are at most as many as there are rows of data, so their product is exact
    block, pair = np.unique(stratum * height + row, return_inverse=True)
    cells, at = np.unique(pair * width + column, return_inverse=True)
    weight = np.bincount(at, weights, minlength=len(cells)).astype(np.float64)
    left = block[cells // width]
    occurs = weight > 0.0
    n_strata = int(stratum.max(initial=-1)) + 1
    rows, columns = left[occurs], cells[occurs] % width
    return Cells(rows // height, rows % height, columns, weight[occurs], n_strata)


def statistic(cells: Cells, squared: bool) -> tuple[float, int, float]:
    """G² (or X²), its degrees of freedom, and the weight of all rows.

    A stratum has (rows that occur - 1) · (columns that occur - 1) degrees of freedom.
    """
    across, row_of, n_rows = _margins(cells, cells.x)
    down, column_of, n_columns = _margins(cells, cells.y)
    total = np.bincount(cells.stratum, cells.weight, minlength=cells.n_strata)
    n = float(cells.weight.sum())
    df = int(np.sum(np.maximum(n_rows - 1, 0) * np.maximum(n_columns - 1, 0)))
    ratio = cells.weight / across[row_of] * (total[cells.stratum] / down[column_of])
    if squared:
        return max(float(np.sum(cells.weight * ratio)) - n, 0.0), df, n
    return max(2.0 * float(np.sum(cells.weight * np.log(ratio))), 0.0), df, n


def _margins(cells: Cells, codes: Codes) -> tuple[Array, Codes, Codes]:
    """Sums of every stratum's rows; to which of them a cell belongs; how many each stratum has."""
    width = int(codes.max(initial=0)) + 1
    keys, at = np.unique(cells.stratum * width + codes, return_inverse=True)
    sums = np.bincount(at, cells.weight, minlength=len(keys)).astype(np.float64)
    return sums, at, np.bincount(keys // width, minlength=cells.n_strata)


def permuted(cells: Cells, squared: bool, n_draws: int, rng: np.random.Generator) -> Array:
    """(n_draws,): the statistic after shuffling x within every stratum, again and again.

    Shuffling keeps the margins of every stratum, so its tables are drawn with these.
    """
    out = np.zeros(n_draws)
    for s in range(cells.n_strata):
        here = cells.stratum == s
        x, row = np.unique(cells.x[here], return_inverse=True)
        y, column = np.unique(cells.y[here], return_inverse=True)
        if min(len(x), len(y)) < 2:
            continue
        counts = np.zeros((len(x), len(y)), np.int64)
        counts[row, column] = cells.weight[here]
        across, down = counts.sum(1), counts.sum(0)
        expected = np.outer(across, down) / counts.sum()
        tables = random_table(across, down)
        at_once = max(1, MOST_AT_ONCE // counts.size)
        for begin in range(0, n_draws, at_once):
            end = min(begin + at_once, n_draws)
            drawn = tables.rvs(size=end - begin, random_state=rng)
            out[begin:end] += _terms(drawn, expected, squared).sum((1, 2))
    return out


def _terms(counts: Array, expected: Array, squared: bool) -> Array:
    if squared:
        return np.asarray((counts - expected) ** 2 / expected)
    # x log(x / e), where 0 log 0 = 0
    return np.asarray(2.0 * counts * np.log(np.where(counts > 0.0, counts / expected, 1.0)))
