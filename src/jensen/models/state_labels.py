"""Labels of hidden states: what tells states apart, and a stable order where nothing does.

Samples are labelled alike by what their states have made, as Stephens (2000) and Papastamoulis and
Iliopoulos (2010) do, but through statistics: those of a sample times the t of a reference are the
log-likelihood of the sample's completed rows there, log p(x, h | θ), and the labels that make it
highest are taken. A state without rows has statistics 0, so it decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from jensen.families.tied import by_state
from jensen.support.fields import add, leaves, mean_record, rebuild, zip_fields

if TYPE_CHECKING:
    from jensen.models.protocol import Record, Unit
    from jensen.models.state_model import StateModel

Array = NDArray[np.float64]

Order = NDArray[np.intp]

LIVE = 0.5
"""A state lives if it is expected to have made more than half a row; the largest does always."""
ROUNDS = 10
"""So often the reference is made anew, at most; two or three are usual."""


def live_states(counts: Array) -> NDArray[np.bool_]:
    """Which states live."""
    return np.asarray((counts > LIVE) | (np.arange(len(counts)) == counts.argmax()))


def matched_orders(model: StateModel[Record, Unit], samples: Sequence[Record], first: int) -> Order:
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
            found[s] = best_pairs(log_like + np.outer(log_count, n))
            if "transition" in stats._fields:
                found[s] = _climb(stats, t, log_like, found[s])
        reference = mean_record(list(map(model.select, samples, found)))
        if np.array_equal(found, orders):
            break
        orders = found
    return orders[:, np.argsort(-model.state_counts(reference), kind="stable")]


def _with_average_row(model: StateModel[Record, Unit], stats: Record) -> Record:
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
        other = best_pairs(alone + given)
        if not value(other) > value(order) + 1e-9 * abs(value(order)):
            return order
        order = other


def best_pairs(value: Array) -> Order:
    """Which column belongs to each row, so that the sum is highest."""
    from scipy.optimize import linear_sum_assignment  # slow to import, and few learners sample

    return np.asarray(linear_sum_assignment(value, maximize=True)[1])


def log_labellings(
    model: StateModel[Record, Unit], counts: Array, eta: Record | None = None
) -> float:
    """Log of how many labellings are as good as this one, and apart from it.

    Permuting states that are alike makes no other labelling: all that do not live, and live ones
    whose posteriors are much the same. So it is log K! less the log m! of every m that are alike.

    Parameters
    ----------
    model
        A symmetric model.
    counts : array (K,)
        How many rows each state has.
    eta
        The posterior, if there is one.
    """
    live = np.flatnonzero(live_states(counts))
    groups: list[list[int]] = []
    for k in live.tolist():
        for group in groups:
            if eta is not None and _overlap(model, eta, group[0], k) > 0.5:
                group.append(k)
                break
        else:
            groups.append([k])
    sizes = [len(counts) - len(live), *map(len, groups)]
    return float(gammaln(len(counts) + 1.0) - gammaln(np.add(sizes, 1.0)).sum())


def _overlap(model: StateModel[Record, Unit], eta: Record, j: int, k: int) -> float:
    """∫ √(q q') for a posterior and the same with two states swapped; 1 if they are alike."""
    swapped = model.select(eta, _swap(model.n_states, j, k))
    pairs = zip(leaves(eta), leaves(swapped), strict=True)
    middle = rebuild(eta, (0.5 * (a + b) for a, b in pairs))
    gap = _log_partition(model, middle) - _log_partition(model, eta)
    return float(np.exp(min(gap, 0.0)))


def _log_partition(model: StateModel[Record, Unit], eta: Record) -> float:
    pairs = zip(model.families, eta, strict=True)
    return float(sum(family.log_partition(own) for family, own in pairs))


def _swap(n_states: int, j: int, k: int) -> NDArray[np.intp]:
    order = np.arange(n_states)
    order[[j, k]] = k, j
    return order


def find_twins(
    model: StateModel[Record, Unit], start: Record, counts: Array
) -> tuple[int, int] | None:
    """Two states that have rows and begin alike, so that an ascent never parts them; or None.

    Components of a mixture are alike if their parameters are: whatever their weights, each gets
    the same share of every row. States of a chain must besides go on alike, and be come to in the
    same proportion from every state; else their shares differ from step to step. What is wholly
    held is as its owner wants it.

    Parameters
    ----------
    model
        The model, with what it holds.
    start
        η whose mode is the start.
    counts : array (K,)
        How many rows each state has at the start.
    """
    learned = {"components", "emission", "transition"}.intersection(start._fields)
    if learned <= set(model.held):
        return None
    t = zip_fields(lambda family, eta: family.mode_stats(eta), model.families, start)
    emission = by_state(t[-1])
    for j, k in _equal_rows(by_state(start[-1])):
        if (
            counts[j] + counts[k] > 2.0 * LIVE
            and np.allclose(emission[j], emission[k], rtol=1e-9, atol=0.0)
            and _moves_alike(t, j, k)
            and model.has_same_prior(_swap(model.n_states, j, k))
        ):
            return j, k
    return None


def _equal_rows(rows: Array) -> list[tuple[int, int]]:
    """Pairs of equal rows."""
    seen: dict[bytes, int] = {}
    first = [seen.setdefault(row.tobytes(), k) for k, row in enumerate(rows)]
    return [(j, k) for k, j in enumerate(first) if j != k]


def _moves_alike(t: Any, j: int, k: int) -> bool:
    """Whether two states of a chain have the same ways out, and ways in with one proportion."""
    if "transition" not in t._fields:
        return True
    moves = np.exp(t.transition)
    into = np.concatenate([np.exp(t.initial)[None], moves[:, : len(moves)]])
    a, b = into[:, j] * into[:, k].sum(), into[:, k] * into[:, j].sum()
    return np.allclose(moves[j], moves[k], rtol=1e-9, atol=0.0) and np.allclose(a, b, 1e-9, 0.0)
