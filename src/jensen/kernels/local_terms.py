"""Local scores read out of tables of counts.

A cell without a count adds nothing. The others are gathered into tiles, which go through loops that
the compiler turns into vectors.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel, part

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
def split_powers(x, power):
    """Replace numbers of 1 and more by m between √½ and √2, where x = 2^e · m.

    Fills power with e, above a large number in whose lowest bits it stands.
    """
    bits, power_bits = x.view(np.uint64), power.view(np.uint64)
    for i in range(x.shape[0]):
        e = (bits[i] - ROOT) >> DIGITS
        power_bits[i] = e + MAGIC_BITS
        bits[i] -= e << DIGITS


@part
def log_of(s, power):
    """Return log x to the last digit or two: log m = 2 artanh(s), s = (m - 1) / (m + 1)."""
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
    return (power - MAGIC) * LOG_2 + 2.0 * (s + s * z * p)


@helper
def prepare_rises(a, small):
    """Fill small[n] with log Γ(a + n) - log Γ(a) for few n, then a, log Γ(a), and 0 for many n.

    Neighbouring tables often have the same a, and then nothing is to be done.
    """
    if small[SMALL] == a:
        return
    small[0] = 0.0
    for n in range(1, SMALL):
        small[n] = small[n - 1] + math.log(a + (n - 1))
    small[SMALL] = a
    small[SMALL + 1] = math.lgamma(a) - HALF_LOG_2PI
    small[SMALL + 2] = 0.0


@helper
def sum_rises(counts, a, small, desk):
    """Return Σ log Γ(a + n) - log Γ(a) over counts.

    Nothing branches on a count: small ones are looked up, and large ones move on to where they wait
    to be computed together.
    """
    prepare_rises(a, small)
    argument, waiting, n_large, total, even, odd = desk[2], 0, 0, 0.0, 0.0, 0.0
    for begin in range(0, counts.shape[0], TILE):
        here = counts[begin : begin + TILE]
        n = here.shape[0]
        for i in range(0, n - 1, 2):
            one, other = here[i], here[i + 1]
            even += small[one if one < SMALL else SMALL + 2]
            odd += small[other if other < SMALL else SMALL + 2]
            argument[waiting] = one + a
            waiting += one >= SMALL
            argument[waiting] = other + a
            waiting += other >= SMALL
        if n % 2 == 1:
            one = here[n - 1]
            even += small[one if one < SMALL else SMALL + 2]
            argument[waiting] = one + a
            waiting += one >= SMALL
        if waiting >= TILE or begin + n == counts.shape[0]:
            total += stirling_sum(argument[:waiting], desk)
            n_large += waiting
            waiting = 0
    return total - n_large * small[SMALL + 1] + (even + odd)


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
def stirling_terms(argument, power, out):
    """Fill out with log Γ(x) of numbers of 8 and more, without ½ log 2π; power is room."""
    for i in range(out.shape[0]):
        out[i] = argument[i]
    split_powers(out, power)
    for i in range(out.shape[0]):
        x = out[i]
        inverse = 1.0 / (argument[i] * (x + 1.0))  # one division for two: they take longest
        log_x = log_of((x - 1.0) * (argument[i] * inverse), power[i])
        y = (x + 1.0) * inverse
        z = y * y
        tail = 1 / 1260.0 - z * (1 / 1680.0 - z / 1188.0)
        tail = y * (1 / 12.0 - z * (1 / 360.0 - z * tail))
        out[i] = (argument[i] - 0.5) * log_x - argument[i] + tail


@part
def stirling_sum(argument, desk):
    """Return Σ log Γ(x) of numbers of 8 and more, without ½ log 2π."""
    size = argument.shape[0]
    stirling_terms(argument, desk[1, :size], desk[0, :size])
    return sum_of(desk[0, :size])


@helper
def sum_entropies(counts, desk):
    """Return Σ n log n over counts."""
    argument, waiting, total = desk[2], 0, 0.0
    for begin in range(0, counts.shape[0], TILE):
        for n in counts[begin : begin + TILE]:
            argument[waiting] = n
            waiting += n > 1  # 1 log 1 = 0
        if waiting >= TILE or begin + TILE >= counts.shape[0]:
            total += entropy_sum(argument[:waiting], desk)
            waiting = 0
    return total


@helper
def entropy_terms(argument, power, out):
    """Fill out with n log n of numbers of 1 and more; power is room."""
    for i in range(out.shape[0]):
        out[i] = argument[i]
    split_powers(out, power)
    for i in range(out.shape[0]):
        out[i] = argument[i] * log_of((out[i] - 1.0) / (out[i] + 1.0), power[i])


@part
def entropy_sum(argument, desk):
    """Return Σ n log n of numbers of 1 and more."""
    size = argument.shape[0]
    entropy_terms(argument, desk[1, :size], desk[0, :size])
    return sum_of(desk[0, :size])


@helper
def make_desk():
    """Return the room that sums need: three rows, and what was prepared for cells and configs."""
    desk = np.empty((5, 2 * TILE))
    desk[3, SMALL] = desk[4, SMALL] = np.nan
    return desk


@part
def sum_over_states(table, q, r, s, above):
    """Fill above (s, q) with counts (s, r, q) summed over r."""
    for t in range(s):
        here = above[t * q : (t + 1) * q]
        first = table[t * r * q : (t * r + 1) * q]
        for p in range(q):
            here[p] = first[p]
        for k in range(1, r):
            row = table[(t * r + k) * q : (t * r + k + 1) * q]
            for p in range(q):
                here[p] += row[p]


@part
def sum_over_parent(table, q, n, above):
    """Fill above (n,) with counts (n, q) summed over q."""
    for j in range(n):
        total = np.int32(0)
        for n_here in table[j * q : (j + 1) * q]:
            total += n_here
        above[j] = total


@helper
def sum_over_child(table, before, r, after, above):
    """Fill above (before, after) with counts (before, r, after) summed over r."""
    if after == 1:
        sum_over_parent(table, r, before, above)
    else:
        sum_over_states(table, after, r, before, above)


@helper
def sum_terms(counts, a, kind, small, desk):
    """Return what counts add to a score, if each cell has the prior count a."""
    if kind == LIKELIHOOD:
        return sum_entropies(counts, desk)
    return sum_rises(counts, a, small, desk)


@helper
def local_score(table, above, n_configs, r, kind, amount, desk):
    """Return the score of a variable of r states from its counts and those of its configurations.

    The order of cells does not matter, nor do those that are left out because they are empty:
    `n_configs` says how many configurations there are. `desk` is room for sums.
    """
    a, b, cost = 1.0, float(r), 0.0
    if kind == LIKELIHOOD:
        cost = amount * n_configs * (r - 1)
    elif kind != K2:
        spread = n_configs
        if kind == BDS:
            found = 0
            for n in above:
                found += n > 0
            spread = float(max(found, 1))
        a, b = amount / (spread * r), amount / spread
    total = sum_terms(table, a, kind, desk[3], desk) - sum_terms(above, b, kind, desk[4], desk)
    return total - cost


@helper
def family_score(table, sizes, place, kind, amount, less):
    """Return the score of a family from its table: variables of these sizes, the child at `place`.

    Fills less (p,) with the score without each parent: the table summed over it.
    """
    cells, r, one = table.shape[0], sizes[place], np.int64(1)  # a literal is compiled by itself
    above, summed, desk = np.empty(cells, np.int32), np.empty(cells, np.int32), make_desk()
    below = one  # the child's states stand before so many cells each
    for j in range(place + 1, sizes.shape[0]):
        below *= sizes[j]
    after = one
    for j in range(sizes.shape[0] - 1, -1, -1):
        size = sizes[j]
        if j != place:
            left, beside = cells // size, below // size if j > place else below
            sum_over_child(table, left // after, size, after, summed)
            sum_over_child(summed[:left], left // (r * beside), r, beside, above)
            q, here = left // r, summed[:left]
            k = j if j < place else j - 1
            less[k] = local_score(here, above[:q], float(q), r, kind, amount, desk)
        after *= size
    sum_over_child(table, cells // (r * below), r, below, above)
    q = cells // r
    return local_score(table, above[:q], float(q), r, kind, amount, desk)


@kernel("float64(int32[::1], int64[::1], int64, int64, float64, float64[::1])")
def score_family(table, sizes, place, kind, amount, less):
    """As `family_score`."""
    return family_score(table, sizes, place, kind, amount, less)
