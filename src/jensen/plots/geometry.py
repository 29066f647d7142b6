"""Boxes, routes and layouts in page coordinates; x grows to the right and y downwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
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

    @classmethod
    def spanning(cls, left: float, right: float, top: float, bottom: float) -> Box:
        """The box between four sides."""
        return cls((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)

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


# --- texts on edges ---

PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
"""Where on an edge its text may stand, as shares of its height; the first that is free is best."""
HANDLE = 0.35
"""Of an S-curve: the share of its height in which it stays vertical."""
ROOM = 2.0
"""Between texts."""


def label_boxes(layout: Layout, sizes: Sequence[Size | None]) -> list[Box | None]:
    """A box for the text of each edge, on it, away from nodes and from each other.

    `sizes` holds None for an edge without a text. Where no place is free, that with the least
    overlap is taken.
    """
    taken = list(layout.boxes)
    found: list[Box | None] = []
    for route, size in zip(layout.routes, sizes, strict=True):
        if size is None:
            found.append(None)
            continue
        width, height = size[0] + ROOM, size[1] + ROOM
        places = (Box(*_point_of(route.points, share), width, height) for share in PLACES)
        best = min(places, key=lambda box: sum(_overlap(box, other) for other in taken))
        taken.append(best)
        found.append(best._replace(width=size[0], height=size[1]))
    return found


def _overlap(a: Box, b: Box) -> float:
    """The area that two boxes share."""
    wide = min(a.right, b.right) - max(a.left, b.left)
    high = min(a.bottom, b.bottom) - max(a.top, b.top)
    return wide * high if wide > 0.0 and high > 0.0 else 0.0


def _point_of(points: Sequence[Point], share: float) -> Point:
    """The point of a route at some share of its height, on the curves that `path` draws."""
    top, bottom = points[0][1], points[-1][1]
    wanted = top + share * (bottom - top)
    (x, y), (next_x, next_y) = next(_around(points, wanted))
    if x == next_x:
        return x, wanted
    low, high = 0.0, 1.0
    for _ in range(30):  # along an S-curve y only rises, or only falls
        middle = 0.5 * (low + high)
        is_before = (_bezier(y, next_y, middle, HANDLE) < wanted) == (next_y > y)
        low, high = (middle, high) if is_before else (low, middle)
    return _bezier(x, next_x, low, 0.0), wanted


def _around(points: Sequence[Point], wanted: float) -> Iterator[tuple[Point, Point]]:
    """The piece of a route at a height; the last one if rounding finds none."""
    for one, other in pairwise(points):
        if min(one[1], other[1]) <= wanted <= max(one[1], other[1]):
            yield one, other
    yield points[-2], points[-1]


def _bezier(start: float, end: float, t: float, handle: float) -> float:
    """A coordinate of a cubic curve whose handles reach so far from either end."""
    a, b = start + handle * (end - start), end - handle * (end - start)
    u = 1.0 - t
    return u**3 * start + 3.0 * u * u * t * a + 3.0 * u * t * t * b + t**3 * end
