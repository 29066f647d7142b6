"""Local scores read out of tables of counts.

A cell without a count adds nothing. The others are gathered into tiles, which go through loops that
the compiler turns into vectors.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel

LIKELIHOOD, BDEU, BDS, K2 = 0, 1, 2, 3
"""What a score is; `amount` is its penalty of one free parameter, or its equivalent sample size."""

TILE = 256
SMALL = 8
HALF_LOG_2PI = 0.9189385332046727
LOG_2 = 0.6931471805599453
ROOT = np.uint64(0x3FE6A09E667F3BCD)  # the bits of √½
DIGITS = np.uint64(52)  # of a number after its point
MAGIC = 1.5 * 2.0**52  # a whole number added to it stands in its lowest bits
MAGIC_BITS = np.uint64(0x4338000000000000)


@helper
def logarithms(x, power):
    """Replace numbers of 1 and more by their logarithms, to the last digit or two.

    x = 2^e · m with m between √½ and √2, and log m = 2 artanh((m - 1) / (m + 1)); power is room
    for e.
    """
    bits, power_bits = x.view(np.uint64), power.view(np.uint64)
    for i in range(x.shape[0]):
        e = (bits[i] - ROOT) >> DIGITS
        power_bits[i] = e + MAGIC_BITS
        bits[i] -= e << DIGITS
    for i in range(x.shape[0]):
        s = (x[i] - 1.0) / (x[i] + 1.0)
        z = s * s
        p = 1.0 / 19.0
        p = p * z + 1.0 / 17.0
        p = p * z + 1.0 / 15.0
        p = p * z + 1.0 / 13.0
        p = p * z + 1.0 / 11.0
        p = p * z + 1.0 / 9.0
        p = p * z + 1.0 / 7.0
        p = p * z + 1.0 / 5.0
        p = p * z + 1.0 / 3.0
        x[i] = (power[i] - MAGIC) * LOG_2 + 2.0 * (s + s * z * p)


@helper
def prepare_rises(a, small):
    """Fill small[n] with log Γ(a + n) - log Γ(a) for few n, then a, then log Γ(a).

    Neighbouring tables often have the same a, and then nothing is to be done.
    """
    if small[SMALL] == a:
        return
    small[0] = 0.0
    for n in range(1, SMALL):
        small[n] = small[n - 1] + math.log(a + (n - 1))
    small[SMALL] = a
    small[SMALL + 1] = math.lgamma(a) - HALF_LOG_2PI


@helper
def sum_rises(counts, blocks, width, a, small, desk):
    """Return Σ log Γ(a + n) - log Γ(a) over the counts of some blocks of this width."""
    prepare_rises(a, small)
    often = np.zeros(SMALL, np.int64)
    argument, waiting, n_large, total = desk[2], 0, 0, 0.0
    for j in range(blocks.shape[0]):
        for n in counts[blocks[j] * width : (blocks[j] + 1) * width]:
            if n == 0:
                continue
            if n < SMALL:
                often[n] += 1
                continue
            argument[waiting] = n + a
            waiting += 1
            if waiting == TILE:
                total += stirling_sum(argument, desk)
                n_large += TILE
                waiting = 0
    total += stirling_sum(argument[:waiting], desk) - (n_large + waiting) * small[SMALL + 1]
    for n in range(1, SMALL):
        total += often[n] * small[n]
    return total


@helper
def sum_of(x):
    """Return Σ x, in four sums that do not wait for each other."""
    a = b = c = d = 0.0
    whole = x.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(whole, x.shape[0]):
        a += x[i]
    return (a + b) + (c + d)


@helper
def stirling_sum(argument, desk):
    """Return Σ log Γ(x) of numbers of 8 and more, without ½ log 2π."""
    x, power = desk[0], desk[1]
    size = argument.shape[0]
    for i in range(size):
        x[i] = argument[i]
    logarithms(x[:size], power)
    for i in range(size):
        y = 1.0 / argument[i]
        z = y * y
        tail = 1 / 1260.0 - z * (1 / 1680.0 - z / 1188.0)
        tail = y * (1 / 12.0 - z * (1 / 360.0 - z * tail))
        x[i] = (argument[i] - 0.5) * x[i] - argument[i] + tail
    return sum_of(x[:size])


@helper
def sum_entropies(counts, blocks, width, desk):
    """Return Σ n log n over the counts of some blocks of this width."""
    argument, waiting, total = desk[2], 0, 0.0
    for j in range(blocks.shape[0]):
        for n in counts[blocks[j] * width : (blocks[j] + 1) * width]:
            if n < 2:  # 1 log 1 = 0
                continue
            argument[waiting] = n
            waiting += 1
            if waiting == TILE:
                total += entropy_sum(argument, desk)
                waiting = 0
    return total + entropy_sum(argument[:waiting], desk)


@helper
def entropy_sum(argument, desk):
    """Return Σ n log n of numbers above 1."""
    x, power = desk[0], desk[1]
    size = argument.shape[0]
    for i in range(size):
        x[i] = argument[i]
    logarithms(x[:size], power)
    for i in range(size):
        x[i] *= argument[i]
    return sum_of(x[:size])


@helper
def make_desk():
    """Return the room that sums need: three tiles, and what was prepared for cells and configs."""
    desk = np.empty((5, TILE))
    desk[3, SMALL] = desk[4, SMALL] = np.nan
    return desk


@helper
def find_occupied(table, q, r, occupied):
    """Return how many of q parent configurations occur in counts (q, r), and fill in which."""
    found = 0
    for p in range(q):
        for k in range(r):
            if table[p * r + k] > 0:
                occupied[found] = p
                found += 1
                break
    return found


@helper
def local_score(table, occupied, above, desk, q, r, s, kind, amount):
    """Return the score of a variable from counts (q, r, s): its r states, parents q and s.

    Of the q configurations only those matter that occur. `above` (q · s) is room for the counts of
    all configurations, and `desk` for sums.
    """
    found = 0
    for j in range(occupied.shape[0]):
        p = occupied[j]
        here = above[p * s : (p + 1) * s]
        for t in range(s):
            here[t] = table[p * r * s + t]
        for k in range(1, r):
            row = table[(p * r + k) * s : (p * r + k + 1) * s]
            for t in range(s):
                here[t] += row[t]
        for t in range(s):
            found += here[t] > 0
    n_configs, width = float(q * s), r * s
    if kind == LIKELIHOOD:
        log_like = sum_entropies(table, occupied, width, desk)
        log_like -= sum_entropies(above, occupied, s, desk)
        return log_like - amount * n_configs * (r - 1)
    a, b = 1.0, float(r)
    if kind != K2:
        spread = float(max(found, 1)) if kind == BDS else n_configs
        a, b = amount / (spread * r), amount / spread
    total = sum_rises(table, occupied, width, a, desk[3], desk)
    return total - sum_rises(above, occupied, s, b, desk[4], desk)


@kernel("float64(int32[::1], int64[::1], int64, int64, float64, float64[::1])")
def score_family(table, sizes, r, kind, amount, less):
    """Return the score of a family from its table: parents of these sizes, then r states.

    Fills less (p,) with the score without each parent: the table summed over it.
    """
    q, one = table.shape[0] // r, np.int64(1)  # a literal would be compiled by itself
    above, summed = np.empty(q, np.int32), np.empty(table.shape[0], np.int32)
    desk, occupied = make_desk(), np.empty(q, np.int64)
    after = 1
    for j in range(sizes.shape[0] - 1, -1, -1):
        size, width = sizes[j], after * r
        for b in range(q // (size * after)):
            here = summed[b * width : (b + 1) * width]
            for y in range(width):
                here[y] = table[b * size * width + y]
            for x in range(1, size):
                there = table[(b * size + x) * width : (b * size + x + 1) * width]
                for y in range(width):
                    here[y] += there[y]
        left = q // size
        n = find_occupied(summed, left, r, occupied)
        less[j] = local_score(summed, occupied[:n], above, desk, left, r, one, kind, amount)
        after *= size
    n = find_occupied(table, q, r, occupied)
    return local_score(table, occupied[:n], above, desk, q, r, one, kind, amount)
