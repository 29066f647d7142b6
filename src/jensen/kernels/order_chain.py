"""A chain over orders: an order weighs as much as all graphs that fit it together."""

import math

import numpy as np

from jensen.kernels import bare_part, kernel
from jensen.kernels.moves import ORDER_MOVES, draw_one_of
from jensen.kernels.parent_draws import draw_parents, write_parents
from jensen.kernels.parent_sums import (
    local_bits,
    log_add,
    pair_weight,
    set_weight,
    single_weight,
    sum_within,
)
from jensen.kernels.random_numbers import uniform
from jensen.kernels.records import (
    CHAIN_SAMPLES,
    CHAIN_WORKSPACE,
    MOVE_COUNTS,
    PARENT_WEIGHTS,
    signature,
)

propose_drawn = draw_one_of(ORDER_MOVES)


@bare_part
def sum_between(order, first, last, t, room, sums):
    """Fill sums, by variable, for positions first .. last of an order."""
    level = room.level
    for v in range(level.shape[0]):
        level[v] = 0
    for i in range(first):
        level[order[i]] = 2
    for i in range(first, last + 1):
        v = order[i]
        sums[v] = sum_within(v, t, room)
        level[v] = 2


@kernel(signature("int64[::1]", PARENT_WEIGHTS, CHAIN_WORKSPACE, "float64[::1]"))
def weigh_order(order, t, room, sums):
    """Fill sums, by variable, and return the log weight of an order."""
    sum_between(order, np.int64(0), np.int64(order.shape[0] - 1), t, room, sums)
    total = 0.0
    for v in range(sums.shape[0]):
        total += sums[v]
    return total


@bare_part
def step(rng, t, order, proposal, sums, room, moves):
    """Propose one move; proposal is a copy of order before and after."""
    k, (first, last) = propose_drawn(uniform(rng), rng, order, proposal)
    new = room.numbers
    sum_between(proposal, first, last, t, room, new)
    gain = 0.0
    for i in range(first, last + 1):
        gain += new[order[i]] - sums[order[i]]
    moves.tried[k] += 1
    if gain >= 0.0 or uniform(rng) < math.exp(gain):
        moves.accepted[k] += 1
        for i in range(first, last + 1):
            order[i] = proposal[i]
            sums[order[i]] = new[order[i]]
    else:
        for i in range(first, last + 1):
            proposal[i] = order[i]


@bare_part
def keep(rng, t, order, sums, room, kept, i):
    """Draw a graph that fits the order as the i-th sample."""
    for v in range(order.shape[0]):
        room.level[v] = 0
    kept.scores[i] = kept.states[i] = 0.0
    for k in range(order.shape[0]):
        v = order[k]
        bits = draw_parents(v, np.bool_(False), sums[v], uniform(rng), t, room)
        write_parents(v, bits, t, room, kept.parents[i, v])
        kept.scores[i] += set_weight(v, bits, room.outsiders[0], room.outsiders[1], t)
        kept.states[i] += sums[v]
        kept.orders[i, k] = v
        room.level[v] = 2


@kernel(
    signature(
        "uint64[::1]",
        PARENT_WEIGHTS,
        "int64[::1], float64[::1]",
        CHAIN_WORKSPACE,
        MOVE_COUNTS,
        "int64, int64",
        CHAIN_SAMPLES,
    )
)
def advance_orders(rng, t, order, sums, room, moves, n_rounds, thin, kept):
    """Make `thin` proposals in each round, and keep a sample after it if there is room for one."""
    proposal = order.copy()
    for i in range(n_rounds):
        if order.shape[0] > 1:
            for _ in range(thin):
                step(rng, t, order, proposal, sums, room, moves)
        if i < kept.scores.shape[0]:
            keep(rng, t, order, sums, room, kept, i)


@bare_part
def edge_shares(v, t, room, log_total, out):
    """Add to out[u] the share of the parent sets of v among level 2 that hold u."""
    allowed = local_bits(t.candidates[v], room.level, np.int8(1))
    whole = t.log_sums[v, allowed]
    scale = math.exp(whole - log_total)
    for i in range(t.candidates.shape[1]):
        if allowed >> i & 1:
            without = t.log_sums[v, allowed & ~(np.int64(1) << i)]
            out[t.candidates[v, i]] += -math.expm1(without - whole) * scale
    for u in range(room.level.shape[0]):
        if room.level[u] == 2:
            out[u] += share_outside(v, u, t, room, log_total)


@bare_part
def share_outside(v, u, t, room, log_total):
    """Return the share of the sets outside that hold u; all levels are 0 or 2."""
    x, level = t.singles[v, u], room.level
    total = -np.inf
    for w in range(t.pairs.shape[2]):
        if level[w] == 2:
            x += t.pairs[v, u, w]
    if x > 0.0:
        total = t.log_base[v] + math.log(x)
    for k in range(t.strong.shape[1]):
        s = t.strong[v, k]
        if s < 0:
            break
        x = 0.0
        if s == u:
            for w in range(level.shape[0]):
                if level[w] == 2:
                    x += t.strong_rows[v, k, w]
        elif level[s] == 2:
            x = t.strong_rows[v, k, u]
        if x > 0.0:
            total = log_add(total, t.log_row[v, k] + math.log(x))
    return math.exp(total - log_total)


@kernel(signature("int16[:, ::1]", PARENT_WEIGHTS, CHAIN_WORKSPACE, "float64[:, ::1]"))
def add_edge_shares(orders, t, room, edges):
    """Add to edges [parent, child] the probability of each edge given each of the orders."""
    n = edges.shape[0]
    for i in range(orders.shape[0]):
        for v in range(n):
            room.level[v] = 0
        for k in range(n):
            v = np.int64(orders[i, k])
            for u in range(n):
                room.numbers[u] = 0.0
            edge_shares(v, t, room, sum_within(v, t, room), room.numbers)
            for u in range(n):
                edges[u, v] += room.numbers[u]
            room.level[v] = 2


@bare_part
def set_shares(v, t, room, log_total, inside, outside):
    """Add the share of each parent set of v among level 2: subsets of candidates, and pairs."""
    level = room.level
    allowed = local_bits(t.candidates[v], level, np.int8(1))
    here = allowed
    while True:
        inside[here] += math.exp(t.log_weights[v, here] - log_total)
        if here == 0:
            break
        here = (here - 1) & allowed
    for u in range(level.shape[0]):
        if level[u] == 2:
            x = single_weight(v, np.int64(u), t) if t.place[v, u] < 0 else -np.inf
            outside[u, u] += math.exp(x - log_total)
            for w in range(u + 1, level.shape[0]):
                if level[w] == 2 and (t.place[v, u] < 0 or t.place[v, w] < 0):
                    x = pair_weight(v, np.int64(u), np.int64(w), t)
                    outside[u, w] += math.exp(x - log_total)


@kernel(
    signature(
        "int64, int16[:, ::1]", PARENT_WEIGHTS, CHAIN_WORKSPACE, "float64[::1], float64[:, ::1]"
    )
)
def add_set_shares(v, orders, t, room, inside, outside):
    """Add the probability of each parent set of v given each of the orders.

    inside (2^K,) is for subsets of the candidates; outside (n, n) for {u, w} and, at u, for {u}.
    """
    for i in range(orders.shape[0]):
        for u in range(room.level.shape[0]):
            room.level[u] = 0
        for k in range(orders.shape[1]):
            if orders[i, k] == v:
                break
            room.level[orders[i, k]] = 2
        set_shares(v, t, room, sum_within(v, t, room), inside, outside)
