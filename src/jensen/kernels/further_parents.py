"""Scores of a family with every variable that might become its further parent.

The table of a family has its child first, then its parents; that with a further parent has this one
before them all. So the cells of the family stand together, and loops over them become vectors.

Counts of (state of another, cell of the family) begin at at[other] of the room. Where these places
are apart, all counts stand there afterwards: the same variables are scored with another of them as
the child, and no row is read. Where all places are 0, one table after the other is overwritten.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.counting import and_count, and_into, table_positions
from jensen.kernels.local_terms import local_score, make_desk, sum_over_child
from jensen.kernels.records import HALF_BYTES, signature

WORDS = 320
"""Words of every bitset that are looked at before going on: they stay in the cache."""

ROWS = 2048
"""Rows whose table positions are computed at a time."""

WIDE = 2
"""Which half of a byte a variable has: 0, 1, or all of it."""


@helper
def score_table(joint, r, after, n_configs, kind, amount, above, desk):
    """Return the score of a child of r states from counts of its family with a further parent.

    The child's states stand before `after` cells each; n_configs: all configurations.
    """
    before = joint.shape[0] // (r * after)
    sum_over_child(joint, before, r, after, above)
    return local_score(joint, above[: before * after], n_configs, r, kind, amount, desk)


@helper
def tally_bits(bits, first, size, family, others, table, at, room):
    """Add counts of (state of another, cell of the family), by ANDs of bitsets, depth first.

    Variable v has bitsets first[v] .. + size[v]. Its last state comes by difference.
    """
    depth, n_words, cells = family.shape[0], bits.shape[1], table.shape[0]
    sets = np.empty((depth, WORDS), np.uint64)
    state, cell = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    for begin in range(0, n_words, WORDS):
        end = min(begin + WORDS, n_words)
        level = 0
        state[0] = 0
        while level >= 0:
            v, s = family[level], state[level]
            if s == size[v]:
                level -= 1
                continue
            state[level] = s + 1
            row = bits[first[v] + s, begin:end]
            above = sets[level - 1, : end - begin] if level > 0 else row
            here = sets[level, : end - begin]
            found = and_into(above, row, here)
            cell[level] = s if level == 0 else cell[level - 1] * size[v] + s
            if found == 0:
                continue
            if level + 1 < depth:
                level += 1
                state[level] = 0
                continue
            table[cell[level]] += np.int32(found)
            for u in others:
                rest, to = found, at[u] + cell[level]
                for t in range(size[u] - 1):
                    if rest == 0:
                        break
                    n = and_count(here, bits[first[u] + t, begin:end])
                    room[to + t * cells] += np.int32(n)
                    rest -= n
                room[to + (size[u] - 1) * cells] += np.int32(rest)


@kernel(
    "void(uint64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, float64, "
    "int32[::1], int64[::1], int32[::1], float64[::1])"
)
def score_with_bits(bits, first, size, family, others, kind, amount, table, at, room, score):
    """Fill score[u] for the others, counting with bitsets; family: the child, its parents.

    Fills table (cells,) and the counts of the others, whose places are apart.
    """
    cells, r, widest = table.shape[0], size[family[0]], 1
    table[:] = 0
    for u in others:
        room[at[u] : at[u] + cells * size[u]] = 0
        widest = max(widest, size[u])
    tally_bits(bits, first, size, family, others, table, at, room)
    q, desk, above = cells // r, make_desk(), np.empty(cells * widest, np.int32)
    for u in others:
        joint = room[at[u] : at[u] + cells * size[u]]
        score[u] = score_table(joint, r, q, float(q * size[u]), kind, amount, above, desk)


@kernel(
    "void(int32[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64, int64, float64, "
    "float64[::1])"
)
def score_counted(room, at, size, others, cells, r, after, kind, amount, score):
    """Fill score[u] for the others from the counts of a family, in whatever place its child is."""
    widest, q, desk = 1, cells // r, make_desk()
    for u in others:
        widest = max(widest, size[u])
    above = np.empty(q * widest, np.int32)
    for u in others:
        joint = room[at[u] : at[u] + cells * size[u]]
        score[u] = score_table(joint, r, after, float(q * size[u]), kind, amount, above, desk)


@helper
def find_positions(planes, plane, stride, place, begin, end, position):
    """Fill position with the cells of rows begin..end, renumbered if there is a place for each."""
    table_positions(planes, plane, stride, begin, end, position)
    if place.shape[0] > 0:
        for i in range(end - begin):
            position[i] = place[position[i]]


@helper
def tally_four(position, bytes_, begin, step, counts):
    """Add counts of (byte, position) of four bytes, for the rows from `begin` on.

    Four at a time: increments of different tables do not wait for each other.
    """
    end = begin + position.shape[0]
    a, b = bytes_[0, begin:end], bytes_[1, begin:end]
    c, d = bytes_[2, begin:end], bytes_[3, begin:end]
    one, two, three, four = counts[0], counts[1], counts[2], counts[3]
    for i in range(position.shape[0]):
        at = position[i]
        one[at + step * np.uint32(a[i])] += 1
        two[at + step * np.uint32(b[i])] += 1
        three[at + step * np.uint32(c[i])] += 1
        four[at + step * np.uint32(d[i])] += 1


@helper
def tally_bytes(planes, plane, stride, place, bytes_, cells, counts):
    """Add counts of (byte, cell of the family) to counts (4, 256 · cells), four bytes at most."""
    position, step = np.empty(ROWS, np.uint32), np.uint32(cells)
    n_bytes, n_rows = bytes_.shape
    for begin in range(0, n_rows, ROWS):
        end = min(begin + ROWS, n_rows)
        here = position[: end - begin]
        find_positions(planes, plane, stride, place, begin, end, here)
        if n_bytes == 4:
            tally_four(here, bytes_, begin, step, counts)
            continue
        for g in range(n_bytes):
            codes, table = bytes_[g, begin:end], counts[g]
            for i in range(end - begin):
                table[here[i] + step * np.uint32(codes[i])] += 1


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
        "uint8[:, ::1], int64[::1], int64[::1], uint32[::1]",
        HALF_BYTES,
        "int64[::1], int64, float64, int64, float64, int32[:, ::1], int32[::1], int64[::1], "
        "int32[::1], float64[::1]",
    )
)
def score_with_bytes(
    planes, plane, stride, place, packed, size, r, n_configs, kind, amount, counts, table, at, room,
    score,
):  # fmt: skip
    """Fill score[u] for the variables that stand in bytes, and the table of the family.

    Byte g holds packed.member[ptr[g]:ptr[g + 1]]; a variable is (half byte // divide) modulo its
    size. `counts` (4, 256 · cells) is room. What has no place, at[u] < 0, is left out.
    """
    cells, n_bytes, widest = table.shape[0], packed.bytes.shape[0], 1
    for s in size:
        widest = max(widest, s)
    limits, desk = np.empty((n_bytes, 2), np.int64), make_desk()
    find_limits(packed, size, limits)
    above, halves = np.empty(cells * widest, np.int32), np.empty((2, cells * 16), np.int32)
    q = cells // r
    for g in range(n_bytes):
        here, n_low, n_high = counts[g % 4], limits[g, 0], limits[g, 1]
        if g % 4 == 0:
            last = min(g + 4, n_bytes)
            for k in range(g, last):
                used = limits[k, 0] if is_wide(packed, k) else 16 * limits[k, 1]
                counts[k % 4, : used * cells] = 0
            tally_bytes(planes, plane, stride, place, packed.bytes[g:last], cells, counts)
        if not is_wide(packed, g):
            sum_halves(here, cells, n_high, halves)
        if g == 0:
            low = here if is_wide(packed, g) else halves[0]
            spread(low, cells, n_low, np.int64(1), np.int64(1), table)
        for j in range(packed.ptr[g], packed.ptr[g + 1]):
            u, h = packed.member[j], packed.half[j]
            if at[u] < 0:
                continue
            s = size[u]
            joint = room[at[u] : at[u] + s * cells]
            if h == WIDE:
                joint[:] = here[: s * cells]
            else:
                spread(halves[h], cells, limits[g, h], packed.divide[j], s, joint)
            score[u] = score_table(joint, r, q, n_configs * s, kind, amount, above, desk)


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
    joint, above = np.empty(cells * widest, np.int32), np.empty(cells * widest, np.int32)
    desk = make_desk()
    for u in others:
        s = columns[2, u]
        here = joint[: s * cells]
        here[:] = 0
        tally_column(planes, columns[0, u], columns[1, u], cells, position, here)
        score[u] = score_table(here, r, cells // r, n_configs * s, kind, amount, above, desk)


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
