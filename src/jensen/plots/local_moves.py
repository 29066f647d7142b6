"""Moves of single items within their layer that remove crossings."""

import numpy as np
from numpy.typing import NDArray

from jensen.plots.crossings import pair_crossings, positions
from jensen.plots.layered import Layered

Layers = list[list[int]]
Ends = tuple[list[int], list[int]]  # sorted places of the neighbours above and below

PASSES = 2
SIFTED = 20_000
"""Items that may be sifted in all rounds together; counted, so always the same."""

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
    """Move every item to the best place in its layer, while that helps; never worse."""
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
        np.add.at(rows, owner, order)
        np.add.at(total.T, owner, rows.T)
    return total


def _ends(graph: Layered, v: int, place: list[int]) -> Ends:
    return sorted(place[w] for w in graph.above[v]), sorted(place[w] for w in graph.below[v])


def _crossings(left: Ends, right: Ends) -> int:
    return pair_crossings(left[0], right[0]) + pair_crossings(left[1], right[1])
