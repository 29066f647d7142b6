"""Completed paths: which state each position of each sequence visits."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jensen.exceptions import DataError
from jensen.state_merging.merged_counts import Array, Counts, Indices, summarise
from jensen.support.checks import check_whole


class Paths(NamedTuple):
    """The distinct sequences end to end, and the state at each of their positions."""

    symbols: Indices  # (P,)
    weights: Array  # (P,) of the sequence that a position belongs to
    begins: Indices  # positions
    ends: Indices
    states: Indices  # (P,) numbers, not necessarily in a row


class Places(NamedTuple):
    """The same states, numbered in a row, and what comes before and after them."""

    numbers: Indices  # (K,) as in the paths, rising
    states: Indices  # (P,) places in `numbers`
    before: Indices  # (P,) the outside is K
    after: Indices


def read_paths(sequences: Sequence[ArrayLike], n_symbols: int, weights: ArrayLike | None) -> Paths:
    """The distinct sequences, the most frequent first, then the shortest: a state per position."""
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


def place(paths: Paths) -> Places:
    """Number the states in a row."""
    numbers, states = np.unique(paths.states, return_inverse=True)
    outside = len(numbers)
    before, after = np.append(outside, states[:-1]), np.append(states[1:], outside)
    before[paths.begins] = after[paths.ends] = outside
    return Places(numbers, states, before, after)


def count(paths: Paths, n_symbols: int) -> Counts:
    """Count along the paths; states in the order of their numbers."""
    numbers, states, before, _ = place(paths)
    outside = len(numbers)
    moves, emitted = np.zeros((outside + 1, outside + 1)), np.zeros((outside, n_symbols))
    np.add.at(moves, (before, states), paths.weights)
    np.add.at(moves[:, -1], states[paths.ends], paths.weights[paths.ends])
    np.add.at(emitted, (states, paths.symbols), paths.weights)
    return summarise(moves, emitted)


def _check_codes(k: int, sequence: ArrayLike, n_symbols: int) -> tuple[int, ...]:
    """One sequence as something that can be compared."""
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
