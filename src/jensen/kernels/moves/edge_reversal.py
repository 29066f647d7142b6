"""The new edge reversal: an edge is turned, and both its ends get new parents.

u -> v is drawn from all edges; u and v lose all their parents; parents of u that hold v are drawn,
then parents of v. Both draws are in proportion to the weights, so the acceptance has only sums.

References
----------
Grzegorczyk and Husmeier (2008), *Improving the structure MCMC sampler for Bayesian networks by
introducing a new edge reversal move*, Machine Learning 71.
"""

import math

import numpy as np

from jensen.kernels import bare, bare_part
from jensen.kernels.bit_sets import has, member, size
from jensen.kernels.graph_changes import change_parents, mark_descendants, n_edges, orphan
from jensen.kernels.parent_draws import draw_parents
from jensen.kernels.parent_sums import sum_asked, sum_within
from jensen.kernels.random_numbers import below, uniform


@bare
def step(rng, graph, t, room):
    """Try it; return whether it was done."""
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
