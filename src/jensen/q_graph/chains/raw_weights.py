"""Log weights of parent sets, score and prior together, and which variables may be parents.

With many variables not all parent sets can be weighed. So every variable has candidates, and all
their subsets are weighed; sets of one or two parents that are not all candidates ("outside") stay
possible too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.constraints import Constraints, read_start
from jensen.q_graph.search.climbing import Climber, hill_climb
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.parent_sets import candidate_scores, fill_family_scores
from jensen.scores.scorer import FillsRows, Scorer, offered
from jensen.scores.set_functions import sizes_of_sets
from jensen.support.machine import check_memory
from jensen.support.text import keyword, option

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Progress = Callable[[float], object] | None

ALL_UP_TO = 14
"""Up to so many variables, all others are candidates; of more, `CANDIDATES` of them."""

CANDIDATES = 12

PAIRS_UP_TO = 150
"""Up to so many variables, pairs outside the candidates stay possible unless chosen otherwise."""

SHARE_OF_PAIRS = 0.3
"""The share of the work, for the progress bar, that sets outside the candidates take."""


class RawWeights(NamedTuple):
    """Log weights of all parent sets that chains may meet; -inf where a set is not allowed."""

    candidates: list[list[int]]  # sorted, by child
    inside: list[Array]  # (2^K,) of the subsets of the candidates, by child
    singles: Array  # (n, n): [child, u] of {u} that is no candidate
    pairs: Array  # (n, n, n): [child, u, w] of {u, w} not within the candidates, or (n, 0, 0)


def raw_weights(
    scorer: Scorer,
    prior: GraphPrior,
    constraints: Constraints,
    candidates: int | Mapping[int, Sequence[int]] | None = None,
    outside: int | None = None,
    progress: Progress = None,
) -> RawWeights:
    """Score all parent sets that are possible.

    Parameters
    ----------
    candidates
        How many candidate parents every variable has, or which (by child; others are chosen).
    outside
        Sets of up to so many parents (0, 1 or 2) stay possible that are not within the candidates.
    """
    n = len(scorer.names)
    given = dict(candidates) if isinstance(candidates, Mapping) else {}
    wanted = candidates if isinstance(candidates, int) else None
    n_candidates = _default_candidates(n) if wanted is None else min(wanted, n - 1)
    sizes = [len(given[v]) if v in given else n_candidates for v in range(n)]
    most = min(constraints.most_parents, max(n - 1, 0))
    reach = min(_default_outside(n) if outside is None else outside, most)
    reach = reach if min(sizes, default=0) < n - 1 else 0
    _check_memory(n, max(sizes, default=0), reach)
    needs_ranks = n_candidates < n - 1 and len(given) < n
    singles, pairs = _outside_scores(scorer, max(reach, int(needs_ranks)), progress)
    chosen = given
    if len(given) < n:
        ranked = (
            rank_others(scorer, constraints, singles, pairs)
            if needs_ranks
            else [[u for u in range(n) if u != v] for v in range(n)]
        )
        chosen = {v: ranked[v][:n_candidates] for v in range(n)} | given
    lists = complete_candidates(chosen, constraints)
    table = _all_at_once(scorer, constraints, lists)
    inside = []
    for v in range(n):
        inside.append(_inside(scorer, prior, constraints, v, lists[v], table))
        if progress is not None:
            progress(SHARE_OF_PAIRS + (1 - SHARE_OF_PAIRS) * (v + 1) / n)
    return RawWeights(lists, inside, *_outside(singles, pairs, prior, constraints, lists, reach))


def _default_candidates(n: int) -> int:
    return max(n - 1, 0) if n <= ALL_UP_TO else CANDIDATES


def _default_outside(n: int) -> int:
    return 2 if n <= PAIRS_UP_TO else 1


def _check_memory(n: int, n_candidates: int, outside: int) -> None:
    n_bytes = 36.0 * n * 2.0**n_candidates + 16.0 * n ** (1.0 + outside)
    check_memory(
        n_bytes,
        f"the weights of the subsets of {n_candidates} candidate parents of {n} variables",
        f"choose fewer {keyword('candidates')}, or {option('outside', 1)}",
    )


def _outside_scores(scorer: Scorer, reach: int, progress: Progress) -> tuple[Array, Array]:
    """Scores [child, u] and [child, u, w] of one and two parents."""
    n = len(scorer.names)
    singles = np.full((n, n), -np.inf)
    has_pairs = reach > 1
    pairs = np.full((n, n, n) if has_pairs else (n, 0, 0), -np.inf)
    if reach == 0:
        return singles, pairs
    for v in range(n):
        singles[v] = scorer.with_each(v, [])
        singles[v, v] = -np.inf
        if has_pairs:
            for u in range(n):
                if u != v:
                    pairs[v, u] = scorer.with_each(v, [u])
            pairs[v] = _mirrored(pairs[v], v)
        if progress is not None:
            progress(SHARE_OF_PAIRS * (v + 1) / n)
    return singles, pairs


def _mirrored(pairs: Array, child: int) -> Array:
    """Symmetric to the last digit, and nothing where there is no pair."""
    upper = np.triu(np.ones(pairs.shape, bool), 1)
    upper[child] = upper[:, child] = False
    above = np.where(upper, pairs, -np.inf)
    return np.maximum(above, above.T)


def _all_at_once(
    scorer: Scorer, constraints: Constraints, lists: Sequence[Sequence[int]]
) -> Array | None:
    """(n, 2^(n-1)): all families from one table of sets, if all others are candidates."""
    n = len(lists)
    has_table = scorer.is_set_function and offered(scorer, FillsRows) is not None
    if not has_table or min(map(len, lists), default=0) < n - 1:
        return None
    out = np.empty((n, 1 << (n - 1)))
    fill_family_scores(scorer, out, min(constraints.most_parents, n - 1))
    return out


def _inside(
    scorer: Scorer,
    prior: GraphPrior,
    constraints: Constraints,
    v: int,
    candidates: list[int],
    table: Array | None,
) -> Array:
    most = min(constraints.most_parents, len(candidates))
    found = candidate_scores(scorer, v, candidates, most) if table is None else table[v]
    scores = found + prior.of_sets(v, candidates)
    scores[sizes_of_sets(len(candidates)) > most] = -np.inf
    for k, u in enumerate(candidates):
        if constraints.required[u, v]:
            scores.reshape(-1, 2, 1 << k)[:, 0] = -np.inf
    return scores


def _outside(
    singles: Array,
    pairs: Array,
    prior: GraphPrior,
    constraints: Constraints,
    lists: list[list[int]],
    reach: int,
) -> tuple[Array, Array]:
    """The weights of sets that are not within the candidates."""
    odds = np.where(constraints.forbidden, -np.inf, prior.log_odds).T  # [child, parent]
    if reach < 1:
        singles = np.full_like(singles, -np.inf)
    singles = singles + odds + prior.by_size[min(1, len(prior.by_size) - 1)]
    if pairs.size:
        pairs = pairs + odds[:, :, None] + odds[:, None, :] + prior.by_size[2]
    for v, candidates in enumerate(lists):
        singles[v, candidates] = -np.inf
        needed = np.flatnonzero(constraints.required[:, v])
        if len(needed):  # required parents are candidates, so {u} outside lacks them
            singles[v] = -np.inf
        if pairs.size:
            pairs[v][np.ix_(candidates, candidates)] = -np.inf
            _keep_required(pairs[v], needed)
    return singles, pairs


def _keep_required(pairs: Array, needed: NDArray[Any]) -> None:
    """Only pairs that hold all required parents stay."""
    if len(needed) == 0:
        return
    stays = np.zeros(pairs.shape, bool)
    if len(needed) == 1:
        stays[needed[0]] = stays[:, needed[0]] = True
    pairs[~stays] = -np.inf


def rank_others(
    scorer: Scorer, constraints: Constraints, singles: Array, pairs: Array
) -> list[list[int]]:
    """Rank, for each variable, all others that may be its parents, the most promising first.

    Neighbours in a graph found by hill climbing come first. Others follow by the best score of a
    parent set that holds them: alone, with one other, with the parents in that graph, or with all
    but one of these parents.
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


def complete_candidates(
    candidates: Mapping[int, Sequence[int]], constraints: Constraints
) -> list[list[int]]:
    """Sorted lists of candidates, with required parents and without forbidden ones."""
    lists = []
    for v in range(len(candidates)):
        found = set(candidates[v]) | set(np.flatnonzero(constraints.required[:, v]).tolist())
        lists.append(sorted(found - set(np.flatnonzero(constraints.forbidden[:, v]).tolist())))
    return lists
