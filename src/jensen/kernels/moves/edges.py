"""Moves of one edge of a DAG: it is added or dropped, turned, or turned with new parents.

`step_toggle` adds an edge, or drops it if it is there. Which edge does not depend on the graph: it
is as likely back as forth, and a move that makes a cycle is refused. So the number of neighbouring
graphs cancels from the acceptance. `step_turn` turns an edge round, if it is there and makes no
cycle so.

`step_reversal` is the new edge reversal: an edge is turned, and both its ends get new parents. u ->
v is drawn from all edges; u and v lose all their parents; parents of u that hold v are drawn, then
parents of v. Both draws are in proportion to the weights, so the acceptance has only sums.

References
----------
Grzegorczyk and Husmeier (2008), *Improving the structure MCMC sampler for Bayesian networks by
introducing a new edge reversal move*, Machine Learning 71.
"""

import math

import numpy as np

from jensen.kernels import bare, bare_part
from jensen.kernels.bit_sets import has, member, size
from jensen.kernels.graph_changes import (
    change_parents,
    descends,
    mark_descendants,
    n_edges,
    orphan,
)
from jensen.kernels.parent_draws import draw_parents
from jensen.kernels.parent_sums import set_weight, sum_asked, sum_within
from jensen.kernels.random_numbers import below, uniform

AMONG_CANDIDATES = 0.75
"""How often the parent is drawn from the candidates, where others are possible too."""


@bare_part
def step_toggle(rng, graph, t, room):
    """Try to add or drop an edge; return whether it was done."""
    v, u = draw_pair(rng, t)
    if u == v:
        return False
    bits = toggled(graph, v, u, t, room)
    old = set_weight(v, graph.inside[v], graph.outside[v, 0], graph.outside[v, 1], t)
    gain = set_weight(v, bits, room.outsiders[0], room.outsiders[1], t) - old
    if gain < 0.0 and not uniform(rng) < math.exp(gain):
        return False
    if not has_edge(graph, u, v) and descends(graph, u, v, room):
        return False
    change_parents(graph, v, bits, t, room)
    return True


@bare_part
def draw_pair(rng, t):
    """Return a child and another variable; the child itself stands for nobody."""
    n, n_candidates = t.candidates.shape
    v = below(rng, n)
    if n_candidates == n - 1 or (n_candidates > 0 and uniform(rng) < AMONG_CANDIDATES):
        return v, t.candidates[v, below(rng, n_candidates)]
    u = below(rng, n - 1)
    return v, u + (u >= v)


@bare_part
def log_chance(v, u, t):
    """Return the log of the probability that `draw_pair` draws u for v, but for 1 / n."""
    n, n_candidates = t.candidates.shape
    is_candidate = np.float64(t.place[v, u] >= 0)
    if n_candidates == n - 1:
        return math.log(is_candidate / n_candidates)
    within = AMONG_CANDIDATES * is_candidate / max(n_candidates, 1)  # there may be none
    return math.log(within + (1.0 - AMONG_CANDIDATES) / (n - 1))


@bare_part
def has_edge(graph, u, v):
    """Return whether u is a parent of v."""
    return (graph.parents[v, u >> 6] >> np.uint64(u & 63)) & np.uint64(1) != np.uint64(0)


@bare_part
def toggled(graph, v, u, t, room):
    """Return the candidates among the parents of v, u added or dropped; others in room.outsiders.

    A third parent outside cannot be written down: the set comes out as one of weight nothing.
    """
    first, second = graph.outside[v, 0], graph.outside[v, 1]
    bits = graph.inside[v]
    if t.place[v, u] >= 0:
        bits ^= np.int64(1) << t.place[v, u]
    elif u == first:
        first, second = second, np.int64(-1)
    elif u == second:
        second = np.int64(-1)
    elif first < 0:
        first = u
    elif second < 0:
        second = u
    else:
        bits = np.int64(1)  # two outside and a candidate: heavier than nothing is no such set
    room.outsiders[0], room.outsiders[1] = first, second
    return bits


@bare_part
def step_turn(rng, graph, t, room):
    """Try to turn an edge; return whether it was done."""
    v, u = draw_pair(rng, t)
    if u == v or not has_edge(graph, u, v):
        return False
    gain = toggle_gain(graph, v, u, t, room) + toggle_gain(graph, u, v, t, room)
    log_accept = gain + log_chance(u, v, t) - log_chance(v, u, t)
    if not (log_accept >= 0.0 or uniform(rng) < math.exp(log_accept)):
        return False
    change_parents(graph, v, toggled(graph, v, u, t, room), t, room)
    if descends(graph, v, u, room):
        change_parents(graph, v, toggled(graph, v, u, t, room), t, room)
        return False
    change_parents(graph, u, toggled(graph, u, v, t, room), t, room)
    return True


@bare_part
def toggle_gain(graph, v, u, t, room):
    """Return what the log weight of v's family gains if u is added or dropped."""
    bits = toggled(graph, v, u, t, room)
    new = set_weight(v, bits, room.outsiders[0], room.outsiders[1], t)
    return new - set_weight(v, graph.inside[v], graph.outside[v, 0], graph.outside[v, 1], t)


@bare
def step_reversal(rng, graph, t, room):
    """Try a new edge reversal; return whether it was done."""
    before = n_edges(graph)
    if before == 0:
        return False
    u, v = draw_edge(rng, graph, before)
    old_u = graph.inside[u], graph.outside[u, 0], graph.outside[u, 1]
    old_v = graph.inside[v], graph.outside[v, 0], graph.outside[v, 1]
    orphan(graph, u, t, room)
    give(graph, v, old_v, t, room)
    back_u = sum_free(graph, u, t, room)
    orphan(graph, v, t, room)
    back_v = sum_holding(graph, v, u, t, room)
    forth_u = sum_holding(graph, u, v, t, room)
    if forth_u > -np.inf:
        bits = draw_parents(u, np.bool_(True), forth_u, uniform(rng), t, room)
        change_parents(graph, u, bits, t, room)
        forth_v = sum_free(graph, v, t, room)
        bits = draw_parents(v, np.bool_(False), forth_v, uniform(rng), t, room)
        change_parents(graph, v, bits, t, room)
        log_accept = forth_u + forth_v - back_u - back_v
        log_accept += math.log(before) - math.log(n_edges(graph))
        if log_accept >= 0.0 or uniform(rng) < math.exp(log_accept):
            return True
    give(graph, u, old_u, t, room)
    give(graph, v, old_v, t, room)
    return False


@bare_part
def draw_edge(rng, graph, n):
    """Return one of the n edges, parent and child."""
    k, v = below(rng, n), np.int64(0)
    while True:
        here = size(graph.parents[v])
        if k < here:
            return member(graph.parents[v], k), v
        k -= here
        v += 1


@bare_part
def give(graph, v, family, t, room):
    """Give v the parents it had."""
    bits, room.outsiders[0], room.outsiders[1] = family
    change_parents(graph, v, bits, t, room)


@bare_part
def sum_free(graph, v, t, room):
    """Return the log sum of all parent sets of v that make no cycle; leave room.level at them."""
    mark_descendants(graph, v, room)
    for u in range(room.level.shape[0]):
        room.level[u] = 0 if has(room.seen, u) else 2
    return sum_within(v, t, room)


@bare_part
def sum_holding(graph, v, u, t, room):
    """Return the same of the sets that hold u, which does not descend from v."""
    mark_descendants(graph, v, room)
    for w in range(room.level.shape[0]):
        room.level[w] = 0 if has(room.seen, w) else 1
    room.level[u] = 2
    return sum_asked(v, t, room)
