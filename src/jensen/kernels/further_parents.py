"""Scores of a family with every variable that might become its further parent.

Tables of counts stand in `room`: first that of the family itself, then those with the others.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.counting import and_count, and_into, table_positions
from jensen.kernels.local_terms import find_occupied, local_score, make_desk
from jensen.kernels.records import HALF_BYTES, signature

WORDS = 256
"""Words of every bitset that are looked at before going on: they stay in the cache."""

ROWS = 2048
"""Rows whose table positions are computed at a time."""

WIDE = 2
"""Which half of a byte a variable has: 0, 1, or all of it."""


@helper
def tally_bits(bits, first, size, family, others, at, room):
    """Add counts of (cell of the family, state of another), by ANDs of bitsets, depth first.

    Variable v has bitsets first[v] .. + size[v]. The table of the k-th of the others begins at
    at[k]; its last state comes by difference.
    """
    depth, n_words = family.shape[0], bits.shape[1]
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
            room[cell[level]] += np.int32(found)
            for k in range(others.shape[0]):
                u, rest = others[k], found
                base = at[k] + cell[level] * size[u]
                for t in range(size[u] - 1):
                    if rest == 0:
                        break
                    n = and_count(here, bits[first[u] + t, begin:end])
                    room[base + t] += np.int32(n)
                    rest -= n
                room[base + size[u] - 1] += np.int32(rest)


@kernel(
    "void(int32[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64, int64, float64, "
    "float64[::1])"
)
def score_tables(table, counts, size, others, at, r, kind, amount, score):
    """Fill score[u] for the others from the family's table and theirs, which begin at at[k]."""
    q = table.shape[0] // r
    occupied, desk = np.empty(q, np.int64), make_desk()
    occupied = occupied[: find_occupied(table, q, r, occupied)]
    widest = 1
    for k in range(others.shape[0]):
        widest = max(widest, size[others[k]])
    above = np.empty(q * widest, np.int32)
    for k in range(others.shape[0]):
        u, here = others[k], counts[at[k] : at[k + 1]]
        score[u] = local_score(here, occupied, above, desk, q, r, size[u], kind, amount)


@kernel(
    "void(uint64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, float64, "
    "int32[::1], float64[:, ::1])"
)
def score_with_bits(bits, first, size, family, others, kind, amount, room, score):
    """Fill score[0, u] for the others, counting with bitsets.

    If score has a second row, a pair is scored the other way round too, from the same counts.
    """
    cells = 1
    for j in range(family.shape[0]):
        cells *= size[family[j]]
    at = np.empty(others.shape[0] + 1, np.int64)
    at[0] = cells
    for k in range(others.shape[0]):
        at[k + 1] = at[k] + cells * size[others[k]]
    end = at[others.shape[0]]
    for i in range(end):
        room[i] = 0
    tally_bits(bits, first, size, family, others, at, room)
    r = size[family[family.shape[0] - 1]]
    score_tables(room[:cells], room, size, others, at, r, kind, amount, score[0])
    if score.shape[0] == 2:
        q, back = cells // r, np.empty(end, np.int32)
        transpose(room[:cells], q, r, np.int64(1), back[:cells])
        for k in range(others.shape[0]):
            a, b = at[k], at[k + 1]
            transpose(room[a:b], q, r, size[others[k]], back[a:b])
        score_tables(back[:cells], back, size, others, at, q, kind, amount, score[1])


@helper
def transpose(table, q, r, s, out):
    """Fill out (r, q, s) with a table (q, r, s)."""
    for p in range(q):
        for k in range(r):
            for t in range(s):
                out[(k * q + p) * s + t] = table[(p * r + k) * s + t]


