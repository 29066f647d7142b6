"""Rows of labels under trees: log-likelihoods, and the tables of all pairs that they add up to.

Codes (n, D) stand row by row; a missing label has the code after the last. A link (parent, at,
by_parent, by_child) says where in the tables of all pairs a column finds its own:
at + by_parent · label of the parent + by_child · its own label. The parent of a root is -1.
"""

import numpy as np

from jensen.kernels import helper, kernel

LEAST = 1e-14
"""A count that is a smaller share of all rows is what rounding leaves of nothing."""
SMALL = 1e-100
"""Products are scaled before they get smaller."""


@kernel(
    "void(int32[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], int64[:, :, ::1], "
    "float64[:, ::1])"
)
def add_linked(codes, singles, pairs, at, links, out):
    """Fill out (K, n) with the log-likelihoods of complete rows under one tree for each state."""
    n, D = codes.shape
    for k in range(out.shape[0]):
        link, single, pair = links[k], singles[k], pairs[k]
        for i in range(n):
            row, total = codes[i], 0.0
            for v in range(D):
                u = link[v, 0]
                if u < 0:
                    total += single[at[v] + row[v]]
                else:
                    total += pair[link[v, 1] + link[v, 2] * row[u] + link[v, 3] * row[v]]
            out[k, i] = total


@kernel(
    "void(int32[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], int64[:, ::1], "
    "float64[:, ::1])"
)
def add_all_pairs(codes, singles, pairs, at, pair_at, out):
    """Fill out (K, n) with the sums of what stands for all labels and pairs of labels of a row."""
    n, D = codes.shape
    for k in range(out.shape[0]):
        single, pair = singles[k], pairs[k]
        for i in range(n):
            row, total = codes[i], 0.0
            for v in range(D):
                total += single[at[v] + row[v]]
            for u in range(D - 1):
                for v in range(u + 1, D):
                    total += pair[pair_at[u, v] + row[u] * (at[v + 1] - at[v]) + row[v]]
            out[k, i] = total


@kernel("void(int32[:, ::1], float64[:, ::1], int64[::1], float64[:, :, ::1])")
def count_meetings(codes, nodes, at, meetings):
    """Add nodes (n, K) to meetings[a, b] of all labels a <= b of each row.

    The first label of every column is left out, so that sparse rows take little time: label x > 0
    of column v stands at at[v] - v + x - 1.
    """
    n, D = codes.shape
    K = nodes.shape[1]
    here = np.empty(D, np.int64)
    for i in range(n):
        m, weight = 0, nodes[i]
        for v in range(D):
            if codes[i, v] > 0:
                here[m] = at[v] - v + codes[i, v] - 1
                m += 1
        for a in range(m):
            for b in range(a, m):
                sums = meetings[here[a], here[b]]
                for k in range(K):
                    sums[k] += weight[k]


@helper
def rest_of(total, seen, all_rows):
    """Return what is left of a total, and nothing where that is rounding."""
    left = total - seen
    return left if left > LEAST * all_rows else 0.0


@kernel(
    "void(float64[:, :, ::1], float64[::1], int64[::1], int64[:, ::1], float64[:, ::1], "
    "float64[:, ::1])"
)
def add_tables(meetings, weight, at, pair_at, singles, pairs):
    """Add the counts of labels and pairs of labels to singles (K, S) and pairs (K, P).

    weight (K,) is that of all rows, meetings are what `count_meetings` gave.
    """
    D = at.shape[0] - 1
    for k in range(weight.shape[0]):
        own = np.zeros(at[D])
        for v in range(D):
            seen = 0.0
            for x in range(1, at[v + 1] - at[v]):
                a = at[v] - v + x - 1
                own[at[v] + x] = meetings[a, a, k]
                seen += meetings[a, a, k]
            own[at[v]] = rest_of(weight[k], seen, weight[k])
        for s in range(at[D]):
            singles[k, s] += own[s]
        for u in range(D - 1):
            for v in range(u + 1, D):
                c, begin = at[v + 1] - at[v], pair_at[u, v]
                for y in range(c):
                    left = own[at[v] + y]
                    for x in range(1, at[u + 1] - at[u]):
                        a = at[u] - u + x - 1
                        cell = 0.0
                        if y > 0:
                            cell = meetings[a, at[v] - v + y - 1, k]
                        else:
                            for z in range(1, c):
                                cell += meetings[a, at[v] - v + z - 1, k]
                            cell = rest_of(own[at[u] + x], cell, weight[k])
                        pairs[k, begin + x * c + y] += cell
                        left -= cell
                    pairs[k, begin + y] += rest_of(left, 0.0, weight[k])


# --- rows with missing labels ---


