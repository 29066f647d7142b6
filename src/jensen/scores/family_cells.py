"""Where the rows of a family are counted, and what ways of counting cost."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int32]
Ints = NDArray[np.int64]
Places = NDArray[np.uint32]

TILE, NS_PER_CALL = 320, 8.0
"""Words of a bitset that are looked at together, and what that costs; measured, like the next."""

NS_PER_WORD = 0.045
"""What one word of a bitset costs."""

NS_PER_BYTE, NS_PER_HALVES = 0.6, 36.0
"""What one byte of half bytes costs per row and per cell of the family."""

NS_PER_POSITION, NS_PER_CHOICE = 0.25, 0.6
"""What it costs per row to find its cell, and to choose it where not all are counted."""

NS_PER_CODE = 1.0
"""What one row costs when a variable is counted by itself."""

MANY_CELLS, ROWS_PER_CELL = 256, 1024
"""Of families of more cells, also for the number of rows, only configurations of parents are
numbered that occur."""


class Counted(NamedTuple):
    """Counts of a family with each other variable, for whichever of its variables is the child."""

    family: Sequence[int]  # in the order in which its cells are numbered
    stride: Ints  # (n,): what a state of each variable of the family adds to this number
    table: Counts  # of the family alone, all cells
    n_cells: int  # that are numbered: all, or the child comes first and only some configurations
    others: Ints  # which were counted
    at: Ints  # (n,): where the counts of another variable begin
    counts: Counts  # by its state, and the cell of the family
    left: Sequence[int]  # which are still to be scored


class Cells(NamedTuple):
    """A family, its child first, and where its rows are counted."""

    family: tuple[int, ...]
    n_cells: int  # that are numbered
    place: Places  # (all cells,): their numbers; empty if these are all
    table: Counts | None  # of all cells, if it is known


NOWHERE: Places = np.empty(0, np.uint32)
