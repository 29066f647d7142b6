"""Expected counts and scores of any family, from rows and the completions of what they miss.

The completions of a row are products of those of its sub-problems (`jensen.kernels.completions`). A
sub-problem without a list has nothing to say: rows that miss a cell of a family there are left out
of it.
"""

import math

import numpy as np

from jensen.kernels import bare, kernel, part
from jensen.kernels.local_terms import BDEU, LIKELIHOOD
from jensen.kernels.records import COMPLETED_ROWS, COMPLETION_LISTS, signature

UInt = np.uint64
"""Of positions in long loops, which are vectorised only if none is counted from the end."""


@part
def open_row(rows, lists, r, problem, place):
    """Fill for every missing cell of row r its sub-problem, and its place among the members."""
    for e in range(rows.row_end[r - 1] if r > 0 else 0, rows.row_end[r]):
        k = rows.of_row[e]
        for m in range(lists.begin[k], lists.end[k]):
            v = lists.members[m]
            problem[v], place[v] = k, m - lists.begin[k]


@bare
def project(row, k, scope, steps, lists, slots, problem, place, table):
    """Fill table with the probabilities of the members of sub-problem k in a scope.

    The first of them varies fastest. Return the number of configurations.
    """
    n_members, size, n_here, last = lists.end[k] - lists.begin[k], 1, 0, 0
    for j in range(scope.shape[0]):
        v = scope[j]
        steps[j] = 0
        if row[v] < 0 and problem[v] == k:
            steps[j] = size
            size *= slots[v + 1] - slots[v]
            n_here += 1
            last = place[v]
    if n_here == 1:
        first = lists.offset[lists.begin[k] + last]
        for i in range(size):
            table[i] = lists.pair[lists.pair_at[k] + (first + i) * (lists.width[k] + 1)]
        return size
    for i in range(size):
        table[i] = 0.0
    at = lists.state_at[k]
    for i in range(lists.list_at[k], lists.list_at[k + 1]):
        cell = 0
        for j in range(scope.shape[0]):
            if steps[j] > 0:
                cell += lists.states[at + place[scope[j]]] * steps[j]
        table[cell] += lists.mass[i]
        at += n_members
    return size


@bare
def multiply_out(scope, stride, steps, slots, table, size, index, share, n):
    """Spread n pairs (index, share) over the cells of a projected table; return how many they are.

    It goes from behind, so that the pairs need no second room.
    """
    n_filled = 0
    for i in range(size):
        n_filled += table[i] > 0.0
    to = n * n_filled
    for a in range(n - 1, -1, -1):
        base, weight = index[a], share[a]
        for i in range(size - 1, -1, -1):
            if table[i] > 0.0:
                to -= 1
                x = base
                for j in range(scope.shape[0]):
                    if steps[j] > 0:
                        v = scope[j]
                        x += i // steps[j] % (slots[v + 1] - slots[v]) * stride[j]
                index[to], share[to] = x, weight * table[i]
    return n * n_filled


@bare
def spread_row(
    row, weight, without, scope, stride, lists, slots, problem, place, steps, table, index, share
):
    """Fill (index, share) of the cells of a scope that a row may stand in; return how many.

    Sub-problem `without` is left out: what its members add to the index is 0. The last entries of
    steps list the sub-problems that were met.
    """
    n_scope, n_met = scope.shape[0], 0
    base = np.int64(0)
    for j in range(n_scope):
        v = scope[j]
        if row[v] >= 0:
            base += row[v] * stride[j]
            continue
        is_new = True
        for e in range(n_met):
            is_new = is_new and steps[n_scope + 1 + e] != problem[v]
        if is_new:
            steps[n_scope + 1 + n_met] = problem[v]
            n_met += 1
    steps[n_scope] = n_met
    index[0], share[0] = base, weight
    n = np.int64(1)
    for e in range(n_met):
        k = steps[n_scope + 1 + e]
        if k != without:
            size = project(row, k, scope, steps[:n_scope], lists, slots, problem, place, table)
            n = multiply_out(scope, stride, steps[:n_scope], slots, table, size, index, share, n)
    return n


@bare
def fill_beside(row, lists, slots, problem, place, met, n_met, beside):
    """Fill the probability of every state of every variable of a row, one after the other.

    Those of the members of sub-problems that were met are 0: they depend on the scope.
    """
    for v in range(row.shape[0]):
        first, card = slots[v], slots[v + 1] - slots[v]
        for state in range(first, first + card):
            beside[state] = 0.0
        if row[v] >= 0:
            beside[first + row[v]] = 1.0
            continue
        k, is_open = problem[v], True
        for e in range(n_met):
            is_open = is_open and met[e] != k
        if is_open:
            at = lists.pair_at[k]
            step = lists.width[k] + 1  # along the diagonal
            at += lists.offset[lists.begin[k] + place[v]] * step
            for state in range(card):
                beside[first + state] = lists.pair[at + state * step]


@bare
def add_beside(n, index, share, beside, out):
    """Add a row to the tables of a scope with each variable that depends on none of it."""
    size = UInt(beside.shape[0])
    for a in range(n):
        at, p = UInt(index[a]) * size, share[a]
        for state in range(size):
            out[at + state] += p * beside[state]


