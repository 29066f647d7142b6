"""Contingency tables: by ANDs of bitsets where cells are few, by index where they are many.

A family is a list of variables. Its table is flat, the first variable slowest.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from jensen.kernels import helper, kernel

ROWS = 4096
"""Rows whose table positions are computed at a time: they stay in the first-level cache."""

WORDS = 320
"""Words of every bitset that pair counting looks at before it goes on: they stay in the cache."""


@intrinsic
def popcount(typing_context, word):
    """How many bits of a 64-bit word are set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def equal_bits(typing_context, codes, start, state):
    """64 bits that say which of 64 bytes, from `start` on, equal a state."""

    def generate(context, builder, signature, arguments):
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        vector = ir.VectorType(ir.IntType(8), 64)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), vector.as_pointer())
        bytes_ = builder.load(place)
        bytes_.align = 1
        nothing, zeros = ir.Constant(vector, ir.Undefined), ir.VectorType(ir.IntType(32), 64)
        first = builder.insert_element(nothing, arguments[2], ir.Constant(ir.IntType(32), 0))
        same = builder.shuffle_vector(first, nothing, ir.Constant(zeros, [0] * 64))
        return builder.bitcast(builder.icmp_unsigned("==", bytes_, same), ir.IntType(64))

    return types.uint64(codes, types.int64, types.uint8), generate


if config.DISABLE_JIT:  # an intrinsic has no body that Python could run

    def popcount(word):
        """How many bits of a 64-bit word are set."""
        return np.uint64(int(word).bit_count())

    def equal_bits(codes, start, state):
        """64 bits that say which of 64 bytes, from `start` on, equal a state."""
        return np.packbits(codes[start : start + 64] == state, bitorder="little").view(np.uint64)[0]


@helper
def and_count(a, b):
    """Return how many bits are set in a & b."""
    total = np.uint64(0)
    for k in range(a.shape[0]):
        total += popcount(a[k] & b[k])
    return np.int64(total)


@helper
def and_counts(a, bits, rows, begin, end, out):
    """Add to out (4,) how many bits are set in a and in words begin..end of each of four rows."""
    b, c = bits[rows[0], begin:end], bits[rows[1], begin:end]
    d, e = bits[rows[2], begin:end], bits[rows[3], begin:end]
    in_b = in_c = in_d = in_e = np.uint64(0)
    for k in range(a.shape[0]):
        word = a[k]  # read once for all four
        in_b += popcount(word & b[k])
        in_c += popcount(word & c[k])
        in_d += popcount(word & d[k])
        in_e += popcount(word & e[k])
    out[0] += np.int64(in_b)
    out[1] += np.int64(in_c)
    out[2] += np.int64(in_d)
    out[3] += np.int64(in_e)


@helper
def and_into(a, b, out):
    """Fill out with a & b and return how many bits are set."""
    total = np.uint64(0)
    for k in range(a.shape[0]):
        word = a[k] & b[k]
        out[k] = word
        total += popcount(word)
    return np.int64(total)