@helper
def offer(table, link, own, target):
    """Multiply target by what a column says of each label of its parent; return its log scale.

    own says of each label of the column how likely all is that was seen from there on.
    """
    top = 0.0
    for x in range(target.shape[0]):
        total = 0.0
        for y in range(own.shape[0]):
            total += table[link[1] + link[2] * x + link[3] * y] * own[y]
        target[x] *= total
        top = max(top, target[x])
    if 0.0 < top < SMALL:
        for x in range(target.shape[0]):
            target[x] /= top
        return np.log(top)
    return 0.0


@helper
def climb_tree(row, order, link, at, single, pair, below):
    """Return log p(what is seen of a row); below (D, R) becomes p(seen below | label).

    single and pair hold probabilities. A seen label is the only one that is possible.
    """
    D = row.shape[0]
    for v in range(D):
        size = at[v + 1] - at[v]
        for x in range(below.shape[1]):
            is_there = x < size and (row[v] == size or row[v] == x)
            below[v, x] = 1.0 if is_there else 0.0
    value = 0.0
    for place in range(D - 1, 0, -1):
        v = order[place]
        u = link[v, 0]
        own, target = below[v, : at[v + 1] - at[v]], below[u, : at[u + 1] - at[u]]
        value += offer(pair, link[v], own, target)
    root, total = order[0], 0.0
    for x in range(at[root + 1] - at[root]):
        total += single[at[root] + x] * below[root, x]
    return value + np.log(total)


@kernel(
    "void(int32[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], int64[:, :, ::1], "
    "int64[:, ::1], float64[:, ::1])"
)
def fill_incomplete(codes, singles, pairs, at, links, order, out):
    """Fill out (K, n) with log p(what is seen of each row); singles and pairs are no logs."""
    below = np.empty((codes.shape[1], np.diff(at).max()))
    for k in range(out.shape[0]):
        for i in range(codes.shape[0]):
            out[k, i] = climb_tree(codes[i], order[k], links[k], at, singles[k], pairs[k], below)


@helper
def descend_tree(order, link, at, single, pair, below, nodes, given):
    """Fill nodes (D, R) with p(label | seen), and given (D, R, R) with that given the parent's."""
    for place in range(order.shape[0]):
        v = order[place]
        u, size = link[v, 0], at[v + 1] - at[v]
        if place == 0:
            total = 0.0
            for y in range(size):
                nodes[v, y] = single[at[v] + y] * below[v, y]
                total += nodes[v, y]
            for y in range(size):
                nodes[v, y] /= total
            continue
        for y in range(size):
            nodes[v, y] = 0.0
        for x in range(at[u + 1] - at[u]):
            total = 0.0
            for y in range(size):
                given[v, x, y] = pair[link[v, 1] + link[v, 2] * x + link[v, 3] * y] * below[v, y]
                total += given[v, x, y]
            for y in range(size):
                given[v, x, y] = given[v, x, y] / total if total > 0.0 else 0.0
                nodes[v, y] += nodes[u, x] * given[v, x, y]


@helper
def join_pairs(order, link, at, nodes, given, joint):
    """Fill joint (D, D, R, R): p(labels of a and v | seen), for a before v in order."""
    D = order.shape[0]
    for place in range(1, D):
        v = order[place]
        u = link[v, 0]
        for before in range(place):
            a = order[before]
            for s in range(at[a + 1] - at[a]):
                for y in range(at[v + 1] - at[v]):
                    total = 0.0
                    if a == u:
                        total = nodes[u, s] * given[v, s, y]
                    else:
                        for x in range(at[u + 1] - at[u]):
                            total += joint[a, u, s, x] * given[v, x, y]
                    joint[a, v, s, y] = total
                    joint[v, a, y, s] = total


@kernel(
    "void(int32[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], "
    "int64[:, ::1], int64[:, :, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def add_incomplete(codes, nodes, singles, pairs, at, pair_at, links, order, out_singles, out_pairs):
    """Add the expected counts of labels and pairs of labels; nodes (K, n) weigh the rows."""
    D, R = codes.shape[1], np.diff(at).max()
    below, own = np.empty((D, R)), np.empty((D, R))
    given, joint = np.empty((D, R, R)), np.empty((D, D, R, R))
    for k in range(nodes.shape[0]):
        link = links[k]
        for i in range(codes.shape[0]):
            if nodes[k, i] == 0.0:
                continue
            climb_tree(codes[i], order[k], link, at, singles[k], pairs[k], below)
            descend_tree(order[k], link, at, singles[k], pairs[k], below, own, given)
            join_pairs(order[k], link, at, own, given, joint)
            for u in range(D):
                for x in range(at[u + 1] - at[u]):
                    out_singles[k, at[u] + x] += nodes[k, i] * own[u, x]
                for v in range(u + 1, D):
                    c = at[v + 1] - at[v]
                    for x in range(at[u + 1] - at[u]):
                        for y in range(c):
                            cell = pair_at[u, v] + x * c + y
                            out_pairs[k, cell] += nodes[k, i] * joint[u, v, x, y]
