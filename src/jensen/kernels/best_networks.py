"""The best network over every set of variables, by dynamic programming, and in a given order.

Sets are numbers: bit v says that variable v is a member. In a table of one variable its own bit is
left out, so that it has 2^(n-1) entries.
"""

import numpy as np

from jensen.kernels import helper, kernel

BLOCK = 1 << 12
"""Entries that are worked on while they are in the cache."""


@kernel("void(float64[::1])")
def spread_best(scores):
    """Turn the score of every set into the best score of all its subsets, in place."""
    size = scores.shape[0]
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        bit = 1
        while bit < stop - start:
            for base in range(start, stop, 2 * bit):
                for s in range(base, base + bit):
                    scores[s + bit] = max(scores[s + bit], scores[s])
            bit *= 2
    bit = BLOCK
    while bit < size:
        for base in range(0, size, 2 * bit):
            for s in range(base, base + bit):
                scores[s + bit] = max(scores[s + bit], scores[s])
        bit *= 2


@kernel("void(float64[:, ::1], int64, int64, float64[::1])")
def fill_best_totals(best_parents, start, stop, totals):
    """Fill totals[U], start ≤ U < stop, with the score of the best network over U.

    best_parents (n, 2^(n-1)) is what each variable gains by its best parents within a set. One
    variable of U, a sink, is no parent of another; the totals of all smaller numbers are there.
    """
    for here in range(start, stop):
        best = -np.inf if here else 0.0
        for v in range(best_parents.shape[0]):
            if here >> v & 1:
                below = here & ((1 << v) - 1)
                total = totals[here ^ (1 << v)] + best_parents[v, here >> (v + 1) << v | below]
                best = max(best, total)
        totals[here] = best


@kernel(
    "int64(int64[:, ::1], float64[:, ::1], float64[::1], float64, int64, int64[:, ::1], "
    "float64[::1], int64[:, ::1], int64)"
)
def list_networks(sets, scores, totals, least, most_steps, state, gains, found, n_found):
    """List networks with a score of at least `least`, one row of parent sets each.

    A network is taken apart by its largest sink, again and again, which lists each one once. The
    rows of sets (n, 2^(n-1)) are the possible parents of a variable by falling scores; totals
    bound what the rest can gain. state (n + 1, 5) and gains (n + 1,) hold where the search is, so
    that it goes on after `most_steps`: per level the variables left, those of them that must have a
    child among these, the sink, the place in its list, and in state[n, 0] the level. It is over
    when that is -1. Returns how many were found; those beyond the rows of `found` are only counted.
    """
    n, n_sets = sets.shape
    level = state[n, 0]
    for _ in range(most_steps):
        if level < 0:
            break
        left, needy, sink, place = (
            state[level, 0],
            state[level, 1],
            state[level, 2],
            state[level, 3],
        )
        if sink < 0:
            level -= 1
            continue
        rest = left ^ (1 << sink)
        is_over = left >> sink & 1 == 0 or needy >> sink & 1 != 0 or place == n_sets
        if not is_over:
            gain = gains[level] + scores[sink, place]
            is_over = gain + totals[rest] < least
        if is_over:
            state[level, 2] = sink - 1
            state[level, 3] = 0
            continue
        state[level, 3] = place + 1
        parents = sets[sink, place]
        if parents & ~rest != 0:
            continue
        state[level, 4] = parents
        if rest == 0:
            if n_found < found.shape[0]:
                for k in range(level + 1):
                    found[n_found, state[k, 2]] = state[k, 4]
            n_found += 1
            continue
        # All that are left above this sink were no sinks: something that is left needs them.
        larger = rest >> (sink + 1) << (sink + 1)
        level += 1
        state[level, 0] = rest
        state[level, 1] = (needy | larger) & ~parents
        state[level, 2] = n - 1
        state[level, 3] = 0
        gains[level] = gain
    state[n, 0] = level
    return n_found


MISSING = -1e15
"""What a variable scores that has no family in an order."""


@helper
def best_family(v, first, ptr, parent, place):
    """The first family of v, which is the best, whose parents stand before v; -1 if none."""
    for j in range(first[v], first[v + 1]):
        fits = True
        for i in range(ptr[j], ptr[j + 1]):
            if place[parent[i]] > place[v]:
                fits = False
                break
        if fits:
            return j
    return -1


@helper
def best_score(v, first, ptr, parent, score, place):
    """What v scores in an order."""
    j = best_family(v, first, ptr, parent, place)
    return score[j] if j >= 0 else MISSING


@helper
def swap(order, place, i):
    """Exchange the variables at i and i + 1."""
    a, b = order[i], order[i + 1]
    order[i], order[i + 1] = b, a
    place[a], place[b] = i + 1, i


@helper
def shift(order, place, i, j):
    """Move the variable at i to j."""
    while i < j:
        swap(order, place, i)
        i += 1
    while i > j:
        i -= 1
        swap(order, place, i)


@helper
def gain_of_swap(order, place, i, first, ptr, parent, score, here):
    """Exchange neighbours; what that gains. `here` is what each variable scores."""
    a, b = order[i], order[i + 1]
    old = here[a] + here[b]
    swap(order, place, i)
    here[a] = best_score(a, first, ptr, parent, score, place)
    here[b] = best_score(b, first, ptr, parent, score, place)
    return here[a] + here[b] - old


@kernel("void(int64[::1], int64[::1], int64[::1], float64[::1], float64, int64[::1], int64[::1])")
def climb_order(first, ptr, parent, score, tie, order, chosen):
    """Move one variable to where it gains most until nothing gains; fill chosen with families.

    Families of one variable stand by falling scores. The order is changed in place.
    """
    n = order.shape[0]
    place, here = np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        place[order[i]] = i
    for v in range(n):
        here[v] = best_score(v, first, ptr, parent, score, place)
    current, idle, v = here.sum(), 0, 0
    while idle < n:
        start = place[v]
        total, best, target = 0.0, tie, start
        for i in range(start - 1, -1, -1):
            total += gain_of_swap(order, place, i, first, ptr, parent, score, here)
            if total > best:
                best, target = total, i
        for i in range(n - 1):
            total += gain_of_swap(order, place, i, first, ptr, parent, score, here)
            if total > best and i + 1 != start:
                best, target = total, i + 1
        shift(order, place, n - 1, target)
        for u in range(n):
            here[u] = best_score(u, first, ptr, parent, score, place)
        reached = here.sum()  # what seemed a gain may be rounding, where families are missing
        idle = 0 if reached > current + tie else idle + 1
        current = reached
        v = (v + 1) % n
    for u in range(n):
        chosen[u] = best_family(u, first, ptr, parent, place)
