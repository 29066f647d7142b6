"""Families counted in a table: one row per parent configuration that occurs."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from jensen.data import Table
from jensen.data.counting import count_families, require_states
from jensen.data.statistics import Array, Family, FamilyCounts
from jensen.exceptions import DataError

__all__ = ["FamilyCounts", "family_counts"]

MAX_DENSE_CELLS = 1 << 16
"""Larger tables are counted densely only if they have no more cells than the data have rows."""


def family_counts(table: Table, families: Sequence[Family]) -> list[FamilyCounts]:
    """Counts of many families (variable, parents) in one pass over the rows.

    Families with more cells than rows are counted by sorting the configurations that occur, so
    that memory is bounded by the data, whatever the numbers of states.
    """
    shapes = [[require_states(table, v).n_states for v in (*parents, x)] for x, parents in families]
    limit = max(MAX_DENSE_CELLS, table.n_rows)
    sizes = [math.prod(n + 1 for n in shape) for shape in shapes]
    dense = [k for k, size in enumerate(sizes) if size <= limit]
    counted = count_families(table, [(*families[k][1], families[k][0]) for k in dense])
    tables = dict(zip(dense, counted, strict=True))
    result = []
    for k, (x, parents) in enumerate(families):
        rows: Array | csr_array
        configs = None
        if k in tables:
            rows = tables[k].reshape(-1, shapes[k][-1])
            configs = np.flatnonzero(rows.any(axis=1))
            rows = rows[configs]
        else:
            rows = _sparse(table, x, parents)
        n_configs = math.prod(map(float, shapes[k][:-1]))
        if n_configs == math.inf:
            raise DataError(f"the parents of {x!r} have more than 1e308 configurations: use fewer")
        total = float(rows.sum())
        result.append(FamilyCounts(rows, n_configs, total, (*parents, x), configs))
    return result


def _sparse(table: Table, x: str, parents: Sequence[str]) -> csr_array:
    """Cells of the table that occur, found by sorting; the order is that of the full table."""
    columns = [table.column(name) for name in (*parents, x)]
    known = ~np.any([column.missing() for column in columns], axis=0)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    known &= weights > 0.0
    config = np.zeros(int(known.sum()), np.int64)
    for column in columns[:-1]:  # configurations stay dense numbers, so products never overflow
        joined = config * column.variable.n_states + column.data[known]
        config = np.unique(joined, return_inverse=True)[1]
    n_states = columns[-1].variable.n_states
    cells, at = np.unique(config * n_states + columns[-1].data[known], return_inverse=True)
    counts = np.bincount(at, weights[known], minlength=len(cells))
    n_configs = int(config.max(initial=-1)) + 1
    ends = np.searchsorted(cells, np.arange(n_configs + 1) * n_states)
    return csr_array((counts, cells % n_states, ends), shape=(n_configs, n_states))
