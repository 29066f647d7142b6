"""Sums over all directed acyclic graphs, and over all orders with the graphs that fit them.

Sets are numbers: bit v says that variable v is a member; in a table of one variable its own bit is
left out.

Graphs, each counted once, are summed by inclusion and exclusion (`q_graph.sums.dag_sums`). A sum
over the parents of v within a set R is (high + low) 2^exponent, from 1 to 2 before the power; sums
over graphs are written so too, with a power that is known beforehand.

Sums over orders (`q_graph.sums.exact_posterior`) are positive, so their logarithms do: log_sums
(n, 2^(n-1)) has for every variable v and every set without it the logarithm of the sum over its
parents within the set.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.counting import popcount
from jensen.kernels.long_numbers import add_long, multiply_long
from jensen.kernels.set_sums import FAR, FIRST, NEVER, POWERS, drop_bit, insert_bit

PARENTS = "float64[:, ::1], float64[:, ::1], int64[:, ::1]"


@kernel("void(int64[:, ::1], int64[::1], int64[::1])")
def fill_scales(exponents, below, above):
    """Fill powers of two that are near the sums over graphs within and beyond every set.

    They follow one order of the variables, and so are no more than the sums.
    """
    n, last = exponents.shape[0], below.shape[0] - 1
    for here in range(last + 1):
        below[here], above[last - here] = (0, 0) if here == 0 else (NEVER, NEVER)
        there = last - here
        for v in range(n):
            if here >> v & 1:
                rest = here ^ (1 << v)
                below[here] = max(below[here], below[rest] + exponents[v, drop_bit(rest, v)])
            if there >> v & 1 == 0:
                with_v = above[there | 1 << v] + exponents[v, drop_bit(there, v)]
                above[there] = max(above[there], with_v)


@helper
def read_outside(here, high, low, exponents, outside, factors, powers):
    """List the variables outside a set that can have their parents in it; return how many.

    factors get the sums over their parents with the sign changed.
    """
    m = 0
    for v in range(high.shape[0]):
        if here >> v & 1 == 0:
            at = drop_bit(here, v)
            if high[v, at] > 0.0:
                outside[m], powers[m] = v, exponents[v, at]
                factors[m, 0], factors[m, 1] = -high[v, at], -low[v, at]
                m += 1
    return m


@helper
def list_supersets(here, power, outside, powers, m, sets, total):
    """Fill the sets that some of the m variables outside make of this one, and their powers."""
    sets[0], total[0] = here, power
    for i in range(m):
        size = 1 << i
        bit, more = 1 << outside[i], powers[i]
        for j in range(size):
            sets[size + j] = sets[j] | bit
            total[size + j] = total[j] + more


@helper
def double_products(high, low, size, x_high, x_low):
    """Write the first `size` numbers times x behind them."""
    for j in range(size):
        high[size + j], low[size + j] = multiply_long(high[j], low[j], x_high, x_low)


@helper
def fold(high, low, size, x_high, x_low):
    """Add to the first `size` numbers x times those behind them."""
    for j in range(size):
        p_high, p_low = multiply_long(high[size + j], low[size + j], x_high, x_low)
        high[j], low[j] = add_long(high[j], low[j], p_high, p_low)


@kernel(f"void({PARENTS}, int64, int64, int64[::1], float64[::1], float64[::1])")
def push_sums(high, low, exponents, start, stop, scale, total_high, total_low):
    """Add what graphs over the sets from start to stop are part of to the totals of larger sets.

    A graph over R, and variables outside of it that have all their parents in R and so are sinks:
    the sums over graphs with at least one sink of each choice, with alternating signs.
    """
    n, size = high.shape[0], total_high.shape[0]
    outside, powers, factors = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2))
    sets, total = np.empty(size, np.int64), np.empty(size, np.int64)
    p_high, p_low = np.empty(size), np.empty(size)
    for here in range(start, stop):
        if total_high[here] <= 0.0:
            continue
        m = read_outside(here, high, low, exponents, outside, factors, powers)
        list_supersets(here, scale[here], outside, powers, m, sets, total)
        p_high[0], p_low[0] = -total_high[here], -total_low[here]
        for i in range(m):
            double_products(p_high, p_low, 1 << i, factors[i, 0], factors[i, 1])
        for j in range(1, 1 << m):
            s = sets[j]
            behind = scale[s] - total[j]
            if behind < FAR:
                down = POWERS[FIRST + behind]
                total_high[s], total_low[s] = add_long(
                    total_high[s], total_low[s], p_high[j] * down, p_low[j] * down
                )


@helper
def read_above(behind, sets, total, m, scale, above_high, above_low, high, low):
    """Fill the sums beyond every superset, in the power of the set itself."""
    high[0], low[0] = 0.0, 0.0
    for j in range(1, 1 << m):
        s = sets[j]
        k = behind - scale[s] - total[j]
        down = POWERS[FIRST + k] if k < FAR else 0.0
        high[j], low[j] = above_high[s] * down, above_low[s] * down


@helper
def add_up(high, low, size):
    """Return the sum of the first `size` numbers, a power of two, which are overwritten."""
    while size > 1:
        size >>= 1
        for j in range(size):
            high[j], low[j] = add_long(high[j], low[j], high[size + j], low[size + j])
    return high[0], low[0]


@helper
def read_derivatives(high, low, m, factors, product, term, found):
    """Fill found with the derivatives of a folded sum by its m factors, times these.

    Folding has left in place what each factor was multiplied with; product and term, two numbers
    wide, have room for the products of the factors before it.
    """
    product[0, 0], product[1, 0] = 1.0, 0.0
    for i in range(m):
        size = 1 << i
        for j in range(size):
            term[0, j], term[1, j] = multiply_long(
                product[0, j], product[1, j], high[size + j], low[size + j]
            )
        t_high, t_low = add_up(term[0], term[1], size)
        found[i] = -(t_high * factors[i, 0] + t_low * factors[i, 0])
        double_products(product[0], product[1], size, factors[i, 0], factors[i, 1])


@kernel(f"void({PARENTS}, int64[::1], int64[::1], float64[::1], float64[::1], float64[:, ::1])")
def pull_sums(high, low, exponents, here_sets, scale, above_high, above_low, only):
    """Fill, for some sets R, sums over the parents of all variables outside R.

    above: of all graphs without a cycle. only[v, R]: of those where every other variable outside R
    comes after v, whose parents are in R; so R are all that do not. All larger sets are done. Both
    are in powers 2^scale[R].
    """
    n, size = high.shape[0], above_high.shape[0]
    outside, powers, factors = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2))
    sets, total = np.empty(size, np.int64), np.empty(size, np.int64)
    f_high, f_low, found = np.empty(size), np.empty(size), np.empty(n)
    product, term = np.empty((2, size)), np.empty((2, size))
    for k in range(here_sets.shape[0]):
        here = here_sets[k]
        m = read_outside(here, high, low, exponents, outside, factors, powers)
        list_supersets(here, np.int64(0), outside, powers, m, sets, total)
        read_above(scale[here], sets, total, m, scale, above_high, above_low, f_high, f_low)
        for i in range(m - 1, -1, -1):
            fold(f_high, f_low, 1 << i, factors[i, 0], factors[i, 1])
        above_high[here], above_low[here] = -f_high[0], -f_low[0]
        read_derivatives(f_high, f_low, m, factors, product, term, found)
        for i in range(m):
            only[outside[i], drop_bit(here, outside[i])] = found[i]


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
