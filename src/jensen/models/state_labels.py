"""Labels of hidden states mean nothing: here they are given an order that is stable.

Samples are labelled alike by what their states have made, as Stephens (2000) and Papastamoulis and
Iliopoulos (2010) do, but through statistics: those of a sample times the t of a reference are the
log-likelihood of the sample's completed rows there, log p(x, h | θ), and the labels that make it
highest are taken. A state without rows has statistics 0, so it decides nothing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from jensen.models.emissions.state_records import by_state, mean_record
from jensen.support.fields import add, leaves, rebuild

Array = NDArray[np.float64]
Order = NDArray[np.intp]

LIVE = 0.5
"""A state lives if it is expected to have made more than half a row; the largest does always."""
ROUNDS = 10
"""So often the reference is made anew, at most; two or three are usual."""


def by_falling_count(counts: Array) -> Order:
    """States in the order of falling counts; equal ones stay in their order."""
    return np.argsort(-counts, kind="stable")


def live_states(counts: Array) -> NDArray[np.bool_]:
    """Which states live."""
    return np.asarray((counts > LIVE) | (np.arange(len(counts)) == counts.argmax()))


def matched_orders(model: Any, samples: Sequence[Any], first: int) -> Order:
    """(samples, K): which state of each sample is the first, the second, ...

    Parameters
    ----------
    model
        What they are samples of; nothing may tell its states apart.
    samples
        The statistics of completed rows.
    first
        The sample that all are compared with at first; then it is the mean of them all.
    """
    orders = np.tile(np.arange(model.n_states), (len(samples), 1))
    emissions = [by_state(stats[-1]) for stats in samples]
    counts = [model.state_counts(stats) for stats in samples]
    reference = samples[first]
    for _ in range(ROUNDS):
        seen = _with_average_row(model, reference)
        t = model.point(add(model.prior, seen))
        own, log_count = by_state(t[-1]), np.log(model.state_counts(seen))
        found = np.empty_like(orders)
        for s, (stats, rows, n) in enumerate(zip(samples, emissions, counts, strict=True)):
            log_like = own @ rows.T  # [j, k]: of the rows of k under j
            found[s] = _best_pairs(log_like + np.outer(log_count, n))
            if "transition" in stats._fields:
                found[s] = _climb(stats, t, log_like, found[s])
        reference = mean_record(list(map(model.select, samples, found)))
        if np.array_equal(found, orders):
            break
        orders = found
    return orders[:, by_falling_count(model.state_counts(reference))]


def _with_average_row(model: Any, stats: Any) -> Any:
    """Statistics with one row more for each state: the average of all.

    So a state without rows looks like the data as a whole. Its prior may be so vague that no row
    would fit it.
    """
    K = model.n_states
    turns = [model.select(stats, np.roll(np.arange(K), k)) for k in range(K)]
    share = K / model.state_counts(stats).sum()
    return add(stats, rebuild(stats, (share * leaf for leaf in leaves(mean_record(turns)))))


def _climb(stats: Any, t: Any, log_like: Array, order: Order) -> Order:
    """Labels with which log p(x, h | θ) of chains is at a local maximum, the transitions counted.

    The sum is quadratic in the labels. In turn it is made linear at those that there are, and the
    best labels of that are taken, for as long as it rises.
    """
    K = len(order)
    others = 1.0 - np.eye(K)
    moves, log_moves = others * stats.transition[:, :K], others * t.transition[:, :K]
    alone = log_like + np.outer(t.initial, stats.initial)
    alone += np.outer(np.diagonal(t.transition), np.diagonal(stats.transition))  # stays
    if stats.transition.shape[1] > K:
        alone += np.outer(t.transition[:, K], stats.transition[:, K])

    def value(order: Order) -> float:
        pairs = log_moves * moves[np.ix_(order, order)]
        return float(alone[np.arange(K), order].sum() + pairs.sum())

    while True:
        given = log_moves @ moves[:, order].T + log_moves.T @ moves[order]
        other = _best_pairs(alone + given)
        if not value(other) > value(order) + 1e-9 * abs(value(order)):
            return order
        order = other


def _best_pairs(value: Array) -> Order:
    """Which column belongs to each row, so that the sum is highest."""
    return np.asarray(linear_sum_assignment(value, maximize=True)[1])
