"""Sums over all spanning trees by the matrix-tree theorem, from the logarithms of edge weights.

Σ_T Π_{uv ∈ T} w_uv is a determinant, and weights differ by thousands of orders of magnitude. So
the graph is reduced vertex by vertex (a star becomes a mesh), which only adds, multiplies and
divides positive numbers: it is done in logarithms, and no digit is ever cancelled.

References
----------
Meilă and Jaakkola (2006), *Tractable Bayesian learning of tree belief networks*, Statistics and
Computing 16, section 3.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.support.machine import check_memory

Array = NDArray[np.float64]


class Removal(NamedTuple):
    """What the removal of a vertex leaves for the way back."""

    share: Array  # (K, v): of the weights at the vertex
    new: Array  # (K, v, v): the share of a weight between the others that goes through the vertex


class TreeSums(NamedTuple):
    """Log Σ_T Π w of some graphs, and how likely each edge is under p(T) ∝ Π w."""

    log_total: Array  # (K,)
    edges: Array  # (K, D, D), symmetric


def log_tree_sums(log_weights: Array) -> Array:
    """(K,): log Σ_T Π w over the spanning trees of K graphs; -inf where there are none."""
    total, _ = _reduce(log_weights, keeps=False)
    return total


def tree_sums(log_weights: Array) -> TreeSums:
    """Sums over trees, and the probability of every edge.

    Parameters
    ----------
    log_weights
        (K, D, D), symmetric; -inf where there is no edge. The diagonal is not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = np.zeros((1, 3, 3))
    >>> found = tree_sums(triangle)
    >>> round(float(np.exp(found.log_total[0]))), found.edges[0, 0].round(3).tolist()
    (3, [0.0, 0.667, 0.667])
    """
    total, removals = _reduce(log_weights, keeps=True)
    edges = np.zeros(log_weights.shape)
    for v, (share, new) in enumerate(reversed(removals), 1):
        through = edges[:, :v, :v] * new
        edges[:, :v, :v] -= through
        at_vertex = through.sum(2) + share * (1.0 - 0.5 * through.sum((1, 2)))[:, None]
        edges[:, v, :v] = edges[:, :v, v] = at_vertex
    return TreeSums(total, np.clip(edges, 0.0, 1.0))


def _reduce(log_weights: Array, *, keeps: bool) -> tuple[Array, list[Removal]]:
    """Remove the vertices from the last to the second; log Σ is the sum of what they are worth."""
    K, D, _ = log_weights.shape
    check_memory(
        8.0 * K * (D**3 / 3.0 if keeps else 3.0 * D**2),
        f"the sum over all trees of {D:,} columns",
        "leave out columns, or use method='em', which keeps one tree",
    )
    left = np.array(log_weights, np.float64)
    total, removals = np.zeros(K), []
    for v in range(D - 1, 0, -1):
        beside = left[:, v, :v]
        degree = np.logaddexp.reduce(beside, axis=1)
        total += degree
        at = np.where(np.isneginf(degree), 0.0, degree)[:, None]
        share = beside - at
        mesh = beside[:, :, None] + share[:, None, :]
        mesh[:, range(v), range(v)] = -np.inf
        merged = np.logaddexp(left[:, :v, :v], mesh)
        if keeps:
            joined = np.where(np.isneginf(merged), 0.0, merged)
            removals.append(Removal(np.exp(share), np.exp(mesh - joined)))
        left[:, :v, :v] = merged
    return total, removals
