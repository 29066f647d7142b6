"""Where edges touch the border of a box: side by side, straight above or below where they can."""

from collections.abc import Sequence

MARGIN = 9.0  # from a port to the corner
SPACE = 10.0  # between two ports, where the box is wide enough


def spread(wanted: Sequence[float], weights: Sequence[float], width: float) -> list[float]:
    """Places on the side of a box, from its middle, close to the wanted ones and in their order.

    Least squares under a smallest distance: pool adjacent violators, then clip.

    >>> spread([0.0, 0.0], [1.0, 1.0], width=50.0)
    [-5.0, 5.0]
    """
    n, half = len(wanted), max(width / 2 - MARGIN, 0.0)
    space = min(SPACE, 2 * half / (n - 1)) if n > 1 else 0.0
    shifted = [x - k * space for k, x in enumerate(wanted)]
    pooled = pool(shifted, weights)
    low, high = -half, half - (n - 1) * space
    return [min(max(x, low), high) + k * space for k, x in enumerate(pooled)]


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
