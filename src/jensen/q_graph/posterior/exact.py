"""The exact posterior; features without a closed sum come from enumeration or from draws."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.posterior.answers import Probabilities
from jensen.q_graph.posterior.base import SMALL, Edges, StructurePosterior
from jensen.q_graph.posterior.estimate import Average, Estimate
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.q_graph.posterior.model_averages import ScoredTable
from jensen.q_graph.sums.exact_posterior import MostProbable
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.scorer import Scorer, log_jacobian_of_units
from jensen.support.arguments import as_generator, check_whole
from jensen.support.machine import check_many
from jensen.support.text import plural

Draws = tuple[NDArray[np.uint64], Array, None]
Masks = NDArray[np.int64]

N_DRAWS = 10_000
"""The number of graphs that are drawn for features without a closed sum."""

MOST_ENUMERATED = 5
"""The most variables for which all graphs are enumerated: there are 29,281 DAGs of five."""


class ExactSums(Protocol):
    """The sums over all graphs that an exact posterior reads, computed or from a file."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    @property
    def edge_matrix(self) -> Array:
        """(n, n) [parent, child]."""

    @property
    def log_total(self) -> float:
        """Log Σ weight."""

    @property
    def log_evidence(self) -> float:
        """Log p(data): `log_total` minus the same sum over the prior alone."""

    @property
    def most_probable(self) -> MostProbable | None:
        """The most probable graph; None if it is not known."""

    def parent_set_probabilities(self, child: int) -> Array:
        """(2^(n-1),): bit k of the position is the k-th other variable."""

    def path_matrix(self) -> Array:
        """(n, n) [from, to]; an error if it would take too long."""

    def draw(self, n_draws: int, rng: np.random.Generator) -> Draws:
        """Independent draws with equal weights: parents as bits (S, n, words), scores (S,)."""


@runtime_checkable
class ListsSets(Protocol):
    """Sums that know the likely sets of parents of any number of variables."""

    def likely_sets(self, child: int, threshold: float) -> tuple[list[tuple[int, ...]], Array]:
        """The sets of parents that are more probable than a threshold, and their probabilities."""


@runtime_checkable
class KnowsGraphs(Protocol):
    """Sums that know which graphs they are over."""

    prior: GraphPrior
    constraints: Constraints


class ExactPosterior(StructurePosterior):
    """A posterior whose edges, parent sets, best graph and paths (of a dozen variables) are exact.

    Further features, queries and predictions are averages over all graphs if there are at most five
    variables, else over 10,000 independent draws, with Monte-Carlo errors.

    Parameters
    ----------
    exact
        The sums.
    scorer
        The scorer of the data, for model averages; None if there are no data.
    settings
        The choices of the run, by name: plain data, as in `SampledPosterior`.
    samples
        Graphs that were drawn before.
    random_state
        The random numbers of the draws.
    source
        The dataframe library of tables that are returned.
    data
        The table and choices from which a copy makes the scorer again.
    """

    def __init__(
        self,
        exact: ExactSums,
        scorer: Scorer | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        samples: GraphSamples | None = None,
        random_state: Any = 0,
        source: str = "pandas",
        data: ScoredTable | None = None,
    ) -> None:
        self.exact = exact
        self.names = exact.names
        self.settings = {"method": "exact", **(settings or {})}
        self._given, self._rng = samples, as_generator(random_state).spawn(1)[0]
        self._scorer, self._source, self._data = scorer, source, data

    @property
    def log_evidence(self) -> float:
        """Log p(data), summed over all graphs."""
        return float(self.exact.log_evidence)

    @cached_property
    def samples(self) -> GraphSamples:
        """All graphs with their weights, or independent draws."""
        if self._given is not None:
            return self._given
        few = len(self.names) <= MOST_ENUMERATED
        if few and self._scorer is not None and isinstance(self.exact, KnowsGraphs):
            return all_graphs(self._scorer, self.exact.prior, self.exact.constraints)
        return self._draw(N_DRAWS, copy.deepcopy(self._rng))  # copies draw the same graphs

    def _draw(self, n: int, rng: np.random.Generator) -> GraphSamples:
        parents, scores, _ = self.exact.draw(n, rng)
        return GraphSamples(self.names, parents[None], scores[None], kind="draws")

    @cached_property
    def _edges(self) -> Edges:
        p = np.array(self.exact.edge_matrix, np.float64)
        unknown = np.full_like(p, np.nan)
        return Edges(p, np.zeros_like(p), unknown, unknown)

    def undirected_probability(self, a: str, b: str) -> Estimate:
        """The exact probability of an edge between a and b, in either direction."""
        i, j = self._pair(a, b)
        return Estimate(self._edges.probability[i, j] + self._edges.probability[j, i])

    def parent_sets(self, x: str, threshold: float = SMALL) -> Probabilities:
        """Every set of parents of x more probable than the threshold, the most probable first."""
        v = self._at(x)
        if isinstance(self.exact, ListsSets):
            sets, found = self.exact.likely_sets(v, threshold)
            names = [tuple(self.names[u] for u in members) for members in sets]
        else:
            p = np.asarray(self.exact.parent_set_probabilities(v))
            others = [name for name in self.names if name != x]
            likely = np.flatnonzero(p > threshold)
            names = [tuple(y for k, y in enumerate(others) if m >> k & 1) for m in likely.tolist()]
            found = p[likely]
        zero = np.zeros(len(found))
        return self._probabilities(f"parents of {x}", names, Average(found, zero, zero))

    def path_probability(self, a: str, b: str) -> Estimate:
        """The probability that a directed path leads from a to b.

        It is exact up to about a dozen variables; with more it comes from draws, with an error.
        """
        i, j = self._pair(a, b)
        if self._paths is None:
            return super().path_probability(a, b)
        return Estimate(self._paths[i, j])

    @cached_property
    def path_matrix(self) -> Array:
        """(n, n): `path_probability` of every pair."""
        return super().path_matrix if self._paths is None else self._paths.copy()

    @cached_property
    def _paths(self) -> Array | None:
        try:
            return np.array(self.exact.path_matrix(), np.float64)
        except JensenError:  # too many variables
            return None

    @cached_property
    def best(self) -> DAG:
        """The most probable graph of all; its `info` tells the score and its exact probability.

        Of equally probable graphs it is the one that `jensen.learn_structure` finds with
        method="exact". This needs a prior with one factor per family. Under a prior that counts
        orders it is the best graph of all up to five variables; with more it is the best of 10,000
        draws. `info.proven` tells which.
        """
        found = self.exact.most_probable
        if found is None:
            return super().best
        pairs = [(u, v) for v, above in enumerate(found.parents) for u in above]
        dag = DAG([(self.names[u], self.names[v]) for u, v in pairs], self.names)
        probability = math.exp(min(found.log_weight - self.exact.log_total, 0.0))
        return self._judged(dag, found.log_weight, probability, proven=True)

    def sample(self, n: int, random_state: Any = None) -> list[DAG]:
        """Draw n graphs, independently."""
        check_whole("n", n, at_least=0)
        check_many(n, 512.0 + 64.0 * len(self.names), "graphs (n)", "draw fewer at a time")
        if self._given is not None or self.samples.kind == "all" or n == 0:
            return super().sample(n, random_state)
        drawn = self._draw(n, as_generator(random_state))
        return [drawn.dag(int(d)) for d in drawn.which[0]]

    def _headline(self) -> str:
        of = " in a known order" if self.settings.get("known_order") else ""
        return f"StructurePosterior of {plural(len(self.names), 'variable')}{of}: summed exactly"


