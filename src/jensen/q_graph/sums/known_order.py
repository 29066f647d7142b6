"""The posterior over all graphs that agree with a known order of the variables, in closed form.

Given an order, every variable chooses its parents among those before it, whatever the others do:

    log P(D | order) = Σ_v log Σ_{P before v} p(D_v | P) p(P | order),

so the probability of a family is its share of one sum, and a graph is drawn variable by variable.
With at most m parents there are O(n^(m + 1)) families: no sum over orders or graphs is left, and
any number of variables will do.

References
----------
Cooper and Herskovits (1992), Machine Learning 9, for one best graph given an order. Buntine (1991),
*Theory refinement on Bayesian networks*, UAI. Friedman and Koller (2003), Machine Learning 50,
equations 6 to 9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.optimum.dynamic_programming import IMPOSSIBLE
from jensen.q_graph.posterior.graph_samples import bits_of
from jensen.q_graph.sums.exact_posterior import MostProbable
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.parent_sets import MOST_FAMILIES, candidate_scores
from jensen.scores.scorer import Progress, Scorer, log_jacobian_of_units
from jensen.support.machine import check_memory
from jensen.support.text import bare

Array = NDArray[np.float64]
Bits = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Members = tuple[int, ...]

ALL_SUBSETS = 14
"""Of so many possible parents all subsets are scored at once, also those that are too large."""

MOST_FOR_PATHS = 20
"""The most variables for exact probabilities of paths: 2^20 sets of descendants."""


class ParentSets(NamedTuple):
    """All sets of parents that a variable may have."""

    members: Flags  # (S, n)
    log_weights: Array  # (S,): score plus log prior
    log_priors: Array  # (S,): the log prior alone

    @property
    def log_total(self) -> float:
        """Log of the sum of all weights."""
        return float(np.logaddexp.reduce(self.log_weights))

    @property
    def probabilities(self) -> Array:
        """(S,): the probability of each set."""
        return np.asarray(np.exp(self.log_weights - self.log_total))


@dataclass(frozen=True, eq=False)
class KnownOrder:
    """The posterior over all graphs in which every edge leads forward in an order.

    Parameters
    ----------
    names
        The variables, sorted. A variable is its position among them.
    order
        The variables from first to last.
    sets
        The sets of parents of each variable.
    prior, constraints
        As given; the constraints forbid edges that lead backward.
    offset
        A constant in the score of every graph: the log Jacobian of the units of continuous columns.
    """

    names: tuple[str, ...]
    order: tuple[int, ...]
    sets: tuple[ParentSets, ...]
    prior: GraphPrior
    constraints: Constraints
    offset: float = 0.0

    @cached_property
    def log_total(self) -> float:
        """Log Σ_G p(x | G) w(G), where w is the prior up to its constant."""
        return math.fsum([*(each.log_total for each in self.sets), self.offset])

    @cached_property
    def log_evidence(self) -> float:
        """Log p(x | order)."""
        priors = [float(np.logaddexp.reduce(each.log_priors)) for each in self.sets]
        return self.log_total - math.fsum(priors)

    @cached_property
    def edge_matrix(self) -> Array:
        """(n, n): the probability of every edge [parent, child]."""
        return np.array([each.probabilities @ each.members for each in self.sets]).T

    @cached_property
    def most_probable(self) -> MostProbable:
        """The most probable graph: the best parents of every variable."""
        best = [int(each.log_weights.argmax()) for each in self.sets]
        parents = tuple(
            tuple(np.flatnonzero(each.members[k]).tolist())
            for each, k in zip(self.sets, best, strict=True)
        )
        weights = [float(each.log_weights[k]) for each, k in zip(self.sets, best, strict=True)]
        return MostProbable(parents, math.fsum([*weights, self.offset]))

    def likely_sets(self, child: int, threshold: float) -> tuple[list[Members], Array]:
        """The sets of parents that are more probable than a threshold, and their probabilities."""
        p = self.sets[child].probabilities
        likely = np.flatnonzero(p > threshold)
        rows = self.sets[child].members[likely]
        return [tuple(np.flatnonzero(row).tolist()) for row in rows], p[likely]

    def parent_set_probabilities(self, child: int) -> Array:
        """(2^(n-1),): the probability of every set of parents; bit k is the k-th other variable."""
        found = np.zeros(1 << (len(self.names) - 1))
        sets = self.sets[child]
        found[_numbers(np.delete(sets.members, child, axis=1))] = sets.probabilities
        return found

    def path_matrix(self) -> Array:
        """(n, n): the probability of a path [from, to].

        For each variable a dynamic program over the sets of those that descend from it: one more
        variable descends from it if one of its parents does. These are 2^n steps in all.
        """
        n = len(self.names)
        if n > MOST_FOR_PATHS:
            raise JensenError(
                f"exact probabilities of paths are there for at most {MOST_FOR_PATHS} variables, "
                f"not for {n}: take the share of draws that have the path"
            )
        check_memory(8.0 * 4 * 2.0**n, f"probabilities of paths among {n} variables", "draw graphs")
        found = np.zeros((n, n))
        descend: list[Array] = [np.ones(1) for _ in range(n)]
        for k, child in enumerate(self.order):
            within = self._within(child)  # by the set of those before it: all parents are within
            for start in range(k):
                # descend[start]: the probability of each set that descends from the start, as bits
                known = descend[start]
                others = ~(np.arange(len(known)) << start + 1 | 1 << start) & (1 << k) - 1
                apart = known * within[others]
                found[self.order[start], child] = float((known - apart).sum())
                descend[start] = np.concatenate([apart, known - apart])
        return found

    def _within(self, child: int) -> Array:
        """(2^k,): the probability that all parents are within a set of the k variables before."""
        before = self.order[: self.order.index(child)]
        sets, n = self.sets[child], len(before)
        sums = np.zeros(1 << n)
        sums[_numbers(sets.members[:, list(before)])] = sets.probabilities
        for place in range(n):
            by_bit = sums.reshape(-1, 2, 1 << place)
            by_bit[:, 1] += by_bit[:, 0]
        return sums

    def draw(self, n_draws: int, rng: np.random.Generator) -> tuple[Bits, Array, None]:
        """Draw graphs, each independent of the others.

        Returns
        -------
        parents : (n_draws, n, W) array
            Bit u % 64 of word u // 64 says that u is a parent.
        scores : (n_draws,) array
            Log p(x | G) w(G).
        log_weights
            None: all draws have the same weight.
        """
        n = len(self.names)
        check_memory(16.0 * n_draws * n * (1 + (n + 63) // 64), f"{n_draws:,} draws", "draw fewer")
        parents = np.empty((n_draws, n, (n + 63) // 64), np.uint64)
        scores = np.full(n_draws, self.offset)
        for v, (each, uniforms) in enumerate(zip(self.sets, rng.random((n, n_draws)), strict=True)):
            ends = np.cumsum(each.probabilities)
            chosen = np.searchsorted(ends, uniforms * ends[-1], side="right")
            chosen = np.minimum(chosen, int(np.flatnonzero(each.probabilities)[-1]))
            parents[:, v] = bits_of(each.members)[chosen]
            scores += each.log_weights[chosen]
        return parents, scores, None


def known_order_posterior(
    scorer: Scorer,
    prior: GraphPrior,
    constraints: Constraints,
    order: Sequence[int],
    *,
    progress: Progress = None,
) -> KnownOrder:
    """Weigh all sets of parents that an order allows.

    Parameters
    ----------
    scorer
        Log p(x | G), family by family.
    prior, constraints
        The constraints forbid edges that lead backward.
    order
        All variables, from first to last.
    progress
        Called with the share of the work that is done.

    Examples
    --------
    >>> import jensen as jn
    >>> from jensen.q_graph.constraints import read_constraints
    >>> from jensen.scores.graph_priors import read_prior
    >>> from jensen.scores.make_scorer import make_scorer
    >>> scorer = make_scorer(jn.Table({"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5}), "bdeu")
    >>> given = read_constraints(scorer.names, forbidden=[("b", "a")])
    >>> prior = read_prior("uniform", scorer.names).prior
    >>> known_order_posterior(scorer, prior, given, [0, 1]).edge_matrix.round(4)
    array([[0., 1.],
           [0., 0.]])
    """
    rooms = [_room(constraints, v) for v in range(len(scorer.names))]
    _check_work(rooms)
    found: list[ParentSets] = []
    for v, room in enumerate(rooms):
        found.append(_weigh(scorer, prior, v, room))
        if progress is not None:
            progress((v + 1) / len(rooms))
    offset = log_jacobian_of_units(scorer)
    return KnownOrder(scorer.names, tuple(order), tuple(found), prior, constraints, offset)


class _Room(NamedTuple):
    """The parents that a variable must have, those it may have besides, and how many of these."""

    required: list[int]
    optional: list[int]
    most: int

    @property
    def n_sets(self) -> int:
        """The number of sets of parents."""
        return sum(math.comb(len(self.optional), k) for k in range(self.most + 1))


def _room(constraints: Constraints, v: int) -> _Room:
    required = np.flatnonzero(constraints.required[:, v]).tolist()
    may = ~constraints.forbidden[:, v] & ~constraints.required[:, v]
    may[v] = False
    optional = np.flatnonzero(may).tolist()
    return _Room(required, optional, min(constraints.most_parents - len(required), len(optional)))


def _check_work(rooms: Sequence[_Room]) -> None:
    """Refuse more sets of parents than can be scored in a few minutes, or fit in memory."""
    n_sets, n = sum(room.n_sets for room in rooms), len(rooms)
    if n_sets > MOST_FAMILIES:
        raise JensenError(
            f"with {n} variables in a known order there are {n_sets:,} sets of parents, more than "
            f"{MOST_FAMILIES:,}: choose {bare('max_parents')}, or lower it"
        )
    check_memory(
        (16.0 + n) * n_sets, f"{n_sets:,} sets of parents", f"choose {bare('max_parents')}"
    )


def _weigh(scorer: Scorer, prior: GraphPrior, v: int, room: _Room) -> ParentSets:
    """Score and prior of every set of parents of a variable."""
    allowed = sorted((*room.required, *room.optional))
    most = room.most + len(room.required)
    if len(allowed) <= ALL_SUBSETS or most >= len(allowed):
        members, scores = _by_subsets(scorer, v, allowed, most, room.required)
    else:
        members, scores = _by_further(scorer, v, room)
    log_priors = prior.by_size[members.sum(1)] + members @ prior.log_odds[:, v]
    log_weights = scores + log_priors
    if not (log_weights > -np.inf).any():
        raise GraphError(IMPOSSIBLE)
    return ParentSets(members, log_weights, log_priors)


def _by_subsets(
    scorer: Scorer, v: int, allowed: list[int], most: int, required: list[int]
) -> tuple[Flags, Array]:
    """All subsets of the possible parents are scored at once; those that are allowed are kept."""
    scores = candidate_scores(scorer, v, allowed, most)
    numbers = np.arange(len(scores))
    inside = (numbers[:, None] >> np.arange(len(allowed)) & 1).astype(bool)
    kept = inside.sum(1) <= most
    kept &= inside[:, [allowed.index(u) for u in required]].all(1)
    members = np.zeros((int(kept.sum()), len(scorer.names)), bool)
    members[:, allowed] = inside[kept]
    return members, scores[kept]


def _by_further(scorer: Scorer, v: int, room: _Room) -> tuple[Flags, Array]:
    """Sets are grown by one parent at a time: the scores of all further parents come at once."""
    members = np.zeros((room.n_sets, len(scorer.names)), bool)
    members[:, room.required] = True
    scores = np.empty(room.n_sets)
    scores[0] = scorer.family(v, room.required)
    at = 1
    for size in range(room.most):
        for chosen in combinations(range(len(room.optional)), size):
            last = chosen[-1] + 1 if chosen else 0
            later = room.optional[last:]
            if not later:
                continue
            own = [room.optional[k] for k in chosen]
            further = scorer.with_each(v, sorted((*room.required, *own)))
            rows = np.arange(at, at + len(later))
            members[at : at + len(later), own] = True
            members[rows, later] = True
            scores[rows] = further[later]
            at += len(later)
    return members, scores


def _numbers(members: Flags) -> NDArray[np.int64]:
    """(S,): rows of a few flags as whole numbers; bit k is column k."""
    return np.asarray(members @ np.left_shift(1, np.arange(members.shape[1])), np.int64)
