"""Edges and parent sets given sampled orders, in closed form: no graph need be drawn for them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from jensen.data.threads import ordered_map
from jensen.q_graph.chains.records import Array, Kept, ParentWeights, make_room

BATCHES = 100
"""Stretches of a chain over which probabilities are averaged, at most. Errors come from them."""

Members = tuple[int, ...]


class SampledOrders(NamedTuple):
    """The orders of every chain, and the weights that they were sampled by."""

    weights: ParentWeights
    kept: list[Kept]

    def edge_batches(self) -> Array:
        """(chains, batches, n, n): probabilities of edges, averaged over stretches of a chain."""
        return np.array(list(ordered_map(self._edges, self.kept)))

    def set_batches(self, v: int, threshold: float) -> tuple[list[Members], Array]:
        """Parent sets of v above the threshold, and (chains, batches, sets) their probabilities."""
        shares = np.array(list(ordered_map(lambda kept: self._sets(v, kept), self.kept)))
        mean = shares.mean((0, 1))
        likely = np.flatnonzero(mean > threshold)
        return [self._members(v, int(k)) for k in likely], shares[:, :, likely]

    def _edges(self, kept: Kept) -> Array:
        from jensen.kernels.order_chain import add_edge_shares

        n = len(self.weights.place)
        parts = _stretches(kept)
        edges, room = np.zeros((len(parts), n, n)), make_room(n)
        for k, part in enumerate(parts):
            add_edge_shares(part, self.weights, room, edges[k])
            edges[k] /= len(part)
        return edges

    def _sets(self, v: int, kept: Kept) -> Array:
        """(batches, sets): subsets of the candidates first, then pairs u, w with u ≤ w."""
        from jensen.kernels.order_chain import add_set_shares

        n, n_inside = len(self.weights.place), self.weights.log_weights.shape[1]
        parts = _stretches(kept)
        found, room = np.zeros((len(parts), n_inside + n * n)), make_room(n)
        for k, part in enumerate(parts):
            inside, outside = found[k, :n_inside], found[k, n_inside:].reshape(n, n)
            add_set_shares(v, part, self.weights, room, inside, outside)
            found[k] /= len(part)
        return found

    def _members(self, v: int, position: int) -> Members:
        """The set at a position of `_sets`."""
        n, n_inside = len(self.weights.place), self.weights.log_weights.shape[1]
        if position >= n_inside:
            return tuple(sorted(set(divmod(position - n_inside, n))))
        listed = self.weights.candidates[v].tolist()
        return tuple(u for k, u in enumerate(listed) if position >> k & 1)


def _stretches(kept: Kept) -> list[np.ndarray[tuple[int, int], np.dtype[np.int16]]]:
    """The orders of a chain, cut into stretches of about the same length."""
    n_samples = len(kept.scores)
    bounds = np.arange(min(BATCHES, n_samples) + 1) * n_samples // min(BATCHES, n_samples)
    return [kept.orders[a:b] for a, b in pairwise(bounds)]
