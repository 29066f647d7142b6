"""How edges run: straight through the layers, and in an S from one layer to the next."""

from collections.abc import Sequence

from jensen.plots.geometry import Box, Point, Size
from jensen.plots.layered import Layered
from jensen.plots.ports import spread

GAP = 38.0  # between two layers
STEEPER = 0.09  # more of it where edges reach far to the side
MOST_GAP = 120.0
STRAIGHT = 0.7  # share of a box under which an edge goes straight up or down
ASIDE = 0.35  # share of it to which edges that go far to the side move


def stack_layers(
    graph: Layered, x: Sequence[float], sizes: Sequence[Size]
) -> list[tuple[float, float]]:
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
    bands: Sequence[tuple[float, float]],
) -> list[tuple[Point, ...]]:
    """The points of every edge, from the lower side of its upper box downwards."""
    layer_of = {v: k for k, layer in enumerate(graph.layers) for v in layer}
    leave = _touch(graph, x, boxes, upper_end=True)
    enter = _touch(graph, x, boxes, upper_end=False)
    routes = []
    for edge, chain in enumerate(graph.chains):
        top, bottom = chain[0], chain[-1]
        points = [(leave[edge], boxes[top].bottom), (leave[edge], bands[layer_of[top]][1])]
        for bend in chain[1:-1]:
            points += [(x[bend], y) for y in bands[layer_of[bend]]]
        points += [(enter[edge], bands[layer_of[bottom]][0]), (enter[edge], boxes[bottom].top)]
        routes.append(_without_repeats(points))
    return routes


def _touch(
    graph: Layered, x: Sequence[float], boxes: Sequence[Box], *, upper_end: bool
) -> list[float]:
    """For every edge where it touches the box at one of its ends, from left to right."""
    at: list[list[tuple[float, int]]] = [[] for _ in boxes]
    meet = [1.0] * len(graph.chains)  # two boxes meet half-way, a bend stays
    for edge, chain in enumerate(graph.chains):
        one, other = (chain[0], chain[1]) if upper_end else (chain[-1], chain[-2])
        at[one].append((x[other], edge))
        meet[edge] = 0.5 if len(chain) == 2 else 1.0
    found = [0.0] * len(graph.chains)
    for box, ends in zip(boxes, at, strict=True):
        ends.sort()
        wanted = [_wanted(meet[edge] * (aim - box.x), box.width / 2) for aim, edge in ends]
        weights = [4.0 if abs(aim - box.x) < 1.0 else 1.0 for aim, _ in ends]
        for (_, edge), offset in zip(ends, spread(wanted, weights, box.width), strict=True):
            found[edge] = box.x + offset
    return found


def _wanted(aside: float, half: float) -> float:
    """How far from the middle an edge wants to touch a box when it aims so far aside."""
    if abs(aside) <= STRAIGHT * half:
        return aside
    return ASIDE * half if aside > 0 else -ASIDE * half


def _without_repeats(points: Sequence[Point]) -> tuple[Point, ...]:
    """Drop points in the middle of straight pieces, and points that stand twice."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.05:
            point = (kept[-1][0], point[1])
            if len(kept) > 1 and kept[-2][0] == point[0] or kept[-1][1] == point[1]:
                kept.pop()
        kept.append(point)
    return tuple(kept)
