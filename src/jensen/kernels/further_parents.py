"""Counts of a family together with every variable that might become its further parent."""

import numpy as np

from jensen.kernels import kernel
from jensen.kernels.counting import and_count, and_into, table_positions
from jensen.kernels.local_terms import local_score, make_desk

WORDS = 256
"""Words of every bitset that are looked at before going on: they stay in the cache."""

ROWS = 2048
"""Rows whose table positions are computed at a time."""

WIDE = 2
"""Which half of a byte a variable has: 0, 1, or all of it."""


@kernel(
    "void(uint64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64, int64, int32[::1])"
)
def count_with_bits(bits, first, size, family, others, at, start, stop, out):
    """Add counts of (cell of the family, state of another) over words start..stop to out.

    Variable v has bitsets first[v] .. + size[v]. The table of the family itself comes first, that
    of the k-th of the others begins at at[k]; its last state comes by difference.
    """
    depth = family.shape[0]
    sets = np.empty((depth, WORDS), np.uint64)
    state, cell = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    for begin in range(start, stop, WORDS):
        end = min(begin + WORDS, stop)
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
            out[cell[level]] += np.int32(found)
            for k in range(others.shape[0]):
                u, rest = others[k], found
                base = at[k] + cell[level] * size[u]
                for t in range(size[u] - 1):
                    if rest == 0:
                        break
                    n = and_count(here, bits[first[u] + t, begin:end])
                    out[base + t] += np.int32(n)
                    rest -= n
                out[base + size[u] - 1] += np.int32(rest)


@kernel(
    "void(int32[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64, float64, "
    "float64[::1])"
)
def score_tables(counts, size, others, at, q, r, kind, amount, score):
    """Fill score[u] for the others from their tables of counts."""
    above, desk = np.empty(at[at.shape[0] - 1], np.int32), make_desk()
    for k in range(others.shape[0]):
        u = others[k]
        s, table = size[u], counts[at[k] : at[k + 1]]
        score[u] = local_score(table, above, desk, q, r, s, kind, amount, float(q * s))


@kernel("void(uint8[:, ::1], int64[::1], int64[::1], uint8[:, ::1], int64, int64, int32[:, ::1])")
def count_with_bytes(planes, plane, stride, bytes_, start, stop, out):
    """Add counts of (cell of the family, byte) over rows start..stop to out (bytes, cells · 256).

    Four bytes at a time: increments of different tables do not wait for each other.
    """
    position = np.empty(ROWS, np.uint32)
    n_bytes = bytes_.shape[0]
    for begin in range(start, stop, ROWS):
        end = min(begin + ROWS, stop)
        n = end - begin
        table_positions(planes, plane, stride, begin, end, position)
        for i in range(n):
            position[i] <<= np.uint32(8)
        g = 0
        while g + 3 < n_bytes:
            a, b = bytes_[g, begin:end], bytes_[g + 1, begin:end]
            c, d = bytes_[g + 2, begin:end], bytes_[g + 3, begin:end]
            one, two, three, four = out[g], out[g + 1], out[g + 2], out[g + 3]
            for i in range(n):
                at = position[i]
                one[at + a[i]] += 1
                two[at + b[i]] += 1
                three[at + c[i]] += 1
                four[at + d[i]] += 1
            g += 4
        while g < n_bytes:
            a, one = bytes_[g, begin:end], out[g]
            for i in range(n):
                one[position[i] + a[i]] += 1
            g += 1


@kernel(
    "void(int32[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64, int64, int64, float64, float64[::1])"
)
def score_with_bytes(counts, ptr, member, half, divide, size, q, r, kind, amount, score):
    """Fill score[u] for the variables that stand in bytes, from counts (bytes, cells · 256).

    Byte g holds member[ptr[g]:ptr[g + 1]]; a variable is (half byte // divide) modulo its size.
    """
    cells = q * r
    halves = np.empty((2, cells * 16), np.int32)
    widest = 16
    for j in range(member.shape[0]):
        widest = max(widest, size[member[j]])
    table, above = np.empty(cells * widest, np.int32), np.empty(q * widest, np.int32)
    desk, digit = make_desk(), np.empty(16, np.int64)
    for g in range(ptr.shape[0] - 1):
        for c in range(cells):
            here = counts[g, c * 256 : c * 256 + 256]
            low, high = halves[0, c * 16 : c * 16 + 16], halves[1, c * 16 : c * 16 + 16]
            for b in range(16):
                low[b] = 0
            for a in range(16):
                total = np.int32(0)
                for b in range(16):
                    total += here[a * 16 + b]
                    low[b] += here[a * 16 + b]
                high[a] = total
        for j in range(ptr[g], ptr[g + 1]):
            u = member[j]
            width = size[u]
            for i in range(cells * width):
                table[i] = 0
            for a in range(16):
                digit[a] = a // divide[j] % width
            for c in range(cells):
                row = table[c * width : (c + 1) * width]
                if half[j] == WIDE:
                    for a in range(width):
                        row[a] = counts[g, c * 256 + a]
                else:
                    for a in range(16):
                        row[digit[a]] += halves[half[j], c * 16 + a]
            n = float(q * width)
            score[u] = local_score(table, above, desk, q, r, width, kind, amount, n)
