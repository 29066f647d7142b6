"""A chain over ordered partitions: a partition weighs as much as the graphs that have its layers.

Every graph has one partition: roots stand in part 0, others one part above their highest parent. So
a variable has its parents in earlier parts, and one of them in the part just before its own.
"""

import math

import numpy as np

from jensen.kernels import bare_part, kernel
from jensen.kernels.graph_changes import change_parents, fill_layers
from jensen.kernels.moves import PARTITION_MOVES, REVERSAL, draw_one_of
from jensen.kernels.parent_draws import draw_parents, write_parents
from jensen.kernels.parent_sums import set_weight, sum_asked
from jensen.kernels.random_numbers import uniform
from jensen.kernels.records import (
    CHAIN_GRAPH,
    CHAIN_SAMPLES,
    CHAIN_WORKSPACE,
    MOVE_COUNTS,
    PARENT_WEIGHTS,
    signature,
)

propose_drawn = draw_one_of(PARTITION_MOVES)
reverse_edge, REVERSALS = REVERSAL.function, PARTITION_MOVES.index(REVERSAL)


@bare_part
def fill_level(parts, part, level):
    """Fill level for the variables of a part: 2 in the part before, 1 in those before that."""
    for u in range(level.shape[0]):
        level[u] = 2 if parts[u] == part - 1 else (1 if parts[u] < part else 0)


@bare_part
def sum_one(v, part, t, room):
    """Return the log sum of the parent sets of a variable of this part; room.level is filled."""
    return t.log_weights[v, 0] if part == 0 else sum_asked(v, t, room)


@bare_part
def sum_changed(old, parts, n_parts, first, last, t, room, sums):
    """Fill room.numbers for all whose earlier parts changed, nan for others; return the gain.

    Parts first .. last differ; those who were and are in the first one see what they saw.
    """
    new, gain = room.numbers, 0.0
    for v in range(parts.shape[0]):
        new[v] = np.nan
    for part in range(first, min(last + 2, n_parts)):
        fill_level(parts, part, room.level)
        for v in range(parts.shape[0]):
            if parts[v] == part and not (part == first and old[v] == first):
                new[v] = sum_one(v, part, t, room)
                gain += new[v] - sums[v]
                if gain == -np.inf:
                    return gain
    return gain


@bare_part
def sum_all(parts, n_parts, t, room, sums):
    """Fill sums, by variable, and return the log weight of a partition."""
    total = 0.0
    for part in range(n_parts):
        fill_level(parts, part, room.level)
        for v in range(parts.shape[0]):
            if parts[v] == part:
                sums[v] = sum_one(v, part, t, room)
                total += sums[v]
    return total


@bare_part
def count_parts(parts):
    """Return how many parts there are."""
    highest = np.int64(0)
    for v in range(parts.shape[0]):
        highest = max(highest, parts[v])
    return highest + 1


@kernel(signature("int64[::1]", PARENT_WEIGHTS, CHAIN_WORKSPACE, "float64[::1]"))
def weigh_partition(parts, t, room, sums):
    """Fill sums, by variable, and return the log weight of a partition."""
    return sum_all(parts, count_parts(parts), t, room, sums)


@bare_part
def step(rng, t, parts, n_parts, proposal, sums, room, moves):
    """Propose one move and return the number of parts; proposal stays a copy of parts."""
    k, found = propose_drawn(uniform(rng), rng, parts, n_parts, proposal, room.nodes)
    n_new, first, last, log_correction = found
    moves.tried[k] += 1
    if first < 0:
        return n_parts
    log_accept = log_correction + sum_changed(parts, proposal, n_new, first, last, t, room, sums)
    if log_accept >= 0.0 or uniform(rng) < math.exp(log_accept):
        moves.accepted[k] += 1
        for v in range(parts.shape[0]):
            parts[v] = proposal[v]
            if not np.isnan(room.numbers[v]):
                sums[v] = room.numbers[v]
        return n_new
    for v in range(parts.shape[0]):
        proposal[v] = parts[v]
    return n_parts


@bare_part
def draw_one(rng, v, part, sums, t, room):
    """Draw parents for a variable of this part; room.level is filled. Roots have none."""
    room.outsiders[0], room.outsiders[1] = -1, -1
    if part == 0:
        return np.int64(0)
    return draw_parents(v, np.bool_(True), sums[v], uniform(rng), t, room)


@bare_part
def draw_graph(rng, t, parts, n_parts, sums, room, graph):
    """Fill graph with one that has this partition, in proportion to its weight."""
    for part in range(n_parts):
        fill_level(parts, part, room.level)
        for v in range(parts.shape[0]):
            if parts[v] == part:
                change_parents(graph, v, draw_one(rng, v, part, sums, t, room), t, room)


@bare_part
def keep(rng, t, parts, n_parts, sums, room, kept, i):
    """Draw a graph that has this partition as the i-th sample."""
    kept.scores[i] = kept.states[i] = 0.0
    for part in range(n_parts):
        fill_level(parts, part, room.level)
        for v in range(parts.shape[0]):
            if parts[v] == part:
                bits = draw_one(rng, v, part, sums, t, room)
                write_parents(v, bits, t, room, kept.parents[i, v])
                kept.scores[i] += set_weight(v, bits, room.outsiders[0], room.outsiders[1], t)
                kept.states[i] += sums[v]


@kernel(
    signature(
        "uint64[::1]",
        PARENT_WEIGHTS,
        "int64[::1], float64[::1]",
        CHAIN_WORKSPACE,
        MOVE_COUNTS,
        CHAIN_GRAPH,
        "int64[::1], int64, int64",
        CHAIN_SAMPLES,
    )
)
def advance_partitions(rng, t, parts, sums, room, moves, graph, cycle, n_rounds, thin, kept):
    """Go through `thin` cycles in each round, and keep a sample after it if there is room for one.

    A cycle is so many moves of the partition, then so many reversals of edges in a graph that has
    it; the partition of the last graph follows.
    """
    proposal, n_parts = parts.copy(), count_parts(parts)
    for i in range(n_rounds):
        for _ in range(thin if parts.shape[0] > 1 else 0):
            for _ in range(cycle[0]):
                n_parts = step(rng, t, parts, n_parts, proposal, sums, room, moves)
            if cycle[1] > 0:
                draw_graph(rng, t, parts, n_parts, sums, room, graph)
                for _ in range(cycle[1]):
                    moves.tried[REVERSALS] += 1
                    moves.accepted[REVERSALS] += reverse_edge(rng, graph, t, room)
                n_parts = fill_layers(graph, parts)
                sum_all(parts, n_parts, t, room, sums)
                for v in range(parts.shape[0]):
                    proposal[v] = parts[v]
        if i < kept.scores.shape[0]:
            keep(rng, t, parts, n_parts, sums, room, kept, i)
