"""The exact posterior over all graphs of a few variables, by sums over DAGs or over orders.

A graph counts once for every order that it is consistent with. Given an order, each variable
chooses its parents among those before it, so a sum over orders is a dynamic program over the set of
variables before a position: forwards over the sets before, backwards over the sets after. All terms
are positive, so logarithms in double precision lose nothing. Sums over DAGs stand in `dag_sums`.

References
----------
Koivisto and Sood (2004), *Exact Bayesian structure discovery in Bayesian networks*, JMLR.
"""

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
from jensen.q_graph.sums.graph_sums import (
    GraphSums,
    Predecessors,
    draw_parent_sets,
    log_subset_sums,
    log_superset_sums,
    split,
)
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.scorer import Progress, Scorer, log_jacobian_of_units
from jensen.scores.set_functions import between, members
from jensen.support.arguments import check_whole
from jensen.support.machine import check_memory, get_threads, ordered_map, run_all, show_bytes
from jensen.support.text import option

Array = NDArray[np.float64]
Bits = NDArray[np.uint64]

TOLERANCE = 1e-9
"""How far the probabilities of all parent sets of a variable may sum from 1."""


PIECE = 1 << 17
"""Sets that are processed between two checks for Ctrl-C."""

MOST_FOR_PATHS = 16
"""The most variables for exact probabilities of paths: about ten seconds."""

ORDER_TABLES = 3
"""Tables (n, 2^(n-1)) in memory: weights, their subset sums, and the factors of families."""


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


# --- sums over orders ---


@dataclass(frozen=True, eq=False)
class OrderSums:
    """Logarithms of sums over orders; bit v of a set is variable v.

    Parameters
    ----------
    log_sums : (n, 2^(n-1)) array
        Sums over the parents of a variable within a set; the variable's own bit is left out.
    below : (2^n,) array
        Sums over all orders of a set and all graphs that are consistent with them.
    above : (2^n,) array
        The same for the variables outside a set, which come after it.
    """

    log_sums: Array
    below: Array
    above: Array

    @property
    def log_total(self) -> float:
        """The logarithm of the sum over all orders and graphs."""
        return float(self.below[-1])

    def log_predecessors(self, child: int) -> Array:
        """(2^(n-1),): log of the share of orders in which exactly this set precedes the child."""
        both = members(self.below, child, False) + members(self.above, child, True)
        return np.asarray(both - self.log_total)

    def paths(self) -> Array:
        """(n, n): the probability of a path [from, to].

        A dynamic program adds the variables of the order one by one and keeps track of which of
        them descend from the first: 3^(n-1) pairs of sets for each variable.
        """
        from jensen.kernels.graph_sums import follow_descendants

        n = len(self.log_sums)
        self._check_paths(n)
        found = np.zeros((n, n))

        def follow(first: int) -> None:
            flow = np.zeros(3 ** (n - 1))
            follow_descendants(self.log_sums, self.below, self.above, first, flow, found[first])

        run_all(follow, range(n))
        return found

    def draw_predecessors(self, uniforms: Array) -> Predecessors:
        """Draw an order for each row of uniforms (S, n): parents are before their children."""
        from jensen.kernels.graph_draws import draw_orders

        before = np.zeros(uniforms.shape, np.int64)
        draw_orders(self.log_sums, self.above, uniforms, before)
        return Predecessors(before, np.zeros_like(before))

    def _check_paths(self, n: int) -> None:
        way_out = "leave out variables, or take the share of draws that have the path"
        n_bytes = 8.0 * 3.0 ** max(n - 1, 0) * min(get_threads(), max(n, 1))
        if n > MOST_FOR_PATHS:
            minutes = n * n * 3.0 ** (n - 1) * 5e-9 / 60
            raise JensenError(
                f"exact probabilities of paths over the orders of {n} variables would take some "
                f"{max(minutes, 1):,.0f} minutes and {show_bytes(n_bytes)}; there is a limit of "
                f"{MOST_FOR_PATHS} variables: {way_out}"
            )
        check_memory(n_bytes, f"exact probabilities of paths among {n} variables", way_out)


def sum_orders(log_weights: Array, progress: Progress = None) -> OrderSums:
    """Sum over all orders; log_weights (n, 2^(n-1)) of all families are at most 0."""
    from jensen.kernels.graph_sums import fill_above, fill_below

    n = len(log_weights)
    log_sums = np.empty_like(log_weights)

    def fill(child: int) -> None:
        log_sums[child] = log_subset_sums(log_weights[child])

    for done, _ in enumerate(ordered_map(fill, range(n))):
        _tell(progress, 0.7 * (done + 1) / n)
    below, above = np.empty((2, 1 << n))

    def advance(start: int) -> None:
        fill_below(log_sums, start, min(start + PIECE, 1 << n), below)

    def go_back(start: int) -> None:
        fill_above(log_sums, max((1 << n) - start - PIECE, 0), (1 << n) - start, above)

    for start in range(0, 1 << n, PIECE):
        run_all(lambda job: job[0](job[1]), ((advance, start), (go_back, start)))
        _tell(progress, 0.7 + 0.3 * min(start + PIECE, 1 << n) / (1 << n))
    if below[-1] == -np.inf:
        raise GraphError(IMPOSSIBLE)
    return OrderSums(log_sums, below, above)


def _tell(progress: Progress, share: float) -> None:
    if progress is not None:
        progress(share)
