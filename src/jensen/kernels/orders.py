"""The best graph that an order of the variables allows, and better orders."""

import numpy as np

from jensen.kernels import helper, kernel

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
