"""Orders of variables, and the best of listed families that each variable finds in them.

Families stand by child, from first[child] to first[child + 1], the best first; a set of parents is
bits of words. What a variable scores for which no family fits is so low that nothing outweighs it,
but finite, so that differences are numbers.

Of every family it is known how many of its parents do not stand before its child yet. A variable
that moves in the order changes that of families alone in which it is a parent or the child; between
two variables that are in none of these it may stand anywhere.
"""

import numpy as np

from jensen.kernels import bare, bare_part, helper, kernel
from jensen.kernels.bit_sets import has, lowest_bit, put, size

NOTHING = -1e100


# --- what is listed ---


@helper
def list_parents(sets):
    """Return where the parents of each family begin (m + 1,), and these one after the other."""
    m = sets.shape[0]
    begin = np.zeros(m + 1, np.int64)
    for i in range(m):
        begin[i + 1] = begin[i] + size(sets[i])
    parent = np.empty(begin[m], np.int64)
    for i in range(m):
        k = begin[i]
        for w in range(sets.shape[1]):
            word = sets[i, w]
            while word != np.uint64(0):
                parent[k] = (w << 6) + np.int64(lowest_bit(word))
                word &= word - np.uint64(1)
                k += 1
    return begin, parent


@helper
def list_with(first, parents):
    """Return where families of v with the parent u begin, at u n + v; and these, the best first."""
    n, (begin, parent) = first.shape[0] - 1, parents
    at = np.zeros(n * n + 1, np.int32)
    for v in range(n):
        for k in range(begin[first[v]], begin[first[v + 1]]):
            at[parent[k] * n + v + 1] += 1
    for k in range(n * n):
        at[k + 1] += at[k]
    listed, count = np.empty(parent.shape[0], np.int32), at.copy()
    for v in range(n):
        for i in range(first[v], first[v + 1]):
            for k in range(begin[i], begin[i + 1]):
                here = parent[k] * n + v
                listed[count[here]] = i
                count[here] += 1
    return at, listed


@helper
def list_near(at, n):
    """Return (n, n) and (n,): the parents and children of each in listed families, how many."""
    near, n_near = np.empty((n, n), np.int64), np.zeros(n, np.int64)
    for v in range(n):
        for u in range(n):
            up, down = v * n + u, u * n + v
            if at[up] < at[up + 1] or at[down] < at[down + 1]:
                near[v, n_near[v]] = u
                n_near[v] += 1
    return near, n_near


# --- an order, and what is chosen in it ---


@kernel("void(boolean[:, ::1], int64[::1])")
def order_graph(joined, order):
    """Fill order (n,): parents before children, of all that may be next the smallest one."""
    n = order.shape[0]
    waits_for, begin = np.zeros(n, np.int64), 0
    for u in range(n):
        for v in range(n):
            waits_for[v] += joined[u, v]
    for i in range(n):
        u = begin
        while waits_for[u] != 0:
            u += 1
        order[i], waits_for[u], begin = u, -1, u + 1
        for v in range(n):
            if joined[u, v]:
                waits_for[v] -= 1
                if waits_for[v] == 0:
                    begin = min(begin, v)


@bare_part
def worth(scores, i, end):
    """Return the score of a family, or that of none."""
    return scores[i] if i < end else NOTHING


@bare_part
def next_fit(missing, i, end):
    """Return the first of families i .. end whose parents all stand before; else the end."""
    while i < end and missing[i] > 0:
        i += 1
    return i


@bare_part
def next_apart(sets, i, end, others):
    """Return the first of sets i .. end that has no member in common with another; else the end."""
    if others.shape[0] == 1:
        word = others[0]
        while i < end and sets[i, 0] & word != np.uint64(0):
            i += 1
        return i
    w = 0
    while i < end and w < others.shape[0]:
        if sets[i, w] & others[w] != np.uint64(0):
            i, w = i + 1, 0
        else:
            w += 1
    return i


