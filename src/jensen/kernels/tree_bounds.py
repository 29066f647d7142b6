"""An upper bound of log Z from a mixture of rooted trees, and its slope."""

import numpy as np

from jensen.kernels import bare_part, kernel
from jensen.kernels.records import PAIR_GRAPH, signature


@bare_part
def log_sum(graph, heard, e, s, x, weight, table):
    """Return log Σ over the states of end s of edge e, the other end in state x; fill shares."""
    at = graph.slot_at[2 * e + s]
    card = graph.slot_at[2 * e + s + 1] - at
    if s == 1:
        begin, step = graph.table_at[e] + x * card, 1
    else:
        begin, step = graph.table_at[e] + x, graph.slot_at[2 * e + 2] - graph.slot_at[2 * e + 1]
    top, total = -np.inf, 0.0
    for y in range(card):
        table[y] = graph.table[begin + y * step] / weight + heard[at + y]
        top = max(top, table[y])
    for y in range(card):
        table[y] = np.exp(table[y] - top)
        total += table[y]
    for y in range(card):
        table[y] /= total
    return top + np.log(total)


@kernel(
    signature(PAIR_GRAPH, "float64[::1], float64[::1], float64[::1], float64[::1], float64[::1]")
)
def bound(graph, heard, level, share, slope, table):
    """Return a value that no log Z exceeds, whatever `heard` holds; fill its slope in `heard`.

    Σ_i r_i log Σ_x exp([θ_i + Σ_e (c_e m_e - c'_e h_e)](x) / r_i): r is how often i is the root.
    For each edge at i, c' is how often i is the child, h what it hears, c how often the other end
    is the child, and m the log sum of the edge over the states of that end. `level` and `share` are
    workspace for all states.
    """
    n, n_edges = graph.root.shape[0], graph.table_at.shape[0] - 1
    level[:] = graph.alone
    slope[:] = 0.0
    for e in range(n_edges):
        weight = graph.child[2 * e] + graph.child[2 * e + 1]
        for s in range(2):
            at, home = graph.slot_at[2 * e + s], graph.state_at[graph.ends[2 * e + s]]
            own, others = graph.child[2 * e + s], graph.child[2 * e + 1 - s]
            for x in range(graph.slot_at[2 * e + s + 1] - at):
                m = log_sum(graph, heard, e, 1 - s, x, weight, table)
                level[home + x] += others * m - own * heard[at + x]
    value = 0.0
    for i in range(n):
        begin, end = graph.state_at[i], graph.state_at[i + 1]
        top, total = -np.inf, 0.0
        for k in range(begin, end):
            top = max(top, level[k])
        for k in range(begin, end):
            share[k] = np.exp((level[k] - top) / graph.root[i])
            total += share[k]
        for k in range(begin, end):
            share[k] /= total
        value += top + graph.root[i] * np.log(total)
    for e in range(n_edges):
        weight = graph.child[2 * e] + graph.child[2 * e + 1]
        for s in range(2):
            at, home = graph.slot_at[2 * e + s], graph.state_at[graph.ends[2 * e + s]]
            there, others = graph.slot_at[2 * e + 1 - s], graph.child[2 * e + 1 - s]
            for x in range(graph.slot_at[2 * e + s + 1] - at):
                log_sum(graph, heard, e, 1 - s, x, weight, table)
                for y in range(graph.slot_at[2 * e + 2 - s] - there):
                    slope[there + y] += others * share[home + x] * table[y]
                slope[at + x] -= graph.child[2 * e + s] * share[home + x]
    return value
