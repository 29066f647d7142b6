"""G² and X² of two categorical columns, x and y, in the strata that others make.

A table of counts has the others slowest and y fastest. Where values are missing a column has one
code more than it has states; cells with that code are never looked at, so every test is made on the
rows that are complete in its own columns.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import types

from jensen.kernels import helper
from jensen.kernels.counting import ROWS, and_count, and_into, table_positions

X_SQUARED = 1
"""Which statistic: 0 is G²."""

NS_PER_WORD = 0.33
"""What one cell costs per 64 rows by bitsets; measured, like the next."""

NS_PER_ROW = 0.9
"""What one row costs by index."""

LANED = 1 << 12
"""Cells of a table that is counted in four copies, so that rows need not wait for each other."""


class Columns(NamedTuple):
    """Columns as the kernels read them, by position among the sorted names."""

    bits: np.ndarray  # (S, W) uint64
    first: np.ndarray  # (n,): its first bitset, or -1
    size: np.ndarray  # (n,): how many codes there are
    states: np.ndarray  # (n,): how many of these are states
    planes: np.ndarray  # (P, N) uint8
    plane: np.ndarray  # (n + 1,): its first byte plane
    weights: np.ndarray  # (N,), or empty


_INTS = types.int64[::1]
COLUMNS = types.NamedTuple(
    [types.uint64[:, ::1], *[_INTS] * 3, types.uint8[:, ::1], _INTS, types.float64[::1]], Columns
)


class Desk(NamedTuple):
    """Room in which one test is made after the other."""

    sets: np.ndarray  # (depth, W) uint64
    state: np.ndarray  # (depth,)
    cell: np.ndarray  # (depth,)
    across: np.ndarray  # (most states,): sums over y
    down: np.ndarray  # (most states,): sums over x
    lanes: np.ndarray  # (4, LANED) int32
    position: np.ndarray  # (ROWS,) uint32


@helper
def make_desk(columns, depth):
    """Return room for tests of `depth` columns."""
    most = 1
    for v in range(columns.size.shape[0]):
        most = max(most, columns.size[v])
    return Desk(
        np.empty((depth, columns.bits.shape[1]), np.uint64),
        np.empty(depth, np.int64),
        np.empty(depth, np.int64),
        np.empty(most),
        np.empty(most),
        np.empty((4, LANED), np.int32),
        np.empty(ROWS, np.uint32),
    )


@helper
def tally_bits(columns, family, desk, table):
    """Add the counts of complete rows to table, by ANDs of bitsets, depth first."""
    bits, first, last = columns.bits, columns.first, family.shape[0] - 1
    y = family[last]
    by_difference = columns.size[y] == columns.states[y]
    level = 0
    desk.state[0] = 0
    while level >= 0:
        v, s = family[level], desk.state[level]
        if s == columns.states[v]:
            level -= 1
            continue
        desk.state[level] = s + 1
        row = bits[first[v] + s]
        above = desk.sets[level - 1] if level > 0 else row
        found = and_into(above, row, desk.sets[level])
        cell = s if level == 0 else desk.cell[level - 1] * columns.size[v] + s
        desk.cell[level] = cell
        if found == 0:
            continue
        if level + 1 < last:
            level += 1
            desk.state[level] = 0
            continue
        base = cell * columns.size[y]
        counted = columns.states[y] - 1 if by_difference else columns.states[y]
        for k in range(counted):
            if found == 0:
                break
            here = and_count(desk.sets[level], bits[first[y] + k])
            table[base + k] += here
            found -= here
        if by_difference:
            table[base + counted] += found


@helper
def count_in_lanes(position, lanes):
    """Add rows to four tables in turn."""
    one, two, three, four = lanes[0], lanes[1], lanes[2], lanes[3]
    n = position.shape[0]
    for i in range(0, n - 3, 4):
        one[position[i]] += 1
        two[position[i + 1]] += 1
        three[position[i + 2]] += 1
        four[position[i + 3]] += 1
    for i in range(n - n % 4, n):
        one[position[i]] += 1


@helper
def strides_of(columns, family, plane, stride):
    """Fill the byte planes of a family, and what each adds to the position; return how many."""
    step, k = 1, 0
    for j in range(family.shape[0] - 1, -1, -1):
        v, byte = family[j], 1
        for p in range(columns.plane[v], columns.plane[v + 1]):
            plane[k], stride[k] = p, step * byte
            byte *= 256
            k += 1
        step *= columns.size[v]
    return k


@helper
def tally_rows(columns, family, desk, table):
    """Add the counts of all rows to table, row by row."""
    plane, stride = np.empty(8 * family.shape[0], np.int64), np.empty(8 * family.shape[0], np.int64)
    k = strides_of(columns, family, plane, stride)
    n_rows, weights, cells = columns.planes.shape[1], columns.weights, table.shape[0]
    laned = weights.shape[0] == 0 and cells <= LANED
    for lane in range(4 if laned else 0):
        for i in range(cells):
            desk.lanes[lane, i] = 0
    for begin in range(0, n_rows, ROWS):
        end = min(begin + ROWS, n_rows)
        position = desk.position[: end - begin]
        table_positions(columns.planes, plane[:k], stride[:k], begin, end, position)
        if laned:
            count_in_lanes(position, desk.lanes)
        elif weights.shape[0] > 0:
            for i in range(end - begin):
                table[position[i]] += weights[begin + i]
        else:
            for i in range(end - begin):
                table[position[i]] += 1.0
    for lane in range(4 if laned else 0):
        for i in range(cells):
            table[i] += desk.lanes[lane, i]


@helper
def statistic_of(columns, family, table, desk, kind):
    """Return the statistic, its degrees of freedom, and the weight of the complete rows.

    A stratum has (rows that occur - 1) · (columns that occur - 1) degrees of freedom.
    """
    depth = family.shape[0]
    x, y = family[depth - 2], family[depth - 1]
    r, c, across, down = columns.states[x], columns.states[y], desk.across, desk.down
    area = columns.size[x] * columns.size[y]
    statistic, df, n = 0.0, 0, 0.0
    for stratum in range(table.shape[0] // area):
        rest, complete = stratum, True
        for j in range(depth - 3, -1, -1):
            v = family[j]
            complete &= rest % columns.size[v] < columns.states[v]
            rest //= columns.size[v]
        if not complete:
            continue
        total, rows, cols = 0.0, -1, -1
        for j in range(c):
            down[j] = 0.0
        for i in range(r):
            across[i] = 0.0
            base = stratum * area + i * columns.size[y]
            for j in range(c):
                across[i] += table[base + j]
                down[j] += table[base + j]
            total += across[i]
            rows += across[i] > 0.0
        if total <= 0.0:
            continue
        n += total
        for j in range(c):
            cols += down[j] > 0.0
        if rows == 0 or cols == 0:
            continue
        df += rows * cols
        for i in range(r):
            base = stratum * area + i * columns.size[y]
            for j in range(c):
                count = table[base + j]
                if count > 0.0:
                    ratio = count / across[i] * (total / down[j])
                    if kind == X_SQUARED:
                        statistic += count * ratio
                    else:
                        statistic += count * math.log(ratio)
        if kind == X_SQUARED:
            statistic -= total
    if kind != X_SQUARED:
        statistic *= 2.0
    return max(statistic, 0.0), df, n


@helper
def measure(columns, family, desk, kind, room):
    """Return statistic, degrees of freedom and weight; weight -1: the table has no room."""
    cells, n_rows, has_bits = 1, columns.planes.shape[1], columns.weights.shape[0] == 0
    for j in range(family.shape[0]):
        cells *= columns.size[family[j]]
        has_bits &= columns.first[family[j]] >= 0
        if cells > room.shape[0]:
            return 0.0, 0, -1.0
    table = room[:cells]
    for i in range(cells):
        table[i] = 0.0
    if has_bits and cells * columns.bits.shape[1] * NS_PER_WORD < n_rows * NS_PER_ROW:
        tally_bits(columns, family, desk, table)
    else:
        tally_rows(columns, family, desk, table)
    return statistic_of(columns, family, table, desk, kind)
