"""Orders of variables, and the best of listed families that each variable finds in them.

Families stand by child, from first[child] to first[child + 1], the best first; a set of parents is
bits of words. What a variable scores for which no family fits is so low that nothing outweighs it,
but finite, so that differences are numbers.

A variable that moves in the order matters to those alone that may be its parents or children in a
listed family: between two of these it may stand anywhere.
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


@kernel("void(uint64[:, ::1], int64[::1], boolean[::1])")
def find_needed(sets, first, needed):
    """Fill needed (m,): whether no family before it has some of its parents and no others."""
    for v in range(first.shape[0] - 1):
        for i in range(first[v], first[v + 1]):
            needed[i] = True
            for j in range(first[v], i):
                if needed[j] and first_fit(sets, j, j + 1, sets[i]) == j:
                    needed[i] = False
                    break


@helper
def count_with(sets, first, begin):
    """Fill begin (n * n + 1,): where families of v with the parent u are listed, at v n + u."""
    n = first.shape[0] - 1
    begin[:] = 0
    for v in range(n):
        for i in range(first[v], first[v + 1]):
            for u in range(n):
                if has(sets[i], u):
                    begin[v * n + u + 1] += 1
    for k in range(n * n):
        begin[k + 1] += begin[k]


@helper
def list_with(sets, first, begin, listed, near, n_near):
    """Fill listed with these families, the best first, and near (n, n), n_near (n,).

    Near a variable are its parents and children in listed families.
    """
    n = first.shape[0] - 1
    count = begin.copy()
    for v in range(n):
        for i in range(first[v], first[v + 1]):
            for u in range(n):
                if has(sets[i], u):
                    listed[count[v * n + u]] = i
                    count[v * n + u] += 1
    for v in range(n):
        n_near[v] = 0
        for u in range(n):
            up, down = v * n + u, u * n + v
            if begin[up] < begin[up + 1] or begin[down] < begin[down + 1]:
                near[v, n_near[v]] = u
                n_near[v] += 1


@helper
def first_with(sets, listed, begin, end, last, before):
    """Return the first of listed families before `last` that fits; else that one."""
    for k in range(begin, end):
        i = listed[k]
        if i >= last:
            break
        if first_fit(sets, i, i + 1, before) == i:
            return i
    return last


@helper
def note_places(order, begin, end, place, before):
    """Fill place (n,) and before (n, words), by variable, for a stretch of the order."""
    for i in range(begin, end):
        v = order[i]
        place[v] = i
        if i == 0:
            before[v, :] = np.uint64(0)
        else:
            before[v, :] = before[order[i - 1], :]
            put(before[v], order[i - 1])


@helper
def choose_all(sets, scores, first, before, chosen):
    """Fill chosen (n,) with the best family of each variable; return the sum of their scores."""
    total = 0.0
    for v in range(chosen.shape[0]):
        chosen[v] = first_fit(sets, first[v], first[v + 1], before[v])
        total += worth(scores, chosen[v], first[v + 1])
    return total


@helper
def shift(order, i, j):
    """Move the variable at place i to place j."""
    moved, step = order[i], 1 if i < j else -1
    for k in range(i, j, step):
        order[k] = order[k + step]
    order[j] = moved


@helper
def value_gaps(pool, by_place, k, x, before, chosen, others, own, value):
    """Fill value (m + 1,): what x gains in each gap between the m variables near it, by place.

    x stands in gap k; all gains are counted from the same zero. others (m,) are the families of
    those near it if x changes sides with them, own (m + 1,) those of x in each gap.
    """
    sets, scores, first, listed, begin = pool
    m, n = by_place.shape[0], chosen.shape[0]
    around = np.zeros(sets.shape[1], np.uint64)
    value[0] = 0.0
    for j in range(m):
        z = by_place[j]
        now, end = chosen[z], first[z + 1]
        around[:] = before[z]
        others[j] = now
        gain = 0.0
        if j < k:  # with x before it, only a better family can be chosen
            put(around, x)
            at = z * n + x
            others[j] = first_with(sets, listed, begin[at], begin[at + 1], now, around)
            if others[j] < now:
                gain = worth(scores, now, end) - scores[others[j]]
        elif now < end and has(sets[now], x):
            take(around, x)
            others[j] = first_fit(sets, now, end, around)
            gain = worth(scores, others[j], end) - scores[now]
        value[j + 1] = value[j] + gain
    around[:] = np.uint64(0)
    for j in range(m):
        put(around, by_place[j])
    i, end = first[x], first[x + 1]
    for j in range(m, -1, -1):
        i = first_fit(sets, i, end, around)
        own[j] = i
        value[j] += worth(scores, i, end)
        if j > 0:
            take(around, by_place[j - 1])


@helper
def climb_orders(pool, near, n_near, slack, waits, order, chosen):
    """Move variables that wait to their best places, until none does; return the sum.

    When one has moved, those near it wait.
    """
    sets, scores, first, _, _ = pool
    n = order.shape[0]
    place, before = np.empty(n, np.int64), np.empty((n, sets.shape[1]), np.uint64)
    by_place, others = np.empty(n, np.int64), np.empty(n, np.int64)
    own, value = np.empty(n + 1, np.int64), np.empty(n + 1)
    note_places(order, 0, n, place, before)
    choose_all(sets, scores, first, before, chosen)
    n_idle, x = 0, 0
    while n_idle < n:
        n_idle += 1
        if waits[x]:
            waits[x] = False
            m, k = n_near[x], 0
            for j in range(m):  # by insertion
                z, i = near[x, j], j
                k += place[z] < place[x]
                while i > 0 and place[by_place[i - 1]] > place[z]:
                    by_place[i] = by_place[i - 1]
                    i -= 1
                by_place[i] = z
            value_gaps(pool, by_place[:m], k, x, before, chosen, others, own, value)
            best = k
            for j in range(m + 1):
                if value[j] > value[best] + slack:
                    best = j
            if best != k:
                begin = place[x]
                end = place[by_place[best - 1]] if best > k else place[by_place[best]]
                shift(order, begin, end)
                note_places(order, min(begin, end), max(begin, end) + 1, place, before)
                for j in range(min(best, k), max(best, k)):
                    chosen[by_place[j]] = others[j]
                chosen[x] = own[best]
                for j in range(m):
                    waits[by_place[j]] = True
                n_idle = 0
        x = x + 1 if x + 1 < n else 0
    return choose_all(sets, scores, first, before, chosen)


@kernel(
    "float64(uint64[:, ::1], float64[::1], int64[::1], float64, float64[:, :, ::1], int64, "
    "int64[::1], int64[::1])"
)
def improve_order(sets, scores, first, slack, uniforms, patience, order, chosen):
    """Fill order and chosen (n,): a better order, and the place of each variable's family in it.

    Return the sum of scores. Again and again some variables are moved anywhere: uniforms
    (rounds, moves, 2) say which and where to. It ends after `patience` rounds without a gain.
    """
    n = order.shape[0]
    near, n_near = np.empty((n, n), np.int64), np.empty(n, np.int64)
    begin = np.empty(n * n + 1, np.int64)
    count_with(sets, first, begin)
    listed = np.empty(begin[n * n], np.int64)
    list_with(sets, first, begin, listed, near, n_near)
    pool = sets, scores, first, listed, begin
    waits = np.ones(n, np.bool_)
    best = climb_orders(pool, near, n_near, slack, waits, order, chosen)
    now, other, found = order.copy(), order.copy(), chosen.copy()
    idle = 0
    for r in range(uniforms.shape[0]):
        if idle == patience:
            break
        idle += 1
        other[:] = now
        for m in range(uniforms.shape[1]):
            i, j = int(uniforms[r, m, 0] * n), int(uniforms[r, m, 1] * n)
            waits[other[i]] = True
            for k in range(n_near[other[i]]):
                waits[near[other[i], k]] = True
            shift(other, i, j)
        total = climb_orders(pool, near, n_near, slack, waits, other, found)
        if total >= best - slack:
            now[:] = other
        if total > best + slack:
            best, idle = total, 0
            order[:], chosen[:] = other, found
    return best
