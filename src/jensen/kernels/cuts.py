"""What cuts of the integer program are found by: small graphs without cycles, and clusters.

`cheapest_graphs` is dynamic programming over a few variables. Sets of them are numbers: bit v says
that variable v is a member. cost[v, T] is what v pays for the parents T, where T lacks v.

`grow_clusters` grows clusters of variables that a fractional graph joins in a cycle. In a cluster C
of a graph without cycles at least k variables have fewer than k parents in C, for every k up to the
size of C. The families of a fractional graph have weights; those of one child sum to one.
"""

import numpy as np

from jensen.kernels import helper, kernel


@helper
def spread_least(cost, least):
    """Fill least[v, U] with the least cost of parents of v within U."""
    s, n_sets = cost.shape
    for v in range(s):
        for T in range(n_sets):
            least[v, T] = cost[v, T]
        for b in range(s):
            bit = 1 << b
            if b != v:
                for T in range(n_sets):
                    if T & bit and least[v, T ^ bit] < least[v, T]:
                        least[v, T] = least[v, T ^ bit]


@helper
def fill_totals(least, totals):
    """Fill totals[U] with the cost of the cheapest graph over U."""
    s, n_sets = least.shape
    totals[0] = 0.0
    for U in range(1, n_sets):
        lowest = np.inf
        for v in range(s):
            if U >> v & 1:
                rest = U ^ (1 << v)
                lowest = min(lowest, totals[rest] + least[v, rest])
        totals[U] = lowest


@helper
def trace_back(least, totals, left, chosen):
    """Fill chosen with the parents that the variables of a set have in the cheapest graph."""
    s = least.shape[0]
    while left:
        sink = 0
        for v in range(s):
            rest = left ^ (1 << v)
            if left >> v & 1 and totals[rest] + least[v, rest] == totals[left]:
                sink = v
        left ^= 1 << sink
        chosen[sink] = fewest(least[sink], left)


@helper
def fewest(least, parents):
    """The least number of parents within a set that costs as little."""
    for b in range(least.shape[0]):
        if 1 << b > parents:
            break
        if parents >> b & 1 and least[parents ^ (1 << b)] == least[parents]:
            parents ^= 1 << b
    return parents


@kernel("void(float64[:, ::1], float64[:, ::1], float64[::1], int64[:, ::1], float64[::1])")
def cheapest_graphs(cost, least, totals, chosen, paid):
    """Fill chosen[v] with the parents of all in the cheapest graph whose last variable is v.

    paid[v] is what it costs; least, shaped like cost, and totals (one for each set) are room.
    """
    s, n_sets = cost.shape
    spread_least(cost, least)
    fill_totals(least, totals)
    for v in range(s):
        rest = (n_sets - 1) ^ (1 << v)
        paid[v] = totals[rest] + least[v, rest]
        chosen[v, v] = fewest(least[v], rest)
        trace_back(least, totals, rest, chosen[v])


@kernel("void(float64[:, ::1])")
def lower_costs(cost):
    """Lower costs as far as every graph without a cycle still pays 1, one variable at a time.

    A graph in which v has the parents T is, but for v, one over some U that holds T, then one over
    what is left after U and v.
    """
    s, n_sets = cost.shape
    least, before = np.empty((s, n_sets)), np.empty(n_sets)
    after, others = np.empty(n_sets), np.empty(n_sets)
    for w in range(s):
        spread_least(cost, least)
        fill_totals(least, before)
        after[n_sets - 1] = 0.0
        for U in range(n_sets - 2, -1, -1):
            lowest = np.inf
            for v in range(s):
                if not U >> v & 1:
                    lowest = min(lowest, after[U | 1 << v] + least[v, U])
            after[U] = lowest
        for U in range(n_sets):
            others[U] = np.inf if U >> w & 1 else before[U] + after[U | 1 << w]
        for b in range(s):
            bit = 1 << b
            for U in range(n_sets):
                if not U & bit:
                    others[U] = min(others[U], others[U | bit])
        for T in range(n_sets):
            if not T >> w & 1:
                cost[w, T] = min(cost[w, T], max(0.0, 1.0 - others[T]))


@helper
def weigh(child, weight, inside, count, k):
    """Weight of the families of members that have fewer than k parents in the cluster."""
    total = 0.0
    for j in range(child.shape[0]):
        if inside[child[j]] and count[j] < k:
            total += weight[j]
    return total


@helper
def change(v, first, weight, child, holder, holder_ptr, inside, count, k):
    """What `weigh` changes by if v joins the cluster, or leaves it."""
    delta = 0.0
    for j in range(first[v], first[v + 1]):
        if count[j] < k:
            delta += weight[j]
    if inside[v]:
        delta = -delta
    at = k if inside[v] else k - 1
    sign = 1.0 if inside[v] else -1.0
    for i in range(holder_ptr[v], holder_ptr[v + 1]):
        j = holder[i]
        if inside[child[j]] and count[j] == at and child[j] != v:
            delta += sign * weight[j]
    return delta


@helper
def flip(v, holder, holder_ptr, inside, count):
    """Let v join the cluster, or leave it."""
    step = -1 if inside[v] else 1
    inside[v] = not inside[v]
    for i in range(holder_ptr[v], holder_ptr[v + 1]):
        count[holder[i]] += step


@kernel(
    "int64(int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], int64[:, ::1], int64, "
    "float64, boolean[:, ::1], float64[::1])"
)
def grow_clusters(child, first, weight, holder, holder_ptr, starts, k, short, found, values):
    """Fill found with clusters in which `weigh` falls short of k by `short`, and by how much.

    From each start (two variables) the variable whose joining, or leaving, lowers the weight most
    is taken, as long as it does; else the one that raises it least joins, for a few times.
    Families of variable v are first[v] .. first[v + 1]; v is a parent in those of
    holder[holder_ptr[v]:holder_ptr[v + 1]]. Returns how many were found.
    """
    n, m = first.shape[0] - 1, child.shape[0]
    inside, count = np.zeros(n, np.bool_), np.zeros(m, np.int64)
    n_found = 0
    for s in range(starts.shape[0]):
        if n_found == found.shape[0]:
            break
        for v in range(n):
            if inside[v]:
                flip(np.int64(v), holder, holder_ptr, inside, count)
        flip(np.int64(starts[s, 0]), holder, holder_ptr, inside, count)
        flip(np.int64(starts[s, 1]), holder, holder_ptr, inside, count)
        here, size = weigh(child, weight, inside, count, k), 2
        lowest, kept = k - short, False
        for _ in range(2 * n):
            if size > k and here < lowest:
                lowest, kept = here, True
                for v in range(n):
                    found[n_found, v] = inside[v]
                values[n_found] = k - here
            best, chosen = np.inf, -1
            for v in range(n):
                if inside[v] and size <= 2:
                    continue
                delta = change(v, first, weight, child, holder, holder_ptr, inside, count, k)
                if inside[v] and delta > -1e-9:
                    continue
                if delta < best - 1e-9:
                    best, chosen = delta, v
            if chosen < 0 or here + best > k + 0.5:
                break
            size += -1 if inside[chosen] else 1
            flip(np.int64(chosen), holder, holder_ptr, inside, count)
            here += best
        if kept:
            n_found += 1
    return n_found
