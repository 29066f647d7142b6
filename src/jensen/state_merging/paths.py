"""Completed paths: the state that each position of each sequence visits, and how to find it.

`read_paths` starts with one state per position; `best_paths` finds the most probable path of every
sequence through a model (Viterbi), using only the moves and symbols that the model has counted.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.exceptions import DataError
from jensen.state_merging.merged_counts import Array, Counts, Indices, Prior, summarise
from jensen.support.arguments import check_whole
from jensen.support.fields import add_at

GRID = 2.0**30
"""Log probabilities are rounded to multiples of 1 / GRID, so that sums, and ties, are exact."""

BLOCK = 1 << 20
"""The most cells (positions times states) of sequences that are completed at a time."""


class Paths(NamedTuple):
    """The distinct sequences end to end, and the state at each of their positions."""

    symbols: Indices  # (P,)
    weights: Array  # (P,) of the sequence that a position belongs to
    begins: Indices  # positions
    ends: Indices
    states: Indices  # (P,) numbers, not necessarily in a row


class NumberedPaths(NamedTuple):
    """Paths with states numbered from 0 to K - 1, and the states before and after each position."""

    numbers: Indices  # (K,) the states' numbers in the paths, ascending
    states: Indices  # (P,) indices into `numbers`
    before: Indices  # (P,) K stands for the outside
    after: Indices


def read_paths(sequences: Sequence[ArrayLike], n_symbols: int, weights: ArrayLike | None) -> Paths:
    """The distinct sequences by falling frequency, then by length; one state per position."""
    check_whole("n_symbols", n_symbols, at_least=1)
    codes = [_check_codes(k, sequence, n_symbols) for k, sequence in enumerate(sequences)]
    weight_of: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for code, weight in zip(codes, _check_weights(weights, len(codes)), strict=True):
        weight_of[code] += weight
    seen = (code for code, weight in weight_of.items() if weight > 0.0)
    distinct = sorted(seen, key=lambda code: (-weight_of[code], len(code), code))
    if not distinct:
        raise DataError("there are no sequences to learn from: give at least one, of weight > 0")
    lengths = np.array([len(code) for code in distinct])
    ends = np.cumsum(lengths) - 1
    return Paths(
        symbols=np.concatenate([np.array(code, np.int64) for code in distinct]),
        weights=np.repeat([weight_of[code] for code in distinct], lengths),
        begins=ends - lengths + 1,
        ends=ends,
        states=np.arange(lengths.sum()),
    )


def first_paths(paths: Paths, n_sequences: int) -> Paths:
    """The paths of the first sequences."""
    n = int(paths.ends[n_sequences - 1]) + 1
    begins, ends = paths.begins[:n_sequences], paths.ends[:n_sequences]
    return Paths(paths.symbols[:n], paths.weights[:n], begins, ends, paths.states[:n])


def number_states(paths: Paths) -> NumberedPaths:
    """Number the states from 0 to K - 1."""
    numbers, states = np.unique(paths.states, return_inverse=True)
    outside = len(numbers)
    before, after = np.append(outside, states[:-1]), np.append(states[1:], outside)
    before[paths.begins] = after[paths.ends] = outside
    return NumberedPaths(numbers, states, before, after)


def count(paths: Paths, n_symbols: int) -> Counts:
    """Count moves and symbols along the paths; states in the order of their numbers."""
    numbers, states, before, _ = number_states(paths)
    outside = len(numbers)
    moves, emitted = np.zeros((outside + 1, outside + 1)), np.zeros((outside, n_symbols))
    add_at(moves, (before, states), paths.weights)
    add_at(moves[:, -1], states[paths.ends], paths.weights[paths.ends])
    add_at(emitted, (states, paths.symbols), paths.weights)
    return summarise(moves, emitted)


def _check_codes(k: int, sequence: ArrayLike, n_symbols: int) -> tuple[int, ...]:
    """One sequence as a tuple; an error if it is empty or its codes are out of range."""
    codes = np.asarray(sequence)
    if codes.ndim != 1 or not codes.size:
        raise DataError(
            f"sequence {k + 1} has the shape {codes.shape}: give a list of codes with at least "
            f"one; the empty sequence visits no state"
        )
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_symbols:
        raise DataError(
            f"sequence {k + 1} must have whole numbers from 0 to {n_symbols - 1} (n_symbols - 1), "
            f"not {codes.min()!s} to {codes.max()!s} of type {codes.dtype}"
        )
    return tuple(codes.tolist())


def _check_weights(weights: ArrayLike | None, n_sequences: int) -> list[float]:
    """One weight per sequence."""
    values = np.ones(n_sequences) if weights is None else np.asarray(weights, float)
    if values.shape != (n_sequences,):
        raise DataError(
            f"weights have the shape {values.shape}: give one for each of {n_sequences}"
        )
    if not (np.isfinite(values) & (values >= 0.0)).all():
        raise DataError("weights must be finite and not negative")
    return [float(value) for value in values]


def log_means(table: Array, prior: Prior) -> Array:
    """Log of the posterior mean of each row, over the cells that it uses; -inf elsewhere."""
    used = table > 0.0
    weights = np.where(used, table + prior.concentration, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(weights / weights.sum(1, keepdims=True))
    return np.asarray(np.rint(logs * GRID) / GRID)


def best_paths(counts: Counts, prior: Prior, paths: Paths) -> tuple[Indices, NDArray[np.bool_]]:
    """The most probable state of each position, and for which sequences a path exists."""
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
    """The most probable states, the first of equals, and whether each sequence is possible."""
    from jensen.kernels.chains_log import choose_logs, filter_best

    first, last = log_moves[-1, :-1].copy(), log_moves[:-1, -1].copy()
    trans, best = np.ascontiguousarray(log_moves[:-1, :-1]), np.empty_like(like)
    path, after = np.empty((1, len(like)), np.int64), np.array([-1])
    filter_best(first, trans, spans, like, best, np.zeros(len(spans)))
    choose_logs(last, trans.T.copy(), spans, best, np.empty((0, 0)), after, path)
    return path[0], (best[spans[:, 1] - 1] + last).max(1) > -np.inf
