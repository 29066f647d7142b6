"""Rows as a Gaussian network learns from them: by what they miss, each pattern once."""

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberBlock, NumberRows
from jensen.data.units import Units
from jensen.models.emissions.patterns import patterns_of
from jensen.models.gaussian_network import Cells
from jensen.q_hidden.gaussian_cells import CellPattern, compressed

Array = NDArray[np.float64]

UNIT_PATTERNS = 256
"""Patterns of one unit of work; fixed, so that sums never depend on threads."""

Key = tuple[int, tuple[int, ...]]
"""The variable that was set, -1 if none was, and the places that are missing."""


def encode(rows: NumberRows, shift: Array, was_set: NDArray[np.int64] | None = None) -> Units:
    """Rows of weight > 0 as units for the loop; rows in which different variables were set apart.

    Parameters
    ----------
    was_set
        (rows,): the variable that was set, -1 where none was; None: nowhere.
    """

    def of_block(block: NumberBlock) -> dict[Key, CellPattern]:
        here = np.full(len(block.weight), -1) if was_set is None else was_set[block.start :]
        found: dict[Key, CellPattern] = {}
        for v in np.unique(here[: len(block.weight)]).tolist():
            chosen = here[: len(block.weight)] == v
            for pattern in _cells(block.values[chosen] - shift, block.weight[chosen]):
                found[v, tuple(pattern.missing.tolist())] = pattern
        return found

    found: dict[Key, CellPattern] = rows.sum(of_block, _join) or {}
    units = []
    for v, keys in groupby(sorted(found), key=lambda key: key[0]):
        patterns = tuple(found[key] for key in keys)
        starts = range(0, len(patterns), UNIT_PATTERNS)
        units += [Cells(patterns[k : k + UNIT_PATTERNS], v) for k in starts]
    is_complete = not any(missing for _, missing in found)
    return Units(tuple(units), rows.total_weight, is_complete)


def _cells(values: Array, weight: Array) -> list[CellPattern]:
    """The patterns of some rows."""
    patterns = []
    for pattern in patterns_of(values):
        own = weight[pattern.rows]
        z = np.column_stack([np.ones(len(own)), pattern.x.T]) * np.sqrt(own)[:, None]
        missing = pattern.order[: pattern.n_missing].astype(np.intp) + 1
        seen = np.append(0, pattern.seen + 1).astype(np.intp)
        patterns.append(CellPattern(missing, seen, compressed(z), float(own.sum())))
    return patterns


def _join(a: dict[Key, CellPattern], b: dict[Key, CellPattern]) -> dict[Key, CellPattern]:
    """Patterns of neighbouring blocks, those that both have as one."""
    joined = {**a, **b}
    for key in a.keys() & b.keys():
        root = compressed(np.concatenate([a[key].root, b[key].root]))
        joined[key] = a[key]._replace(root=root, weight=a[key].weight + b[key].weight)
    return joined
