"""The optimal network, by dynamic programming over subsets of the variables.

The best network over a set has a sink, a variable that is no parent in the set. It consists of the
best network over the other variables, and of the sink with its best parents among them.

References
----------
Silander and Myllymäki (2006), *A simple approach for finding the globally optimal Bayesian network
structure*, UAI.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.scores.parent_sets import fill_family_scores
from jensen.scores.scorer import Progress, Scorer
from jensen.scores.set_functions import between, sizes_of_sets
from jensen.support.machine import check_memory, ordered_map
from jensen.support.text import option

Array = NDArray[np.float64]
Edges = NDArray[np.bool_]

PIECE = 1 << 18
"""Sets that are processed between two checks for Ctrl-C."""

TIE = 1e-12
"""Scores are equal if they differ by less than this times the best score ..."""

LEAST_TIE = 1e-8
"""... plus this."""


IMPOSSIBLE = (
    "no network is possible: every one without a cycle lacks a required edge, has a forbidden one "
    "or too many parents, or scores -inf"
)


class SubsetTables(NamedTuple):
    """Best scores of all sets; see `scores.subset_scores` for the numbering of sets."""

    best_parents: Array  # (n, 2^(n-1)): the best score of a variable with parents within a set
    totals: Array  # (2^n,): the score of the best network over a set

    @property
    def tie(self) -> float:
        """Scores that differ by less are equal."""
        return TIE * abs(float(self.totals[-1])) + LEAST_TIE


def best_network(
    scorer: Scorer,
    *,
    max_parents: int | None = None,
    required: Edges | None = None,
    forbidden: Edges | None = None,
    progress: Progress = None,
) -> tuple[list[tuple[int, ...]], float]:
    """The network with the highest score of all.

    Which of several equally good networks is returned does not depend on rounding: in every step
    the sink is the largest name that can be one, and parents that add nothing are left out.

    Parameters
    ----------
    max_parents
        The most parents that a variable may have.
    required, forbidden : (n, n) arrays, optional
        [u, v] is True if the edge u -> v must, or must not, be there.
    progress
        Called with the share of the work that is done.

    Returns
    -------
    parents
        The indices of the parents of each variable.
    score
        The score of this network.
    """
    scores = family_table(scorer, max_parents, required, forbidden, between(progress, 0.0, 0.8))
    parents = best_parents(scores, between(progress, 0.8, 1.0))
    return parents, math.fsum(scorer.family(v, above) for v, above in enumerate(parents))


def best_parents(scores: Array, progress: Progress = None) -> list[tuple[int, ...]]:
    """The parents in the best network, from the scores of all families, which are overwritten.

    `scores` has the shape (n, 2^(n-1)).
    """
    tables = solve(scores, progress)
    if tables.totals[-1] == -math.inf:
        raise GraphError(IMPOSSIBLE)
    return _trace_back(tables, len(scores))


def family_table(
    scorer: Scorer,
    max_parents: int | None,
    required: Edges | None,
    forbidden: Edges | None,
    progress: Progress,
) -> Array:
    """(n, 2^(n-1)): the score of every family, -inf if it is not allowed."""
    n = len(scorer.names)
    check_memory(
        n_bytes(n),
        f"the exact optimum of {n} variables",
        f"leave out variables, or search with {option('method', 'hill-climb', 'structure')}",
    )
    most = n - 1 if max_parents is None else min(max_parents, n - 1)
    scores = np.full((n, 1 << max(n - 1, 0)), -np.inf)
    if n == 0:
        return scores
    fill_family_scores(scorer, scores, most, progress)
    too_many = sizes_of_sets(n - 1) > most
    for child in range(n):
        row = scores[child]
        row[too_many] = -np.inf
        for place, other in enumerate(v for v in range(n) if v != child):
            by_other = row.reshape(-1, 2, 1 << place)
            if required is not None and required[other, child]:
                by_other[:, 0] = -np.inf
            if forbidden is not None and forbidden[other, child]:
                by_other[:, 1] = -np.inf
    return scores


def n_bytes(n: int) -> float:
    """The memory of the tables of n variables."""
    return 8.0 * (n * 2.0 ** (n - 1) + 4 * 2.0**n)


def solve(scores: Array, progress: Progress = None) -> SubsetTables:
    """Best parents and best networks of all sets; `scores` is overwritten."""
    from jensen.kernels.best_networks import fill_best_totals, spread_best

    n = len(scores)
    for child, _ in enumerate(ordered_map(spread_best, scores)):
        if progress is not None:
            progress((child + 1) / (2 * n))
    totals = np.empty(1 << n)
    for start in range(0, 1 << n, PIECE):
        stop = min(start + PIECE, 1 << n)
        fill_best_totals(scores, start, stop, totals)
        if progress is not None:
            progress(0.5 + stop / 2 ** (n + 1))
    return SubsetTables(scores, totals)


def _trace_back(tables: SubsetTables, n: int) -> list[tuple[int, ...]]:
    """The parents of each variable in the best network, from the tables of all sets."""
    parents: list[tuple[int, ...]] = [()] * n
    left = (1 << n) - 1
    while left:
        sink = max(v for v in range(n) if left >> v & 1 and _loss(tables, left, v) <= tables.tie)
        left ^= 1 << sink
        parents[sink] = _fewest_parents(tables, sink, left)
    return parents


def _loss(tables: SubsetTables, left: int, sink: int) -> float:
    """How much lower the best network over a set scores if this variable is its sink."""
    rest = left ^ (1 << sink)
    total = tables.totals[rest] + tables.best_parents[sink, without(rest, sink)]
    return float(tables.totals[left] - total)


def _fewest_parents(tables: SubsetTables, child: int, among: int) -> tuple[int, ...]:
    """Leave out parents, the largest names first, as long as the best score does not change."""
    best = tables.best_parents[child, without(among, child)]
    for v in reversed(range(among.bit_length())):
        fewer = among & ~(1 << v)
        if tables.best_parents[child, without(fewer, child)] >= best - tables.tie:
            among = fewer
    return tuple(v for v in range(among.bit_length()) if among >> v & 1)


def without(number: int, child: int) -> int:
    """The number of a set of other variables after the child's bit is left out."""
    return number >> (child + 1) << child | number & ((1 << child) - 1)
