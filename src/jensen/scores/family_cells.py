"""Where the rows of a family are counted, and what ways of counting cost."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int32]
Ints = NDArray[np.int64]
Places = NDArray[np.uint32]

TILE, NS_PER_CALL = 320, 9.0
"""Words of a bitset that are looked at together, and what that costs; measured, like the next."""

NS_PER_WORD, NS_PER_FAR_WORD = 0.19, 0.26
"""What one word of a bitset costs, where all are near, and where there are more than a tile."""

NS_PER_BYTE, NS_PER_HALVES = 0.55, 70.0
"""What one byte of half bytes costs per row and per cell of the family."""

NS_PER_CODE = 1.0
"""What one row costs when a variable is counted by itself."""

MANY_CELLS = 256
"""Of larger families only those configurations of parents are numbered that occur."""


class Kept(NamedTuple):
    """Counts of a family with each other variable, for whichever of its variables is the child."""

    family: tuple[int, ...]  # the child that it was counted for, and its parents
    table: Counts  # of the family alone
    at: Ints  # (n,): where the counts of another variable begin
    counts: Counts  # by its state, and the cell of the family
    others: Ints  # which were counted
    left: list[int]  # still to be scored


class Cells(NamedTuple):
    """A family, its child first, and where its rows are counted."""

    family: tuple[int, ...]
    n_states: int  # of the child
    n_configs: float  # of the parents
    n_cells: int  # that are numbered
    place: Places  # (all cells,): their numbers; empty if these are all
    table: Counts | None  # of all cells, if it is known


NOWHERE: Places = np.empty(0, np.uint32)
