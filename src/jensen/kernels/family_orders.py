"""Orders of variables, and the best of listed families that each variable finds in them.

Families stand by child, from first[child] to first[child + 1], the best first; a set of parents is
bits of words. What a variable without a family that fits scores is so low that nothing outweighs
it, but finite, so that differences are numbers.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.bit_sets import has, put, take

NOTHING = -1e100


@helper
def first_fit(sets, begin, end, before):
    """Return the first of these families whose parents all stand before; else the end."""
    for i in range(begin, end):
        fits = True
        for w in range(sets.shape[1]):
            if sets[i, w] & ~before[w] != np.uint64(0):
                fits = False
                break
        if fits:
            return i
    return end


@helper
def worth(scores, i, end):
    """Return the score of a family, or that of none."""
    return scores[i] if i < end else NOTHING


@helper
def choose_all(sets, scores, first, order, chosen):
    """Fill chosen (n,) with the best family of each variable in this order; return their sum."""
    before = np.zeros(sets.shape[1], np.uint64)
    total = 0.0
    for v in order:
        chosen[v] = first_fit(sets, first[v], first[v + 1], before)
        total += worth(scores, chosen[v], first[v + 1])
        put(before, v)
    return total


@helper
def value_places(sets, scores, first, has_parent, rest, k, x, chosen, value):
    """Fill value (n,): what is gained by placing x before rest[j], not before rest[0].

    x stands before rest[k] now. Variables after x may have it as a parent, those before may not.
    """
    n = value.shape[0]
    before = np.zeros(sets.shape[1], np.uint64)
    value[0] = 0.0
    for j in range(n - 1):
        z = rest[j]
        begin, end = first[z], first[z + 1]
        now = chosen[z]
        gain = 0.0
        if j < k and has_parent[z, x]:  # with x, only a better family can be chosen
            put(before, x)
            other = first_fit(sets, begin, now, before)
            take(before, x)
            if other < now:
                gain = worth(scores, now, end) - scores[other]
        elif j >= k and now < end and has(sets[now], x):
            other = first_fit(sets, now, end, before)
            gain = worth(scores, other, end) - scores[now]
        value[j + 1] = value[j] + gain
        put(before, z)
    i, end = first[x], first[x + 1]
    for j in range(n - 1, -1, -1):
        i = first_fit(sets, i, end, before)
        value[j] += worth(scores, i, end)
        if j > 0:
            take(before, rest[j - 1])


@helper
def climb_orders(sets, scores, first, has_parent, slack, order, chosen):
    """Move one variable after the other to its best place, until none gains; return the sum."""
    n = order.shape[0]
    rest, value = np.empty(n, np.int64), np.empty(n)
    total = choose_all(sets, scores, first, order, chosen)
    idle = x = 0
    while idle < n:
        m = k = 0
        for i in range(n):
            if order[i] == x:
                k = i
            else:
                rest[m] = order[i]
                m += 1
        value_places(sets, scores, first, has_parent, rest, k, x, chosen, value)
        best = k
        for j in range(n):
            if value[j] > value[best] + slack:
                best = j
        idle += 1
        if best != k:
            order[:best] = rest[:best]
            order[best] = x
            order[best + 1 :] = rest[best : n - 1]
            total = choose_all(sets, scores, first, order, chosen)
            idle = 0
        x = x + 1 if x + 1 < n else 0
    return total


@kernel(
    "float64(uint64[:, ::1], float64[::1], int64[::1], float64, float64[:, :, ::1], int64[::1], "
    "int64[::1])"
)
def improve_order(sets, scores, first, slack, uniforms, order, chosen):
    """Fill order and chosen (n,): a better order, and the place of each variable's family in it.

    Return the sum of scores. Again and again some variables are moved anywhere: uniforms
    (rounds, moves, 2) say which and where to.
    """
    n = order.shape[0]
    has_parent = np.zeros((n, n), np.bool_)
    for v in range(n):
        for i in range(first[v], first[v + 1]):
            for u in range(n):
                has_parent[v, u] |= has(sets[i], u)
    best = climb_orders(sets, scores, first, has_parent, slack, order, chosen)
    now, other, found = order.copy(), order.copy(), chosen.copy()
    for r in range(uniforms.shape[0]):
        other[:] = now
        for m in range(uniforms.shape[1]):
            i, j = int(uniforms[r, m, 0] * n), int(uniforms[r, m, 1] * n)
            moved, step = other[i], 1 if i < j else -1
            for k in range(i, j, step):
                other[k] = other[k + step]
            other[j] = moved
        total = climb_orders(sets, scores, first, has_parent, slack, other, found)
        if total >= best - slack:
            now[:] = other
        if total > best + slack:
            best = total
            order[:], chosen[:] = other, found
    return best
