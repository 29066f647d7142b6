"""Where edges touch the border of a box: side by side, straight above or below where they can."""

from __future__ import annotations

from collections.abc import Sequence

from jensen.plots.geometry import Box

MARGIN = 9.0  # from a port to the corner
SPACE = 10.0  # between two ports, where the box is wide enough
CLOSE = 8.0  # as close as two ports may be moved to make an edge straight
MOST_APART = 12  # arrowheads for which a box is made wider
STRAIGHT = 0.7  # share of half a box up to which an edge goes straight up or down
ASIDE = 0.35  # share of half a box to which edges that go farther aside are moved


def side_width(n_heads: int) -> float:
    """How wide a box must be for so many arrowheads side by side; of many, some overlap."""
    return 2 * MARGIN + CLOSE * (min(n_heads, MOST_APART) - 1)


class Side:
    """The upper or lower side of a box: the edges on it from left to right, and where they are.

    Parameters
    ----------
    box
        The box.
    aims : sequence of (x, share, edge)
        Where each edge goes, and which share of the way there this end may move to be straight.
    """

    def __init__(self, box: Box, aims: Sequence[tuple[float, float, int]]) -> None:
        in_order = sorted(aims)
        self.box = box
        self.edges = [edge for _, _, edge in in_order]
        wanted = [_wanted(share * (x - box.x), box.width / 2) for x, share, _ in in_order]
        weights = [4.0 if abs(x - box.x) < 1.0 else 1.0 for x, _, _ in in_order]
        self.places = [box.x + offset for offset in spread(wanted, weights, box.width)]

    def place(self, edge: int) -> float:
        """Where an edge touches this side."""
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
    """How far from the middle an edge wants to touch a box when it aims so far aside."""
    if abs(aside) <= STRAIGHT * half:
        return aside
    return ASIDE * half if aside > 0 else -ASIDE * half


def spread(wanted: Sequence[float], weights: Sequence[float], width: float) -> list[float]:
    """Places on the side of a box, from its middle, close to the wanted ones and in their order.

    Least squares under a smallest distance: pool adjacent violators, then clip.

    >>> spread([0.0, 0.0], [1.0, 1.0], width=50.0)
    [-5.0, 5.0]
    """
    n, half = len(wanted), max(width / 2 - MARGIN, 0.0)
    space = min(SPACE, 2 * half / (n - 1)) if n > 1 else 0.0
    pooled = pool([x - k * space for k, x in enumerate(wanted)], weights)
    low, high = -half, half - (n - 1) * space
    return [max(min(x, high), low) + k * space for k, x in enumerate(pooled)]


def pool(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The rising sequence that is closest to the values.

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
