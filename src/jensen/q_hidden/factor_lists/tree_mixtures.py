"""Mixtures of rooted spanning trees: how often an edge appears, and which end is its child."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from jensen.support.fields import add_at

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_INVERTED = 3000
"""Variables of one component up to which all trees are averaged; beyond, random ones are."""
N_DRAWN = 200


class TreeMixture(NamedTuple):
    """Probabilities of being the root, and the child of an edge; see `PairGraph`."""

    root: Array  # (n,)
    child: Array  # (E, 2)

    @property
    def weights(self) -> Array:
        """(E,) how often each edge appears."""
        return np.asarray(self.child.sum(1))

    def moved(self, other: TreeMixture, share: float) -> TreeMixture:
        """The mixture of both."""
        return TreeMixture(
            *((1.0 - share) * a + share * b for a, b in zip(self, other, strict=True))
        )


def all_trees(n: int, ends: Ints) -> TreeMixture:
    """All spanning trees alike, rooted anywhere: edges weigh their effective resistance.

    With the root r the end j of an edge (i, j) is the child of i with probability
    L⁺_jj - L⁺_ij - L⁺_jr + L⁺_ir, L⁺ being the pseudo-inverse of the Laplacian; its rows sum to 0,
    so that the mean over all roots is L⁺_jj - L⁺_ij.
    """
    n_parts, part = connected_components(_graph(n, ends, np.ones(len(ends))), directed=False)
    if np.bincount(part, minlength=1).max(initial=0) > MOST_INVERTED:
        return _some_trees(n, ends)
    root, child = np.empty(n), np.empty(ends.shape)
    for p in range(n_parts):
        members = np.flatnonzero(part == p)
        own = np.flatnonzero(part[ends[:, 0]] == p)
        local = np.searchsorted(members, ends[own])
        size = len(members)
        laplacian = np.zeros((size, size))
        add_at(laplacian, (local[:, 0], local[:, 1]), -1.0)
        add_at(laplacian, (local[:, 1], local[:, 0]), -1.0)
        laplacian[np.diag_indices(size)] = -laplacian.sum(1)
        inverse = np.linalg.inv(laplacian + 1.0 / size) - 1.0 / size
        root[members] = 1.0 / size
        for s in range(2):
            j, i = local[:, s], local[:, 1 - s]
            child[own, s] = inverse[j, j] - inverse[i, j]
    return TreeMixture(root, child)


def best_tree(n: int, ends: Ints, gains: Array) -> TreeMixture:
    """The spanning tree of the largest gains, rooted anywhere."""
    cost = gains.max(initial=0.0) - gains + 1.0
    tree = minimum_spanning_tree(_graph(n, ends, cost))
    n_parts, part = connected_components(tree, directed=False)
    size = np.bincount(part, minlength=n_parts).astype(float)
    number = {(int(a), int(b)): e for e, (a, b) in enumerate(ends.tolist())}
    child = np.zeros(ends.shape)
    for p in range(n_parts):
        start = int(np.flatnonzero(part == p)[0])
        order, before = breadth_first_order(tree, start, directed=False)
        below = np.ones(n)
        for v in order[:0:-1].tolist():
            u = int(before[v])
            below[u] += below[v]
            side = 1 if (u, v) in number else 0  # of v
            e = number[(u, v) if side else (v, u)]
            child[e, 1 - side] = below[v] / size[p]
            child[e, side] = 1.0 - below[v] / size[p]
    return TreeMixture(1.0 / size[part], child)


def _some_trees(n: int, ends: Ints) -> TreeMixture:
    """Random spanning trees in which every edge appears."""
    rng = np.random.default_rng(0)
    mixture = best_tree(n, ends, rng.random(len(ends)))
    drawn = 1
    while drawn < N_DRAWN or (mixture.weights == 0.0).any():
        gains = rng.random(len(ends)) + (mixture.weights == 0.0)
        drawn += 1
        mixture = mixture.moved(best_tree(n, ends, gains), 1.0 / drawn)
    return mixture


def _graph(n: int, ends: Ints, cost: Array) -> coo_array:
    return coo_array((cost, (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