@bare
def stand(pool, state):
    """Fill the state of an order: places, what is missing, and the families that are chosen."""
    _, _, first, (begin, parent), _ = pool
    order, place, missing, chosen = state
    for i in range(order.shape[0]):
        place[order[i]] = i
    for v in range(order.shape[0]):
        for i in range(first[v], first[v + 1]):
            missing[i] = 0
            for k in range(begin[i], begin[i + 1]):
                missing[i] += place[parent[k]] > place[v]
        chosen[v] = next_fit(missing, first[v], first[v + 1])


@bare
def total_worth(pool, chosen):
    """Return the sum of scores of the families that are chosen."""
    total = 0.0
    for v in range(chosen.shape[0]):
        total += worth(pool[1], chosen[v], pool[2][v + 1])
    return total


@bare
def shift(pool, state, i, j):
    """Move the variable at place i to place j; those that it passes choose again, and it does."""
    _, _, first, _, (at, listed) = pool
    order, place, missing, chosen = state
    n, x, step = order.shape[0], order[i], 1 if i < j else -1
    for k in range(i, j, step):
        z = order[k + step]
        order[k], place[z] = z, k
        for f in range(at[z * n + x], at[z * n + x + 1]):
            missing[listed[f]] -= step
        for f in range(at[x * n + z], at[x * n + z + 1]):
            missing[listed[f]] += step
        if step > 0:
            chosen[z] = next_fit(missing, chosen[z], first[z + 1])
            continue
        for f in range(at[x * n + z], at[x * n + z + 1]):
            if listed[f] >= chosen[z]:
                break
            if missing[listed[f]] == 0:
                chosen[z] = listed[f]
                break
    order[j], place[x] = x, j
    chosen[x] = next_fit(missing, first[x], first[x + 1])


@bare_part
def value_before(pool, state, by_place, x, value):
    """Fill value (k + 1,): what x gains in each gap before the k variables near it that it follows.

    All gains are counted from the first gap. With x before it, another can only choose better.
    """
    _, scores, first, _, (at, listed) = pool
    order, _, missing, chosen = state
    n = order.shape[0]
    value[0] = 0.0
    for j in range(by_place.shape[0]):
        z, gain = by_place[j], 0.0
        now = chosen[z]
        for f in range(at[x * n + z], at[x * n + z + 1]):
            i = listed[f]
            if i >= now:
                break
            if missing[i] == 1:
                gain = worth(scores, now, first[z + 1]) - scores[i]
                break
        value[j + 1] = value[j] + gain


@bare_part
def loss_behind(pool, state, z, x):
    """Return what z gains, which is never above 0, if x no longer stands before it."""
    sets, scores, first, _, _ = pool
    _, _, missing, chosen = state
    now, end = chosen[z], first[z + 1]
    if now >= end or not has(sets[now], x):
        return 0.0
    i = now + 1
    while i < end and (missing[i] > 0 or has(sets[i], x)):
        i += 1
    return worth(scores, i, end) - scores[now]


@bare_part
def best_gap(pool, state, by_place, k, x, slack, value, behind):
    """Return the gap between the m variables near x, by place, where x gains most; k if none does.

    x stands in gap k. The further back x stands, the better its own family may be, and the less the
    others gain: gaps where its best family would not outweigh them are not looked at, nor are those
    so far forward that its own family is worth too little. value (m + 1,), behind (words,) is room.
    """
    sets, scores, first, _, _ = pool
    m, i, end = by_place.shape[0], first[x], first[x + 1]
    value_before(pool, state, by_place[:k], x, value)
    own, top = worth(scores, state[3][x], end), worth(scores, i, end)
    here, last, best = value[k] + own, k, k
    while last < m and value[last] + top > here + slack:
        value[last + 1] = value[last] + loss_behind(pool, state, by_place[last], x)
        last += 1
    if last == k and own <= here + slack:
        return k
    behind[:] = np.uint64(0)
    for j in range(last, m):
        put(behind, by_place[j])
    begin = 0
    for j in range(last, -1, -1):
        if j < last:
            put(behind, by_place[j])
        i = next_apart(sets, i, end, behind)
        own = worth(scores, i, end)
        if own <= here + slack:
            begin = j + 1
            break
        value[j] += own
    value[k] = here
    for j in range(begin, last + 1):
        if value[j] > value[best] + slack:
            best = j
    return best


