"""Counts of a family with every variable that might become its further parent.

Counts of (state of another, cell of the family) begin at at[other] of the room, one variable after
the other, so that loops over the cells become vectors. Whichever of its variables is the child of a
family, its scores are read out of these counts.

Of a variable of the family one state may be left out: where counts of the others without it are
known, those of this state are what is left. That of most rows is left out, so few are counted.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.counting import and_count, and_into, popcount
from jensen.kernels.pair_information import count_single, fill_joint

WORDS = 320
"""Words of every bitset that are looked at before going on: they stay in the cache."""


@kernel(
    "UniTuple(int64, 2)(int64[::1], int64[::1], int64[::1], int64, int64[::1], int64[::1], "
    "int64[::1], float64[::1])"
)
def place_others(among, family, size, cells, at, stride, others, joint):
    """Fill others with those that are not of the family; return how many, and their counts.

    Fills at (n,) with where the counts of each other begin, -1: there are none; stride (n,) with
    what a state of each variable of the family adds to the number of a cell; and joint (n,), what
    the counts add to a score, with NaN: it is not known yet.
    """
    at[:], stride[:], joint[:] = -1, 0, np.nan
    step, n_counts, found = np.int64(1), np.int64(0), np.int64(0)
    for k in range(family.shape[0] - 1, -1, -1):
        stride[family[k]] = step
        step *= size[family[k]]
    for u in among:
        if stride[u] == 0:
            at[u], others[found] = n_counts, u
            n_counts += cells * size[u]
            found += 1
    return found, n_counts


# --- by bitsets ---


@helper
def add_four(here, bits, rows, begin, end, room, to):
    """Add to room, at each of four places, how many bits are set here and in one of four rows."""
    a, b = bits[rows[0], begin:end], bits[rows[1], begin:end]
    c, d = bits[rows[2], begin:end], bits[rows[3], begin:end]
    in_a = in_b = in_c = in_d = np.uint64(0)
    for k in range(here.shape[0]):
        word = here[k]  # read once for all four
        in_a += popcount(word & a[k])
        in_b += popcount(word & b[k])
        in_c += popcount(word & c[k])
        in_d += popcount(word & d[k])
    room[to[0]] += np.int32(in_a)
    room[to[1]] += np.int32(in_b)
    room[to[2]] += np.int32(in_c)
    room[to[3]] += np.int32(in_d)


@helper
def list_sets(first, size, others, at, cells):
    """Return the bitsets of all states but the last, and where the counts of each begin."""
    n = 0
    for u in others:
        n += size[u] - 1
    rows, to, k = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for u in others:
        for t in range(size[u] - 1):
            rows[k], to[k] = first[u] + t, at[u] + t * cells
            k += 1
    return rows, to


@helper
def tally_bits(bits, first, size, family, left_out, others, table, at, room):
    """Add counts of all states but the last of the others, by ANDs of bitsets, depth first."""
    depth, n_words, cells = family.shape[0], bits.shape[1], table.shape[0]
    sets = np.empty((depth, WORDS), np.uint64)
    state, cell = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    rows, to = list_sets(first, size, others, at, cells)
    fours, four = rows.shape[0] // 4 * 4, np.empty(4, np.int64)
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
            if s == left_out[level]:
                continue
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
            c = cell[level]
            table[c] += np.int32(found)
            for k in range(0, fours, 4):
                for i in range(4):
                    four[i] = to[k + i] + c
                add_four(here, bits, rows[k : k + 4], begin, end, room, four)
            for k in range(fours, rows.shape[0]):
                room[to[k] + c] += np.int32(and_count(here, bits[rows[k], begin:end]))


@kernel(
    "void(uint64[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], int32[::1], "
    "int64[::1], int32[::1])"
)
def count_with_bits(bits, first, size, chosen, others, table, at, room):
    """Fill table (cells,) of a family, and the counts of the others, by bitsets.

    Variable v has bitsets first[v] .. + size[v]. chosen: the family, and which state of each of its
    variables is not counted; -1: all are. There the counts are 0.
    """
    cells, family, left_out = table.shape[0], chosen[0], chosen[1]
    table[:] = 0
    for u in others:
        room[at[u] : at[u] + cells * size[u]] = 0
    tally_bits(bits, first, size, family, left_out, others, table, at, room)
    for u in others:  # the last state by difference
        rest = room[at[u] + (size[u] - 1) * cells : at[u] + size[u] * cells]
        for c in range(cells):
            rest[c] = table[c]
        for t in range(size[u] - 1):
            here = room[at[u] + t * cells : at[u] + (t + 1) * cells]
            for c in range(cells):
                rest[c] -= here[c]


# --- what is left out ---


@helper
def known_places(family, place, size, stride):
    """Return where cells of a family without one variable stand among those that are known."""
    depth, n = family.shape[0], 1
    for k in range(depth):
        if k != place:
            n *= size[family[k]]
    to, state, at = np.empty(n, np.int64), np.zeros(depth, np.int64), np.int64(0)
    for i in range(n):
        to[i] = at
        for k in range(depth - 1, -1, -1):  # count on, the last variable fastest
            v = family[k]
            if k == place:
                continue
            state[k] += 1
            at += stride[v]
            if state[k] < size[v]:
                break
            state[k] = 0
            at -= size[v] * stride[v]
    return to


@helper
def fill_rest(counts, known, to, r, after, out):
    """Fill the counts of the state that was left out: what is known less those of the others.

    The r states stand before `after` cells each; to says where the known counts stand.
    """
    for begin in range(0, to.shape[0], after):
        base = begin * r + out * after
        for a in range(after):
            counts[base + a] = known[to[begin + a]]
        for s in range(r):
            if s != out:
                other = begin * r + s * after
                for a in range(after):
                    counts[base + a] -= counts[other + a]


@kernel(
    "void(int64[::1], int64, int64, int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], "
    "int64[::1], int32[::1], int64[::1], int32[::1])"
)
def count_left_out(
    family, place, out, size, others, table, at, room, stride, known_table, known_at, known
):
    """Fill the counts of a state that was left out, in the table and for the others.

    It is that of the variable at `place`; the last four are of the family without this variable.
    """
    r, cells, rest = size[family[place]], table.shape[0], known_table.shape[0]
    to, after = known_places(family, place, size, stride), np.int64(1)
    for k in range(place + 1, family.shape[0]):
        after *= size[family[k]]
    fill_rest(table, known_table, to, r, after, out)
    for u in others:
        for t in range(size[u]):
            begin, there = at[u] + t * cells, known_at[u] + t * rest
            fill_rest(room[begin : begin + cells], known[there : there + rest], to, r, after, out)


@kernel("void(int64[:, ::1], int64[::1], int64, int64[:, ::1], int32[:, ::1], int32[::1])")
def count_single_with_each(meetings, size, n_rows, at, own, room):
    """Fill own (n, widest) and room with counts of each variable, alone and with each other.

    meetings[i, j], i <= j, says how often two states meet, the last state of every variable left
    out. Those of v with another u begin at at[v, u].
    """
    n, widest = own.shape
    count_single(meetings, size, n_rows, own)
    joint, top = np.empty(widest * widest, np.int32), 0
    for v in range(n):
        r, left = size[v], top + size[v] - 1
        for u in range(v + 1, n):
            s = size[u]
            inner = meetings[top : top + r - 1, left : left + s - 1]
            fill_joint(inner, own[v, :r], own[u, :s], joint[: r * s])
            for k in range(r):
                for t in range(s):
                    room[at[u, v] + k * s + t] = room[at[v, u] + t * r + k] = joint[k * s + t]
            left += s - 1
        top += r - 1
