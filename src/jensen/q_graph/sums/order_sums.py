"""Sums over all orders of the variables and, for each, all graphs that are consistent with it.

A graph counts once for every order that it is consistent with. Given an order, each variable
chooses its parents among those before it, so a sum over orders is a dynamic program over the set of
variables before a position: forwards over the sets before, backwards over the sets after. All terms
are positive, so logarithms in double precision lose nothing.

References
----------
Koivisto and Sood (2004), *Exact Bayesian structure discovery in Bayesian networks*, JMLR.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.optimum.dynamic_programming import IMPOSSIBLE
from jensen.q_graph.sums.graph_sums import Predecessors, log_subset_sums
from jensen.scores.scorer import Progress
from jensen.scores.set_functions import members
from jensen.support.machine import check_memory, get_threads, ordered_map, run_all, show_bytes

Array = NDArray[np.float64]

PIECE = 1 << 17
"""Sets that are processed between two checks for Ctrl-C."""

MOST_FOR_PATHS = 16
"""The most variables for exact probabilities of paths: about ten seconds."""

ORDER_TABLES = 3
"""Tables (n, 2^(n-1)) in memory: weights, their subset sums, and the factors of families."""


@dataclass(frozen=True, eq=False)
class OrderSums:
    """Logarithms of sums over orders; bit v of a set is variable v.

    Parameters
    ----------
    log_sums : (n, 2^(n-1)) array
        Sums over the parents of a variable within a set; the variable's own bit is left out.
    below : (2^n,) array
        Sums over all orders of a set and all graphs that are consistent with them.
    above : (2^n,) array
        The same for the variables outside a set, which come after it.
    """

    log_sums: Array
    below: Array
    above: Array

    @property
    def log_total(self) -> float:
        """The logarithm of the sum over all orders and graphs."""
        return float(self.below[-1])

    def log_predecessors(self, child: int) -> Array:
        """(2^(n-1),): log of the share of orders in which exactly this set precedes the child."""
        both = members(self.below, child, False) + members(self.above, child, True)
        return np.asarray(both - self.log_total)

    def paths(self) -> Array:
        """(n, n): the probability of a path [from, to].

        A dynamic program adds the variables of the order one by one and keeps track of which of
        them descend from the first: 3^(n-1) pairs of sets for each variable.
        """
        from jensen.kernels.graph_sums import follow_descendants

        n = len(self.log_sums)
        self._check_paths(n)
        found = np.zeros((n, n))

        def follow(first: int) -> None:
            flow = np.zeros(3 ** (n - 1))
            follow_descendants(self.log_sums, self.below, self.above, first, flow, found[first])

        run_all(follow, range(n))
        return found

    def draw_predecessors(self, uniforms: Array) -> Predecessors:
        """Draw an order for each row of uniforms (S, n): parents are before their children."""
        from jensen.kernels.graph_draws import draw_orders

        before = np.zeros(uniforms.shape, np.int64)
        draw_orders(self.log_sums, self.above, uniforms, before)
        return Predecessors(before, np.zeros_like(before))

    def _check_paths(self, n: int) -> None:
        way_out = "leave out variables, or take the share of draws that have the path"
        n_bytes = 8.0 * 3.0 ** max(n - 1, 0) * min(get_threads(), max(n, 1))
        if n > MOST_FOR_PATHS:
            minutes = n * n * 3.0 ** (n - 1) * 5e-9 / 60
            raise JensenError(
                f"exact probabilities of paths over the orders of {n} variables would take some "
                f"{max(minutes, 1):,.0f} minutes and {show_bytes(n_bytes)}; there is a limit of "
                f"{MOST_FOR_PATHS} variables: {way_out}"
            )
        check_memory(n_bytes, f"exact probabilities of paths among {n} variables", way_out)


def sum_orders(log_weights: Array, progress: Progress = None) -> OrderSums:
    """Sum over all orders; log_weights (n, 2^(n-1)) of all families are at most 0."""
    from jensen.kernels.graph_sums import fill_above, fill_below

    n = len(log_weights)
    log_sums = np.empty_like(log_weights)

    def fill(child: int) -> None:
        log_sums[child] = log_subset_sums(log_weights[child])

    for done, _ in enumerate(ordered_map(fill, range(n))):
        _tell(progress, 0.7 * (done + 1) / n)
    below, above = np.empty((2, 1 << n))

    def advance(start: int) -> None:
        fill_below(log_sums, start, min(start + PIECE, 1 << n), below)

    def go_back(start: int) -> None:
        fill_above(log_sums, max((1 << n) - start - PIECE, 0), (1 << n) - start, above)

    for start in range(0, 1 << n, PIECE):
        run_all(lambda job: job[0](job[1]), ((advance, start), (go_back, start)))
        _tell(progress, 0.7 + 0.3 * min(start + PIECE, 1 << n) / (1 << n))
    if below[-1] == -np.inf:
        raise GraphError(IMPOSSIBLE)
    return OrderSums(log_sums, below, above)


def _tell(progress: Progress, share: float) -> None:
    if progress is not None:
        progress(share)
