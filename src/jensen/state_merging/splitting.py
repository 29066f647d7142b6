"""Splits: the inverse of a merge, by what a path has visited before or visits after."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.state_merging.merged_counts import TIE, Array, Counts, Indices, Prior, log_rows, price
from jensen.state_merging.paths import Paths, Places, place

Mask = NDArray[np.bool_]


class Split(NamedTuple):
    """A part of the positions of one state, which are to have a state of their own."""

    state: int
    positions: Indices
    gain: float


def best_split(paths: Paths, counts: Counts, prior: Prior) -> Split | None:
    """The split that gains most, of those that raise the posterior."""
    places = place(paths)
    positions = [np.flatnonzero(places.states == k) for k in range(len(places.numbers))]
    best: Split | None = None
    for mask in _histories(paths, places.states):
        for k, here in enumerate(positions):
            part = mask[here]
            if part.all() or not part.any():
                continue
            gain = _gain(k, here, part, paths, places, counts, prior)
            if gain > (TIE if best is None else best.gain + TIE):
                best = Split(int(places.numbers[k]), here[part], gain)
    return best


def _histories(paths: Paths, states: Indices) -> Iterator[Mask]:
    """For each state: which positions come after a visit to it, and which before one."""
    lengths = paths.ends - paths.begins + 1
    for k in range(int(states.max()) + 1):
        here = states == k
        so_far = np.cumsum(here)
        earlier = so_far - here
        yield earlier > np.repeat(earlier[paths.begins], lengths)
        yield so_far < np.repeat(so_far[paths.ends], lengths)


def _gain(
    k: int,
    here: Indices,
    part: Mask,
    paths: Paths,
    places: Places,
    counts: Counts,
    prior: Prior,
) -> float:
    """What it is worth that part of the visits to a state are visits to a new one."""
    moves = _split_moves(k, here, part, paths, places, counts.moves)
    n_states, n_symbols = counts.emitted.shape
    rows = np.flatnonzero(counts.moves[:, k])
    rows = np.append(np.union1d(rows, k), n_states + 1)
    emitted = np.zeros((2, n_symbols))
    np.add.at(emitted, (part.astype(int), paths.symbols[here]), paths.weights[here])
    gain = log_rows(moves[rows], prior) - log_rows(counts.moves[rows[:-1]], prior)
    gain += log_rows(emitted, prior) - log_rows(counts.emitted[[k]], prior)
    n_moves = counts.used_moves.sum()
    more_moves = np.count_nonzero(moves[rows]) - np.count_nonzero(counts.moves[rows[:-1]])
    more_symbols = np.count_nonzero(emitted) - counts.used_symbols[k]
    gain -= price(n_states + 1, prior) * (n_moves + more_moves) - price(n_states, prior) * n_moves
    return float(gain - price(n_symbols, prior) * more_symbols)


def _split_moves(
    k: int, here: Indices, part: Mask, paths: Paths, places: Places, moves: Array
) -> Array:
    """The moves after a split; the new state is the last, after the outside."""
    new = len(moves)
    split = np.zeros((new + 1, new + 1))
    split[:new, :new] = moves
    split[k] = split[:, k] = 0.0
    own, weights = np.where(part, new, k), paths.weights[here]
    before, after = places.before[here], places.after[here]
    within = before == k  # the position before is one of `here`, too: the one before in it
    before = np.where(within, np.append(k, own[:-1]), before)
    np.add.at(split, (before, own), weights)
    leaves = after != k
    np.add.at(split, (own[leaves], after[leaves]), weights[leaves])
    return split
