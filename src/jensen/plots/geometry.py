"""Boxes, routes and layouts in page coordinates; x grows to the right and y downwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jensen.graphs.indexed_graph import Mark

Point = tuple[float, float]
Size = tuple[float, float]  # width, height


class Box(NamedTuple):
    """A rectangle, by its middle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """Its left side."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """Its right side."""
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        """Its upper side."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """Its lower side."""
        return self.y + self.height / 2

    def moved(self, dx: float, dy: float) -> Box:
        """The box, shifted."""
        return self._replace(x=self.x + dx, y=self.y + dy)


class Route(NamedTuple):
    """The path of an edge from the border of its first node to that of its second."""

    ends: tuple[int, int]
    mark: Mark
    points: tuple[Point, ...]  # straight where x stays, else an S between two heights

    def moved(self, dx: float, dy: float) -> Route:
        """The route, shifted."""
        return self._replace(points=tuple((x + dx, y + dy) for x, y in self.points))


class Layout(NamedTuple):
    """A laid-out graph: a box per node, a route per edge, and the size of the whole."""

    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


def extent(boxes: Sequence[Box], routes: Sequence[Route]) -> tuple[float, float, float, float]:
    """The smallest rectangle around everything: left, top, right, bottom."""
    xs = [x for route in routes for x, _ in route.points]
    ys = [y for route in routes for _, y in route.points]
    for box in boxes:
        xs += [box.left, box.right]
        ys += [box.top, box.bottom]
    return min(xs), min(ys), max(xs), max(ys)
