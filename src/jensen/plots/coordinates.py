"""Where each item stands from left to right: edges short and long edges straight."""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import numpy as np

from jensen.plots.layered import Layered

Space = Callable[[int, int], float]  # from the middle of an item to that of its right neighbour

STRAIGHTNESS = (1.0, 2.0, 8.0)
"""What a step aside costs in a piece with no bend at its ends, with one, and with two."""

ROUNDS = 4
MOST_EXACT = 25_000
"""Items up to which the exact places are found (some seconds); beyond, layers are centred."""


def place_items(graph: Layered, space: Space) -> list[float]:
    """The middle of every item, in the order of the layers and at least `space` apart."""
    start = _shortest if graph.n_items <= MOST_EXACT else _packed
    return _centre(graph, space, start(graph, space))


def _shortest(graph: Layered, space: Space) -> list[float]:
    """The places of least total reach.

    minimise Σ weight · |x[v] - x[w]| over pieces  where  x[b] - x[a] ≥ space(a, b) for neighbours

    The dual is a flow of at most `weight` through each piece; its prices are the places.

    References
    ----------
    Gansner, Koutsofios, North and Vo (1993), *A technique for drawing directed graphs*, section 4.
    """
    from scipy.optimize import linprog  # slow to import, so only when something is drawn
    from scipy.sparse import csr_array

    sides = [pair for layer in graph.layers for pair in pairwise(layer)]
    pieces = [(v, w) for v, others in enumerate(graph.below) for w in others]
    n_sides, n_flows = len(sides), len(sides) + len(pieces)
    start, end = np.array([*sides, *pieces], dtype=int).T
    signs = np.concatenate([-np.ones(n_flows), np.ones(n_flows)])
    cells = np.concatenate([start, end]), np.tile(np.arange(n_flows), 2)
    conserve = csr_array((signs, cells), shape=(graph.n_items, n_flows))
    weight = np.array([_weight(graph, v, w) for v, w in pieces])
    cost = np.concatenate([[-space(a, b) for a, b in sides], np.zeros(len(pieces))])
    low = np.concatenate([np.zeros(n_sides), -weight])
    high = np.concatenate([np.full(n_sides, np.inf), weight])
    flow = linprog(
        cost,
        A_eq=conserve,
        b_eq=np.zeros(graph.n_items),
        bounds=np.column_stack([low, high]),
        method="highs-ds",
    )
    return [-float(price) for price in flow.eqlin.marginals]


def _packed(graph: Layered, space: Space) -> list[float]:
    """Every layer packed as tightly as it can be, around a common middle."""
    x = [0.0] * graph.n_items
    for layer in graph.layers:
        offsets = [0.0, *accumulate(space(a, b) for a, b in pairwise(layer))]
        for v, offset in zip(layer, offsets, strict=True):
            x[v] = offset - offsets[-1] / 2
    return x


def _weight(graph: Layered, v: int, w: int) -> float:
    return STRAIGHTNESS[(v >= graph.n_nodes) + (w >= graph.n_nodes)]


def _centre(graph: Layered, space: Space, x: Sequence[float]) -> list[float]:
    """Move each node to the middle of the places that are equally short, if there is room."""
    x = list(x)
    order = [layer for k in range(ROUNDS) for layer in graph.layers[:: -1 if k % 2 else 1]]
    for layer in order:
        for k, v in enumerate(layer):
            if v >= graph.n_nodes:
                continue  # a bend stays in line
            low, high = _middle_interval(graph, v, x)
            x[v] = (low + high) / 2
            if k > 0:
                x[v] = max(x[v], x[layer[k - 1]] + space(layer[k - 1], v))
            if k + 1 < len(layer):
                x[v] = min(x[v], x[layer[k + 1]] - space(v, layer[k + 1]))
    return x


def _middle_interval(graph: Layered, v: int, x: Sequence[float]) -> tuple[float, float]:
    """The weighted medians of the neighbours."""
    near = sorted((x[w], _weight(graph, v, w)) for w in (*graph.above[v], *graph.below[v]))
    half, total = sum(weight for _, weight in near) / 2, 0.0
    for k, (place, weight) in enumerate(near):
        total += weight
        if total > half:
            return place, place
        if total == half:
            return place, near[k + 1][0]
    raise AssertionError("every item of a connected graph has a neighbour")
