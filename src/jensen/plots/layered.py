"""A graph cut at its layers: long edges become chains of bends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Layered(NamedTuple):
    """Items are the nodes 0..n_nodes-1, then the bends; every piece joins neighbouring layers."""

    n_nodes: int
    layers: list[list[int]]
    above: list[list[int]]  # for each item those that it is joined to one layer up
    below: list[list[int]]  # and one layer down
    chains: list[list[int]]  # for each edge its items from top to bottom

    @property
    def n_items(self) -> int:
        """How many nodes and bends there are."""
        return len(self.above)


def cut(layer: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Layered:
    """Put a bend into every layer that an edge passes.

    >>> cut([0, 1, 2], [(0, 1), (1, 2), (0, 2)]).chains
    [[0, 1], [1, 2], [0, 3, 2]]
    """
    layers: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for v, k in enumerate(layer):
        layers[k].append(v)
    n_items, chains = len(layer), []
    for upper, lower in pairs:
        chain = [upper]
        for k in range(layer[upper] + 1, layer[lower]):
            layers[k].append(n_items)
            chain.append(n_items)
            n_items += 1
        chains.append([*chain, lower])
    above: list[list[int]] = [[] for _ in range(n_items)]
    below: list[list[int]] = [[] for _ in range(n_items)]
    for chain in chains:
        for one, other in pairwise(chain):
            below[one].append(other)
            above[other].append(one)
    return Layered(len(layer), layers, above, below, chains)
