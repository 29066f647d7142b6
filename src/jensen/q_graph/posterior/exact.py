"""A posterior summed over all graphs; what has no sum of its own comes from independent draws."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.q_graph.posterior.answers import Probabilities
from jensen.q_graph.posterior.base import SMALL, Edges, StructurePosterior
from jensen.q_graph.posterior.enumeration import MOST_ENUMERATED, all_graphs
from jensen.q_graph.posterior.estimate import Average, Estimate
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.q_graph.posterior.model_averages import ScoredTable
from jensen.q_graph.sums.exact_posterior import ExactGraphs, MostProbable
from jensen.scores.scorer import Scorer
from jensen.support.checks import check_whole
from jensen.support.memory import check_many
from jensen.support.randomness import as_generator
from jensen.support.text import plural

N_DRAWS = 10_000
"""Graphs that are drawn for features without a sum of their own."""

Draws = tuple[NDArray[np.uint64], Array, None]


class Sums(Protocol):
    """Sums over all graphs."""

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
        """The same less that of the prior alone."""

    @property
    def most_probable(self) -> MostProbable | None:
        """The most probable graph; None where it is not known."""

    def parent_set_probabilities(self, child: int) -> Array:
        """(2^(n-1),): bit k of the position is the k-th other variable."""

    def path_matrix(self) -> Array:
        """(n, n) [from, to]; refused where it would take too long."""

    def draw(self, n_draws: int, rng: np.random.Generator) -> Draws:
        """Independent draws: parents as bits (S, n, words) and scores (S,); all count alike."""


class ExactPosterior(StructurePosterior):
    """A posterior whose edges, parent sets, best graph and paths (of a dozen variables) are exact.

    Further features, queries and predictions are averages over all graphs if there are no more
    than five variables, else over 10,000 independent draws, with their Monte-Carlo errors.

    Parameters
    ----------
    exact
        The sums.
    scorer
        Of the data, for model averages; None if they are not at hand.
    settings
        What was chosen, by name: plain data, as in `SampledPosterior`.
    samples
        Graphs that were drawn before.
    random_state
        Of the draws.
    source
        The kind of dataframe that tables are given back as.
    data
        What the scorer is made of: a copy makes it again.
    """

    def __init__(
        self,
        exact: Sums,
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
        if few and self._scorer is not None and isinstance(self.exact, ExactGraphs):
            return all_graphs(self._scorer, self.exact.prior, self.exact.constraints)
        return self._draw(N_DRAWS, copy.deepcopy(self._rng))  # what shares it draws the same

    def _draw(self, n: int, rng: np.random.Generator) -> GraphSamples:
        parents, scores, _ = self.exact.draw(n, rng)
        return GraphSamples(self.names, parents[None], scores[None], kind="draws")

    @cached_property
    def _edges(self) -> Edges:
        p = np.array(self.exact.edge_matrix, np.float64)
        unknown = np.full_like(p, np.nan)
        return Edges(p, np.zeros_like(p), unknown, unknown)

    def undirected_probability(self, a: str, b: str) -> Estimate:
        """The probability of an edge between a and b, in whatever direction; exact."""
        i, j = self._pair(a, b)
        return Estimate(self._edges.probability[i, j] + self._edges.probability[j, i])

    def parent_sets(self, x: str, threshold: float = SMALL) -> Probabilities:
        """Every set of parents of x more probable than the threshold, the most probable first."""
        v = self._at(x)
        p = np.asarray(self.exact.parent_set_probabilities(v))
        others = [name for name in self.names if name != x]
        likely = np.flatnonzero(p > threshold)
        names = [tuple(y for k, y in enumerate(others) if m >> k & 1) for m in likely.tolist()]
        zero = np.zeros(len(likely))
        return self._probabilities(f"parents of {x}", names, Average(p[likely], zero, zero))

    def path_probability(self, a: str, b: str) -> Estimate:
        """The probability that a directed path leads from a to b.

        It is exact up to about a dozen variables; of more it comes from draws, with its error.
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

        Of graphs that are equally probable it is the one that `jensen.learn_structure` finds by
        method="exact". That takes a prior with a factor for each family: under one that counts
        orders it is the best graph of all up to five variables, and of more the one with the
        highest score of 10,000 draws, which `info.proven` tells.
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
        return f"StructurePosterior of {plural(len(self.names), 'variable')}: summed exactly"
