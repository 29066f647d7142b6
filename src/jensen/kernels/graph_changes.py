"""A DAG that a chain changes: who are whose parents and children, who descends from whom."""

import numpy as np

from jensen.kernels import bare, bare_part
from jensen.kernels.bit_sets import has, lowest_bit, put, size, take
from jensen.kernels.parent_draws import write_parents
from jensen.kernels.parent_sums import set_weight


@bare
def change_parents(graph, v, bits, t, room):
    """Give v the parents `bits` and room.outsiders, and no others."""
    parents = graph.parents[v]
    for w in range(parents.shape[0]):
        word = parents[w]
        while word:
            take(graph.children[(w << 6) + np.int64(lowest_bit(word))], v)
            word &= word - np.uint64(1)
    graph.inside[v] = bits
    graph.outside[v, 0], graph.outside[v, 1] = room.outsiders[0], room.outsiders[1]
    write_parents(v, bits, t, room, parents)
    for w in range(parents.shape[0]):
        word = parents[w]
        while word:
            put(graph.children[(w << 6) + np.int64(lowest_bit(word))], v)
            word &= word - np.uint64(1)


@bare_part
def orphan(graph, v, t, room):
    """Leave v without parents."""
    room.outsiders[0], room.outsiders[1] = -1, -1
    change_parents(graph, v, np.int64(0), t, room)


@bare_part
def graph_weight(graph, t):
    """Return the log weight of the whole graph."""
    total = 0.0
    for v in range(graph.inside.shape[0]):
        total += set_weight(v, graph.inside[v], graph.outside[v, 0], graph.outside[v, 1], t)
    return total


@bare_part
def n_edges(graph):
    """Return how many edges there are."""
    total = np.int64(0)
    for v in range(graph.parents.shape[0]):
        total += size(graph.parents[v])
    return total


@bare_part
def reach(links, start, stop_at):
    """Return who is reached from a bit by links between bits of one word; less if one stops it."""
    seen = todo = start
    while todo != np.uint64(0) and seen & stop_at == np.uint64(0):
        new = links[np.int64(lowest_bit(todo)), 0] & ~seen
        todo = (todo & (todo - np.uint64(1))) | new
        seen |= new
    return seen


@bare_part
def mark_reached(links, start, stop_at, room):
    """Fill room.seen with all that is reached from a node by links; less if one stops it."""
    seen, stack = room.seen, room.stack
    for w in range(seen.shape[0]):
        seen[w] = np.uint64(0)
    put(seen, start)
    stack[0] = start
    n_left = 1
    while n_left > 0 and not (stop_at >= 0 and has(seen, stop_at)):
        n_left -= 1
        here = stack[n_left]
        for w in range(seen.shape[0]):
            new = links[here, w] & ~seen[w]
            seen[w] |= new
            while new != np.uint64(0):
                stack[n_left] = (w << 6) + np.int64(lowest_bit(new))
                n_left += 1
                new &= new - np.uint64(1)


@bare_part
def mark_descendants(graph, v, room):
    """Fill room.seen with v and all that descend from it."""
    if room.seen.shape[0] == 1:
        start = np.uint64(1) << np.uint64(v)
        room.seen[0] = reach(graph.children, start, np.uint64(0))
    else:
        mark_reached(graph.children, v, np.int64(-1), room)


@bare_part
def descends(graph, v, ancestor, room):
    """Return whether v is `ancestor`, or descends from it."""
    if room.seen.shape[0] == 1:
        target = np.uint64(1) << np.uint64(ancestor)
        start = np.uint64(1) << np.uint64(v)
        return reach(graph.parents, start, target) & target != np.uint64(0)
    mark_reached(graph.parents, v, ancestor, room)
    return has(room.seen, ancestor)


@bare_part
def fill_layers(graph, layer):
    """Fill layer (n,): roots 0, others one more than their highest parent. Return the number."""
    n = layer.shape[0]
    for v in range(n):
        layer[v] = -1
    n_done, n_layers = 0, np.int64(0)
    while n_done < n:
        for v in range(n):
            if layer[v] < 0 and all_placed(graph.parents[v], layer, n_layers):
                layer[v] = n_layers
                n_done += 1
        n_layers += 1
    return n_layers


@bare_part
def all_placed(parents, layer, below):
    """Return whether all parents stand in layers below this one."""
    for w in range(parents.shape[0]):
        word = parents[w]
        while word:
            u = (w << 6) + np.int64(lowest_bit(word))
            if layer[u] < 0 or layer[u] >= below:
                return False
            word &= word - np.uint64(1)
    return True
