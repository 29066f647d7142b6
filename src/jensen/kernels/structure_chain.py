"""A chain over graphs: one edge at a time, and now and then the new edge reversal."""

import numpy as np

from jensen.kernels import bare_part, kernel
from jensen.kernels.graph_changes import change_parents, graph_weight
from jensen.kernels.moves import REVERSAL, STRUCTURE_MOVES, draw_one_of
from jensen.kernels.random_numbers import uniform
from jensen.kernels.records import (
    CHAIN_GRAPH,
    CHAIN_SAMPLES,
    CHAIN_WORKSPACE,
    MOVE_COUNTS,
    PARENT_WEIGHTS,
    signature,
)

step_drawn = draw_one_of(STRUCTURE_MOVES)
reverse_edge, REVERSALS = REVERSAL.function, STRUCTURE_MOVES.index(REVERSAL)


@kernel(signature(CHAIN_GRAPH, PARENT_WEIGHTS))
def weigh_graph(graph, t):
    """Return the log weight of a graph."""
    return graph_weight(graph, t)


@kernel(signature("uint64[:, ::1]", PARENT_WEIGHTS, CHAIN_WORKSPACE, CHAIN_GRAPH))
def read_graph(parents, t, room, graph):
    """Fill graph from the parents of every variable, as bits; at most two stand outside."""
    for v in range(parents.shape[0]):
        bits, n_outside = np.int64(0), 0
        room.outsiders[0], room.outsiders[1] = -1, -1
        for u in range(parents.shape[0]):
            if (parents[v, u >> 6] >> np.uint64(u & 63)) & np.uint64(1) != np.uint64(0):
                if t.place[v, u] >= 0:
                    bits |= np.int64(1) << t.place[v, u]
                else:
                    room.outsiders[n_outside] = u
                    n_outside += 1
        change_parents(graph, v, bits, t, room)


@bare_part
def step(rng, t, graph, room, moves):
    """Propose one change of an edge."""
    k, was_made = step_drawn(uniform(rng), rng, graph, t, room)
    moves.tried[k] += 1
    moves.accepted[k] += was_made


@kernel(
    signature(
        "uint64[::1]",
        PARENT_WEIGHTS,
        CHAIN_WORKSPACE,
        MOVE_COUNTS,
        CHAIN_GRAPH,
        "int64[::1], int64, int64",
        CHAIN_SAMPLES,
    )
)
def advance_graphs(rng, t, room, moves, graph, cycle, n_rounds, thin, kept):
    """Go through `thin` cycles in each round, and keep a sample after it if there is room for one.

    A cycle is so many moves of single edges, then so many reversals.
    """
    for i in range(n_rounds):
        for _ in range(thin if graph.inside.shape[0] > 1 else 0):
            for _ in range(cycle[0]):
                step(rng, t, graph, room, moves)
            for _ in range(cycle[1]):
                moves.tried[REVERSALS] += 1
                moves.accepted[REVERSALS] += reverse_edge(rng, graph, t, room)
        if i < kept.scores.shape[0]:
            kept.scores[i] = kept.states[i] = graph_weight(graph, t)
            for v in range(graph.inside.shape[0]):
                for w in range(graph.parents.shape[1]):
                    kept.parents[i, v, w] = graph.parents[v, w]
