"""The results of chains over graphs: samples, counts of moves, and answers in closed form.

Given sampled orders, the probabilities of edges and of parent sets are sums in closed form, so that
no graph need be drawn for them (`SampledOrders`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.graphs.linear_extensions import count_linear_extensions
from jensen.q_graph.chains.graph_chains import GraphChainTask, SampledChains
from jensen.q_graph.chains.tempering import Ladder
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.posterior.graph_samples import GraphSamples
from jensen.q_graph.posterior.sampled import ChainRun
from jensen.scores.scorer import Scorer, log_jacobian_of_units
from jensen.support.chain_records import (
    Array,
    ChainSamples,
    Integers,
    ParentWeights,
    make_workspace,
)
from jensen.support.machine import ordered_map
from jensen.support.text import for_reader, option

if TYPE_CHECKING:
    from jensen.q_graph.chains.augmented_chains import AugmentedTask

MOST_ORDERED = 30
"""With more variables, the orders that a graph allows are not counted."""

Counts = dict[str, tuple[Integers, Integers]]

OR_FAIR = for_reader(" (or ('order', 'fair'))", ", also with --graph-prior fair beside it")


def check_weighable(n: int) -> None:
    """Refuse graphs of too many variables to count their orders."""
    if n > MOST_ORDERED:
        raise GraphError(
            f"a chain over orders has a prior that counts each graph once for every order that it "
            f"allows; for another prior these orders are counted, which is not done for {n} "
            f"variables, only up to {MOST_ORDERED}: use {option('method', 'partition')}, or keep "
            f"that prior with {option('prior', 'order', 'graph_prior')}{OR_FAIR}"
        )


def collect_samples(
    task: GraphChainTask | AugmentedTask,
    chains: SampledChains,
    scorer: Scorer,
    constraints: Constraints,
    is_weighted: bool,
) -> ChainRun:
    """Collect the samples of all chains, weighted by 1 / number of orders if `is_weighted`."""
    parents = np.array([kept.parents for kept in chains.samples])
    shift = float(task.tops.sum()) + log_jacobian_of_units(scorer)
    scores = np.array([kept.scores for kept in chains.samples]) + shift
    states = np.array([kept.states for kept in chains.samples]) + shift
    weights = _order_weights(parents) if is_weighted else None
    orders = None
    if task.kind.keeps_orders and not is_weighted:
        orders = SampledOrders(task.cold, chains.samples)
    return ChainRun(
        GraphSamples(scorer.names, parents, scores, states, weights),
        _count_moves(task, chains),
        np.where(_is_unknown(task, constraints), np.nan, _outside_share(task, parents, weights)),
        None if orders is None else orders.edge_batches(),
        orders,
        chains.was_stopped,
    )


def _order_weights(parents: NDArray[np.uint64]) -> Array:
    """(chains, samples): minus the log of the number of orders that each graph allows."""
    n_chains, n_samples, n, _ = parents.shape
    rows, which = np.unique(parents.reshape(-1, n), axis=0, return_inverse=True)
    logs = np.empty(len(rows))
    for k, row in enumerate(rows.tolist()):
        links = [tuple(u for u in range(n) if bits >> u & 1) for bits in row]
        logs[k] = -float(np.log(float(count_linear_extensions(links))))
    return logs[which.reshape(-1)].reshape(n_chains, n_samples)


def _count_moves(task: GraphChainTask | AugmentedTask, chains: SampledChains) -> Counts:
    found = {}
    for k, name in enumerate(task.kind.moves):
        cold = [end.states[0].moves for end in chains.ends]
        accepted = np.array([moves.accepted[k] for moves in cold])
        found[name] = accepted, np.array([moves.tried[k] for moves in cold])
    ladders = [end for end in chains.ends if isinstance(end, Ladder)]
    for k in range(task.plan.n_temperatures - 1):
        exchanged = np.array([ladder.exchanged[k] for ladder in ladders])
        # neighbours may change places in every second round
        ends = [(int(b) - k, int(b - counted) - k) for b, counted in (x.rounds for x in ladders)]
        tried = np.array([last // 2 - first // 2 for last, first in ends])
        found[f"exchange of temperatures {k + 1} and {k + 2}"] = exchanged, tried
    return found


def _outside_share(
    task: GraphChainTask | AugmentedTask, parents: NDArray[np.uint64], log_weights: Array | None
) -> Array:
    """(n,): the share of samples in which a variable has parents that are no candidates."""
    n = task.n
    allowed = np.zeros(parents.shape[2:], np.uint64)
    for v in range(n):
        for u in np.flatnonzero(task.cold.place[v] >= 0).tolist():
            allowed[v, u // 64] |= np.uint64(1 << u % 64)
    is_outside = (parents & ~allowed).any(-1).reshape(-1, n)
    weights = None if log_weights is None else np.exp(log_weights - log_weights.max()).reshape(-1)
    return np.asarray(np.average(is_outside, axis=0, weights=weights))


def _is_unknown(
    task: GraphChainTask | AugmentedTask, constraints: Constraints
) -> NDArray[np.bool_]:
    """(n,): whether parents outside the candidates are allowed, but were not to be tried.

    Then nothing is known about their share, which looks like 0.
    """
    raw, required = task.raw, constraints.required
    was_tried = (raw.singles > -np.inf).any(1) | (raw.pairs > -np.inf).any((1, 2))
    others = ~constraints.forbidden & ~np.eye(task.n, dtype=bool) & (task.cold.place < 0).T
    has_room = required.sum(0) < constraints.most_parents
    return np.asarray(~was_tried & has_room & others.any(0))


BATCHES = 100
"""Probabilities are averaged over at most so many stretches of a chain; errors come from these."""

Members = tuple[int, ...]


class SampledOrders(NamedTuple):
    """The orders of every chain, and the weights that they were sampled by."""

    weights: ParentWeights
    samples: list[ChainSamples]

    def edge_batches(self) -> Array:
        """(chains, batches, n, n): probabilities of edges, averaged over stretches of a chain."""
        return np.array(list(ordered_map(self._edges, self.samples)))

    def set_batches(self, v: int, threshold: float) -> tuple[list[Members], Array]:
        """Parent sets of v above the threshold, and (chains, batches, sets) their probabilities."""
        shares = np.array(list(ordered_map(lambda kept: self._sets(v, kept), self.samples)))
        mean = shares.mean((0, 1))
        likely = np.flatnonzero(mean > threshold)
        return [self._members(v, int(k)) for k in likely], shares[:, :, likely]

    def _edges(self, kept: ChainSamples) -> Array:
        from jensen.kernels.order_chain import add_edge_shares

        n = len(self.weights.place)
        parts = _stretches(kept)
        edges, room = np.zeros((len(parts), n, n)), make_workspace(n)
        for k, part in enumerate(parts):
            add_edge_shares(part, self.weights, room, edges[k])
            edges[k] /= len(part)
        return edges

    def _sets(self, v: int, kept: ChainSamples) -> Array:
        """(batches, sets): subsets of the candidates first, then pairs u, w with u ≤ w."""
        from jensen.kernels.order_chain import add_set_shares

        n, n_inside = len(self.weights.place), self.weights.log_weights.shape[1]
        parts = _stretches(kept)
        found, room = np.zeros((len(parts), n_inside + n * n)), make_workspace(n)
        for k, part in enumerate(parts):
            inside, outside = found[k, :n_inside], found[k, n_inside:].reshape(n, n)
            add_set_shares(v, part, self.weights, room, inside, outside)
            found[k] /= len(part)
        return found

    def _members(self, v: int, position: int) -> Members:
        """The set at a position of `_sets`."""
        n, n_inside = len(self.weights.place), self.weights.log_weights.shape[1]
        if position >= n_inside:
            return tuple(sorted(set(divmod(position - n_inside, n))))
        listed = self.weights.candidates[v].tolist()
        return tuple(u for k, u in enumerate(listed) if position >> k & 1)


def _stretches(kept: ChainSamples) -> list[np.ndarray[tuple[int, int], np.dtype[np.int16]]]:
    """The orders of a chain, cut into stretches of about the same length."""
    n_samples = len(kept.scores)
    bounds = np.arange(min(BATCHES, n_samples) + 1) * n_samples // min(BATCHES, n_samples)
    return [kept.orders[a:b] for a, b in pairwise(bounds)]
