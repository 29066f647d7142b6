"""Priors over graphs that are a sum over families, and scores to which such a prior is added.

log p(D | G) + log p(G), family by family.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.scores.parent_sets import SupersetBound, fill_family_scores, superset_bound
from jensen.scores.scorer import (
    Progress,
    Scorer,
    TakesPrior,
    isolated,
    log_jacobian_of_units,
    offered,
    unitless,
)
from jensen.scores.set_functions import sizes_of_sets
from jensen.support.arguments import is_real
from jensen.support.text import keyword, offer

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ORDER = "order"
NAMED = ("uniform", "fair")

PRIOR = keyword("prior", "graph_prior")


class GraphPrior(NamedTuple):
    """Log prior of a graph, up to a constant: a sum over families.

    Variables are positions among the sorted names.
    """

    by_size: Array  # (n,): log prior of having so many parents
    log_odds: Array  # (n, n): log odds of an edge [parent, child]
    counts_orders: bool  # whether a graph counts once for every order that it allows

    @property
    def is_equivalent(self) -> bool:
        """Whether equivalent graphs have the same prior: directions of edges do not matter."""
        return bool((self.log_odds == self.log_odds.T).all())

    def of_family(self, child: int, parents: Sequence[int]) -> float:
        """The log prior of one family."""
        return float(self.by_size[len(parents)] + self.log_odds[list(parents), child].sum())

    def of_sets(self, child: int, candidates: Sequence[int]) -> Array:
        """(2^K,): the log prior of each subset of candidates as parents; bit k: candidate k."""
        odds = np.zeros(1)
        for parent in candidates:
            odds = np.concatenate([odds, odds + self.log_odds[parent, child]])
        return np.asarray(odds + self.by_size[sizes_of_sets(len(candidates))])


class ReadPrior(NamedTuple):
    """A prior, and the edges that it requires (probability 1) or forbids (0)."""

    prior: GraphPrior
    required: Flags  # (n, n) [parent, child]
    forbidden: Flags

    def of_family(self, child: int, parents: Sequence[int]) -> float:
        """The log prior of one family: -inf if it lacks a required edge or has a forbidden one."""
        above = list(parents)
        is_required = self.required[:, child]
        if self.forbidden[above, child].any() or is_required[above].sum() < is_required.sum():
            return -math.inf
        return self.prior.of_family(child, parents)

    @property
    def directs(self) -> bool:
        """Whether it distinguishes directions of edges that the data cannot distinguish."""
        return not self.prior.is_equivalent or bool((self.required | self.forbidden).any())


def read_family_prior(prior: Any, names: Sequence[str]) -> ReadPrior:
    """Read a prior that is a sum over families; one that counts orders is not, and refused."""
    read = read_prior(prior, names)
    if read.prior.counts_orders:
        raise GraphError(
            f"prior={prior!r} counts a graph once for every order that it allows, which is no sum "
            f"over families, so no graph can be scored or searched by it: use 'uniform', 'fair' or "
            f"probabilities of edges; 'order' is for jn.structure_posterior"
        )
    return read


def read_prior(prior: Any, names: Sequence[str]) -> ReadPrior:
    """Read what the caller wrote.

    Parameters
    ----------
    prior
        "uniform": every graph alike. "fair": for each variable every number of parents alike, so
        1 / C(n - 1, k) for k of them. {("A", "B"): p, ...}: the edge A -> B has the odds
        p / (1 - p), others even ones; 0 forbids an edge and 1 requires it. "order", or
        ("order", one of these): each graph counts once for every order that it allows.
    """
    inner, counts_orders = prior, False
    if isinstance(prior, str) and prior == ORDER:
        inner, counts_orders = "uniform", True
    elif isinstance(prior, (tuple, list)) and len(prior) == 2 and prior[0] == ORDER:
        inner, counts_orders = prior[1], True
    n = len(names)
    by_size, log_odds = np.zeros(max(n, 1)), np.zeros((n, n))
    required, forbidden = np.zeros((2, n, n), bool)
    if isinstance(inner, Mapping):
        for pair, p in inner.items():
            u, v = _positions(pair, names)
            _check_probability(pair, p)
            required[u, v], forbidden[u, v] = p == 1, p == 0
            log_odds[u, v] = math.log(p / (1 - p)) if 0 < p < 1 else 0.0
    elif not (isinstance(inner, str) and inner in NAMED):
        raise GraphError(
            f"{PRIOR} is 'uniform', 'fair', a dictionary of edge probabilities, 'order', or "
            f"('order', one of these), not {prior!r}"
        )
    elif inner == "fair":
        by_size -= [math.log(math.comb(n - 1, k)) for k in range(n)]
    return ReadPrior(GraphPrior(by_size, log_odds, counts_orders), required, forbidden)


def _positions(pair: Any, names: Sequence[str]) -> tuple[int, int]:
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise GraphError(f"{PRIOR} has an edge {pair!r}: write it as a pair (from, to)")
    for name in pair:
        if name not in names:
            raise GraphError(
                f"{PRIOR} names {name!r}, which is no column; {offer(name, names, 'column')}"
            )
    if pair[0] == pair[1]:
        raise GraphError(f"{PRIOR} has an edge from {pair[0]!r} to itself")
    return names.index(pair[0]), names.index(pair[1])


def _check_probability(pair: tuple[str, str], p: Any) -> None:
    if not (is_real(p) and 0 <= p <= 1):
        raise GraphError(
            f"{PRIOR} gives the edge {pair[0]} -> {pair[1]} the probability {p!r}: "
            f"it must be between 0 and 1"
        )


def with_prior(scorer: Scorer, prior: GraphPrior) -> Scorer:
    """A scorer that adds the log prior of each family to its score."""
    if not prior.by_size.any() and not prior.log_odds.any():
        return scorer
    able = offered(scorer, TakesPrior)
    return PriorScorer(scorer, prior) if able is None else able.add_prior(prior)


@dataclass(frozen=True, eq=False)
class PriorScorer:
    """A scorer whose scores include the log prior of a family; implements `Scorer`."""

    data: Scorer
    prior: GraphPrior

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return self.data.names

    @property
    def is_set_function(self) -> bool:
        """As the scores are, if the prior is the same for all graphs of an equivalence class."""
        return self.data.is_set_function and self.prior.is_equivalent

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.data.total_weight

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return self.data.family(child, parents) + self.prior.of_family(child, parents)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        if not len(parents):
            return self.data.without_each(child, parents)
        odds = self.prior.log_odds[list(parents), child]
        prior = self.prior.by_size[len(parents) - 1] + odds.sum() - odds
        return np.asarray(self.data.without_each(child, parents) + prior)

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        further = self.data.with_each(child, parents)  # first: the scorer remembers the family
        if len(parents) + 1 >= len(self.names):  # there is no further one
            return further
        odds = self.prior.log_odds[:, child]
        prior = self.prior.by_size[len(parents) + 1] + odds[list(parents)].sum() + odds
        return np.asarray(further + prior)

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)) with the scores of all families."""
        fill_family_scores(self.data, out, max_parents, progress)
        for child, row in enumerate(out):
            row += self.prior.of_sets(child, [v for v in range(len(out)) if v != child])

    def superset_bound(self, child: int) -> BoundWithPrior | None:
        """The bound on the scores of the data, plus the most that the prior can add."""
        inner = superset_bound(self.data, child)
        return None if inner is None else BoundWithPrior(inner, self.prior, child)

    # --- units of columns, as in the scores of the data ---

    @property
    def isolated(self) -> frozenset[int]:
        """Constant columns, which have no edges in any graph."""
        return isolated(self.data)

    def unitless(self) -> PriorScorer:
        """The same scores without the log Jacobian of the units."""
        return PriorScorer(unitless(self.data), self.prior)

    def log_jacobian_of_units(self) -> float:
        """The constant that `unitless` took off the score of every graph."""
        return log_jacobian_of_units(self.data)


class BoundWithPrior:
    """A bound on the scores of the data, plus the most that the prior can add."""

    def __init__(self, data: SupersetBound, prior: GraphPrior, child: int) -> None:
        self.data = data
        self.odds = prior.log_odds[:, child]
        # with more than k parents: the best number of them, and every parent that is likely
        best = np.maximum.accumulate(prior.by_size[::-1])[::-1]
        self.best_above = np.append(best[1:], -np.inf)
        self.likely = np.maximum(np.delete(self.odds, child), 0.0).sum()

    def __call__(self, sets: NDArray[np.int64], reached: Array) -> Array:
        """(m,): for each of sets (m, k) a bound on the scores of all its proper supersets."""
        odds = self.odds[sets]
        most = self.best_above[sets.shape[1]] + self.likely + np.minimum(odds, 0.0).sum(axis=1)
        return np.asarray(self.data(sets, reached - most) + most)
