"""Layered layout of a graph: few crossings, straight long edges.

The steps are those of Sugiyama et al.: `layers`, `ordering`, `coordinates`. Connected parts are
laid out one by one and packed side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from jensen.graphs.base import Graph
from jensen.graphs.dag import DAG
from jensen.graphs.indexed_graph import Mark
from jensen.graphs.pdag import PDAG
from jensen.graphs.undirected import UndirectedGraph
from jensen.plots.coordinates import Space, place_items, route, stack_layers
from jensen.plots.geometry import Box, Layout, Point, Route, Size, extent
from jensen.plots.layers import Layered, assign_layers, cut, distances, fold, neighbours, point_down
from jensen.plots.ordering import order_layers

NODE_SPACE = 24.0  # between two boxes of a layer
BEND_SPACE = 14.0  # between two long edges, or a long edge and a box
LAYER_SPACE = 60.0  # between two layers, as a rule
PAGE = 1100.0
ASPECT = 1.5
PART_SPACE = 40.0  # between parts that no edge joins

Edge = tuple[int, Mark, int]


class ConnectedPart(NamedTuple):
    """A connected part of the graph, laid out from (0, 0)."""

    nodes: list[int]
    boxes: list[Box]  # in the order of `nodes`
    routes: list[Route]
    size: Size


def lay_out(graph: Graph, sizes: Sequence[Size]) -> Layout:
    """Place a box of the given size for every node, and a route for every edge.

    Directed edges run downwards, except in directed cycles; the same graph and sizes give the
    same picture.

    Parameters
    ----------
    graph
        Of any kind.
    sizes : sequence of (width, height), in the order of `graph.nodes`

    Examples
    --------
    >>> from jensen.graphs import DAG
    >>> layout = lay_out(DAG("A -> B"), [(40.0, 20.0), (60.0, 20.0)])
    >>> [(box.x, box.y) for box in layout.boxes]
    [(30.0, 10.0), (30.0, 72.0)]
    """
    edges = edges_of(graph)
    components = _components(len(graph), edges)
    joined = [_part(nodes, edges, sizes) for nodes in components if len(nodes) > 1]
    joined.sort(key=lambda part: -part.size[1])
    single = _singles([nodes[0] for nodes in components if len(nodes) == 1], sizes)
    above, width, height = _packed(joined, PART_SPACE, 0.0, 0.0)
    below, width, height = _packed(single, NODE_SPACE, width, height)
    boxes = {v: box for part in (*above, *below) for v, box in zip(part[0], part[1], strict=True)}
    routes = sorted(edge for part in above for edge in part.routes)
    return Layout(tuple(boxes[v] for v in range(len(graph))), tuple(routes), width, height)


def edges_of(graph: Graph) -> list[Edge]:
    """The edges by the indices of their nodes, with their marks."""
    named: list[tuple[Mark, tuple[tuple[str, str], ...]]] = []
    if isinstance(graph, DAG):
        named = [("->", graph.edges)]
    elif isinstance(graph, UndirectedGraph):
        named = [("--", graph.edges)]
    elif isinstance(graph, PDAG):
        named = [("->", graph.directed), ("--", graph.undirected), ("<->", graph.conflicting)]
    at = graph.index
    return [(at[a], mark, at[b]) for mark, pairs in named for a, b in pairs]


def layered(edges: Sequence[Edge], sizes: Sequence[Size]) -> Layered:
    """Cut a connected graph into layers, ordered so that few edges cross."""
    n = len(sizes)
    directed = [(i, j) for i, mark, j in edges if mark == "->"]
    free = [(i, j) for i, mark, j in edges if mark != "->"]
    pairs = point_down(n, directed, free)
    layer = assign_layers(n, pairs)
    layer = fold(layer, pairs, [width + NODE_SPACE for width, _ in sizes], page_width(sizes))
    graph = cut(layer, pairs)
    return graph._replace(layers=order_layers(graph))


def page_width(sizes: Sequence[Size]) -> float:
    """The largest width of a layer: a page, or more where there are many boxes."""
    area = sum((width + NODE_SPACE) * (height + LAYER_SPACE) for width, height in sizes)
    return max(PAGE, ASPECT * math.sqrt(area))


def _part(nodes: list[int], edges: Sequence[Edge], sizes: Sequence[Size]) -> ConnectedPart:
    """Lay out one connected part."""
    local = {v: k for k, v in enumerate(nodes)}
    mine = [edge for edge in edges if edge[0] in local]
    own = [sizes[v] for v in nodes]
    graph = layered([(local[i], mark, local[j]) for i, mark, j in mine], own)
    turned = [chain[0] != local[i] for chain, (i, _, _) in zip(graph.chains, mine, strict=True)]
    x = place_items(graph, _space(graph, own))
    bands = stack_layers(graph, x, own)
    boxes = _boxes(graph, x, bands, own)
    heads = _heads([mark for _, mark, _ in mine], turned)
    routes = [
        Route((i, j), mark, points[::-1] if up else points)
        for (i, mark, j), up, points in zip(
            mine, turned, route(graph, x, boxes, bands, heads), strict=True
        )
    ]
    left, top, right, bottom = extent(boxes, routes)
    boxes = [box.moved(-left, -top) for box in boxes]
    routes = [edge.moved(-left, -top) for edge in routes]
    return ConnectedPart(nodes, boxes, routes, (right - left, bottom - top))


def _heads(marks: Sequence[Mark], turned: Sequence[bool]) -> tuple[bool, bool]:
    """Whether some edges have an arrowhead at their upper end, and some at their lower end."""
    pairs = list(zip(marks, turned, strict=True))
    upper = any(mark == "<->" or (mark == "->" and up) for mark, up in pairs)
    lower = any(mark == "<->" or (mark == "->" and not up) for mark, up in pairs)
    return upper, lower


def _singles(nodes: Sequence[int], sizes: Sequence[Size]) -> list[ConnectedPart]:
    """Nodes without edges, in cells of one size, so that they form columns."""
    cell = tuple(max((sizes[v][k] for v in nodes), default=0.0) for k in (0, 1))
    return [
        ConnectedPart([v], [Box(cell[0] / 2, cell[1] / 2, *sizes[v])], [], (cell[0], cell[1]))
        for v in nodes
    ]


def _space(graph: Layered, sizes: Sequence[Size]) -> Space:
    """The function that gives the distance between the middles of two neighbours in a layer."""

    def space(a: int, b: int) -> float:
        widths = [sizes[v][0] for v in (a, b) if v < graph.n_nodes]
        return sum(widths) / 2 + (NODE_SPACE if len(widths) == 2 else BEND_SPACE)

    return space


def _boxes(
    graph: Layered, x: Sequence[float], bands: Sequence[Point], sizes: Sequence[Size]
) -> list[Box]:
    """The boxes, each in the middle of its layer."""
    middle = {v: sum(bands[k]) / 2 for k, layer in enumerate(graph.layers) for v in layer}
    return [Box(x[v], middle[v], *size) for v, size in enumerate(sizes)]


def _components(n: int, edges: Sequence[Edge]) -> list[list[int]]:
    """The connected components, each ascending, in the order of their first nodes."""
    near = neighbours(n, [(i, j) for i, _, j in edges])
    parts: list[list[int]] = []
    seen: set[int] = set()
    for v in range(n):
        if v not in seen:
            parts.append([w for w, far in enumerate(distances(near, v)) if far >= 0])
            seen.update(parts[-1])
    return parts


def _packed(
    parts: Sequence[ConnectedPart], space: float, width: float, height: float
) -> tuple[list[ConnectedPart], float, float]:
    """Move parts into rows below a drawing of this size; return them and the new size."""
    down = height + PART_SPACE if height and parts else height
    moved = []
    corners = pack([part.size for part in parts], space, width)
    for part, (dx, dy) in zip(parts, corners, strict=True):
        boxes = [box.moved(dx, dy + down) for box in part.boxes]
        moved.append(
            part._replace(boxes=boxes, routes=[r.moved(dx, dy + down) for r in part.routes])
        )
        width = max(width, dx + part.size[0])
        height = max(height, dy + down + part.size[1])
    return moved, width, height


WIDER = 1.6  # ratio of width to height of the whole drawing


def pack(sizes: Sequence[Size], space: float, width: float = 0.0) -> list[Point]:
    """Upper left corners of rectangles in rows, in the given order.

    Rows are as wide as makes the whole a little wider than high, and never narrower than `width`
    or the widest rectangle.

    >>> pack([(10.0, 5.0), (10.0, 5.0), (10.0, 5.0)], space=2.0)
    [(0.0, 0.0), (0.0, 7.0), (0.0, 14.0)]
    """
    area = sum((w + space) * (h + space) for w, h in sizes)
    limit = max([width, (WIDER * area) ** 0.5, *(w for w, _ in sizes)])
    corners, x, y, height = [], 0.0, 0.0, 0.0
    for w, h in sizes:
        if x > 0 and x + w > limit:
            x, y, height = 0.0, y + height + space, 0.0
        corners.append((x, y))
        x, height = x + w + space, max(height, h)
    return corners
