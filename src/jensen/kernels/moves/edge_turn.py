"""An edge of a DAG is turned round, if it is there and makes no cycle so."""

import math

from jensen.kernels import bare_part
from jensen.kernels.graph_changes import change_parents, descends
from jensen.kernels.moves.edge_toggle import draw_pair, has_edge, log_chance, toggled
from jensen.kernels.parent_sums import set_weight
from jensen.kernels.random_numbers import uniform


@bare_part
def step(rng, graph, t, room):
    """Try it; return whether it was done."""
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