@bare
def add_pairs_inside(k, m, step, n, index, share, lists, slots, out):
    """Add a row to the tables with what sub-problem k holds besides its only member in a scope.

    That is member m, and a state of it moves the index by `step`.
    """
    begin, end, width = lists.begin[k], lists.end[k], slots[slots.shape[0] - 1]
    at = lists.pair_at[k] + lists.offset[begin + m] * lists.width[k]
    v = lists.members[begin + m]
    for state in range(slots[v + 1] - slots[v]):
        for a in range(n):
            to = (index[a] + state * step) * width
            for e in range(begin, end):
                u = lists.members[e]
                here, there = at + lists.offset[e], to + slots[u]
                for i in range(slots[u + 1] - slots[u]):
                    out[there + i] += share[a] * lists.pair[here + i]
        at += lists.width[k]


@bare
def add_lists_inside(row, k, n, index, share, scope, stride, lists, slots, problem, place, out):
    """Add a row to the tables with what sub-problem k holds besides its members in a scope."""
    begin, end, width = lists.begin[k], lists.end[k], slots[row.shape[0]]
    at = lists.state_at[k]
    for i in range(lists.list_at[k], lists.list_at[k + 1]):
        cell = 0
        for j in range(scope.shape[0]):
            v = scope[j]
            if row[v] < 0 and problem[v] == k:
                cell += lists.states[at + place[v]] * stride[j]
        for a in range(n):
            to, p = (cell + index[a]) * width, share[a] * lists.mass[i]
            for m in range(end - begin):
                out[to + slots[lists.members[begin + m]] + lists.states[at + m]] += p
        at += end - begin


@bare
def add_inside(row, k, n, index, share, scope, stride, lists, slots, problem, place, out):
    """Add a row to the tables of a scope with each variable that sub-problem k holds.

    The pairs (index, share) leave out what k adds.
    """
    n_here = member = step = np.int64(0)
    for j in range(scope.shape[0]):
        v = scope[j]
        if row[v] < 0 and problem[v] == k:
            n_here, member, step = n_here + 1, place[v], stride[j]
    if n_here == 1:
        add_pairs_inside(k, member, step, n, index, share, lists, slots, out)
    else:
        add_lists_inside(row, k, n, index, share, scope, stride, lists, slots, problem, place, out)


@kernel(
    signature(
        COMPLETED_ROWS,
        COMPLETION_LISTS,
        "int64[::1], int64[::1], int64[::1], int64, int64, float64[::1], int64[::1]",
        "float64[::1], int64[::1], float64[::1], float64[::1]",
    )
)
def count_completed(
    rows, lists, slots, scope, stride, first, last, table, index, share, steps, own, out
):
    """Add rows first, ..., last - 1 to the expected counts of a scope, and of it with each other.

    slots says where the states of each variable begin among those of all. out, if it is not empty,
    has as many entries for every cell of the scope; those of its own members are undefined. table,
    index, share have as many entries as the scope has cells, steps twice as many as it has members,
    and one.
    """
    n, n_scope = slots.shape[0] - 1, scope.shape[0]
    problem, place, beside = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(slots[n])
    none = np.int64(-1)
    for r in range(first, last):
        row, weight = rows.codes[r], rows.weights[r]
        open_row(rows, lists, r, problem, place)
        n_pairs = spread_row(
            row, weight, none, scope, stride, lists, slots, problem, place, steps, table, index,
            share,
        )  # fmt: skip
        for a in range(n_pairs):
            own[index[a]] += share[a]
        if out.shape[0] == 0 or n_pairs == 0:
            continue
        n_met, met = steps[n_scope], steps[n_scope + 1 :]
        fill_beside(row, lists, slots, problem, place, met, n_met, beside)
        add_beside(n_pairs, index, share, beside, out)
        for e in range(n_met):
            n_pairs = spread_row(
                row, weight, met[e], scope, stride, lists, slots, problem, place, steps, table,
                index, share,
            )  # fmt: skip
            add_inside(
                row, met[e], n_pairs, index, share, scope, stride, lists, slots, problem, place, out
            )


# --- scores ---


@part
def term(n, a, kind):
    """Return what a cell adds to a score, if it has the prior count a."""
    if n <= 0.0:
        return 0.0
    return n * math.log(n) if kind == LIKELIHOOD else math.lgamma(a + n) - math.lgamma(a)


@bare
def score_table(tables, at, width, card, r, q, kind, amount, scale):
    """Return the score of a variable of r states with a further parent of `card` states.

    The tables of a scope (r, q) with all variables have `width` entries for every cell; those of
    the further parent begin at `at`. With scale > 0 a likelihood is that of as many rows, whatever
    the table counts.
    """
    a, b = 1.0, float(r)
    if kind == BDEU:
        a, b = amount / (q * card * r), amount / (q * card)
    total = counted = 0.0
    for j in range(q):
        for i in range(at + j * width, at + j * width + card):
            above = 0.0
            for cell in range(i, i + r * q * width, q * width):
                total += term(tables[cell], a, kind)
                above += tables[cell]
            total -= term(above, b, kind)
            counted += above
    if kind != LIKELIHOOD:
        return total
    if scale > 0.0:
        total = total * (scale / counted) if counted > 0.0 else -np.inf
    return total - amount * (q * card * (r - 1))


@kernel("void(float64[::1], int64[::1], int64, int64, int64, float64, float64, float64[::1])")
def score_completed(tables, slots, r, q, kind, amount, scale, scores):
    """Fill the scores of a child of r states with each further parent, from what was counted."""
    n = scores.shape[0]
    for v in range(n):
        card = slots[v + 1] - slots[v]
        scores[v] = score_table(tables, slots[v], slots[n], card, r, q, kind, amount, scale)
