"""Chordality of undirected graphs given by index."""

from heapq import heapify, heappop, heappush

from jensen.graphs.order import Links


def is_chordal(neighbours: Links) -> bool:
    """Tell whether every cycle of four or more nodes has a chord.

    References
    ----------
    Tarjan and Yannakakis (1984), *Simple linear-time algorithms to test chordality of graphs*.
    """
    near = [set(ns) for ns in neighbours]
    order = _maximum_cardinality_order(near)
    rank = {x: place for place, x in enumerate(order)}
    for x in order:
        earlier = {y for y in near[x] if rank[y] < rank[x]}
        if earlier:
            last = max(earlier, key=rank.__getitem__)
            if not earlier <= near[last] | {last}:
                return False
    return True


def _maximum_cardinality_order(near: list[set[int]]) -> list[int]:
    """Visit next, always, a node with the most visited neighbours."""
    visited_near = [0] * len(near)
    queue = [(0, x) for x in range(len(near))]
    heapify(queue)
    order: list[int] = []
    done: set[int] = set()
    while queue:
        _, x = heappop(queue)
        if x in done:  # an entry from before its count rose
            continue
        done.add(x)
        order.append(x)
        for y in near[x] - done:
            visited_near[y] += 1
            heappush(queue, (-visited_near[y], y))
    return order
