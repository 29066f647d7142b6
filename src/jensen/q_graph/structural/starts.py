"""Where structural EM begins: graphs of the known cells alone, draws, and graphs it has found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.constraints import Constraints
from jensen.q_graph.search.climbing import perturbed
from jensen.q_graph.structural.objective import ClimbResult, FittedGraph

if TYPE_CHECKING:
    from jensen.q_graph.structural.structural_em import StructuralTask

Flags = NDArray[np.bool_]
Array = NDArray[np.float64]

DROPPED = 0.25, 0.85
"""The least and the largest share of its edges that a graph loses before it is climbed again."""


def start_graphs(task: StructuralTask) -> dict[str, Flags]:
    """The graphs from which climbs begin, by name.

    Hidden variables point to all others, and in one further graph to none: the rows may say nothing
    of them.
    """
    rows, rules = task.rows, _without_hidden(task.constraints, task.rows.hidden)
    average = rows.average_scorer(0.0)
    seen = [v for v in range(len(rows.names)) if v not in rows.hidden]
    gains = np.full((len(rows.names),) * 2, -np.inf)
    for v in seen:
        gains[v, seen] = (average.with_each(v, []) - average.family(v, []))[seen]
    np.fill_diagonal(gains, -np.inf)
    penalty = node_average_penalty(average.total_weight)
    found = {
        "tree": _directed_tree(gains, rules),
        "empty": rules.required.copy(),
        "node-average": task.search(rows.average_scorer(penalty), rules.required, rules)[0],
    }
    alone = found["node-average"].copy()
    for joined in found.values():
        _point_to_all(joined, task.constraints, rows.hidden)
    if rows.hidden:
        found["nothing hidden"] = alone | task.constraints.required
    return found


def node_average_penalty(weight: float) -> float:
    """The penalty λN of a parameter of the node-average likelihood of rows of this weight.

    λ = N^(-1/4) / 40 goes to 0, and λ √N to infinity, which consistency needs where cells are
    missing completely at random (Bodewes and Scutari 2021); that of BIC is too small for it.
    """
    return float(weight**0.75) / 40.0


def _without_hidden(rules: Constraints, hidden: tuple[int, ...]) -> Constraints:
    """Constraints that leave hidden variables without edges."""
    if not hidden:
        return rules
    at = np.zeros_like(rules.required)
    at[list(hidden)], at[:, list(hidden)] = True, True
    return rules._replace(required=rules.required & ~at, forbidden=rules.forbidden | at)


def _point_to_all(joined: Flags, rules: Constraints, hidden: tuple[int, ...]) -> None:
    """Add the edges from hidden variables to all seen ones, and those that are required there."""
    for h in hidden:
        joined |= rules.required
        for v in range(len(joined)):
            if v not in hidden and rules.allowed[h, v] & 1 and _may_add(joined, h, v, rules):
                joined[h, v] = True


def _directed_tree(gains: Array, rules: Constraints) -> Flags:
    """The spanning tree of largest gains, directed away from the first variable where allowed."""
    joined, n = rules.required.copy(), len(gains)
    may_add = rules.allowed & 1 > 0
    weight = np.where(may_add | may_add.T, gains, -np.inf)
    best, near, left = weight[0].copy(), np.zeros(n, np.int64), set(range(1, n))
    while left:
        v = max(sorted(left), key=best.__getitem__)
        left.remove(v)
        for a, b in ((int(near[v]), v), (v, int(near[v]))):
            if best[v] > 0.0 and may_add[a, b] and _may_add(joined, a, b, rules):
                joined[a, b] = True
                break
        closer = weight[v] > best
        best[closer], near[closer] = weight[v][closer], v
    return joined


def _may_add(joined: Flags, a: int, b: int, rules: Constraints) -> bool:
    """Whether a -> b joins two variables that are apart, closes no cycle, and b has room for it."""
    if joined[a, b] or joined[b, a] or joined[:, b].sum() >= rules.most_parents:
        return False
    below, fresh = {b}, [b]
    while fresh:
        new = set(np.flatnonzero(joined[fresh.pop()]).tolist()) - below
        below |= new
        fresh += new
    return a not in below


# --- climbs that begin elsewhere ---


def climb_from_draws(task: StructuralTask, tree: Flags, rng: np.random.Generator) -> ClimbResult:
    """A climb that begins where draws lead."""
    drawn = task.climb(tree, rng, rng, "draw").best
    return task.climb_one(
        task.objective, drawn.joined, task.rows.smoothed(drawn), rng, task.completion
    )


def climb_again(
    task: StructuralTask, best: FittedGraph, rng: np.random.Generator, *, afresh: bool
) -> ClimbResult:
    """A climb from a graph without a share of its edges, and with q(h) of that graph.

    Added edges are removed again at once, but what was removed may return in another way. Or
    afresh, after random changes and with random parameters: q(h) of a graph leads back to it where
    rows are few.
    """
    if afresh:
        n_moves = max(4, int(best.joined.sum()) // 2)
        joined = perturbed(best.joined, task.constraints, n_moves, rng)
        return task.climb(joined, rng, rng, task.completion)
    may_drop = task.constraints.allowed & 2 > 0
    joined = best.joined & ~(may_drop & (rng.random(best.joined.shape) < rng.uniform(*DROPPED)))
    start = task.rows.statistics(task.rows.complete(best, "exact", rng), joined)
    return task.climb(joined, start, rng, task.completion)