@bare_part
def sort_by_place(place, near):
    """Sort variables by their places, by insertion: they hardly ever move far."""
    for j in range(1, near.shape[0]):
        z, i = near[j], j
        while i > 0 and place[near[i - 1]] > place[z]:
            near[i] = near[i - 1]
            i -= 1
        near[i] = z


@helper
def climb_orders(pool, near, n_near, slack, waits, state):
    """Move variables that wait to their best places, until none does; return the sum.

    When one has moved, those near it wait.
    """
    order, place, _, chosen = state
    n = order.shape[0]
    value, behind = np.empty(n + 1), np.empty(pool[0].shape[1], np.uint64)
    n_idle, x = np.int64(0), np.int64(0)
    while n_idle < n:
        n_idle += 1
        if waits[x]:
            waits[x] = False
            m, by_place, k = n_near[x], near[x, : n_near[x]], 0
            sort_by_place(place, by_place)
            while k < m and place[by_place[k]] < place[x]:
                k += 1
            best = best_gap(pool, state, by_place, k, x, slack, value, behind)
            if best != k:
                to = place[by_place[best - 1]] if best > k else place[by_place[best]]
                shift(pool, state, place[x], to)
                for j in range(m):
                    waits[by_place[j]] = True
                n_idle = 0
        x = x + 1 if x + 1 < n else 0
    return total_worth(pool, chosen)


@bare
def copy_state(state, to):
    """Fill a state with another."""
    for v in range(state[0].shape[0]):
        to[0][v], to[1][v], to[3][v] = state[0][v], state[1][v], state[3][v]
    for i in range(state[2].shape[0]):
        to[2][i] = state[2][i]


@bare
def copy_found(state, order, chosen):
    """Fill order and chosen with those of a state."""
    for v in range(order.shape[0]):
        order[v], chosen[v] = state[0][v], state[3][v]


@kernel(
    "float64(uint64[:, ::1], float64[::1], int64[::1], float64, float64[:, :, ::1], int64, "
    "int64[::1], int64[::1])"
)
def improve_order(sets, scores, first, slack, uniforms, patience, order, chosen):
    """Fill order and chosen (n,): a better order, and the place of each variable's family in it.

    Return the sum of scores. Again and again some variables are moved to the place of one near
    them: uniforms (rounds, moves, 2) say which. It ends after `patience` rounds without a gain.
    """
    n = order.shape[0]
    parents = list_parents(sets)
    pool = sets, scores, first, parents, list_with(first, parents)
    near, n_near = list_near(pool[4][0], n)
    missing = np.empty(sets.shape[0], np.int32)
    state = order.copy(), np.empty(n, np.int64), missing, chosen.copy()
    stand(pool, state)
    waits, idle = np.ones(n, np.bool_), 0
    best = climb_orders(pool, near, n_near, slack, waits, state)
    copy_found(state, order, chosen)
    now = state[0].copy(), state[1].copy(), missing.copy(), state[3].copy()
    for r in range(uniforms.shape[0]):
        if idle == patience:
            break
        idle += 1
        for m in range(uniforms.shape[1]):
            x = int(uniforms[r, m, 0] * n)
            waits[x] = True
            for k in range(n_near[x]):
                waits[near[x, k]] = True
            if n_near[x] > 0:
                beside = near[x, int(uniforms[r, m, 1] * n_near[x])]
                shift(pool, state, state[1][x], state[1][beside])
        total = climb_orders(pool, near, n_near, slack, waits, state)
        if total > best + slack:
            best, idle = total, 0
            copy_found(state, order, chosen)
            copy_state(state, now)
        elif total >= best - slack:
            copy_state(state, now)
        else:
            copy_state(now, state)
    return best
