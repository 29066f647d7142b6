"""Which way each edge runs on the page: down, whatever its arrowheads say."""

from collections.abc import Collection, Iterable, Sequence

from jensen.graphs.order import Links, inverse, reach

Pair = tuple[int, int]


def point_down(n: int, directed: Sequence[Pair], free: Sequence[Pair]) -> list[Pair]:
    """Turn every edge so that all run from an earlier to a later node of one order.

    Directed edges keep their direction unless they close a cycle; free ones (undirected, or
    oriented both ways) take the direction of the order.

    >>> point_down(3, [(0, 1), (1, 2), (2, 0)], [])
    [(0, 1), (1, 2), (0, 2)]
    >>> point_down(3, [], [(0, 1), (1, 2)])
    [(1, 0), (1, 2)]
    """
    place = _places(n, directed, free)
    return [(i, j) if place[i] < place[j] else (j, i) for i, j in (*directed, *free)]


def _places(n: int, directed: Sequence[Pair], free: Sequence[Pair]) -> list[int]:
    """The place of every node in an order: parents first, then near what is placed already."""
    near = neighbours(n, (*directed, *free))
    children: list[list[int]] = [[] for _ in range(n)]
    for parent, child in directed:
        children[parent].append(child)
    parents = inverse(children)
    waiting = [len(above) for above in parents]  # parents that are not placed yet
    rank = [0] * n if directed else distances(near, centre(near))
    place: dict[int, int] = {}
    queue: list[int] = []
    while len(place) < n:
        queue = [v for v in queue if v not in place and waiting[v] == 0]
        choice = queue[:1] or _starts(parents, children, place, waiting)
        v = min(choice, key=lambda v: (waiting[v], rank[v], -len(children[v]), v))
        place[v] = len(place)
        for child in children[v]:
            waiting[child] -= 1
        queue.extend(near[v])
    return [place[v] for v in range(n)]


def _starts(
    parents: Links, children: Links, placed: Collection[int], waiting: Sequence[int]
) -> Collection[int]:
    """The nodes whose parents are all placed; else those of a cycle that nothing leads into."""
    left = [v for v in range(len(parents)) if v not in placed]
    ready = [v for v in left if waiting[v] == 0]
    if ready:
        return ready
    seen: set[int] = set()
    last = left[0]
    for v in left:  # the last one that the others do not reach is reached only by its own cycle
        if v not in seen:
            seen |= reach(children, [v], placed)
            last = v
    return reach(parents, [last], placed)


def neighbours(n: int, pairs: Iterable[Pair]) -> list[list[int]]:
    """For each node those that an edge joins it to, ascending."""
    near: list[list[int]] = [[] for _ in range(n)]
    for i, j in pairs:
        near[i].append(j)
        near[j].append(i)
    return [sorted(others) for others in near]


def distances(near: Sequence[Sequence[int]], start: int) -> list[int]:
    """How many edges lead from `start` to each node; -1 where none do."""
    far = [-1] * len(near)
    far[start], frontier = 0, [start]
    while frontier:
        reached = []
        for v in frontier:
            for w in near[v]:
                if far[w] < 0:
                    far[w] = far[v] + 1
                    reached.append(w)
        frontier = reached
    return far


def centre(near: Sequence[Sequence[int]]) -> int:
    """The middle of a longest shortest path, as two walks find it."""
    one = _farthest(distances(near, 0))
    there = distances(near, one)
    other = _farthest(there)
    back = distances(near, other)
    length = there[other]
    on_path = [v for v in range(len(near)) if there[v] >= 0 and there[v] + back[v] == length]
    return min(on_path, key=lambda v: (abs(there[v] - length // 2), v))


def _farthest(far: list[int]) -> int:
    return far.index(max(far))
