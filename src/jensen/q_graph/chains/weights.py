"""What chains read of the weights of parent sets: sums over subsets, sets outside as numbers."""

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.chains.raw_weights import RawWeights
from jensen.support.chain_records import NOBODY, Integers, ParentWeights

Array = NDArray[np.float64]

STRONG = 200.0
"""Sets outside that weigh more than the smallest by more than this, in log, have own rows ..."""

SPREAD = 600.0
"""... and no row has weights that are further apart."""

Row = tuple[int, float, Array]
"""The parent, the log scale, and (n,) weights."""

Outside = tuple[Array, Array, Array, Array, Integers, Array, Array, Array]
"""The last fields of `ParentWeights`."""


def read_weights(raw: RawWeights, inverse_temperature: float = 1.0) -> tuple[ParentWeights, Array]:
    """The record that chains read, and for each variable the log weight that it is relative to.

    All log weights are multiplied by the inverse temperature.
    """
    n = len(raw.candidates)
    width = max([len(c) for c in raw.candidates], default=0)
    candidates = np.repeat(np.arange(n)[:, None], width, axis=1)
    place = np.full((n, n), NOBODY)
    log_weights = np.full((n, 1 << width), -np.inf)
    for v, listed in enumerate(raw.candidates):
        candidates[v, : len(listed)] = listed
        place[v, listed] = np.arange(len(listed))
        log_weights[v, : 1 << len(listed)] = inverse_temperature * raw.inside[v]
    singles, pairs = inverse_temperature * raw.singles, inverse_temperature * raw.pairs
    tops = np.maximum(log_weights.max(1), singles.max(1, initial=-np.inf))
    tops = np.maximum(tops, pairs.max((1, 2), initial=-np.inf))
    log_weights -= tops[:, None]
    ranked = np.argsort(-log_weights, axis=1, kind="stable").astype(np.int32)
    least = (log_weights > -np.inf).argmax(1)  # what is required alone: all others hold it
    outside = _outside(
        log_weights[np.arange(n), least], singles - tops[:, None], pairs - tops[:, None, None]
    )
    log_sums = _log_sums(log_weights)
    return ParentWeights(candidates, place, log_weights, log_sums, ranked, *outside), tops


def _log_sums(log_weights: Array) -> Array:
    """Of all subsets of every set; only positive terms, so nothing cancels."""
    sums = log_weights.copy()
    bit = 1
    while bit < sums.shape[1]:
        by_bit = sums.reshape(len(sums), -1, 2, bit)
        by_bit[:, :, 1] = np.logaddexp(by_bit[:, :, 1], by_bit[:, :, 0])
        bit *= 2
    return sums


def _outside(log_base: Array, singles: Array, pairs: Array) -> Outside:
    """The fields of `ParentWeights` about sets outside the candidates.

    What is e⁻⁷⁰⁰ of the base or less is nothing: who may have it may have the base instead.
    """
    n = len(log_base)
    log_outside = np.full(n, -np.inf)
    plain_singles, plain_pairs = np.zeros((n, n)), np.zeros(pairs.shape)
    rows: list[list[Row]] = []
    for v in range(n):
        both = pairs[v].copy() if pairs.size else np.full((n, n), -np.inf)
        np.fill_diagonal(both, singles[v])
        heaviest = both.max(initial=-np.inf)
        if heaviest > -np.inf:
            log_outside[v] = heaviest + np.log(np.triu(np.exp(both - heaviest)).sum())
        rows.append(_take_strong(both, log_base[v]))
        with np.errstate(under="ignore"):
            numbers = np.exp(both - log_base[v])
        plain_singles[v] = np.diagonal(numbers)
        if pairs.size:
            np.fill_diagonal(numbers, 0.0)
            plain_pairs[v] = numbers
    return (plain_singles, plain_pairs, log_base, log_outside, *_stacked(rows, n))


def _take_strong(both: Array, log_base: float) -> list[Row]:
    """Take out of a symmetric matrix of log weights all that are too strong for one scale."""
    rows: list[Row] = []
    while True:
        is_strong = both > log_base + STRONG
        if not is_strong.any():
            return rows
        u = int(is_strong.sum(1).argmax())
        scale = float(both[u].max())
        taken = both[u] > scale - SPREAD
        rows.append((u, scale, np.where(taken, np.exp(both[u] - scale), 0.0)))
        both[u, taken] = both[taken, u] = -np.inf


def _stacked(rows: list[list[Row]], n: int) -> tuple[Integers, Array, Array, Array]:
    """As arrays with as many rows for each variable as the one with most has."""
    most = max(map(len, rows), default=0)
    strong = np.full((n, most), NOBODY)
    weights = np.zeros((n, most, n))
    log_row, log_total = np.full((2, n, most), -np.inf)
    for v, mine in enumerate(rows):
        for k, (u, scale, row) in enumerate(mine):
            strong[v, k], weights[v, k], log_row[v, k] = u, row, scale
            log_total[v, k] = scale + np.log(row.sum())
    return strong, weights, log_row.copy(), log_total.copy()
