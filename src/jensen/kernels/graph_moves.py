"""Moves of a search over DAGs: add, drop or turn an edge.

A graph is joined[parent, child], and the children of each variable as bits of words.
"""

import numpy as np

from jensen.kernels import bare, bare_part, helper, kernel
from jensen.kernels.bit_sets import has, lowest_bit, put, size, take

ADD, DROP, TURN = 0, 1, 2


@helper
def mark_ancestors(children, ancestors):
    """Fill ancestors (n, words): bit a of row v says that a path leads from a to v."""
    n, words = children.shape
    waiting, ready = np.zeros(n, np.int64), np.empty(n, np.int64)
    for u in range(n):
        for w in range(words):
            ancestors[u, w] = np.uint64(0)
            word = children[u, w]
            while word != np.uint64(0):
                waiting[(w << 6) + np.int64(lowest_bit(word))] += 1
                word &= word - np.uint64(1)
    count = 0
    for v in range(n):
        if waiting[v] == 0:
            ready[count] = v
            count += 1
    while count > 0:
        count -= 1
        u = ready[count]
        for w in range(words):
            word = children[u, w]
            while word != np.uint64(0):
                v = (w << 6) + np.int64(lowest_bit(word))
                word &= word - np.uint64(1)
                for k in range(words):
                    ancestors[v, k] |= ancestors[u, k]
                put(ancestors[v], u)
                waiting[v] -= 1
                if waiting[v] == 0:
                    ready[count] = v
                    count += 1


@kernel("void(uint64[:, ::1], uint64[:, ::1])")
def find_ancestors(children, ancestors):
    """Fill ancestors (n, words): bit a of row v says that a path leads from a to v."""
    mark_ancestors(children, ancestors)


@kernel(
    "void(int64, int64[::1], float64, float64[::1], float64[::1], uint8[:, ::1], "
    "boolean[:, ::1], uint64[:, ::1], float64[:, ::1], float64[:, :, ::1])"
)
def set_family(v, parents, score, less, more, allowed, joined, children, own, around):
    """Make these the parents of v, and fill its column of own and its rows of around.

    own (2, n): the score of each family, and what a further parent gains at most. around (2, n, n),
    [child, parent]: the scores with one parent more, and with one less.
    """
    n, top = joined.shape[0], -np.inf
    for u in range(n):
        joined[u, v] = False
        take(children[u], v)
        around[0, v, u] = more[u]
    for k in range(parents.shape[0]):
        joined[parents[k], v] = True
        put(children[parents[k]], v)
        around[1, v, parents[k]] = less[k]
    for u in range(n):
        if allowed[u, v] & 1 and not joined[u, v]:
            top = max(top, more[u] - score)
    own[0, v], own[1, v] = score, top


@bare_part
def is_known(tabu, key):
    """Return whether a graph was visited lately."""
    for i in range(tabu.shape[0]):
        if tabu[i] == key:
            return True
    return False


@bare_part
def may_add(graph, rules, visited, u, v):
    """Return whether u -> v may be added."""
    joined, _, ancestors = graph
    allowed, n_parents, most = rules
    if joined[u, v] or joined[v, u] or allowed[u, v] & 1 == 0 or n_parents[v] >= most:
        return False
    keys, tabu = visited
    return not (has(ancestors[u], v) or is_known(tabu, tabu[tabu.shape[0] - 1] ^ keys[u, v]))


@bare_part
def turns_freely(graph, u, v):
    """Return whether u -> v can be turned round: no other child of u is an ancestor of v."""
    _, children, ancestors = graph
    for w in range(children.shape[1]):
        if children[u, w] & ancestors[v, w] != np.uint64(0):
            return False
    return True


@bare
def best_addition(graph, rules, visited, order, own, more, floor, slack, for_nothing, move):
    """Return what the best edge gains, and fill move (3,) with it; the floor, if there is none.

    Of edges that gain the same within the slack it is the first: variables are compared in this
    order. Children whose further parents cannot gain as much are left out.
    """
    n, best, first, gain_of_first = own.shape[1], floor + slack, own.shape[1], floor
    for v in range(n):
        for u in range(n if own[1, v] > best else 0):
            gain = more[v, u] - own[0, v]
            if gain > best and (for_nothing or abs(gain) > slack):
                if may_add(graph, rules, visited, u, v):
                    best = gain
    if best <= floor + slack:
        return floor
    for j in range(n):
        v = order[j]
        for i in range(first if own[1, v] >= best - slack else 0):
            u = order[i]
            gain = more[v, u] - own[0, v]
            if gain >= best - slack and gain > floor + slack:
                is_open = for_nothing or abs(gain) > slack
                if is_open and may_add(graph, rules, visited, u, v):
                    first, gain_of_first = i, gain
                    move[0], move[1], move[2] = ADD, u, v
                    break
    return gain_of_first


