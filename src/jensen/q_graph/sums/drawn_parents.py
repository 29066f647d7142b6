"""Draws of parents where it is known what stands above each variable."""

import numpy as np
from numpy.typing import NDArray

from jensen.data.threads import ordered_map
from jensen.q_graph.sums.graph_sums import Places

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]


def draw_parent_sets(log_weights: Array, places: Places, uniforms: Array) -> tuple[Words, Array]:
    """Draw the parents of every variable in every draw, and add up what they weigh.

    Parameters
    ----------
    log_weights : (n, 2^(n-1)) array
        Of all families.
    places
        What stands above each variable in each of S draws.
    uniforms : (S, n) array
        The randomness.

    Returns
    -------
    parents : (S, n, W) array
        As bits.
    log_totals : (S,) array
        The log weight of each graph.
    """
    from jensen.kernels.graph_draws import draw_parents

    n_draws, n = uniforms.shape
    parents = np.zeros((n_draws, n, (n + 63) // 64), np.uint64)

    def fill(child: int) -> Array:
        # Heavy sets first: the scan for a draw ends early.
        sets = np.argsort(-log_weights[child], kind="stable")
        within, touching = (_leave_out(part[:, child], child) for part in places)
        chosen = np.empty(n_draws, np.int64)
        given = np.ascontiguousarray(uniforms[:, child])
        draw_parents(sets, log_weights[child, sets], within, touching, given, chosen)
        parents[:, child, 0] = _put_back(chosen, child)
        return np.asarray(log_weights[child, chosen])

    totals = np.zeros(n_draws)
    for own in ordered_map(fill, range(n)):
        totals += own
    return parents, totals


def _leave_out(numbers: Numbers, child: int) -> Numbers:
    """Sets in the numbering that leaves the child's bit out."""
    return np.ascontiguousarray(numbers >> (child + 1) << child | numbers & ((1 << child) - 1))


def _put_back(numbers: Numbers, child: int) -> Numbers:
    """The other way round."""
    return numbers >> child << (child + 1) | numbers & ((1 << child) - 1)
