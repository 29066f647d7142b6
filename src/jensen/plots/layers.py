"""Layers of a drawing: which way edges run, and which layer each node stands in.

The first step of a layered drawing. Every edge is made to run downwards, nodes are put into layers,
and edges that pass a layer get a bend there, so that every piece joins neighbouring layers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

import numpy as np

from jensen.graphs.indexed_graph import Links, inverse, reach


def assign_layers(n: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of every node: all edges run downwards, and their total length is minimal.

    minimise Σ (layer[j] - layer[i])  where  layer[j] - layer[i] ≥ 1  for every edge i → j

    The corners of this linear program are whole numbers, and the simplex method stops at one.

    References
    ----------
    Gansner, Koutsofios, North and Vo (1993), *A technique for drawing directed graphs*, section 2.

    Examples
    --------
    >>> assign_layers(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    """
    if not pairs:
        return [0] * n
    from scipy.optimize import linprog  # slow to import, so only when something is drawn
    from scipy.sparse import csr_array

    upper, lower = np.array(pairs).T
    m = len(pairs)
    signs = np.concatenate([np.ones(m), -np.ones(m)])
    cells = (np.tile(np.arange(m), 2), np.concatenate([upper, lower]))
    shorten = csr_array((signs, cells), shape=(m, n))
    cost = np.bincount(lower, minlength=n) - np.bincount(upper, minlength=n)
    found = linprog(cost, A_ub=shorten, b_ub=-np.ones(m), method="highs-ds")
    layer = np.rint(found.x).astype(int)
    return [int(k) for k in layer - layer.min()]


def fold(
    layer: Sequence[int], pairs: Sequence[tuple[int, int]], widths: Sequence[float], limit: float
) -> list[int]:
    """Break layers that are wider than the limit into several; edges still run downwards.

    Nodes with more children than parents go to the lower ones, so that few edges pass a layer;
    nodes that are equal in this are distributed evenly.

    >>> fold([0, 1, 1, 1, 1], [(0, 1), (0, 2), (0, 3), (0, 4)], [10.0] * 5, limit=20.0)
    [0, 1, 2, 1, 2]
    """
    pull = [0] * len(layer)
    for upper, lower in pairs:
        pull[upper] += 1
        pull[lower] -= 1
    members: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for v in sorted(range(len(layer)), key=lambda v: (pull[v], v)):
        members[layer[v]].append(v)
    folded, base = [0] * len(layer), 0
    for nodes in members:
        rows = _rows([widths[v] for v in nodes], limit)
        for _, alike in groupby(range(len(nodes)), key=lambda k: pull[nodes[k]]):
            places = list(alike)
            for k, row in zip(places, _in_turn([rows[k] for k in places]), strict=True):
                folded[nodes[k]] = base + row
        base += rows[-1] + 1
    return folded


def _rows(widths: Sequence[float], limit: float) -> list[int]:
    """The row of each box; rows are of about the same width, and none is wider than the limit."""
    total = sum(widths)
    n_rows = max(math.ceil(total / limit), 1)
    middles = [end - width / 2 for end, width in zip(accumulate(widths), widths, strict=True)]
    return [int(n_rows * middle / total) for middle in middles]


def _in_turn(rows: Sequence[int]) -> list[int]:
    """The same rows, interleaved: 0 0 1 1 becomes 0 1 0 1."""
    seen: Counter[int] = Counter()
    turns = []
    for row in rows:
        turns.append((seen[row], row))
        seen[row] += 1
    return [row for _, row in sorted(turns)]


# --- long edges cut into pieces ---


class Layered(NamedTuple):
    """A graph whose long edges are cut into pieces, each of which joins neighbouring layers.

    Items are the nodes 0..n_nodes-1, then the bends.
    """

    n_nodes: int
    layers: list[list[int]]
    above: list[list[int]]  # for each item its neighbours one layer up
    below: list[list[int]]  # and one layer down
    chains: list[list[int]]  # for each edge its items from top to bottom

    @property
    def n_items(self) -> int:
        """How many nodes and bends there are."""
        return len(self.above)


def cut(layer: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Layered:
    """Cut every long edge: put a bend into each layer that it passes.

    >>> cut([0, 1, 2], [(0, 1), (1, 2), (0, 2)]).chains
    [[0, 1], [1, 2], [0, 3, 2]]
    """
    layers: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for v, k in enumerate(layer):
        layers[k].append(v)
    n_items, chains = len(layer), []
    for upper, lower in pairs:
        chain = [upper]
        for k in range(layer[upper] + 1, layer[lower]):
            layers[k].append(n_items)
            chain.append(n_items)
            n_items += 1
        chains.append([*chain, lower])
    above: list[list[int]] = [[] for _ in range(n_items)]
    below: list[list[int]] = [[] for _ in range(n_items)]
    for chain in chains:
        for one, other in pairwise(chain):
            below[one].append(other)
            above[other].append(one)
    return Layered(len(layer), layers, above, below, chains)


# --- directions on the page ---

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
    """The position of every node in an order: parents first, then neighbours of earlier nodes."""
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
    """The nodes whose parents all have a position; else those of a cycle without incoming edges."""
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
    """For each node its neighbours, ascending."""
    near: list[list[int]] = [[] for _ in range(n)]
    for i, j in pairs:
        near[i].append(j)
        near[j].append(i)
    return [sorted(others) for others in near]


def distances(near: Sequence[Sequence[int]], start: int) -> list[int]:
    """Length of the shortest path from `start` to each node; -1 where there is none."""
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
    """The middle of a longest shortest path, found by two breadth-first searches."""
    one = _farthest(distances(near, 0))
    there = distances(near, one)
    other = _farthest(there)
    back = distances(near, other)
    length = there[other]
    on_path = [v for v in range(len(near)) if there[v] >= 0 and there[v] + back[v] == length]
    return min(on_path, key=lambda v: (abs(there[v] - length // 2), v))


def _farthest(far: list[int]) -> int:
    return far.index(max(far))
