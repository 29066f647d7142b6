"""Ancestors and compelled edges of many graphs, and trees of largest weight (Prim's algorithm).

Of many graphs, graph d gives node v the parents sets[graphs[d, v]]; node u is bit u % 64 of word
u // 64. A tree is grown from one vertex.
"""

import numpy as np

from jensen.kernels import helper, kernel
from jensen.kernels.bit_sets import has


@kernel("void(uint64[:, ::1], int32[:, ::1], uint64[::1], uint64[::1], uint64[:, ::1])")
def find_ancestors_of(sets, graphs, start, cut, found):
    """Fill found[d] with the nodes of start and their ancestors; of those in cut none are seen."""
    n, words = graphs.shape[1], sets.shape[1]
    todo = np.empty(n, np.int64)
    for d in range(graphs.shape[0]):
        count = 0
        for w in range(words):
            found[d, w] = start[w]
        for v in range(n):
            if has(start, v):
                todo[count] = v
                count += 1
        while count > 0:
            count -= 1
            v = todo[count]
            if has(cut, v):
                continue
            for w in range(words):
                new = sets[graphs[d, v], w] & ~found[d, w]
                found[d, w] |= new
                u = 64 * w
                while new != np.uint64(0):
                    if new & np.uint64(1) == np.uint64(1):
                        todo[count] = u
                        count += 1
                    new >>= np.uint64(1)
                    u += 1


@helper
def is_within(a, b, extra):
    """Return whether every bit of a is one of b, or is bit `extra`."""
    for w in range(a.shape[0]):
        left = a[w] & ~b[w]
        if w == extra >> 6:
            left &= ~(np.uint64(1) << np.uint64(extra & 63))
        if left != np.uint64(0):
            return False
    return True


@helper
def fill_order(sets, graph, placed, order):
    """Fill order with the nodes, parents first; placed (words,) is room."""
    n = graph.shape[0]
    for w in range(placed.shape[0]):
        placed[w] = np.uint64(0)
    count, start = 0, -1
    while count < n and count != start:
        start = count
        for v in range(n):
            if not has(placed, v) and is_within(sets[graph[v]], placed, v):
                placed[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                order[count] = v
                count += 1


@kernel("void(uint64[:, ::1], int32[:, ::1], uint64[:, :, ::1])")
def find_compelled(sets, graphs, compelled):
    """Fill compelled[d, y] with the parents of y in every graph equivalent to graph d.

    Chickering (1995), Label-Edges: the last parent of y decides about all edges into y at once.
    """
    n, words = graphs.shape[1], sets.shape[1]
    placed, order = np.empty(words, np.uint64), np.empty(n, np.int64)
    for d in range(graphs.shape[0]):
        fill_order(sets, graphs[d], placed, order)
        for k in range(n):
            y = order[k]
            up = sets[graphs[d, y]]
            last = -1
            for j in range(k - 1, -1, -1):
                if has(up, order[j]):
                    last = order[j]
                    break
            is_free = False
            if last >= 0:
                is_free = is_within(compelled[d, last], up, last)
                is_free = is_free and is_within(up, sets[graphs[d, last]], last)
            for w in range(words):
                compelled[d, y, w] = compelled[d, last, w] if is_free else up[w]


TIE = 1e-11
"""Weights that differ by less are equal, and names decide; mutual informations err by less."""


@helper
def look(row, k, outside, best, near):
    """Offer every vertex outside of the tree the edge from k, which has just come in."""
    for v in range(row.shape[0]):
        if not outside[v]:
            continue
        is_tie = row[v] >= best[v] - TIE
        if near[v] < 0 or row[v] > best[v] + TIE or (is_tie and k < near[v]):
            best[v] = row[v]
            near[v] = k


@helper
def choose_vertex(stage, outside, best, near):
    """Return the vertex with the best edge, among those of the lowest stage; -1: none is left."""
    n = outside.shape[0]
    lowest = -1
    for v in range(n):
        if outside[v] and (lowest < 0 or stage[v] < lowest):
            lowest = stage[v]
    top, chosen, low, high = 0.0, -1, n, n
    for v in range(n):
        if outside[v] and stage[v] == lowest and (chosen < 0 or best[v] > top):
            top = best[v]
            chosen = v
    for v in range(n):
        if outside[v] and stage[v] == lowest and best[v] >= top - TIE:
            a, b = min(v, near[v]), max(v, near[v])
            if a < low or (a == low and b < high):
                chosen, low, high = v, a, b
    return chosen


@kernel("int64(float64[::1], int64, int64[::1], boolean[::1], float64[::1], int64[::1])")
def take_in(row, k, stage, outside, best, near):
    """Take vertex k into the tree, row (n,) its weights, and return the next; -1: none is left.

    For every vertex v outside, best[v] is the weight of its best edge into the tree, to near[v];
    when v comes in, they stay.
    """
    outside[k] = False
    look(row, k, outside, best, near)
    return choose_vertex(stage, outside, best, near)


@kernel("void(float64[:, ::1], int64[::1], float64[::1], int64[::1])")
def grow(weights, stage, best, near):
    """Fill best and near with the whole tree; as `take_in`, with all weights (n, n) at hand."""
    n, k = near.shape[0], np.int64(0)
    outside = np.ones(n, np.bool_)
    for v in range(n):
        best[v] = 0.0
        near[v] = -1
        if stage[v] < stage[k]:
            k = v
    while k >= 0:
        outside[k] = False
        look(weights[k], k, outside, best, near)
        k = choose_vertex(stage, outside, best, near)
