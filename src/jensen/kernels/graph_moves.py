"""Moves of a search over DAGs: add, drop or turn an edge; a graph is joined[parent, child]."""

import numpy as np

from jensen.kernels import helper, kernel

ADD, DROP, TURN = 0, 1, 2


@kernel("void(boolean[:, ::1], uint64[:, ::1])")
def find_ancestors(joined, ancestors):
    """Fill ancestors (n, words): bit a of row v says that a path leads from a to v."""
    n = joined.shape[0]
    waiting, ready = np.zeros(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        for w in range(ancestors.shape[1]):
            ancestors[v, w] = np.uint64(0)
    for u in range(n):
        for v in range(n):
            waiting[v] += joined[u, v]
    count = 0
    for v in range(n):
        if waiting[v] == 0:
            ready[count] = v
            count += 1
    while count > 0:
        count -= 1
        u = ready[count]
        for v in range(n):
            if joined[u, v]:
                for w in range(ancestors.shape[1]):
                    ancestors[v, w] |= ancestors[u, w]
                ancestors[v, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
                waiting[v] -= 1
                if waiting[v] == 0:
                    ready[count] = v
                    count += 1


@helper
def has_bit(row, at):
    """Return whether this bit is set."""
    return (row[at >> 6] >> np.uint64(at & 63)) & np.uint64(1) == np.uint64(1)


@helper
def is_known(tabu, key):
    """Return whether a graph was visited lately."""
    for i in range(tabu.shape[0]):
        if tabu[i] == key:
            return True
    return False


@helper
def turns_freely(joined, ancestors, u, v):
    """Return whether u -> v can be turned round: no other path leads from u to v."""
    for p in range(joined.shape[0]):
        if p != u and joined[p, v] and has_bit(ancestors[p], u):
            return False
    return True


@kernel(
    "float64(boolean[:, ::1], uint64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1], "
    "uint8[:, ::1], int64, uint64[:, ::1], uint64[::1], float64, float64, boolean, int64[::1])"
)
def best_move(
    joined, ancestors, more, less, score, allowed, most, keys, tabu, floor, slack, for_nothing, move
):
    """Return what the best move gains, and fill move (4,): what, parent, child, how many were seen.

    What is -1 if none gains.

    more[v, u] and less[v, u] are the scores of v with u as a further parent, or without it;
    allowed[u, v] has bit 0 if the edge may be added, bit 1 if it may be dropped. The first of
    moves that gain the same within `slack` is taken: what is added comes before what is dropped,
    and that before what is turned. None gains less than `floor`; only if `for_nothing` is an edge
    added that gains nothing, as at a constant column. The last of `tabu` is the key of the graph,
    the others of graphs that no move may lead to.
    """
    n = joined.shape[0]
    now = tabu[tabu.shape[0] - 1]
    best = floor
    move[0], move[3] = -1, 0
    n_parents = np.zeros(n, np.int64)
    for u in range(n):
        for v in range(n):
            n_parents[v] += joined[u, v]
    for u in range(n):
        for v in range(n):
            if joined[u, v] or joined[v, u] or allowed[u, v] & 1 == 0 or n_parents[v] >= most:
                continue
            move[3] += 1
            gain = more[v, u] - score[v]
            if -slack <= gain <= slack and not for_nothing:
                continue
            if gain > best + slack and not has_bit(ancestors[u], v):
                if not is_known(tabu, now ^ keys[u, v]):
                    best = gain
                    move[0], move[1], move[2] = ADD, u, v
    for u in range(n):
        for v in range(n):
            if not joined[u, v] or allowed[u, v] & 2 == 0:
                continue
            move[3] += 1
            gain = less[v, u] - score[v]
            if gain > best + slack and not is_known(tabu, now ^ keys[u, v]):
                best = gain
                move[0], move[1], move[2] = DROP, u, v
    for u in range(n):
        for v in range(n):
            if not joined[u, v] or allowed[u, v] & 2 == 0:
                continue
            if allowed[v, u] & 1 == 0 or n_parents[u] >= most:
                continue
            move[3] += 1
            gain = less[v, u] - score[v] + (more[u, v] - score[u])
            if gain > best + slack and turns_freely(joined, ancestors, u, v):
                if not is_known(tabu, now ^ keys[u, v] ^ keys[v, u]):
                    best = gain
                    move[0], move[1], move[2] = TURN, u, v
    return best


@kernel(
    "float64(boolean[:, ::1], uint8[:, ::1], int64, int64, float64[::1], float64, "
    "float64[::1], float64)"
)
def added_hope(joined, allowed, u, v, more, score, more_after, score_after):
    """Return what u -> v adds to the sum of gains of v by each further parent that is allowed."""
    total = 0.0
    for w in range(joined.shape[0]):
        if w != u and not joined[w, v] and allowed[w, v] & 1:
            total += max(more_after[w] - score_after, 0.0) - max(more[w] - score, 0.0)
    return total
