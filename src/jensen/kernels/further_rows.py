"""Counts of a family with each other variable, row by row: several in a byte, or one by one.

See `further_parents` for where these counts stand.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.bit_sets import lowest_bit
from jensen.kernels.counting import table_positions
from jensen.kernels.further_scores import make_room, score_alike
from jensen.kernels.records import HALF_BYTES, signature

ROWS = 2048
"""Rows whose table positions are computed at a time; a whole number of words."""

WIDE = 2
"""Which half of a byte a variable has: 0, 1, or all of it."""


@helper
def find_positions(planes, plane, stride, place, begin, end, position):
    """Fill position with the cells of rows begin..end, renumbered if there is a place for each."""
    table_positions(planes, plane, stride, begin, end, position)
    if place.shape[0] > 0:
        for i in range(end - begin):
            position[i] = place[position[i]]


@helper
def find_rows(bits, closed, begin, end, row):
    """Fill row with rows begin..end, counted from begin, that are in none of the closed bitsets.

    Return how many there are.
    """
    found = 0
    for w in range(begin // 64, (end + 63) // 64):
        word = ~np.uint64(0)
        for k in closed:
            word &= ~bits[k, w]
        base = 64 * w - begin
        if end - 64 * w < 64:
            word &= (np.uint64(1) << np.uint64(end - 64 * w)) - np.uint64(1)
        while word != np.uint64(0):
            row[found] = np.uint32(base + np.int64(lowest_bit(word)))
            word &= word - np.uint64(1)
            found += 1
    return found


@helper
def tally_four(position, row, bytes_, begin, step, counts):
    """Add counts of (byte, position) of four bytes, for these rows from `begin` on.

    Four at a time: increments of different tables do not wait for each other.
    """
    a, b = bytes_[0, begin:], bytes_[1, begin:]
    c, d = bytes_[2, begin:], bytes_[3, begin:]
    one, two, three, four = counts[0], counts[1], counts[2], counts[3]
    for i in range(row.shape[0]):
        k = row[i]
        at = position[k]
        one[at + step * np.uint32(a[k])] += 1
        two[at + step * np.uint32(b[k])] += 1
        three[at + step * np.uint32(c[k])] += 1
        four[at + step * np.uint32(d[k])] += 1


@helper
def tally_bytes(planes, plane, stride, place, bits, closed, bytes_, cells, counts):
    """Add counts of (byte, cell of the family) to counts (4, 256 · cells), four bytes at most."""
    position, step = np.empty(ROWS, np.uint32), np.uint32(cells)
    row = np.arange(ROWS).astype(np.uint32)
    n_bytes, n_rows = bytes_.shape
    for begin in range(0, n_rows, ROWS):
        end = min(begin + ROWS, n_rows)
        n = end - begin
        find_positions(planes, plane, stride, place, begin, end, position)
        if closed.shape[0] > 0:
            n = find_rows(bits, closed, begin, end, row)
        if n_bytes == 4:
            tally_four(position, row[:n], bytes_, begin, step, counts)
            continue
        for g in range(n_bytes):
            codes, table = bytes_[g, begin:end], counts[g]
            for k in row[:n]:
                table[position[k] + step * np.uint32(codes[k])] += 1


@helper
def add_to(row, total):
    """Add a row to another."""
    for c in range(row.shape[0]):
        total[c] += row[c]


@helper
def sum_halves(counts, cells, n_high, halves):
    """Fill halves (2, 16 · cells) with counts (256, cells) of either half of a byte.

    The high half has n_high values. Rows of one high value are folded upon each other, so that all
    loops are long; what was in counts is lost.
    """
    block, low, high = 16 * cells, halves[0], halves[1]
    for c in range(block):
        low[c] = counts[c]
    for a in range(1, n_high):
        add_to(counts[a * block : (a + 1) * block], low)
    for a in range(n_high):
        here, width = counts[a * block : (a + 1) * block], block // 2
        while width >= cells:
            add_to(here[width : 2 * width], here[:width])
            width //= 2
        for c in range(cells):
            high[a * cells + c] = here[c]


@helper
def spread(half, cells, n_values, divide, s, joint):
    """Fill joint (s, cells) with the counts of one variable of a half byte of so many values."""
    for i in range(s * cells):
        joint[i] = 0
    for a in range(n_values):
        t = a // divide % s
        add_to(half[a * cells : (a + 1) * cells], joint[t * cells : (t + 1) * cells])


@helper
def find_limits(packed, size, limits):
    """Fill limits (bytes, 2) with how many values each half of a byte has.

    A byte that is one variable's has them all in the first.
    """
    limits[:] = 1
    for g in range(limits.shape[0]):
        for j in range(packed.ptr[g], packed.ptr[g + 1]):
            h = packed.half[j] % 2
            limits[g, h] = max(limits[g, h], packed.divide[j] * size[packed.member[j]])


@helper
def is_wide(packed, g):
    """Return whether a byte is one variable's."""
    return packed.half[packed.ptr[g]] == WIDE