@helper
def tally_bytes(planes, plane, stride, bytes_, counts):
    """Add counts of (cell of the family, byte) to counts (bytes, cells · 256).

    Four bytes at a time: increments of different tables do not wait for each other.
    """
    position = np.empty(ROWS, np.uint32)
    n_bytes, n_rows = bytes_.shape
    for begin in range(0, n_rows, ROWS):
        end = min(begin + ROWS, n_rows)
        n = end - begin
        table_positions(planes, plane, stride, begin, end, position)
        for i in range(n):
            position[i] <<= np.uint32(8)
        g = 0
        while g + 3 < n_bytes:
            a, b = bytes_[g, begin:end], bytes_[g + 1, begin:end]
            c, d = bytes_[g + 2, begin:end], bytes_[g + 3, begin:end]
            one, two, three, four = counts[g], counts[g + 1], counts[g + 2], counts[g + 3]
            for i in range(n):
                at = position[i]
                one[at + a[i]] += 1
                two[at + b[i]] += 1
                three[at + c[i]] += 1
                four[at + d[i]] += 1
            g += 4
        while g < n_bytes:
            a, one = bytes_[g, begin:end], counts[g]
            for i in range(n):
                one[position[i] + a[i]] += 1
            g += 1


@helper
def sum_halves(table, counts, halves):
    """Fill halves (2, cells · 16) with the counts of either half of a byte, where cells occur."""
    for c in range(table.shape[0]):
        if table[c] == 0:
            continue
        here = counts[c * 256 : c * 256 + 256]
        low, high = halves[0, c * 16 : c * 16 + 16], halves[1, c * 16 : c * 16 + 16]
        for a in range(16):
            total = np.int32(0)
            for b in range(16):
                total += here[a * 16 + b]
            high[a] = total
        for b in range(16):
            low[b] = here[b]
        for a in range(1, 16):
            for b in range(16):
                low[b] += here[a * 16 + b]


@helper
def spread(table, half, divide, size, joint):
    """Fill joint (cells, size) with the counts of a variable that stands in half a byte."""
    digit = np.empty(16, np.int64)
    for a in range(16):
        digit[a] = a // divide % size
    for c in range(table.shape[0]):
        row = joint[c * size : (c + 1) * size]
        for a in range(size):
            row[a] = 0
        if table[c] > 0:
            for a in range(16):
                row[digit[a]] += half[c * 16 + a]


@kernel(
    signature(
        "uint8[:, ::1], int64[::1], int64[::1]",
        HALF_BYTES,
        "int64[::1], int64, int64, float64, int32[:, ::1], int32[::1], float64[:, ::1]",
    )
)
def score_with_bytes(planes, plane, stride, packed, size, r, kind, amount, counts, table, score):
    """Fill score[0, u] for the variables that stand in bytes, and the table of the family.

    Byte g holds packed.member[ptr[g]:ptr[g + 1]]; a variable is (half byte // divide) modulo its
    size. `counts` (bytes, cells · 256) is room. If score has a second row, a pair is scored the
    other way round too.
    """
    cells = table.shape[0]
    q = cells // r
    for g in range(counts.shape[0]):
        for i in range(cells * 256):
            counts[g, i] = 0
    tally_bytes(planes, plane, stride, packed.bytes, counts)
    for c in range(cells):
        table[c] = 0
        for b in range(256):
            table[c] += counts[0, c * 256 + b]
    occupied, there, desk = np.empty(q, np.int64), np.empty(r, np.int64), make_desk()
    joint, back = np.empty(cells * 256, np.int32), np.empty(cells * 256, np.int32)
    transpose(table, q, r, np.int64(1), back)
    occupied = occupied[: find_occupied(table, q, r, occupied)]
    there = there[: find_occupied(back, r, q, there)]
    halves, above = np.empty((2, cells * 16), np.int32), np.empty(cells * 256, np.int32)
    for g in range(packed.ptr.shape[0] - 1):
        sum_halves(table, counts[g], halves)
        for j in range(packed.ptr[g], packed.ptr[g + 1]):
            u = packed.member[j]
            s = size[u]
            if packed.half[j] == WIDE:
                for c in range(cells):
                    for a in range(s):
                        joint[c * s + a] = counts[g, c * 256 + a]
            else:
                spread(table, halves[packed.half[j]], packed.divide[j], s, joint)
            score[0, u] = local_score(joint, occupied, above, desk, q, r, s, kind, amount)
            if score.shape[0] == 2:
                transpose(joint, q, r, s, back)
                score[1, u] = local_score(back, there, above, desk, r, q, s, kind, amount)
