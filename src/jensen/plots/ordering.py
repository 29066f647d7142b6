"""The order of items in each layer, with few crossings: the second step of a layered drawing."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.plots.layers import Layered
from jensen.support.fields import add_at

Layers = list[list[int]]

WORK = 100_000
"""How many items and pieces all sweeps may visit; a count, so that the result never varies."""

MOST_STARTS = 16
MOST_SWEEPS = 12  # from one start
PATIENCE = 6  # sweeps without progress after which a start is given up


def order_layers(graph: Layered) -> Layers:
    """The best order that sweeps from several starts find, improved by moving single items.

    References
    ----------
    Sugiyama, Tagawa and Toda (1981), *Methods for visual understanding of hierarchical system
    structures*; Matuszewski, Schönfeld and Molitor (1999), *Using sifting for k-layer
    straightline crossing minimization*.
    """
    size = graph.n_items + sum(map(len, graph.below))
    best, fewest = graph.layers, count_crossings(graph, graph.layers)
    n_sweeps = min(max(WORK // size, PATIENCE), MOST_STARTS * MOST_SWEEPS)
    for done, start in zip(range(0, n_sweeps, MOST_SWEEPS), _starts(graph), strict=False):
        if fewest == 0:
            break
        layers = improve(graph, start, min(n_sweeps - done, MOST_SWEEPS))
        crossings = count_crossings(graph, layers)
        if crossings < fewest:
            best, fewest = layers, crossings
    return sift(graph, best)


def improve(graph: Layered, start: Layers, n_sweeps: int) -> Layers:
    """Sweep down and up while that removes crossings; the result is never worse than the start."""
    best, fewest, idle = start, count_crossings(graph, start), 0
    layers = [list(layer) for layer in start]
    for k in range(n_sweeps):
        if fewest == 0 or idle == PATIENCE:
            break
        sweep(graph, layers, downwards=k % 2 == 0, flip=k % 4 >= 2)
        transpose(graph, layers)
        crossings = count_crossings(graph, layers)
        idle += 1
        if crossings < fewest:
            best, fewest, idle = [list(layer) for layer in layers], crossings, 0
    return best


def sweep(graph: Layered, layers: Layers, *, downwards: bool, flip: bool) -> None:
    """Sort each layer by the mean place of its neighbours one layer before; `flip` turns ties."""
    near = graph.above if downwards else graph.below
    place = positions(layers, graph.n_items)
    for layer in layers[1:] if downwards else layers[-2::-1]:
        movable = [v for v in (reversed(layer) if flip else layer) if near[v]]
        mean = {v: sum(place[w] for w in near[v]) / len(near[v]) for v in movable}
        sorted_items = iter(sorted(movable, key=mean.__getitem__))
        layer[:] = [next(sorted_items) if near[v] else v for v in layer]
        for k, v in enumerate(layer):
            place[v] = k


def _starts(graph: Layered) -> Iterator[Layers]:
    """Depth-first orders from above and from below, then shuffled layers with a fixed seed."""
    top_down = range(len(graph.layers))
    yield _walk(graph, graph.below, top_down)
    yield _walk(graph, graph.above, top_down[::-1])
    rng = np.random.default_rng(0)
    while True:
        yield [[layer[k] for k in rng.permutation(len(layer))] for layer in graph.layers]


def _walk(graph: Layered, onward: Sequence[Sequence[int]], order: range) -> Layers:
    """Items in the order in which a depth-first search visits them."""
    layer_of = {v: k for k, layer in enumerate(graph.layers) for v in layer}
    seen: set[int] = set()
    layers: Layers = [[] for _ in graph.layers]
    for start in (v for k in order for v in graph.layers[k]):
        stack = [start]
        while stack:
            v = stack.pop()
            if v not in seen:
                seen.add(v)
                layers[layer_of[v]].append(v)
                stack.extend(reversed(onward[v]))
    return layers


# --- counting crossings ---


def positions(layers: Sequence[Sequence[int]], n_items: int) -> list[int]:
    """The place of every item in its layer."""
    place = [0] * n_items
    for layer in layers:
        for k, item in enumerate(layer):
            place[item] = k
    return place


def count_crossings(graph: Layered, layers: Sequence[Sequence[int]]) -> int:
    """How many pairs of pieces cross when the layers are ordered like this."""
    place = positions(layers, graph.n_items)
    return sum(_between(layer, graph.below, place) for layer in layers)


def _between(layer: Sequence[int], below: Sequence[Sequence[int]], place: Sequence[int]) -> int:
    """Crossings between a layer and the next: pairs of lower ends in the wrong order."""
    seen: list[int] = []
    crossings = 0
    for item in layer:
        ends = sorted(place[other] for other in below[item])
        crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
        for end in ends:
            insort(seen, end)
    return crossings


def pair_crossings(left: Sequence[int], right: Sequence[int]) -> int:
    """Crossings of the pieces of two neighbours in a layer, by the sorted places of their ends.

    >>> pair_crossings([0, 2], [1]), pair_crossings([1], [0, 2])
    (1, 1)
    """
    return sum(bisect_left(right, end) for end in left)


# --- moves of single items within their layer ---

Ends = tuple[list[int], list[int]]  # sorted places of the neighbours above and below

PASSES = 2
SIFTED = 20_000
"""How many items all rounds may sift; a count, so that the result never varies."""

MOST_ROUNDS = 10


def transpose(graph: Layered, layers: Layers) -> None:
    """Exchange neighbours in a layer where that removes crossings."""
    place = positions(layers, graph.n_items)
    for _ in range(PASSES):
        for layer in layers:
            _transpose_layer(graph, layer, place)


def _transpose_layer(graph: Layered, layer: list[int], place: list[int]) -> None:
    ends = [_ends(graph, v, place) for v in layer]
    for k in range(len(layer) - 1):
        now = _crossings(ends[k], ends[k + 1])
        if now and now > _crossings(ends[k + 1], ends[k]):
            layer[k], layer[k + 1] = layer[k + 1], layer[k]
            ends[k], ends[k + 1] = ends[k + 1], ends[k]
    for k, v in enumerate(layer):
        place[v] = k


def sift(graph: Layered, layers: Layers) -> Layers:
    """Move every item to the best place in its layer until no move removes a crossing."""
    layers = [list(layer) for layer in layers]
    place = positions(layers, graph.n_items)
    for _ in range(min(SIFTED // graph.n_items, MOST_ROUNDS)):
        moved = [_sift_layer(graph, layer, place) for layer in layers]
        if not any(moved):
            break
    return layers


def _sift_layer(graph: Layered, layer: list[int], place: list[int]) -> bool:
    """Sift the items of one layer, those with many edges first."""
    gain = preference(graph, layer, place)
    order, moved = np.arange(len(layer)), False
    degree = [len(graph.above[v]) + len(graph.below[v]) for v in layer]
    for k in sorted(range(len(layer)), key=lambda k: -degree[k]):
        here = int(np.flatnonzero(order == k)[0])
        rest = np.delete(order, here)
        # crossings with k at each place, less those with k at the left end
        costs = np.concatenate([[0], np.cumsum(gain[rest, k])])
        if costs.min() < costs[here]:
            order = np.insert(rest, int(costs.argmin()), k)
            moved = True
    layer[:] = [layer[k] for k in order]
    for k, v in enumerate(layer):
        place[v] = k
    return moved


def preference(graph: Layered, layer: list[int], place: list[int]) -> NDArray[np.int64]:
    """[j, k]: how many more crossings there are with item j left of item k than right of it."""
    total = np.zeros((len(layer), len(layer)), np.int64)
    for near in (graph.above, graph.below):
        owner = np.array([k for k, v in enumerate(layer) for _ in near[v]], np.int64)
        end = np.array([place[w] for v in layer for w in near[v]], np.int64)
        order = np.sign(end[:, None] - end)  # of all pairs of ends
        rows = np.zeros((len(layer), len(end)), np.int64)
        add_at(rows, owner, order)
        add_at(total.T, owner, rows.T)
    return total


def _ends(graph: Layered, v: int, place: list[int]) -> Ends:
    return sorted(place[w] for w in graph.above[v]), sorted(place[w] for w in graph.below[v])


def _crossings(left: Ends, right: Ends) -> int:
    return pair_crossings(left[0], right[0]) + pair_crossings(left[1], right[1])
