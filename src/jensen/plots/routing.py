"""How edges run: straight through the layers, and in an S from one layer to the next."""

from collections.abc import Sequence

from jensen.plots.geometry import Box, Point, Size
from jensen.plots.layered import Layered
from jensen.plots.ports import Side

GAP = 42.0  # between two layers
STEEPER = 0.09  # more of it where edges reach far aside
MOST_GAP = 120.0
HEAD = 8.0  # length of an arrowhead, and of the straight piece under it
NEARLY = 7.0  # an edge that is as close to straight as this is made straight
SAME = 0.05  # less than anybody can see

Bands = Sequence[tuple[float, float]]  # top and bottom of each layer


def stack_layers(graph: Layered, x: Sequence[float], sizes: Sequence[Size]) -> Bands:
    """Top and bottom of every layer: as high as its highest box, gaps by the reach of edges."""
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
    """For each box the side at which chains begin."""
    aims: list[list[tuple[float, float, int]]] = [[] for _ in boxes]
    for edge, chain in enumerate(chains):
        share = 0.5 if len(chain) == 2 else 1.0  # two boxes meet half-way, a bend stays
        aims[chain[0]].append((x[chain[1]], share, edge))
    return [Side(box, ends) for box, ends in zip(boxes, aims, strict=True)]


def _straighten(
    edge: int, chain: Sequence[int], x: Sequence[float], lower: Side, upper: Side
) -> None:
    """Slide the ends of an edge to where its first and last pieces are straight, if near."""
    leave, enter = lower.place(edge), upper.place(edge)
    first = enter if len(chain) == 2 else x[chain[1]]
    last = leave if len(chain) == 2 else x[chain[-2]]
    moved = abs(leave - first) <= NEARLY and lower.slide(edge, first)
    if abs(enter - last) <= NEARLY and not (moved and len(chain) == 2):
        upper.slide(edge, last)


def _without_repeats(points: Sequence[Point]) -> tuple[Point, ...]:
    """Drop points in the middle of straight pieces, and points that stand twice."""
    kept: list[Point] = []
    for x, y in points:
        if kept and abs(kept[-1][0] - x) < SAME:
            x = kept[-1][0]
            if abs(kept[-1][1] - y) < SAME or (len(kept) > 1 and kept[-2][0] == x):
                kept.pop()
        kept.append((x, y))
    return tuple(kept)
