"""The most probable paths of sequences through a model, by the moves and symbols that it has."""

import numpy as np
from numpy.typing import NDArray

from jensen.state_merging.merged_counts import Array, Counts, Indices, Prior
from jensen.state_merging.paths import Paths

GRID = 2.0**30
"""Log probabilities are rounded to multiples of 1 / GRID: sums are exact, so equal paths are."""

BLOCK = 1 << 20
"""Cells, positions times states, of the sequences that are completed at a time."""


def log_means(table: Array, prior: Prior) -> Array:
    """Log of the posterior mean of each row, over the cells that it uses; -inf elsewhere."""
    used = table > 0.0
    weights = np.where(used, table + prior.concentration, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(weights / weights.sum(1, keepdims=True))
    return np.asarray(np.rint(logs * GRID) / GRID)


def best_paths(counts: Counts, prior: Prior, paths: Paths) -> tuple[Indices, NDArray[np.bool_]]:
    """The state of each position, and for which sequences the model has a path at all."""
    log_moves, log_emitted = log_means(counts.moves, prior), log_means(counts.emitted, prior)
    states = np.empty_like(paths.symbols)
    possible = np.empty(len(paths.begins), bool)
    cells = (paths.ends + 1) * len(log_emitted)
    blocks = np.searchsorted(cells, np.arange(BLOCK, cells[-1] + BLOCK, BLOCK), side="right")
    start = 0
    for stop in np.append(np.unique(blocks[blocks > 0]), len(cells)):
        if stop > start:
            a, b = paths.begins[start], paths.ends[stop - 1] + 1
            spans = np.stack([paths.begins, paths.ends + 1], 1)[start:stop] - a
            like = np.ascontiguousarray(log_emitted.T[paths.symbols[a:b]])
            states[a:b], possible[start:stop] = _viterbi(log_moves, like, spans)
        start = stop
    return states, possible


def _viterbi(log_moves: Array, like: Array, spans: Indices) -> tuple[Indices, NDArray[np.bool_]]:
    """The best states, of equal ones the first, and whether there are any."""
    from jensen.kernels.chains_log import choose_logs, filter_best

    first, last = log_moves[-1, :-1].copy(), log_moves[:-1, -1].copy()
    trans, best = np.ascontiguousarray(log_moves[:-1, :-1]), np.empty_like(like)
    path, after = np.empty((1, len(like)), np.int64), np.array([-1])
    filter_best(first, trans, spans, like, best, np.zeros(len(spans)))
    choose_logs(last, trans.T.copy(), spans, best, np.empty((0, 0)), after, path)
    return path[0], (best[spans[:, 1] - 1] + last).max(1) > -np.inf
