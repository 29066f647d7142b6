"""Orders in which variables are eliminated, found greedily."""

import numpy as np

from jensen.kernels import helper, kernel, part
from jensen.kernels.records import WIRING, signature

MIN_FILL, MIN_WEIGHT, WEIGHTED_FILL = 0, 1, 2


@part
def cost_of(adjacent, near, degree, log_card, v, rule):
    """Return what eliminating v costs: edges filled in, its log table, or edges by their size."""
    total = 0.0
    if rule == MIN_WEIGHT:
        total = log_card[v]
        for a in range(degree[v]):
            total += log_card[near[v, a]]
        return total
    for a in range(degree[v]):
        for b in range(a):
            p, q = near[v, a], near[v, b]
            if not adjacent[p, q]:
                total += 1.0 if rule == MIN_FILL else np.exp(log_card[p] + log_card[q])
    return total


@part
def join(adjacent, near, degree, p, q, dirty):
    """Connect p and q; what they have in common has one edge less to fill in."""
    adjacent[p, q] = adjacent[q, p] = True
    near[p, degree[p]] = q
    degree[p] += 1
    near[q, degree[q]] = p
    degree[q] += 1
    for c in range(degree[p]):
        if adjacent[q, near[p, c]]:
            dirty[near[p, c]] = True


@part
def eliminate(adjacent, near, degree, v, dirty):
    """Connect the neighbours of v with each other and forget v."""
    for a in range(degree[v]):
        p = near[v, a]
        dirty[p] = True
        for b in range(a):
            if not adjacent[p, near[v, b]]:
                join(adjacent, near, degree, p, near[v, b], dirty)
    for a in range(degree[v]):
        p = near[v, a]
        adjacent[p, v] = adjacent[v, p] = False
        for b in range(degree[p]):
            if near[p, b] == v:
                degree[p] -= 1
                near[p, b] = near[p, degree[p]]
                break


@part
def greedy_order(adjacent, log_card, rule, noise, uniforms, order):
    """Fill order; return the log of the size of all tables, and of the largest.

    Costs are multiplied by 1 + noise · uniform. The graph is destroyed.
    """
    n = log_card.shape[0]
    near = np.empty((n, n), np.int32)
    degree = np.zeros(n, np.int64)
    cost = np.empty(n)
    done = np.zeros(n, np.bool_)
    dirty = np.ones(n, np.bool_)
    for v in range(n):
        for u in range(n):
            if adjacent[v, u]:
                near[v, degree[v]] = u
                degree[v] += 1
    total, largest, k = 0.0, 0.0, 0
    for i in range(n):
        best, v = np.inf, -1
        for u in range(n):
            if done[u]:
                continue
            if dirty[u]:
                dirty[u] = False
                cost[u] = cost_of(adjacent, near, degree, log_card, u, rule)
            k = (k + 1) % uniforms.shape[0]
            here = cost[u] * (1.0 + noise * uniforms[k]) + 1e-9 * uniforms[k]
            if v < 0 or here < best:
                best, v = here, u
        order[i] = v
        done[v] = True
        size = log_card[v]
        for a in range(degree[v]):
            size += log_card[near[v, a]]
        total += np.exp(size)
        largest = max(largest, size)
        eliminate(adjacent, near, degree, v, dirty)
    return np.log(total), largest


@helper
def connect_members(set_ptr, set_vars, p, wiring, fam_end, fams, local, adjacent):
    """Fill the graph of set p: two members are adjacent if a family holds both."""
    for k in range(set_ptr[p], set_ptr[p + 1]):
        local[set_vars[k]] = k - set_ptr[p]
    for j in range(fam_end[p - 1] if p > 0 else 0, fam_end[p]):
        for x in range(wiring.fam_ptr[fams[j]], wiring.fam_ptr[fams[j] + 1]):
            u = local[wiring.fam_vars[x]]
            for y in range(wiring.fam_ptr[fams[j]], x):
                w = local[wiring.fam_vars[y]]
                if u >= 0 and w >= 0:
                    adjacent[u, w] = adjacent[w, u] = True
    for k in range(set_ptr[p], set_ptr[p + 1]):
        local[set_vars[k]] = -1


@kernel(
    signature(
        "int64[::1], int32[::1]",
        WIRING,
        "int64[::1], int64[::1], int64, float64, float64[::1], int64[::1], float64[:, ::1]",
    )
)
def order_sets(set_ptr, set_vars, wiring, fam_end, fams, rule, noise, uniforms, order, log_size):
    """Fill for every set an order by a greedy rule, and the size that this gives.

    log_size holds the logs of the number of entries of all tables together, and of the largest.
    """
    local = np.empty(wiring.cards.shape[0], np.int64)
    for v in range(local.shape[0]):
        local[v] = -1
    for p in range(set_ptr.shape[0] - 1):
        k = set_ptr[p + 1] - set_ptr[p]
        adjacent = np.zeros((k, k), np.bool_)
        connect_members(set_ptr, set_vars, p, wiring, fam_end, fams, local, adjacent)
        log_card = np.empty(k)
        for a in range(k):
            log_card[a] = np.log(wiring.cards[set_vars[set_ptr[p] + a]])
        here = order[set_ptr[p] : set_ptr[p + 1]]
        log_size[p, 0], log_size[p, 1] = greedy_order(
            adjacent, log_card, rule, noise, uniforms, here
        )
