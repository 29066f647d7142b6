"""Orders in which variables are eliminated, found greedily.

Graphs are squares, row by row: member v of k is adjacent to u where ``adjacent[v * k + u]`` says
so, and its neighbours are the first ``degree[v]`` of row v of `near`.
"""

import numpy as np

from jensen.kernels import helper, kernel, part
from jensen.kernels.records import GRAPH, WIRING, signature

MIN_FILL, MIN_WEIGHT, WEIGHTED_FILL = 0, 1, 2

UNKNOWN, DONE = -1.0, -2.0
"""Stand for the cost of a variable that has to be found anew, and of one that is eliminated."""


@part
def cost_of(k, graph, v, rule):
    """Return what eliminating v costs: edges filled in, its log table, or edges by their size."""
    adjacent, near, log_card = graph.adjacent, graph.near, graph.log_card
    total, row = 0.0, v * k
    if rule == MIN_WEIGHT:
        total = log_card[v]
    for a in range(row, row + graph.degree[v]):
        if rule == MIN_WEIGHT:
            total += log_card[near[a]]
            continue
        p = near[a]
        for b in range(row, a):
            if not adjacent[p * k + near[b]]:
                total += 1.0 if rule == MIN_FILL else np.exp(log_card[p] + log_card[near[b]])
    return total


@part
def join(k, graph, p, q):
    """Connect p and q; what they have in common has one edge less to fill in."""
    adjacent, near, degree = graph.adjacent, graph.near, graph.degree
    adjacent[p * k + q] = adjacent[q * k + p] = True
    near[p * k + degree[p]] = q
    near[q * k + degree[q]] = p
    degree[p] += 1
    degree[q] += 1
    for c in range(p * k, p * k + degree[p]):
        if adjacent[q * k + near[c]]:
            graph.cost[near[c]] = UNKNOWN


@part
def eliminate(k, graph, v):
    """Connect the neighbours of v with each other and forget v."""
    adjacent, near, degree = graph.adjacent, graph.near, graph.degree
    row, end = v * k, v * k + degree[v]
    for a in range(row, end):
        graph.cost[near[a]] = UNKNOWN
        for b in range(row, a):
            if not adjacent[near[a] * k + near[b]]:
                join(k, graph, near[a], near[b])
    for a in range(row, end):
        p = near[a]
        adjacent[p * k + v] = False
        b = p * k
        while near[b] != v:
            b += 1
        degree[p] -= 1
        near[b] = near[p * k + degree[p]]
    graph.cost[v] = DONE


@part
def list_neighbours(k, graph):
    """Fill the neighbours of all members; no cost is known."""
    for v in range(k):
        graph.degree[v] = 0
        graph.cost[v] = UNKNOWN
        for u in range(k):
            if graph.adjacent[v * k + u]:
                graph.near[v * k + graph.degree[v]] = u
                graph.degree[v] += 1


@helper
def connect_members(fam_ptr, fam_vars, fams, begin, end, local, k, adjacent):
    """Make two members of a set adjacent if one of fams[begin:end] holds both."""
    for j in range(begin, end):
        for x in range(fam_ptr[fams[j]], fam_ptr[fams[j] + 1]):
            u = local[fam_vars[x]]
            for y in range(fam_ptr[fams[j]], x):
                w = local[fam_vars[y]]
                if u >= 0 and w >= 0:
                    adjacent[u * k + w] = adjacent[w * k + u] = True


@kernel(
    signature(
        "int64[::1], int32[::1]",
        WIRING,
        "int64[::1], int64[::1], int64, float64, float64[::1]",
        GRAPH,
        "int64[::1], float64[:, ::1]",
    )
)
def order_sets(
    set_ptr, set_vars, wiring, fam_end, fams, rule, noise, uniforms, graph, order, log_size
):
    """Fill for every set an order by a greedy rule, and the size that this gives.

    Costs are multiplied by 1 + noise · uniform. log_size holds the logs of the number of entries
    of all tables together, and of the largest.
    """
    local, cost, log_card = graph.local, graph.cost, graph.log_card
    for s in range(fam_end.shape[0]):
        begin, k = set_ptr[s], set_ptr[s + 1] - set_ptr[s]
        for a in range(k):
            local[set_vars[begin + a]] = a
            log_card[a] = np.log(wiring.cards[set_vars[begin + a]])
        for e in range(k * k):
            graph.adjacent[e] = False
        first = fam_end[s - 1] if s > 0 else 0
        connect_members(
            wiring.fam_ptr, wiring.fam_vars, fams, first, fam_end[s], local, k, graph.adjacent
        )
        for a in range(k):
            local[set_vars[begin + a]] = -1
        list_neighbours(k, graph)
        total, largest, n = 0.0, 0.0, 0
        for i in range(k):
            best, v = np.inf, -1
            for u in range(k):
                if cost[u] == DONE:
                    continue
                if cost[u] == UNKNOWN:
                    cost[u] = cost_of(k, graph, u, rule)
                n = (n + 1) % uniforms.shape[0]
                here = cost[u] * (1.0 + noise * uniforms[n]) + 1e-9 * uniforms[n]
                if v < 0 or here < best:
                    best, v = here, u
            order[begin + i] = v
            size = log_card[v]
            for a in range(v * k, v * k + graph.degree[v]):
                size += log_card[graph.near[a]]
            total += np.exp(size)
            largest = max(largest, size)
            eliminate(k, graph, v)
        log_size[s, 0], log_size[s, 1] = np.log(total), largest
