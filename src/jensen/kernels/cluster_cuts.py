"""Clusters of variables that a fractional graph joins in a cycle, by greedy growth.

In a cluster C of a graph without cycles at least k variables have fewer than k parents in C, for
every k up to the size of C. The families of a fractional graph have weights; those of one child sum
to one.
"""

import numpy as np

from jensen.kernels import helper, kernel


@helper
def weigh(child, weight, inside, count, k):
    """Weight of the families of members that have fewer than k parents in the cluster."""
    total = 0.0
    for j in range(child.shape[0]):
        if inside[child[j]] and count[j] < k:
            total += weight[j]
    return total


@helper
def change(v, first, weight, child, holder, holder_ptr, inside, count, k):
    """What `weigh` changes by if v joins the cluster, or leaves it."""
    delta = 0.0
    for j in range(first[v], first[v + 1]):
        if count[j] < k:
            delta += weight[j]
    if inside[v]:
        delta = -delta
    at = k if inside[v] else k - 1
    sign = 1.0 if inside[v] else -1.0
    for i in range(holder_ptr[v], holder_ptr[v + 1]):
        j = holder[i]
        if inside[child[j]] and count[j] == at and child[j] != v:
            delta += sign * weight[j]
    return delta


@helper
def flip(v, holder, holder_ptr, inside, count):
    """Let v join the cluster, or leave it."""
    step = -1 if inside[v] else 1
    inside[v] = not inside[v]
    for i in range(holder_ptr[v], holder_ptr[v + 1]):
        count[holder[i]] += step


@kernel(
    "int64(int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], int64[:, ::1], int64, "
    "float64, boolean[:, ::1], float64[::1])"
)
def grow_clusters(child, first, weight, holder, holder_ptr, starts, k, short, found, values):
    """Fill found with clusters in which `weigh` falls short of k by `short`, and by how much.

    From each start (two variables) the variable whose joining, or leaving, lowers the weight most
    is taken, as long as it does; else the one that raises it least joins, for a few times.
    Families of variable v are first[v] .. first[v + 1]; v is a parent in those of
    holder[holder_ptr[v]:holder_ptr[v + 1]]. Returns how many were found.
    """
    n, m = first.shape[0] - 1, child.shape[0]
    inside, count = np.zeros(n, np.bool_), np.zeros(m, np.int64)
    n_found = 0
    for s in range(starts.shape[0]):
        if n_found == found.shape[0]:
            break
        for v in range(n):
            if inside[v]:
                flip(np.int64(v), holder, holder_ptr, inside, count)
        flip(np.int64(starts[s, 0]), holder, holder_ptr, inside, count)
        flip(np.int64(starts[s, 1]), holder, holder_ptr, inside, count)
        here, size = weigh(child, weight, inside, count, k), 2
        lowest, kept = k - short, False
        for _ in range(2 * n):
            if size > k and here < lowest:
                lowest, kept = here, True
                for v in range(n):
                    found[n_found, v] = inside[v]
                values[n_found] = k - here
            best, chosen = np.inf, -1
            for v in range(n):
                if inside[v] and size <= 2:
                    continue
                delta = change(v, first, weight, child, holder, holder_ptr, inside, count, k)
                if inside[v] and delta > -1e-9:
                    continue
                if delta < best - 1e-9:
                    best, chosen = delta, v
            if chosen < 0 or here + best > k + 0.5:
                break
            size += -1 if inside[chosen] else 1
            flip(np.int64(chosen), holder, holder_ptr, inside, count)
            here += best
        if kept:
            n_found += 1
    return n_found
