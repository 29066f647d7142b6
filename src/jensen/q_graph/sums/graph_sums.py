"""The interface that sums over DAGs and sums over orders share, and the draws that both make."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.support.machine import ordered_map

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Bits = NDArray[np.uint64]

LOG_2 = float(np.log(2.0))


class Predecessors(NamedTuple):
    """Draws of the sets that parents are chosen from; bit v of a set is variable v.

    Over orders: the variables before each one. Over DAGs: those in earlier layers, of which at
    least one parent is in the last.
    """

    within: Numbers  # (S, n): all parents are in this set
    touching: Numbers  # (S, n): at least one parent is in this set, unless the set is empty


class GraphSums(Protocol):
    """Sums of the weights of all graphs; the weight of a family is at most 1."""

    @property
    def log_total(self) -> float:
        """The logarithm of the sum over all graphs."""

    def log_predecessors(self, child: int) -> Array:
        """(2^(n-1),): log of the share of the total for each set that parents are chosen from.

        The weight of the child's own family is left out: any subset may be its parents.
        """

    def paths(self) -> Array:
        """(n, n): the probability that a variable is an ancestor of another, [ancestor, other]."""

    def draw_predecessors(self, uniforms: Array) -> Predecessors:
        """Draw the sets that parents are chosen from, for each row of uniforms (S, n)."""


def log_subset_sums(logs: Array) -> Array:
    """(2^k,): for each set the logarithm of the sum of the weights of its subsets."""
    from jensen.kernels.set_sums import sum_subsets

    high, low = np.empty((2, len(logs)))
    exponents = np.empty(len(logs), np.int64)
    sum_subsets(np.ascontiguousarray(logs), high, low, exponents)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(high) + LOG_2 * exponents)


def log_superset_sums(logs: Array) -> Array:
    """(2^k,): for each set the logarithm of the sum of the weights of its supersets."""
    return log_subset_sums(logs[::-1])[::-1]


def split(values: Array, place: int) -> Array:
    """(m, 2, 2^place): a function of sets; the middle axis is whether `place` is a member."""
    return values.reshape(-1, 2, 1 << place)


def draw_parent_sets(
    log_weights: Array, predecessors: Predecessors, uniforms: Array
) -> tuple[Bits, Array]:
    """Draw the parents of every variable in every draw, and sum the log weights of the families.

    Parameters
    ----------
    log_weights : (n, 2^(n-1)) array
        The log weights of all families.
    predecessors
        The sets that parents are chosen from, in each of S draws.
    uniforms : (S, n) array
        Uniform random numbers, one for each variable of each draw.

    Returns
    -------
    parents : (S, n, W) array
        The parents as bits, W words of 64.
    log_totals : (S,) array
        The log weight of each graph.
    """
    from jensen.kernels.graph_draws import draw_parents

    n_draws, n = uniforms.shape
    parents = np.zeros((n_draws, n, (n + 63) // 64), np.uint64)

    def fill(child: int) -> Array:
        # Heavy sets first: the scan for a draw ends early.
        sets = np.argsort(-log_weights[child], kind="stable")
        within, touching = (_leave_out(part[:, child], child) for part in predecessors)
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
    """Renumber sets of all variables as sets without the child's bit."""
    return np.ascontiguousarray(numbers >> (child + 1) << child | numbers & ((1 << child) - 1))


def _put_back(numbers: Numbers, child: int) -> Numbers:
    """The inverse of `_leave_out`."""
    return numbers >> child << (child + 1) | numbers & ((1 << child) - 1)
