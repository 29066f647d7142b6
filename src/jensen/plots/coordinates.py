"""Coordinates: where items stand from left to right, and the points that each edge runs through.

The last step of a layered drawing. First every item gets an x, so that edges are short and long
ones straight; then edges get their places (ports) on the borders of boxes, and their bends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import numpy as np

from jensen.plots.geometry import Box, Point, Size
from jensen.plots.layers import Layered

Space = Callable[[int, int], float]  # from the middle of an item to that of its right neighbour

STRAIGHTNESS = (1.0, 2.0, 8.0)
"""Cost of a sideways step for a piece with no bend at its ends, with one, and with two."""

ROUNDS = 4
MOST_EXACT = 25_000
"""Up to so many items the exact optimum is found (in seconds); beyond, layers are centred."""


def place_items(graph: Layered, space: Space) -> list[float]:
    """X of the middle of every item; neighbours in a layer are at least `space` apart."""
    start = _shortest if graph.n_items <= MOST_EXACT else _packed
    return _centre(graph, space, start(graph, space))


def _shortest(graph: Layered, space: Space) -> list[float]:
    """The x that minimise the total sideways reach of the edges.

    minimise Σ weight · |x[v] - x[w]| over pieces  where  x[b] - x[a] ≥ space(a, b) for neighbours

    The dual is a flow of at most `weight` through each piece; its dual prices are the x.

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
    """Pack every layer as tightly as possible, around a common middle."""
    x = [0.0] * graph.n_items
    for layer in graph.layers:
        offsets = [0.0, *accumulate(space(a, b) for a, b in pairwise(layer))]
        for v, offset in zip(layer, offsets, strict=True):
            x[v] = offset - offsets[-1] / 2
    return x


def _weight(graph: Layered, v: int, w: int) -> float:
    return STRAIGHTNESS[(v >= graph.n_nodes) + (w >= graph.n_nodes)]


def _centre(graph: Layered, space: Space, x: Sequence[float]) -> list[float]:
    """Move each node to the middle of the x that are equally short, as far as there is room."""
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
    """The interval of weighted medians of the neighbours' x."""
    near = sorted((x[w], _weight(graph, v, w)) for w in (*graph.above[v], *graph.below[v]))
    half, total = sum(weight for _, weight in near) / 2, 0.0
    for k, (place, weight) in enumerate(near):
        total += weight
        if total > half:
            return place, place
        if total == half:
            return place, near[k + 1][0]
    raise AssertionError("every item of a connected graph has a neighbour")


# --- ports: where edges touch the border of a box ---

MARGIN = 9.0  # from a port to the corner
SPACE = 10.0  # between two ports, where the box is wide enough
CLOSE = 8.0  # as close as two ports may be moved to make an edge straight
MOST_APART = 12  # arrowheads for which a box is made wider
STRAIGHT = 0.7  # share of half a box up to which an edge goes straight up or down
ASIDE = 0.35  # share of half a box to which edges that go farther aside are moved


def side_width(n_heads: int) -> float:
    """The width of a box that has room for so many arrowheads; of very many, some overlap."""
    return 2 * MARGIN + CLOSE * (min(n_heads, MOST_APART) - 1)


class Side:
    """The upper or lower side of a box: its edges from left to right, and where each touches it.

    Parameters
    ----------
    box
        The box.
    aims : sequence of (x, share, edge)
        The x that each edge goes to, and the share of the way there that its end may move.
    """

    def __init__(self, box: Box, aims: Sequence[tuple[float, float, int]]) -> None:
        in_order = sorted(aims)
        self.box = box
        self.edges = [edge for _, _, edge in in_order]
        wanted = [_wanted(share * (x - box.x), box.width / 2) for x, share, _ in in_order]
        weights = [4.0 if abs(x - box.x) < 1.0 else 1.0 for x, _, _ in in_order]
        self.places = [box.x + offset for offset in spread(wanted, weights, box.width)]

    def place(self, edge: int) -> float:
        """The x at which an edge touches this side."""
        return self.places[self.edges.index(edge)]

    def slide(self, edge: int, to: float) -> bool:
        """Move an edge along the side, if that leaves room for the others."""
        k = self.edges.index(edge)
        low = self.places[k - 1] + CLOSE if k > 0 else self.box.left + MARGIN
        high = self.places[k + 1] - CLOSE if k + 1 < len(self.edges) else self.box.right - MARGIN
        if not low <= to <= high:
            return False
        self.places[k] = to
        return True


def _wanted(aside: float, half: float) -> float:
    """The offset from the middle at which an edge that goes so far aside should touch a box."""
    if abs(aside) <= STRAIGHT * half:
        return aside
    return ASIDE * half if aside > 0 else -ASIDE * half


def spread(wanted: Sequence[float], weights: Sequence[float], width: float) -> list[float]:
    """Offsets from the middle of a box side: close to the wanted ones, and in their order.

    Least squares under a minimal distance: pool adjacent violators, then clip.

    >>> spread([0.0, 0.0], [1.0, 1.0], width=50.0)
    [-5.0, 5.0]
    """
    n, half = len(wanted), max(width / 2 - MARGIN, 0.0)
    space = min(SPACE, 2 * half / (n - 1)) if n > 1 else 0.0
    pooled = pool([x - k * space for k, x in enumerate(wanted)], weights)
    low, high = -half, half - (n - 1) * space
    return [max(min(x, high), low) + k * space for k, x in enumerate(pooled)]


