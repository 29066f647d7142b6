"""How many edges cross."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from jensen.plots.layered import Layered


def positions(layers: Sequence[Sequence[int]], n_items: int) -> list[int]:
    """The place of every item in its layer."""
    place = [0] * n_items
    for layer in layers:
        for k, item in enumerate(layer):
            place[item] = k
    return place


def count_crossings(graph: Layered, layers: Sequence[Sequence[int]]) -> int:
    """How many pairs of pieces cross when the layers are ordered like this."""
    place = positions(layers, graph.n_items)
    return sum(_between(layer, graph.below, place) for layer in layers)


def _between(layer: Sequence[int], below: Sequence[Sequence[int]], place: Sequence[int]) -> int:
    """Crossings between a layer and the next: pairs of lower ends in the wrong order."""
    seen: list[int] = []
    crossings = 0
    for item in layer:
        ends = sorted(place[other] for other in below[item])
        crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
        for end in ends:
            insort(seen, end)
    return crossings


def pair_crossings(left: Sequence[int], right: Sequence[int]) -> int:
    """Crossings of the pieces of two neighbours in a layer, by the sorted places of their ends.

    >>> pair_crossings([0, 2], [1]), pair_crossings([1], [0, 2])
    (1, 1)
    """
    return sum(bisect_left(right, end) for end in left)
