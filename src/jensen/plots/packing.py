"""Parts of a graph that no edge joins: side by side, and single nodes in rows."""

from collections.abc import Sequence

from jensen.plots.geometry import Point, Size

WIDER = 1.6  # how much wider than high the whole should be


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