@kernel(
    signature(
        "uint8[:, ::1], int64[::1], int64[::1], uint32[::1], uint64[:, ::1], int64[::1]",
        HALF_BYTES,
        "int64[::1], int32[:, ::1], int32[::1], int64[::1], int32[::1]",
    )
)
def count_with_bytes(
    planes, plane, stride, place, bits, closed, packed, size, counts, table, at, room
):
    """Fill the table of the family, and the counts of the variables that stand in bytes.

    Byte g holds packed.member[ptr[g]:ptr[g + 1]]; a variable is (half byte // divide) modulo its
    size. `counts` (4, 256 · cells) is room. Rows of the closed bitsets are left out, and so is what
    has no place, at[u] < 0.
    """
    cells, n_bytes = table.shape[0], packed.bytes.shape[0]
    limits, halves = np.empty((n_bytes, 2), np.int64), np.empty((2, cells * 16), np.int32)
    find_limits(packed, size, limits)
    for g in range(n_bytes):
        here, n_low, n_high = counts[g % 4], limits[g, 0], limits[g, 1]
        if g % 4 == 0:
            last = min(g + 4, n_bytes)
            for k in range(g, last):
                used = limits[k, 0] if is_wide(packed, k) else 16 * limits[k, 1]
                counts[k % 4, : used * cells] = 0
            some = packed.bytes[g:last]
            tally_bytes(planes, plane, stride, place, bits, closed, some, cells, counts)
        if not is_wide(packed, g):
            sum_halves(here, cells, n_high, halves)
        if g == 0:
            low = here if is_wide(packed, g) else halves[0]
            spread(low, cells, n_low, np.int64(1), np.int64(1), table)
        for j in range(packed.ptr[g], packed.ptr[g + 1]):
            u, h = packed.member[j], packed.half[j]
            if at[u] >= 0:
                joint = room[at[u] : at[u] + size[u] * cells]
                if h == WIDE:
                    joint[:] = here[: size[u] * cells]
                else:
                    spread(halves[h], cells, limits[g, h], packed.divide[j], size[u], joint)


# --- one after the other ---


@helper
def tally_column(planes, plane, n_planes, step, position, joint):
    """Add counts of (state, cell) of one variable to joint; step: how many cells there are."""
    n_rows = position.shape[0]
    chosen, stride = np.empty(n_planes, np.int64), np.empty(n_planes, np.int64)
    for k in range(n_planes):
        chosen[k] = plane + k
        stride[k] = step if k == 0 else 256 * stride[k - 1]
    at = np.empty(ROWS, np.uint32)
    for begin in range(0, n_rows, ROWS):
        end = min(begin + ROWS, n_rows)
        table_positions(planes, chosen, stride, begin, end, at)
        cell = position[begin:end]
        for i in range(end - begin):
            joint[at[i] + cell[i]] += 1


@kernel(
    "void(uint8[:, ::1], int64[::1], int64[::1], uint32[::1], int64[:, ::1], int64[::1], "
    "int64, int64, float64, int64, float64, float64[::1])"
)
def score_with_columns(
    planes, plane, stride, place, columns, others, r, cells, n_configs, kind, amount, score
):
    """Fill score[u] for the others, each counted by itself.

    columns (3, n): the first plane of every variable, how many it has, how many states.
    """
    widest, n_rows = 1, planes.shape[1]
    for u in others:
        widest = max(widest, columns[2, u])
    position = np.empty(n_rows, np.uint32)
    for begin in range(0, n_rows, ROWS):
        end = min(begin + ROWS, n_rows)
        find_positions(planes, plane, stride, place, begin, end, position[begin:end])
    joint, room = np.empty(cells * widest, np.int32), make_room(cells * widest)
    one, sums = np.int64(1), np.empty(1)  # a literal is compiled by itself
    for u in others:
        s = columns[2, u]
        here = joint[: s * cells]
        here[:] = 0
        tally_column(planes, columns[0, u], columns[1, u], cells, position, here)
        found, sums[0] = score[u : u + 1], np.nan
        score_alike(here, one, r, cells // r, n_configs * s, kind, amount, room, sums, found)


@kernel("int64(int32[::1], int64, uint32[::1])")
def find_places(table, r, place):
    """Return how many configurations of parents occur in a table, and number its cells anew.

    Fills place (cells,), which says where a cell stands among those of configurations that occur.
    """
    q = table.shape[0] // r
    found = 0
    for p in range(q):
        occurs = False
        for k in range(r):
            occurs |= table[k * q + p] > 0
        place[p] = found
        found += occurs
    for k in range(r - 1, -1, -1):
        for p in range(q):
            place[k * q + p] = k * found + np.int64(place[p])
    return found
