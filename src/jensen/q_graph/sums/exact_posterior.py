"""The exact posterior over all graphs of a few variables, by sums over DAGs or over orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.optimum.dynamic_programming import (
    IMPOSSIBLE,
    best_parents,
    family_table,
    without,
)
from jensen.q_graph.sums.dag_sums import DAG_TABLES, check_size, sum_dags
from jensen.q_graph.sums.graph_sums import GraphSums, draw_parent_sets, log_superset_sums, split
from jensen.q_graph.sums.order_sums import ORDER_TABLES, sum_orders
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.scorer import Progress, Scorer, log_jacobian_of_units
from jensen.scores.set_functions import between
from jensen.support.arguments import check_whole
from jensen.support.machine import check_memory, get_threads, ordered_map
from jensen.support.text import option

Array = NDArray[np.float64]
Bits = NDArray[np.uint64]

TOLERANCE = 1e-9
"""How far the probabilities of all parent sets of a variable may sum from 1."""


class MostProbable(NamedTuple):
    """The most probable graph of all."""

    parents: tuple[tuple[int, ...], ...]  # of each variable
    log_weight: float  # the score plus the log prior, up to its constant


@dataclass(frozen=True, eq=False)
class ExactGraphs:
    """The posterior over all graphs; variables are positions among the sorted names.

    Parameters
    ----------
    names
        The variables.
    log_weights : (n, 2^(n-1)) array
        Score plus log prior of every family, minus the highest of its child; for the numbering of
        sets see `jensen.scores.subset_scores`.
    highest : (n,) array
        The highest log weight of each child, which was subtracted.
    log_contexts : (n, 2^(n-1)) array
        The log of the factor that turns the weight of a family into its probability.
    edge_matrix : (n, n) array
        The probability of every edge [parent, child].
    sums
        The sums over all graphs.
    prior, constraints
        As given.
    offset
        A constant in the score of every graph: the log Jacobian of the units of continuous columns.
    """

    names: tuple[str, ...]
    log_weights: Array
    highest: Array
    log_contexts: Array
    edge_matrix: Array
    sums: GraphSums
    prior: GraphPrior
    constraints: Constraints
    offset: float = 0.0

    @property
    def log_total(self) -> float:
        """Log Σ_G p(x | G) w(G), where w is the prior up to its constant."""
        return self.sums.log_total + math.fsum([*self.highest, self.offset])

    @cached_property
    def log_evidence(self) -> float:
        """Log p(x); the constant of the prior is summed when this is first read."""
        weights, highest = _read_weights(
            cast(Scorer, _NoData(self.names)), self.prior, self.constraints, None
        )
        constant = _sum_graphs(self.prior)(weights, None).log_total + math.fsum(highest)
        return self.log_total - constant

    @cached_property
    def most_probable(self) -> MostProbable | None:
        """The most probable graph, by dynamic programming over subsets.

        None if the prior counts orders: their number is not a product over families.
        """
        if self.prior.counts_orders:
            return None
        parents = best_parents(self.log_weights + self.highest[:, None])
        each = [
            self.log_weights[v, without(sum(1 << u for u in above), v)]
            for v, above in enumerate(parents)
        ]
        return MostProbable(tuple(parents), math.fsum([*each, *self.highest, self.offset]))

    def parent_set_probabilities(self, child: int) -> Array:
        """(2^(n-1),): the probability of every set of parents of a variable."""
        return np.asarray(np.exp(self.log_weights[child] + self.log_contexts[child]))

    def path_matrix(self) -> Array:
        """(n, n): the probability that a variable is an ancestor of another [ancestor, other].

        Over DAGs it follows from the same sums (see `q_graph.sums.dag_sums`); over orders it takes
        n² 3^(n-1) further steps, and is refused for more than 16 variables.
        """
        return self.sums.paths()

    def draw(self, n_draws: int, rng: np.random.Generator) -> tuple[Bits, Array, None]:
        """Draw graphs from the posterior, each independent of the others.

        Over orders an order is drawn and then parents. Over DAGs the layers of a graph (by the
        longest path from a source) are drawn, and then parents of which one at least is in the
        layer before: a graph has its layers in one way only, so the draws are exact.

        Returns
        -------
        parents : (n_draws, n, W) array
            Bit u % 64 of word u // 64 says that u is a parent.
        scores : (n_draws,) array
            Log p(x | G) w(G), not counting orders.
        log_weights
            None: all draws have the same weight.
        """
        check_whole("n_draws", n_draws, at_least=0)
        n = len(self.names)
        n_bytes = 8.0 * n_draws * n * (8 + (n + 63) // 64)
        check_memory(n_bytes, f"{n_draws:,} draws of graphs", "draw fewer")
        uniforms = rng.random((2, n_draws, n))
        predecessors = self.sums.draw_predecessors(uniforms[0])
        parents, scores = draw_parent_sets(self.log_weights, predecessors, uniforms[1])
        return parents, scores + math.fsum([*self.highest, self.offset]), None


def exact_posterior(
    scorer: Scorer,
    prior: GraphPrior,
    constraints: Constraints,
    *,
    progress: Callable[[float], object] | None = None,
) -> ExactGraphs:
    """Sum over all graphs: over DAGs (3^n), or over orders (n 2^n) if the prior counts those.

    Parameters
    ----------
    scorer
        Log p(x | G), family by family.
    prior
        Its `counts_orders` decides what is summed.
    constraints
        Graphs that break them have probability 0.
    progress
        Called with the share of the work that is done.

    Examples
    --------
    >>> import jensen as jn
    >>> from jensen.q_graph.constraints import read_constraints
    >>> from jensen.scores.graph_priors import read_prior
    >>> from jensen.scores.make_scorer import make_scorer
    >>> scorer = make_scorer(jn.Table({"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5}), "bdeu")
    >>> prior = read_prior("uniform", scorer.names).prior
    >>> exact_posterior(scorer, prior, read_constraints(scorer.names)).edge_matrix.round(4)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    n = len(scorer.names)
    _check_room(n, prior)
    weights, highest = _read_weights(scorer, prior, constraints, between(progress, 0.0, 0.4))
    sums = _sum_graphs(prior)(weights, between(progress, 0.4, 0.8))
    contexts, edges = np.empty_like(weights), np.zeros((n, n))

    def fill(child: int) -> None:
        contexts[child] = log_superset_sums(sums.log_predecessors(child))
        probabilities = np.exp(weights[child] + contexts[child])
        _check_sum(probabilities.sum(), scorer.names[child])
        for place, parent in enumerate(v for v in range(n) if v != child):
            edges[parent, child] = split(probabilities, place)[:, 1].sum()

    for done, _ in enumerate(ordered_map(fill, range(n))):
        if progress is not None:
            progress(0.8 + 0.2 * (done + 1) / n)
    offset = log_jacobian_of_units(scorer)
    return ExactGraphs(
        scorer.names, weights, highest, contexts, edges, sums, prior, constraints, offset
    )


class _NoData:
    """A scorer without data: every family scores 0, so that only the prior is left."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        out[:] = 0.0


def _sum_graphs(prior: GraphPrior) -> Callable[[Array, Progress], GraphSums]:
    return sum_orders if prior.counts_orders else sum_dags


def _read_weights(
    scorer: Scorer, prior: GraphPrior, constraints: Constraints, progress: Progress
) -> tuple[Array, Array]:
    """Log weights of all families minus the highest of each child, and these highest ones."""
    required, forbidden, most = constraints
    weights = family_table(scorer, most, required, forbidden, progress)
    highest = np.zeros(len(weights))
    for child, row in enumerate(weights):
        row += prior.of_sets(child, [v for v in range(len(weights)) if v != child])
        highest[child] = row.max()
        if highest[child] == -math.inf:
            raise GraphError(IMPOSSIBLE)
        row -= highest[child]
    return weights, highest


def _check_room(n: int, prior: GraphPrior) -> None:
    """Refuse what takes too long or too much memory."""
    if prior.counts_orders:
        tables, way_out = ORDER_TABLES, ""
    else:
        check_size(n)
        tables, way_out = (
            DAG_TABLES,
            f"sum over orders ({option('prior', 'order', 'graph_prior')}), ",
        )
    # Beside the tables there are vectors of all sets: for each thread, for the scores, for all.
    n_bytes = 8.0 * 2.0**n * (tables * n / 2 + 8 * get_threads() + 8)
    check_memory(
        n_bytes,
        f"the exact posterior of {n} variables",
        f"leave out variables, {way_out}or sample with {option('method', 'partition')}",
    )


def _check_sum(total: float, name: str) -> None:
    """Raise an error if the probabilities of all parent sets of a variable do not sum to 1."""
    if not abs(total - 1.0) <= TOLERANCE:
        raise JensenError(
            f"the sums over all graphs lost digits: the probabilities of the parents of {name!r} "
            f"add up to {total!r}. This is a fault of Jensen, please report it; sample with "
            f"{option('method', 'partition')} instead"
        )
