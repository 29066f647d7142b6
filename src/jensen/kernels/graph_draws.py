"""Draws of orders, of layers and of parents, from sums over all of them.

Sets are numbers, as in `exact_posterior` and `dag_sums`. A layer is all variables whose longest
path from a source has the same length.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.graph_sums import (
    PARENTS,
    list_supersets,
    read_above,
    read_outside,
)
from jensen.kernels.long_numbers import add_long, multiply_long
from jensen.kernels.set_sums import FAR, FIRST, POWERS, drop_bit

NEGLIGIBLE = 60.0
"""What is e^60 times less probable than another set of parents is not drawn: all such sets together
would not be seen either."""


@helper
def choose(cumulative, size, uniform):
    """Return the first place where a rising sum reaches a share of the whole."""
    goal = uniform * cumulative[size - 1]
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > goal:
            high = middle
        else:
            low = middle + 1
    return low


@kernel("void(float64[:, ::1], float64[::1], float64[:, ::1], int64[:, ::1])")
def draw_orders(log_sums, above, uniforms, before):
    """Fill before[s, v] with what stands before v in the s-th order."""
    n_draws, n = uniforms.shape
    cumulative, outside = np.empty(n), np.empty(n, np.int64)
    for s in range(n_draws):
        here = np.int64(0)
        for k in range(n):
            m, total = np.int64(0), 0.0
            for v in range(n):
                if here >> v & 1 == 0:
                    step = log_sums[v, drop_bit(here, v)] + above[here | 1 << v] - above[here]
                    total += math.exp(step)
                    cumulative[m], outside[m] = total, v
                    m += 1
            v = outside[choose(cumulative, m, uniforms[s, k])]
            before[s, v] = here
            here |= 1 << v


@helper
def exclude_others(high, low, m, factors):
    """Turn sums where at least some variables have their parents in a set into exactly these."""
    for i in range(m):
        bit = 1 << i
        for base in range(0, 1 << m, 2 * bit):
            for j in range(base, base + bit):
                p_high, p_low = multiply_long(
                    high[j + bit], low[j + bit], factors[i, 0], factors[i, 1]
                )
                high[j], low[j] = add_long(high[j], low[j], p_high, p_low)


@helper
def sum_touching(v, here, last, high, low, exponents):
    """Return the sum over the parents of v that are in a set and not all outside its last layer.

    It is in the power of the sum over all parents in the set.
    """
    at, earlier = drop_bit(here, v), drop_bit(here & ~last, v)
    behind = exponents[v, at] - exponents[v, earlier]
    if last == 0 or behind >= FAR:
        return high[v, at]
    down = POWERS[FIRST + behind]
    left = add_long(high[v, at], low[v, at], -high[v, earlier] * down, -low[v, earlier] * down)
    return max(left[0], 0.0)


@kernel(
    f"void({PARENTS}, int64[::1], float64[::1], float64[::1], int64, int64[::1], float64[::1], "
    "int64[::1])"
)
def draw_layers(high, low, exponents, scale, above_high, above_low, here, lasts, uniforms, layers):
    """Fill layers with draws of what comes next where the layers so far make up one set.

    Each variable in it has a parent in the last layer before it, and no other outside the set has
    all its parents in the set. The draws are sorted by their last layers; 0 is none.
    """
    n, size = high.shape[0], above_high.shape[0]
    outside, powers, factors = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2))
    sets, total = np.empty(size, np.int64), np.empty(size, np.int64)
    f_high, f_low, cumulative = np.empty(size), np.empty(size), np.empty(size)
    m = read_outside(here, high, low, exponents, outside, factors, powers)
    list_supersets(here, np.int64(0), outside, powers, m, sets, total)
    read_above(scale[here], sets, total, m, scale, above_high, above_low, f_high, f_low)
    exclude_others(f_high, f_low, m, factors)
    for s in range(lasts.shape[0]):
        if s == 0 or lasts[s] != lasts[s - 1]:
            cumulative[0] = 1.0
            for i in range(m):
                x = sum_touching(outside[i], here, lasts[s], high, low, exponents)
                for j in range(1 << i):
                    cumulative[(1 << i) + j] = cumulative[j] * x
            cumulative[0] = 0.0
            for j in range(1, 1 << m):
                cumulative[j] = cumulative[j - 1] + cumulative[j] * max(f_high[j], 0.0)
        layers[s] = sets[choose(cumulative, 1 << m, uniforms[s])] ^ here


@helper
def fits(number, within, touching):
    """Whether a set is within another and shares a member with a third, if that has any."""
    return number & ~within == 0 and (touching == 0 or number & touching != 0)


@kernel("void(int64[::1], float64[::1], int64[::1], int64[::1], float64[::1], int64[::1])")
def draw_parents(sets, logs, within, touching, uniforms, parents):
    """Fill parents (S,) with draws among the sets that fit; they are listed by falling weight."""
    n_sets = sets.shape[0]
    for s in range(within.shape[0]):
        first = 0
        while first < n_sets - 1 and not fits(sets[first], within[s], touching[s]):
            first += 1
        total, stop = 0.0, first
        while stop < n_sets and logs[stop] > logs[first] - NEGLIGIBLE:
            if fits(sets[stop], within[s], touching[s]):
                total += math.exp(logs[stop] - logs[first])
            stop += 1
        left = uniforms[s] * total
        for k in range(first, stop):
            if fits(sets[k], within[s], touching[s]):
                parents[s] = sets[k]
                left -= math.exp(logs[k] - logs[first])
                if left < 0.0:
                    break
