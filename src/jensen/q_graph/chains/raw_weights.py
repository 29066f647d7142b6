"""Log weights of parent sets: score and prior together, before anything is summed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.chains.candidates import complete, rank_others
from jensen.q_graph.constraints import Constraints
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.parent_sets import candidate_scores
from jensen.scores.scorer import Scorer
from jensen.scores.set_functions import sizes_of_sets
from jensen.support.memory import check_memory

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Progress = Callable[[float], object] | None

ALL_UP_TO = 14
"""Up to so many variables, all others are candidates; of more, `CANDIDATES` of them."""

CANDIDATES = 12

PAIRS_UP_TO = 150
"""Up to so many variables, pairs outside the candidates stay possible unless chosen otherwise."""

SHARE_OF_PAIRS = 0.3
"""Of the work, the scores of sets outside the candidates: what a progress bar is told."""


class RawWeights(NamedTuple):
    """Of all parent sets that chains may meet; -inf where a set is not allowed."""

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
    """Score all that is possible.

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
    lists = complete(chosen, constraints)
    inside = []
    for v in range(n):
        inside.append(_inside(scorer, prior, constraints, v, lists[v]))
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
        "choose fewer candidates=, or outside=1",
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


def _inside(
    scorer: Scorer, prior: GraphPrior, constraints: Constraints, v: int, candidates: list[int]
) -> Array:
    most = min(constraints.most_parents, len(candidates))
    scores = candidate_scores(scorer, v, candidates, most) + prior.of_sets(v, candidates)
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
