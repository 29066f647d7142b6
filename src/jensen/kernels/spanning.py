"""Trees of largest weight, grown from one vertex (Prim's algorithm)."""

import numpy as np

from jensen.kernels import helper, kernel

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
