"""An edge of a DAG is added, or dropped if it is there.

Which edge does not depend on the graph: it is as likely back as forth, and a move that makes a
cycle is refused. So the number of neighbouring graphs cancels from the acceptance.
"""

import math

import numpy as np

from jensen.kernels import bare_part
from jensen.kernels.graph_changes import change_parents, descends
from jensen.kernels.parent_sums import set_weight
from jensen.kernels.random_numbers import below, uniform

AMONG_CANDIDATES = 0.75
"""How often the parent is drawn from the candidates, where others are possible too."""


@bare_part
def step(rng, graph, t, room):
    """Try it; return whether it was done."""
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
