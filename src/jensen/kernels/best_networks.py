"""The best network over every set of variables, by dynamic programming.

Sets are numbers: bit v says that variable v is a member. In a table of one variable its own bit is
left out, so that it has 2^(n-1) entries.
"""

import numpy as np

from jensen.kernels import kernel

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
