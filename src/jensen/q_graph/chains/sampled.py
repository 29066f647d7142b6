"""What chains over graphs hand over: samples, and what is known of them in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.graphs.linear_extensions import count_linear_extensions
from jensen.q_graph.chains.order_sets import SampledOrders
from jensen.q_graph.chains.records import Array, Integers
from jensen.q_graph.chains.run import Chains, Run
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.posterior.graph_samples import GraphSamples
from jensen.q_graph.posterior.sampled import ChainRun
from jensen.scores.scorer import Scorer, log_jacobian_of_units

MOST_ORDERED = 30
"""Of more variables, the orders that graphs allow are not counted."""

Counts = dict[str, tuple[Integers, Integers]]


def check_weighable(n: int) -> None:
    """Refuse graphs of too many variables to count their orders."""
    if n > MOST_ORDERED:
        raise GraphError(
            f"a chain over orders has a prior that counts each graph once for every order that it "
            f"allows; for another prior these orders are counted, which is not done for {n} "
            f"variables, only up to {MOST_ORDERED}: use method='partition', or keep that prior "
            f"with prior='order' (or ('order', 'fair'))"
        )


def hand_over(
    run: Run, chains: Chains, scorer: Scorer, constraints: Constraints, is_weighted: bool
) -> ChainRun:
    """Samples of all chains; with weights 1 / number of orders if these are not to count."""
    parents = np.array([kept.parents for kept in chains.kept])
    shift = float(run.tops.sum()) + log_jacobian_of_units(scorer)
    scores = np.array([kept.scores for kept in chains.kept]) + shift
    states = np.array([kept.states for kept in chains.kept]) + shift
    weights = _order_weights(parents) if is_weighted else None
    orders = None
    if run.kind.keeps_orders and not is_weighted:
        orders = SampledOrders(run.cold, chains.kept)
    return ChainRun(
        GraphSamples(scorer.names, parents, scores, states, weights),
        _moves(run, chains),
        np.where(_left_out(run, constraints), np.nan, _outside(run, parents, weights)),
        None if orders is None else orders.edge_batches(),
        orders,
        chains.was_stopped,
    )


def _order_weights(parents: NDArray[np.uint64]) -> Array:
    """(chains, samples): - log of how many orders each graph allows; at most one word of bits."""
    n_chains, n_samples, n, _ = parents.shape
    rows, which = np.unique(parents.reshape(-1, n), axis=0, return_inverse=True)
    logs = np.empty(len(rows))
    for k, row in enumerate(rows.tolist()):
        links = [tuple(u for u in range(n) if bits >> u & 1) for bits in row]
        logs[k] = -float(np.log(float(count_linear_extensions(links))))
    return logs[which.reshape(-1)].reshape(n_chains, n_samples)


def _moves(run: Run, chains: Chains) -> Counts:
    found, ladders = {}, chains.ladders
    for k, name in enumerate(run.kind.moves):
        cold = [ladder.states[0].moves for ladder in ladders]
        accepted = np.array([moves.accepted[k] for moves in cold])
        found[name] = accepted, np.array([moves.tried[k] for moves in cold])
    for k in range(run.plan.n_temperatures - 1):
        exchanged = np.array([ladder.exchanged[k] for ladder in ladders])
        # neighbours may change places in every second round
        ends = [(int(b) - k, int(b - counted) - k) for b, counted in (x.rounds for x in ladders)]
        tried = np.array([last // 2 - first // 2 for last, first in ends])
        found[f"exchange of temperatures {k + 1} and {k + 2}"] = exchanged, tried
    return found


def _outside(run: Run, parents: NDArray[np.uint64], log_weights: Array | None) -> Array:
    """(n,): the share of samples in which a variable has parents that are no candidates."""
    n = run.n
    allowed = np.zeros(parents.shape[2:], np.uint64)
    for v in range(n):
        for u in np.flatnonzero(run.cold.place[v] >= 0).tolist():
            allowed[v, u // 64] |= np.uint64(1 << u % 64)
    is_outside = (parents & ~allowed).any(-1).reshape(-1, n)
    weights = None if log_weights is None else np.exp(log_weights - log_weights.max()).reshape(-1)
    return np.asarray(np.average(is_outside, axis=0, weights=weights))


def _left_out(run: Run, constraints: Constraints) -> NDArray[np.bool_]:
    """(n,): whether parents that are no candidates are allowed, but chains were not to try them.

    Then nothing is known of their share, which looks like 0.
    """
    raw, required = run.raw, constraints.required
    was_tried = (raw.singles > -np.inf).any(1) | (raw.pairs > -np.inf).any((1, 2))
    others = ~constraints.forbidden & ~np.eye(run.n, dtype=bool) & (run.cold.place < 0).T
    has_room = required.sum(0) < constraints.most_parents
    return np.asarray(~was_tried & has_room & others.any(0))