def pool(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Isotonic regression: the non-decreasing sequence that is closest to the values.

    >>> pool([1.0, 3.0, 1.0], [1.0, 1.0, 1.0])
    [1.0, 2.0, 2.0]
    """
    groups: list[tuple[float, float, int]] = []  # mean, weight, size
    for value, weight in zip(values, weights, strict=True):
        group = (value, weight, 1)
        while groups and groups[-1][0] > group[0]:
            mean, total, size = groups.pop()
            both = total + group[1]
            group = ((mean * total + group[0] * group[1]) / both, both, size + group[2])
        groups.append(group)
    return [mean for mean, _, size in groups for _ in range(size)]


# --- routes: straight through the layers, and in an S from one layer to the next ---

GAP = 42.0  # between two layers
STEEPER = 0.09  # more of it where edges reach far aside
MOST_GAP = 120.0
HEAD = 8.0  # length of an arrowhead, and of the straight piece under it
NEARLY = 7.0  # an edge that is as close to straight as this is made straight
SAME = 0.05  # a difference that nobody can see

Bands = Sequence[tuple[float, float]]  # top and bottom of each layer


def stack_layers(graph: Layered, x: Sequence[float], sizes: Sequence[Size]) -> Bands:
    """Top and bottom of every layer; gaps are wider where edges reach far aside."""
    bands, y = [], 0.0
    for layer in graph.layers:
        height = max(sizes[v][1] for v in layer if v < graph.n_nodes)
        bands.append((y, y + height))
        reach = max((abs(x[v] - x[w]) for v in layer for w in graph.below[v]), default=0.0)
        y += height + min(GAP + STEEPER * reach, MOST_GAP)
    return bands


def route(
    graph: Layered,
    x: Sequence[float],
    boxes: Sequence[Box],
    bands: Bands,
    heads: tuple[bool, bool] = (False, True),
) -> list[tuple[Point, ...]]:
    """The points of every edge, from the lower side of its upper box downwards.

    All pieces between two layers have the same height and the same shape, so two of them cross
    once if the order of their ends differs, and else not at all. `heads` tells whether some edges
    have an arrowhead at their upper and at their lower end: then all leave room for it.
    """
    below, above = HEAD * heads[0], HEAD * heads[1]
    band_of = {
        v: (top - above, bottom + below)
        for layer, (top, bottom) in zip(graph.layers, bands, strict=True)
        for v in layer
    }
    lower = _sides(graph.chains, x, boxes)
    upper = _sides([chain[::-1] for chain in graph.chains], x, boxes)
    for edge, chain in enumerate(graph.chains):
        _straighten(edge, chain, x, lower[chain[0]], upper[chain[-1]])
    routes = []
    for edge, chain in enumerate(graph.chains):
        top, bottom = chain[0], chain[-1]
        leave, enter = lower[top].place(edge), upper[bottom].place(edge)
        points = [(leave, boxes[top].bottom), (leave, band_of[top][1])]
        for bend in chain[1:-1]:
            points += [(x[bend], y) for y in band_of[bend]]
        points += [(enter, band_of[bottom][0]), (enter, boxes[bottom].top)]
        routes.append(_without_repeats(points))
    return routes


def _sides(chains: Sequence[Sequence[int]], x: Sequence[float], boxes: Sequence[Box]) -> list[Side]:
    """For each box the side at which its chains begin."""
    aims: list[list[tuple[float, float, int]]] = [[] for _ in boxes]
    for edge, chain in enumerate(chains):
        share = 0.5 if len(chain) == 2 else 1.0  # two boxes meet half-way, a bend stays
        aims[chain[0]].append((x[chain[1]], share, edge))
    return [Side(box, ends) for box, ends in zip(boxes, aims, strict=True)]


def _straighten(
    edge: int, chain: Sequence[int], x: Sequence[float], lower: Side, upper: Side
) -> None:
    """Slide the ends of an edge so that its first and last pieces are straight, if that is near."""
    leave, enter = lower.place(edge), upper.place(edge)
    first = enter if len(chain) == 2 else x[chain[1]]
    last = leave if len(chain) == 2 else x[chain[-2]]
    moved = abs(leave - first) <= NEARLY and lower.slide(edge, first)
    if abs(enter - last) <= NEARLY and not (moved and len(chain) == 2):
        upper.slide(edge, last)


def _without_repeats(points: Sequence[Point]) -> tuple[Point, ...]:
    """Drop repeated points, and points in the middle of straight pieces."""
    kept: list[Point] = []
    for x, y in points:
        if kept and abs(kept[-1][0] - x) < SAME:
            x = kept[-1][0]
            if abs(kept[-1][1] - y) < SAME or (len(kept) > 1 and kept[-2][0] == x):
                kept.pop()
        kept.append((x, y))
    return tuple(kept)
