"""Scores of a family with every further parent, from counts that stand one after the other.

Terms of many tables are computed together, in loops that the compiler turns into vectors, and then
summed table by table: each has the same score, whichever stand beside it.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.local_terms import (
    BDS,
    K2,
    LIKELIHOOD,
    SMALL,
    entropy_terms,
    prepare_rises,
    stirling_terms,
    sum_of,
    sum_over_child,
)

MOST = 4096
"""Counts whose terms are computed at a time, unless one table has more."""


@helper
def fill_terms(counts, a, kind, small, room, out):
    """Fill out with what each count adds to a score, if each cell has the prior count a.

    small is what was prepared for a; room (2, counts).
    """
    size = counts.shape[0]
    argument, power = room[0, :size], room[1, :size]
    if kind == LIKELIHOOD:
        for i in range(size):
            argument[i] = max(counts[i], 1)  # of nothing, too, the term is 0
        entropy_terms(argument, power, out[:size])
        return
    prepare_rises(a, small)
    for i in range(size):
        argument[i] = max(counts[i], SMALL) + a
    stirling_terms(argument, power, out[:size])
    for i in range(size):
        few = small[min(counts[i], SMALL)]
        out[i] = few if counts[i] < SMALL else out[i] - small[SMALL + 1]


@helper
def make_room(size):
    """Return what `score_alike` needs for so many counts: terms and room, prepared terms, sums."""
    small = np.empty((2, SMALL + 3))
    small[:, SMALL] = np.nan
    return np.empty((3, size)), small, np.empty(size, np.int32)


@helper
def score_alike(tables, n, r, after, n_configs, kind, amount, room, score):
    """Fill score (n,) with those of a child of r states, from tables of one shape.

    The child's states stand before `after` cells each; n_configs: all configurations of parents.
    The order of cells does not matter, nor do those that are left out because they are empty.
    """
    terms, small, sums = room
    width = tables.shape[0] // n
    q = width // r
    above = sums[: n * q]
    sum_over_child(tables, n * q // after, r, after, above)
    a, b, cost, step = 1.0, float(r), 0.0, n
    if kind == LIKELIHOOD:
        cost = amount * n_configs * (r - 1)
    elif kind != K2:
        a, b = amount / (n_configs * r), amount / n_configs
    if kind == BDS:
        step = 1
    for k in range(0, n, step):
        if kind == BDS:
            found = 0
            for count in above[k * q : (k + 1) * q]:
                found += count > 0
            spread = float(max(found, 1))
            a, b = amount / (spread * r), amount / spread
        end = k + step
        fill_terms(tables[k * width : end * width], a, kind, small[0], terms[:2], terms[2])
        for j in range(k, end):
            score[j] = sum_of(terms[2, (j - k) * width : (j - k + 1) * width])
        fill_terms(above[k * q : end * q], b, kind, small[1], terms[:2], terms[2])
        for j in range(k, end):
            score[j] -= sum_of(terms[2, (j - k) * q : (j - k + 1) * q])
            score[j] -= cost


@kernel(
    "void(int32[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64, float64, int64, "
    "float64, float64[::1])"
)
def score_counted(counts, at, size, others, cells, r, after, n_configs, kind, amount, score):
    """Fill score[u] for the others, with the counts of (state of another, cell of the family).

    These begin at at[u], one after the other. The child, of r states, is in whatever place.
    """
    widest = 1
    for u in others:
        widest = max(widest, size[u])
    room, found = make_room(max(MOST, cells * widest)), np.empty(MOST)
    i = 0
    while i < others.shape[0]:
        s, begin = size[others[i]], at[others[i]]
        width, n = cells * s, 1
        while i + n < others.shape[0] and size[others[i + n]] == s and (n + 1) * width <= MOST:
            n += 1
        tables = counts[begin : begin + n * width]
        score_alike(tables, n, r, after, n_configs * s, kind, amount, room, found)
        for k in range(n):
            score[others[i + k]] = found[k]
        i += n
