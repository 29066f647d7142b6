"""Counts of a set of variables with each other variable, and what each way of counting costs.

`jensen.scores.set_counter` makes them. Costs are in nanoseconds, measured on one machine; only
their ratios matter.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int32]
Ints = NDArray[np.int64]
Places = NDArray[np.uint32]

TILE, NS_PER_CALL = 320, 8.0
"""Words of a bitset that one call reads, and the cost of a call."""

NS_PER_WORD = 0.045
"""Cost of one word of a bitset."""

NS_PER_BYTE, NS_PER_HALVES = 0.6, 36.0
"""Cost of one packed byte per row, and per cell of the family."""

NS_PER_POSITION, NS_PER_CHOICE = 0.25, 0.6
"""Cost per row of finding its cell, and of skipping rows that need not be counted."""

NS_PER_CODE = 1.0
"""Cost of one row when the other variables are counted one after the other."""

MANY_CELLS, ROWS_PER_CELL = 256, 1024
"""In families of more cells than both the first number and one per so many rows, only
configurations of parents that occur are numbered."""


class SetCounts(NamedTuple):
    """Counts of a family with each other variable; any member of it may be the child."""

    family: Ints  # in the order in which its cells are numbered
    stride: Ints  # (n,): what a state of each variable of the family adds to this number
    table: Counts  # of the family alone, all cells
    n_cells: int  # how many are numbered: all, or (child first) those of configurations that occur
    others: Ints  # the other variables that were counted
    at: Ints  # (n,): where the counts of another variable begin
    counts: Counts  # by its state, and the cell of the family
    left: Sequence[int]  # other variables that were not counted
    joint: Array  # (n,): what the counts with each other add to a score; NaN: not known yet


class FamilyCells(NamedTuple):
    """A family, its child first, and the numbers of its cells."""

    family: tuple[int, ...]
    n_cells: int  # how many are numbered
    place: Places  # (all cells,): the number of each; empty if all cells are numbered in order
    table: Counts | None  # counts of all cells, if they are known


NOWHERE: Places = np.empty(0, np.uint32)
