"""The cheapest graph without a cycle over a few variables, by dynamic programming.

Sets of the variables are numbers: bit v says that variable v is a member. cost[v, T] is what v pays
for the parents T, where T lacks v.
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
