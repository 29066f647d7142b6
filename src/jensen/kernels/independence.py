"""Many tests of independence at once: listed ones, or all sets that might separate pairs.

Upper tails of the chi-squared distribution are logarithms, which never underflow.
"""

import math

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.records import signature
from jensen.kernels.stratified_tables import COLUMNS, make_desk, measure


@helper
def set_ends(columns, a, b, family):
    """Put the two columns at the end of a family; the last is that with more states."""
    last = family.shape[0] - 1
    if columns.size[a] > columns.size[b] or (columns.size[a] == columns.size[b] and a > b):
        a, b = b, a
    family[last - 1], family[last] = a, b


@kernel(
    signature(
        COLUMNS,
        "int64[:, ::1], int64[::1], int64[::1], int64, float64[::1], float64[:, ::1]",
    )
)
def measure_tests(columns, pairs, ptr, member, kind, room, out):
    """Fill out[t] with statistic, degrees of freedom, weight and log p of every test.

    Test t is of the columns pairs[t] given member[ptr[t]:ptr[t + 1]].
    """
    longest = 0
    for t in range(pairs.shape[0]):
        longest = max(longest, ptr[t + 1] - ptr[t])
    desk, room_of_family = make_desk(columns, longest + 2), np.empty(longest + 2, np.int64)
    for t in range(pairs.shape[0]):
        k = ptr[t + 1] - ptr[t]
        family = room_of_family[: k + 2]
        for j in range(k):
            family[j] = member[ptr[t] + j]
        set_ends(columns, pairs[t, 0], pairs[t, 1], family)
        statistic, df, n = measure(columns, family, desk, kind, room)
        out[t, 0], out[t, 1], out[t, 2], out[t, 3] = statistic, df, n, log_tail(statistic, df)


@helper
def next_subset(chosen, n):
    """Go on to the next subset of 0 .. n - 1 in lexical order; return whether there is one."""
    k = chosen.shape[0]
    j = k - 1
    while j >= 0 and chosen[j] == n - k + j:
        j -= 1
    if j < 0:
        return False
    chosen[j] += 1
    for i in range(j + 1, k):
        chosen[i] = chosen[i - 1] + 1
    return True


@helper
def copy_without(some, x, out):
    """Copy some but for x to out; return how many."""
    n = 0
    for j in range(some.shape[0]):
        if some[j] != x:
            out[n] = some[j]
            n += 1
    return n


@helper
def is_within(family, k, some):
    """Return whether the first k of a family are all among some, both ascending."""
    at = 0
    for j in range(k):
        while at < some.shape[0] and some[at] < family[j]:
            at += 1
        if at == some.shape[0] or some[at] != family[j]:
            return False
    return True


@kernel(
    signature(
        COLUMNS,
        "int64[:, ::1], int64[::1], int64[::1], int64, int64, float64, float64[::1], "
        "float64[::1], int64[:, ::1], int64[::1]",
    )
)
def find_separators(columns, pairs, ptr, member, k, kind, log_alpha, room, log_p, found, n_tests):
    """Fill log_p, found and n_tests for every pair: the first set of k columns with p > alpha.

    Around v is member[ptr[v]:ptr[v + 1]], ascending. Sets are taken from around the first of a
    pair, then from around the second those that are not within the first. If none separates, found
    is that with the largest p. n_tests is -1 where a table has no room.
    """
    desk, family = make_desk(columns, k + 2), np.empty(k + 2, np.int64)
    chosen, lists = np.empty(k, np.int64), np.empty((2, ptr.shape[0]), np.int64)
    for i in range(pairs.shape[0]):
        log_p[i], n_tests[i] = -math.inf, 0
        a, b = pairs[i, 0], pairs[i, 1]
        set_ends(columns, a, b, family)
        before = lists[0, : copy_without(member[ptr[a] : ptr[a + 1]], b, lists[0])]
        after = lists[1, : copy_without(member[ptr[b] : ptr[b + 1]], a, lists[1])]
        for side in range(2 if k > 0 else 1):
            around = before if side == 0 else after
            going = around.shape[0] >= k
            for j in range(k):
                chosen[j] = j
            while going and log_p[i] <= log_alpha and n_tests[i] >= 0:
                for j in range(k):
                    family[j] = around[chosen[j]]
                if side == 0 or not is_within(family, k, before):
                    statistic, df, n = measure(columns, family, desk, kind, room)
                    n_tests[i] = n_tests[i] + 1 if n >= 0.0 else -1
                    here = log_tail(statistic, df)
                    if here > log_p[i] or n_tests[i] == 1:
                        log_p[i] = here
                        for j in range(k):
                            found[i, j] = family[j]
                going = next_subset(chosen, around.shape[0])


FAR = 300.0
"""Beyond this erfc is taken from its expansion, long before it underflows."""

TINY = 1e-17
"""Terms that change a sum by less than this share end it."""


@helper
def log_erfc_root(y):
    """Return log erfc(√y)."""
    if y < FAR:
        return math.log(math.erfc(math.sqrt(y)))
    z = 0.5 / y
    series = 1.0 - z * (1.0 - 3.0 * z * (1.0 - 5.0 * z * (1.0 - 7.0 * z)))
    return -y - 0.5 * math.log(math.pi * y) + math.log(series)


@helper
def log_tail(x, df):
    """Return log P(χ² > x) with df degrees of freedom; without any, nothing is ever surprising.

    With a = df / 2 and y = x / 2 it is log Q(a, y): beside the mode 1 - P by the series of P, which
    rises from a, else the finite sum that falls from a - 1 to 0, or to erfc for odd df.
    """
    if df <= 0 or not x > 0.0:
        return 0.0
    a, y = 0.5 * df, 0.5 * x
    if math.isinf(y):
        return -math.inf
    if y < a + 1.0:
        term, total, k = 1.0, 1.0, a + 1.0
        while term > TINY * total:
            term *= y / k
            total += term
            k += 1.0
        below = math.exp(a * math.log(y) - y - math.lgamma(a + 1.0)) * total
        return math.log1p(-below) if below < 1.0 else -math.inf
    if df == 1:
        return log_erfc_root(y)
    top = (a - 1.0) * math.log(y) - y - math.lgamma(a)
    term, total, k = 1.0, 1.0, a - 1.0
    while k >= 1.0 and term > TINY * total:
        term *= k / y
        total += term
        k -= 1.0
    if k == 0.5:
        total += math.exp(log_erfc_root(y) - top)
    return top + math.log(total)


@kernel("void(float64[::1], int64[::1], float64[::1])")
def log_tails(x, df, out):
    """Fill out with log P(χ² > x), one by one."""
    for i in range(out.shape[0]):
        out[i] = log_tail(x[i], df[i])
