"""Sums over all orders of the variables and the graphs that fit them: see `q_graph.order_sums`.

Sets are numbers: bit v says that variable v is a member; log_sums (n, 2^(n-1)) has for every
variable v and every set without it, the bit of v left out, the logarithm of the sum over its
parents within the set.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.counting import popcount
from jensen.kernels.set_sums import drop_bit, insert_bit


@helper
def log_of_sum(terms, m):
    """Return the logarithm of the sum of m weights, of which the logarithms are given."""
    top = -np.inf
    for i in range(m):
        top = max(top, terms[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(m):
        total += math.exp(terms[i] - top)
    return top + math.log(total)


@kernel("void(float64[:, ::1], int64, int64, float64[::1])")
def fill_below(log_sums, start, stop, below):
    """Fill below[U], start ≤ U < stop: the sum over all orders of U; smaller numbers are done."""
    terms = np.empty(log_sums.shape[0])
    for here in range(start, stop):
        m = np.int64(0)
        for v in range(log_sums.shape[0]):
            if here >> v & 1:
                rest = here ^ (1 << v)
                terms[m] = below[rest] + log_sums[v, drop_bit(rest, v)]
                m += 1
        below[here] = log_of_sum(terms, m) if here else 0.0


@kernel("void(float64[:, ::1], int64, int64, float64[::1])")
def fill_above(log_sums, start, stop, above):
    """Fill above[U], start ≤ U < stop: the sum over all orders of the others, after U.

    Larger numbers are done.
    """
    terms = np.empty(log_sums.shape[0])
    for here in range(stop - 1, start - 1, -1):
        m = np.int64(0)
        for v in range(log_sums.shape[0]):
            if here >> v & 1 == 0:
                terms[m] = above[here | 1 << v] + log_sums[v, drop_bit(here, v)]
                m += 1
        above[here] = log_of_sum(terms, m) if m else 0.0


@helper
def count_members(number):
    """Return how many bits are set."""
    return np.int64(popcount(np.uint64(number)))


@helper
def pass_on(log_sums, before, first, v, step, flow, here, there):
    """Place v after the set before, which holds `first`; the flow goes on to the larger set.

    v becomes a descendant if it has a parent among them. here and there are the places of the sets
    in the flow, which has a number for each set of descendants, without `first`.
    """
    others = before ^ (1 << first)
    every = log_sums[v, drop_bit(before, v)]
    place = count_members(others & ((1 << v) - 1))
    descendants, zero, one = 0, np.int64(0), np.int64(1)
    for k in range(1 << count_members(others)):
        mass = flow[here + k] * step
        if mass > 0.0:
            free = math.exp(log_sums[v, drop_bit(others ^ descendants, v)] - every)
            flow[there + insert_bit(k, place, zero)] += mass * min(free, 1.0)
            flow[there + insert_bit(k, place, one)] += mass * (1.0 - min(free, 1.0))
        descendants = (descendants - others) & others


@kernel("void(float64[:, ::1], float64[::1], float64[::1], int64, float64[::1], float64[::1])")
def follow_descendants(log_sums, below, above, first, flow, found):
    """Fill found (n,) with the probability that each variable is a descendant of `first`.

    flow (3^(n-1),), all zero, gets a probability for each set that comes early in the order with
    `first`, and each part of it that may be the descendants so far.
    """
    n = log_sums.shape[0]
    last = (1 << (n - 1)) - 1
    places = np.zeros(last + 2, np.int64)
    for k in range(last + 1):
        places[k + 1] = places[k] + (1 << count_members(k))
    for k in range(last + 1):
        others = insert_bit(k, first, np.int64(0))
        before = others | 1 << first
        if above[before] == -np.inf:
            continue
        start = below[others] + log_sums[first, k] + above[before] - above[0]
        flow[places[k]] += math.exp(start)
        for v in range(n):
            if before >> v & 1 == 0:
                after = before | 1 << v
                step = log_sums[v, drop_bit(before, v)] + above[after] - above[before]
                if step > -np.inf:
                    there = places[drop_bit(after ^ (1 << first), first)]
                    pass_on(log_sums, before, first, v, math.exp(step), flow, places[k], there)
    for b in range(n):
        found[b] = 0.0
        place = b - (b > first)
        for k in range(last + 1):
            if b != first and k >> place & 1:
                found[b] += flow[places[last] + k]