@helper
def pack_column(codes, bits):
    """Fill bits (S, W): bit i of row s says codes[i] == s; the last row is what no other has."""
    n_rows, last = codes.shape[0], bits.shape[0] - 1
    for word in range(n_rows // 64):
        rest = ~np.uint64(0)
        for state in range(last):
            packed = equal_bits(codes, np.int64(64 * word), np.uint8(state))
            bits[state, word] = packed
            rest ^= packed
        bits[last, word] = rest
    if n_rows % 64:
        word = n_rows // 64
        for state in range(last + 1):
            packed = np.uint64(0)
            for i in range(64 * word, n_rows):
                packed |= np.uint64(codes[i] == state) << np.uint64(i - 64 * word)
            bits[state, word] = packed


@kernel("void(uint8[:, ::1], int64[::1], int64[::1], int64[::1], uint64[:, ::1])")
def pack_bits(codes, rows, first, size, bits):
    """Fill the bitsets first[k] .. + size[k] of bits with the states of codes[rows[k]]."""
    for k in range(rows.shape[0]):
        pack_column(codes[rows[k]], bits[first[k] : first[k] + size[k]])


@kernel(
    "void(uint64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64[::1])"
)
def count_bits(bits, fam_ptr, fam_first, fam_size, fam_at, start, stop, out):
    """Add to out the tables of families over words start..stop, by ANDs, depth first.

    Variable j of a family has bitsets fam_first[j] .. + fam_size[j]. An empty set is never opened,
    and the last state of the last variable comes by difference.
    """
    longest = 0
    for f in range(fam_ptr.shape[0] - 1):
        longest = max(longest, fam_ptr[f + 1] - fam_ptr[f])
    sets = np.empty((longest, stop - start), np.uint64)
    state = np.empty(longest, np.int64)
    cell = np.empty(longest, np.int64)
    for f in range(fam_ptr.shape[0] - 1):
        first = fam_first[fam_ptr[f] : fam_ptr[f + 1]]
        size = fam_size[fam_ptr[f] : fam_ptr[f + 1]]
        table = out[fam_at[f] : fam_at[f + 1]]
        last = first.shape[0] - 1
        if last == 0:
            for s in range(size[0]):
                row = bits[first[0] + s, start:stop]
                table[s] += and_count(row, row)
            continue
        level = 0
        state[0] = 0
        while level >= 0:
            s = state[level]
            if s == size[level]:
                level -= 1
                continue
            state[level] = s + 1
            row = bits[first[level] + s, start:stop]
            above = sets[level - 1] if level > 0 else row
            found = and_into(above, row, sets[level])
            cell[level] = s if level == 0 else cell[level - 1] * size[level] + s
            if found == 0:
                continue
            if level + 1 < last:
                level += 1
                state[level] = 0
                continue
            base = cell[level] * size[last]
            for k in range(size[last] - 1):
                if found == 0:
                    break
                here = and_count(sets[level], bits[first[last] + k, start:stop])
                table[base + k] += here
                found -= here
            table[base + size[last] - 1] += found


@kernel("void(uint64[:, ::1], int64[::1], int64[::1], int64, int64, int64[:, ::1])")
def count_pairs(bits, first, size, start, stop, out):
    """Add to out[i, j], i <= j, how often two codes meet in words start..stop.

    Variable v has bitsets first[v] .. + size[v], of which the last is left out.
    """
    n, at = out.shape[0], 0
    rows = np.empty(n, np.int64)
    for v in range(first.shape[0]):
        for row in range(first[v], first[v] + size[v] - 1):
            rows[at] = row
            at += 1
    for begin in range(start, stop, WORDS):
        end = min(begin + WORDS, stop)
        for i in range(n):
            here, fours = bits[rows[i], begin:end], i + (n - i) // 4 * 4
            for j in range(i, fours, 4):
                and_counts(here, bits, rows[j : j + 4], begin, end, out[i, j : j + 4])
            for j in range(fours, n):
                out[i, j] += and_count(here, bits[rows[j], begin:end])


@helper
def table_positions(planes, plane, stride, start, stop, position):
    """Fill position with the flat table position of rows start..stop: Σ stride · byte."""
    for i in range(stop - start):
        position[i] = np.uint32(0)
    for j in range(plane.shape[0]):
        codes = planes[plane[j], start:stop]
        step = np.uint32(stride[j])
        for i in range(stop - start):
            position[i] += step * np.uint32(codes[i])


@kernel(
    "void(uint8[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64, int64, int32[:, ::1])"
)
def count_index(planes, fam_ptr, fam_plane, fam_stride, fam_at, start, stop, out):
    """Add to out (lanes, cells) the tables of families over rows start..stop.

    With four lanes neighbouring rows go to different copies of a table, so that an increment
    need not wait for the one before it; the caller adds the lanes.
    """
    position = np.empty(ROWS, np.uint32)
    lanes = out.shape[0]
    for begin in range(start, stop, ROWS):
        end = min(begin + ROWS, stop)
        n = end - begin
        for f in range(fam_ptr.shape[0] - 1):
            a, b = fam_ptr[f], fam_ptr[f + 1]
            table_positions(planes, fam_plane[a:b], fam_stride[a:b], begin, end, position)
            one = out[0, fam_at[f] : fam_at[f + 1]]
            two = out[1 % lanes, fam_at[f] : fam_at[f + 1]]
            three = out[2 % lanes, fam_at[f] : fam_at[f + 1]]
            four = out[3 % lanes, fam_at[f] : fam_at[f + 1]]
            for i in range(0, n - 3, 4):
                one[position[i]] += 1
                two[position[i + 1]] += 1
                three[position[i + 2]] += 1
                four[position[i + 3]] += 1
            for i in range(n - n % 4, n):
                one[position[i]] += 1


@kernel(
    "void(uint8[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64, int64, float64[::1], float64[::1])"
)
def count_weighted(planes, fam_ptr, fam_plane, fam_stride, fam_at, start, stop, weights, out):
    """Add to out the weighted tables of families over rows start..stop."""
    position = np.empty(ROWS, np.uint32)
    for begin in range(start, stop, ROWS):
        end = min(begin + ROWS, stop)
        for f in range(fam_ptr.shape[0] - 1):
            a, b = fam_ptr[f], fam_ptr[f + 1]
            table_positions(planes, fam_plane[a:b], fam_stride[a:b], begin, end, position)
            table = out[fam_at[f] : fam_at[f + 1]]
            for i in range(end - begin):
                table[position[i]] += weights[begin + i]