def all_graphs(scorer: Scorer, prior: GraphPrior, constraints: Constraints) -> GraphSamples:
    """Every graph that the constraints allow, weighted by its posterior probability."""
    n = len(scorer.names)
    families = [_families(scorer, prior, constraints, v) for v in range(n)]
    sizes = [len(masks) for masks, _ in families]
    choice = np.indices(sizes, np.int8).reshape(n, -1)
    parents = np.array([masks[k] for (masks, _), k in zip(families, choice, strict=True)])
    possible = _acyclic(parents)
    parents, choice = parents[:, possible], choice[:, possible]
    scores = sum(
        (logs[k] for (_, logs), k in zip(families, choice, strict=True)), np.zeros(len(choice[0]))
    )
    if prior.counts_orders:
        scores = scores + np.log(n_orders(parents))
    bits = parents.T.astype(np.uint64)[None, :, :, None]
    total = scores + log_jacobian_of_units(scorer)
    return GraphSamples(scorer.names, bits, total[None], None, scores[None], "all")


def _families(
    scorer: Scorer, prior: GraphPrior, constraints: Constraints, child: int
) -> tuple[Masks, Array]:
    """The allowed parent sets of a child as bits, and the score plus log prior of each."""
    n = len(scorer.names)
    must = sum(1 << int(u) for u in np.flatnonzero(constraints.required[:, child]))
    never = 1 << child | sum(1 << int(u) for u in np.flatnonzero(constraints.forbidden[:, child]))
    masks, logs = [], []
    for mask in range(1 << n):
        if mask & never or mask & must != must or mask.bit_count() > constraints.most_parents:
            continue
        members = [u for u in range(n) if mask >> u & 1]
        masks.append(mask)
        logs.append(scorer.family(child, members) + prior.of_family(child, members))
    return np.array(masks, np.int64), np.array(logs)


def _acyclic(parents: Masks) -> NDArray[np.bool_]:
    """(graphs,): whether the graph of parents (n, graphs) is acyclic."""
    left = np.full(parents.shape[1], (1 << len(parents)) - 1)
    for _ in parents:
        for v, above in enumerate(parents):
            left = np.where(above & left, left, left & ~(1 << v))
    return np.asarray(left == 0)


def n_orders(parents: Masks) -> Array:
    """(graphs,): the number of topological orders, by a dynamic program over initial sets."""
    n = len(parents)
    ways = np.zeros((1 << n, parents.shape[1]))
    ways[0] = 1.0
    for first in range(1 << n):
        for v in range(n):
            if not first >> v & 1:
                ways[first | 1 << v] += np.where(parents[v] & ~first, 0.0, ways[first])
    return np.asarray(ways[-1])