@bare
def list_edges(children, order, rank, edges, n_parents):
    """Fill edges (m, 2) with (parent, child), sorted by their ranks, and count all parents."""
    m = 0
    for place in range(children.shape[0]):
        u, first = order[place], m
        for w in range(children.shape[1]):
            word = children[u, w]
            while word != np.uint64(0):
                v = (w << 6) + np.int64(lowest_bit(word))
                word &= word - np.uint64(1)
                n_parents[v] += 1
                k = m
                while k > first and rank[edges[k - 1, 1]] > rank[v]:
                    edges[k, 1] = edges[k - 1, 1]
                    k -= 1
                edges[m, 0], edges[k, 1] = u, v
                m += 1


@bare
def count_moves(edges, rules, n_allowed):
    """Return how many edges may be added, dropped or turned; those that close a cycle count.

    n_allowed (n,): how many edges to each variable may be added to a graph without edges.
    """
    allowed, n_parents, most = rules
    total = 0
    for v in range(n_parents.shape[0]):
        total += n_allowed[v] if n_parents[v] < most else 0
    for k in range(edges.shape[0]):
        u, v = edges[k, 0], edges[k, 1]
        may_turn = allowed[v, u] & 1 > 0 and n_parents[u] < most
        total -= may_turn + (allowed[u, v] & 1 > 0 and n_parents[v] < most)
        if allowed[u, v] & 2:
            total += 1 + may_turn
    return total


@kernel(
    "float64(boolean[:, ::1], uint64[:, :, ::1], float64[:, ::1], float64[:, :, ::1], "
    "uint8[:, ::1], int64[:, ::1], int64, uint64[:, ::1], uint64[::1], float64, float64, boolean, "
    "int64[::1])"
)
def best_move(
    joined, links, own, around, allowed, variables, most, keys, tabu, floor, slack, for_nothing,
    move,
):  # fmt: skip
    """Return what the best move gains, and fill move (4,): what, parent, child, how many were seen.

    What is -1 if none gains. links (2, n, words): the children of each, and its ancestors, which
    are filled.

    own and around are what `set_family` fills; allowed[u, v] has bit 0 if the edge may be added,
    bit 1 if it may be dropped. variables (3, n): how many edges to each may be added to a graph
    without edges; all in the order that decides between moves; and the place of each in it. The
    first of moves that gain the same within `slack` is taken: what is added comes before what is
    dropped, and that before what is turned. None gains less than
    `floor`; only if `for_nothing` is an edge added that gains nothing, as at a constant column. The
    last of `tabu` is the key of the graph, the others of graphs that no move may lead to.
    """
    n, m, now = joined.shape[0], 0, tabu[tabu.shape[0] - 1]
    children, ancestors = links[0], links[1]
    mark_ancestors(children, ancestors)
    for u in range(n):
        m += size(children[u])
    edges, n_parents = np.empty((m, 2), np.int64), np.zeros(n, np.int64)
    order = variables[1]
    list_edges(children, order, variables[2], edges, n_parents)
    graph, rules, visited = (joined, children, ancestors), (allowed, n_parents, most), (keys, tabu)
    move[0], move[3] = -1, count_moves(edges, rules, variables[0])
    score, more, less = own[0], around[0], around[1]
    best = best_addition(graph, rules, visited, order, own, more, floor, slack, for_nothing, move)
    for k in range(m):
        u, v = edges[k, 0], edges[k, 1]
        gain = less[v, u] - score[v]
        if gain > best + slack and allowed[u, v] & 2:
            if not is_known(tabu, now ^ keys[u, v]):
                best = gain
                move[0], move[1], move[2] = DROP, u, v
    for k in range(m):
        u, v = edges[k, 0], edges[k, 1]
        gain = less[v, u] - score[v] + (more[u, v] - score[u])
        if gain > best + slack and allowed[u, v] & 2 and allowed[v, u] & 1:
            if n_parents[u] < most and turns_freely(graph, u, v):
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
