"""Scores of a family with every further parent, from counts that stand one after the other.

Terms of many tables are computed together, in loops that the compiler turns into vectors, and then
summed table by table: each has the same score, whichever stand beside it.
"""

import numpy as np

from jensen.kernels import helper, kernel, part
from jensen.kernels.local_terms import (
    BDS,
    K2,
    LIKELIHOOD,
    SMALL,
    entropy_terms,
    family_score,
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
def score_alike(tables, n, r, after, n_configs, kind, amount, room, joint, score):
    """Fill score (n,) with those of a child of r states, from tables of one shape.

    The child's states stand before `after` cells each; n_configs: all configurations of parents.
    The order of cells does not matter, nor do those that are left out because they are empty.
    joint (n,) is what the counts of each table add; it is filled if the first is NaN. But for BDS
    it is the same whichever variable is the child.
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
        if kind == BDS or np.isnan(joint[k]):
            fill_terms(tables[k * width : end * width], a, kind, small[0], terms[:2], terms[2])
            for j in range(k, end):
                joint[j] = sum_of(terms[2, (j - k) * width : (j - k + 1) * width])
        fill_terms(above[k * q : end * q], b, kind, small[1], terms[:2], terms[2])
        for j in range(k, end):
            score[j] = joint[j] - sum_of(terms[2, (j - k) * q : (j - k + 1) * q])
            score[j] -= cost


@part
def score_counted(counts, at, size, others, shape, n_configs, kind, amount, joint, score):
    """Fill score[u] for the others, with the counts of (state of another, cell of the family).

    These begin at at[u], one after the other. shape: how many cells and states of the child there
    are, and before how many cells each of these states stands.
    """
    cells, r, after = shape
    widest = 1
    for u in others:
        widest = max(widest, size[u])
    room, found = make_room(max(MOST, cells * widest)), np.empty((2, MOST))
    i = 0
    while i < others.shape[0]:
        s, begin = size[others[i]], at[others[i]]
        width, n = cells * s, 1
        while i + n < others.shape[0] and size[others[i + n]] == s and (n + 1) * width <= MOST:
            n += 1
        tables = counts[begin : begin + n * width]
        for k in range(n):
            found[0, k] = joint[others[i + k]]
        score_alike(tables, n, r, after, n_configs * s, kind, amount, room, found[0], found[1])
        for k in range(n):
            joint[others[i + k]], score[others[i + k]] = found[0, k], found[1, k]
        i += n


@kernel(
    "float64(int32[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64, int64[::1], "
    "int64[::1], int64, float64, float64[::1], float64[::1], float64[::1])"
)
def score_set(
    counts, at, size, others, table, cells, family, wanted, kind, amount, joint, score, less
):
    """Return the score of wanted[0] given the other variables of a family, from its table.

    Fills score[u] for the others, as further parents, and less (p,) for each parent that is left
    out. The variables of the family number its cells in their order; if fewer cells are numbered
    than the table has, the child comes first. joint (n,) is what was computed for another child, or
    NaN: it is filled for the next one.
    """
    p, place, after = family.shape[0], np.int64(0), np.int64(1)
    sizes, found = np.empty(p, np.int64), np.empty(p - 1)
    for k in range(p):
        sizes[k] = size[family[k]]
        after *= sizes[k]
        if family[k] == wanted[0]:
            place, after = k, np.int64(1)
    r = sizes[place]
    if cells < table.shape[0]:
        after = cells // r
    shape, n_configs = (cells, r, after), float(table.shape[0] // r)
    score_counted(counts, at, size, others, shape, n_configs, kind, amount, joint, score)
    here = family_score(table, sizes, place, kind, amount, found)
    for k in range(p - 1):
        u = family[k + 1 if k >= place else k]
        for j in range(p - 1):
            if wanted[j + 1] == u:
                less[j] = found[k]
    return here
