"""Topological orders, cycles and reachability in directed graphs given by index."""

from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush

Links = Sequence[Collection[int]]  # for each node the nodes it leads to


def inverse(links: Links) -> list[list[int]]:
    """Turn parents into children and back; the lists are sorted."""
    back: list[list[int]] = [[] for _ in links]
    for x, others in enumerate(links):
        for y in others:
            back[y].append(x)
    return back


def topological_order(parents: Links) -> list[int]:
    """Order parents before children, the smallest index first; a cycle's nodes are left out."""
    children = inverse(parents)
    waiting = [len(ps) for ps in parents]
    ready = [x for x, count in enumerate(waiting) if not count]
    heapify(ready)
    order = []
    while ready:
        x = heappop(ready)
        order.append(x)
        for y in children[x]:
            waiting[y] -= 1
            if not waiting[y]:
                heappush(ready, y)
    return order


def find_cycle(parents: Links) -> list[int]:
    """Find one directed cycle, from its smallest node to itself again; empty if there is none."""
    stuck = set(range(len(parents))).difference(topological_order(parents))
    if not stuck:
        return []
    # every node left has a parent that is left, so the way up must come to a node twice
    path, place = [min(stuck)], {min(stuck): 0}
    while True:
        x = min(stuck.intersection(parents[path[-1]]))
        if x in place:
            cycle = path[place[x] :][::-1]
            first = cycle.index(min(cycle))
            return [*cycle[first:], *cycle[: first + 1]]
        place[x] = len(path)
        path.append(x)


def reach(links: Links, starts: Iterable[int], blocked: Collection[int] = ()) -> set[int]:
    """Collect all nodes that can be reached, the starts included, without a blocked one."""
    seen = set(starts).difference(blocked)
    todo = list(seen)
    while todo:
        for y in links[todo.pop()]:
            if y not in seen and y not in blocked:
                seen.add(y)
                todo.append(y)
    return seen
