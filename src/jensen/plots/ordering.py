"""The order of the items in each layer, with few crossings."""

from collections.abc import Iterator, Sequence

import numpy as np

from jensen.plots.crossings import count_crossings, positions
from jensen.plots.layered import Layered
from jensen.plots.local_moves import sift, transpose

Layers = list[list[int]]

WORK = 100_000
"""Items and pieces that all sweeps together may visit; counted, so always the same."""

MOST_STARTS = 16
MOST_SWEEPS = 12  # from one start
PATIENCE = 6  # sweeps without progress after which a start is given up


def order_layers(graph: Layered) -> Layers:
    """The best order that sweeps from several starts find; then single items are moved.

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
    """Sweep down and up while that helps; never worse than the start."""
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
    """Sort each layer by the mean place of its neighbours in the layer before; `flip` ties."""
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
    """Walks from above and from below, then shuffled layers: always the same ones."""
    top_down = range(len(graph.layers))
    yield _walk(graph, graph.below, top_down)
    yield _walk(graph, graph.above, top_down[::-1])
    rng = np.random.default_rng(0)
    while True:
        yield [[layer[k] for k in rng.permutation(len(layer))] for layer in graph.layers]


def _walk(graph: Layered, onward: Sequence[Sequence[int]], order: range) -> Layers:
    """Items in the order in which a walk along the edges meets them."""
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
