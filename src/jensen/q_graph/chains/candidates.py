"""Who may be a parent, where not all subsets of all variables can be weighed."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.constraints import Constraints, read_start
from jensen.q_graph.search.climbing import Climber, hill_climb
from jensen.scores.scorer import Scorer

Array = NDArray[np.float64]


def rank_others(
    scorer: Scorer, constraints: Constraints, singles: Array, pairs: Array
) -> list[list[int]]:
    """For each variable all others that may be parents, the most promising first.

    Neighbours in a graph that hill climbing found come first; others by the best score of a set
    that holds them: alone, with one other, with the parents in that graph, or with all but one of
    these.
    """
    climber = Climber(scorer, constraints)
    start = read_start(None, scorer.names, constraints)
    joined = hill_climb(climber.begin(start), lambda total, n_moves: False).joined
    ranked = []
    for v in range(len(joined)):
        best = singles[v].copy()
        if pairs.size:
            best = np.maximum(best, pairs[v].max(1))
        parents = np.flatnonzero(joined[:, v]).tolist()
        for left_out in (None, *parents):
            rest = [p for p in parents if p != left_out]
            scores = scorer.with_each(v, rest)
            scores[[*rest, v]] = -np.inf
            best = np.maximum(best, scores)
        best[v] = -np.inf
        near = (joined[:, v] | joined[v]).astype(int)
        near[parents] += 1  # parents before children
        best = np.round(best, 9)  # one set scored in two ways may differ in its last digits
        order = sorted(range(len(joined)), key=lambda u: (-near[u], -best[u], u))
        ranked.append([u for u in order if u != v and not constraints.forbidden[u, v]])
    return ranked


def complete(candidates: Mapping[int, Sequence[int]], constraints: Constraints) -> list[list[int]]:
    """Sorted lists, with what is required and without what is forbidden."""
    lists = []
    for v in range(len(candidates)):
        found = set(candidates[v]) | set(np.flatnonzero(constraints.required[:, v]).tolist())
        lists.append(sorted(found - set(np.flatnonzero(constraints.forbidden[:, v]).tolist())))
    return lists
