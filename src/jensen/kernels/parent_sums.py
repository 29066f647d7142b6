"""Sums of the weights of parent sets: all that chains over orders and partitions look at.

Who may be a parent stands in room.level: 0 may not, 1 may, and of those with 2 there must be one.
"""

import math

import numpy as np

from jensen.kernels import bare, bare_part, bare_sum
from jensen.kernels.bit_sets import lowest_bit

CANCELS = 1e-4
"""A difference of two sums below this share of them is added up anew instead."""

LAST = 36.0
"""Terms this far below the first, in log, are left out of a sum in falling order."""

SMALL = 25.0
"""Sets outside that are together this far below the rest, in log, are left out."""


@bare_sum
def dot(a, b):
    """Return Σ a b."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@bare_part
def log_add(a, b):
    """Return log(exp a + exp b)."""
    if a < b:
        a, b = b, a
    if b == -np.inf or a - b > 40.0:
        return a
    return a + math.log1p(math.exp(b - a))


@bare_part
def local_bits(candidates, level, least):
    """Return which of the candidates have at least this level, as bits."""
    bits = np.int64(0)
    for i in range(candidates.shape[0]):
        bits |= np.int64(level[candidates[i]] >= least) << i
    return bits


@bare_part
def sum_meeting(v, allowed, asked, t):
    """Return the log sum of the subsets of `allowed` that meet `asked`, both as bits."""
    whole = t.log_sums[v, allowed]
    left = -math.expm1(t.log_sums[v, allowed & ~asked] - whole)
    if left > CANCELS:
        return whole + math.log(left)
    log_weights, ranked = t.log_weights[v], t.ranked[v]
    top, total = -np.inf, 0.0
    for i in range(ranked.shape[0]):
        here = np.int64(ranked[i])
        if here & ~allowed == 0 and here & asked != 0:
            weight = log_weights[here]
            if top == -np.inf:
                if weight == -np.inf:
                    return weight
                top = weight
            total += math.exp(weight - top)
            if weight < top - LAST:
                break
    return top + math.log(total)


@bare_part
def fill_flags(room):
    """Fill room.allowed with level 1 only, and room.asked with level 2."""
    for u in range(room.level.shape[0]):
        room.allowed[u] = 1.0 if room.level[u] == 1 else 0.0
        room.asked[u] = 1.0 if room.level[u] == 2 else 0.0


@bare_part
def sum_ordinary(v, t, room):
    """Return the sum of the sets outside that have no row of their own, over log_base.

    Leaves room.allowed at 1 for all that may be parents, where there are pairs.
    """
    singles, pairs, level = t.singles[v], t.pairs[v], room.level
    total = 0.0
    if pairs.shape[0] == 0:
        for u in range(level.shape[0]):
            if level[u] == 2:
                total += singles[u]
            if level[u] != 0:
                room.allowed[u] = 1.0
    else:
        for u in range(level.shape[0]):
            if level[u] == 2:
                total += singles[u] + dot(pairs[u], room.allowed)
                room.allowed[u] = 1.0
    return total


@bare_part
def sum_strong(v, k, t, room):
    """Return the sum of the sets in a row of its own, over log_row; room.allowed is complete."""
    u = t.strong[v, k]
    if room.level[u] == 2:
        return dot(t.strong_rows[v, k], room.allowed)
    return dot(t.strong_rows[v, k], room.asked)


@bare_part
def add_outside(v, inside, t, room):
    """Return the log of exp(inside) and all sets outside that room.level asks for."""
    if not t.log_outside[v] > inside - SMALL:
        return inside
    fill_flags(room)
    x = sum_ordinary(v, t, room)
    total = inside if x == 0.0 else log_add(inside, t.log_base[v] + math.log(x))
    for k in range(t.strong.shape[1]):
        u = t.strong[v, k]
        if u < 0:
            break
        if room.level[u] != 0 and t.log_row_total[v, k] > total - SMALL:
            x = sum_strong(v, k, t, room)
            if x > 0.0:
                total = log_add(total, t.log_row[v, k] + math.log(x))
    return total


@bare
def sum_within(v, t, room):
    """Return the log sum of all parent sets among level 2 (no level is 1), the empty one too."""
    allowed = local_bits(t.candidates[v], room.level, np.int8(1))
    return add_outside(v, t.log_sums[v, allowed], t, room)


@bare
def sum_asked(v, t, room):
    """Return the log sum of the parent sets that hold one of level 2."""
    allowed = local_bits(t.candidates[v], room.level, np.int8(1))
    asked = local_bits(t.candidates[v], room.level, np.int8(2))
    inside = -np.inf if asked == 0 else sum_meeting(v, allowed, asked, t)
    return add_outside(v, inside, t, room)


@bare_part
def pair_weight(v, a, b, t):
    """Return the log weight of {a, b}, which is not within the candidates."""
    if t.pairs.shape[1] > 0 and t.pairs[v, a, b] > 0.0:
        return t.log_base[v] + math.log(t.pairs[v, a, b])
    for k in range(t.strong.shape[1]):
        u = t.strong[v, k]
        is_first = u == a
        if is_first or u == b:
            x = t.strong_rows[v, k, b if is_first else a]
            if x > 0.0:
                return t.log_row[v, k] + math.log(x)
    return -np.inf


@bare_part
def single_weight(v, a, t):
    """Return the log weight of {a}, which is no candidate."""
    if t.singles[v, a] > 0.0:
        return t.log_base[v] + math.log(t.singles[v, a])
    for k in range(t.strong.shape[1]):
        if t.strong[v, k] == a and t.strong_rows[v, k, a] > 0.0:
            return t.log_row[v, k] + math.log(t.strong_rows[v, k, a])
    return -np.inf


@bare
def outside_weight(v, inside, first, second, t):
    """Return the same of a set with parents that are no candidates."""
    if second >= 0:
        return pair_weight(v, first, second, t) if inside == 0 else -np.inf
    if inside == 0:
        return single_weight(v, first, t)
    if inside & (inside - 1) != 0:
        return -np.inf
    other = t.candidates[v, np.int64(lowest_bit(np.uint64(inside)))]
    return pair_weight(v, other, first, t)


@bare_part
def set_weight(v, inside, first, second, t):
    """Return the log weight of a parent set: candidates as bits, and others or -1."""
    if first < 0:
        return t.log_weights[v, inside]
    return outside_weight(v, inside, first, second, t)
