"""Proposals: the gains of merging any two states, and of splitting one.

Gains of merges are kept up to date from merge to merge, for best-first search. A split is the
inverse of a merge: the visits to a state before, or after, a visit to some state become a new one.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.state_merging.merged_counts import (
    TIE,
    Array,
    Counts,
    Indices,
    Prior,
    log_rows,
    pair_gains,
    price,
    select,
)
from jensen.state_merging.paths import NumberedPaths, Paths, number_states
from jensen.support.fields import add_at

Mask = NDArray[np.bool_]

BLOCK = 256
"""Rows of the initial table of gains that are computed at a time, to bound the memory."""


class MergeProposal(NamedTuple):
    """A merge of two states and its gain in log posterior."""

    kept: int
    merged: int
    gain: float


class MergeSearch:
    """The current model, and the gain of merging any two of its states.

    A merge changes few gains: those of the merged state and of states that save a move by it, and
    those between predecessors of the merged state, or between successors of a state whose moves
    changed.
    """

    def __init__(self, counts: Counts, numbers: Indices, prior: Prior, *, alike: bool) -> None:
        """Start from counts, which are modified; `alike`: merge only states with common symbols."""
        self.counts, self.numbers, self.prior, self.alike = counts, numbers, prior, alike
        n_states = self.n_states = len(numbers)
        self.alive = np.ones(n_states, bool)
        self.gain = np.full((n_states, n_states), -np.inf)
        self.saved = np.zeros((n_states, n_states), np.int32)
        self.ceiling = np.full(n_states, -np.inf)  # an upper bound on the gains of each state
        everyone = np.arange(n_states)
        for start in range(0, n_states, BLOCK):
            self._refresh(everyone[start : start + BLOCK], everyone)

    def best(self) -> MergeProposal | None:
        """The merge with the largest gain, the first of equals; None if no two may merge."""
        exact = np.zeros(len(self.alive), bool)
        while True:
            near = self.ceiling >= self.ceiling.max() - TIE
            rows = np.flatnonzero(near & ~exact)
            if not len(rows):
                break
            self.ceiling[rows] = self._value(rows).max(1)
            exact[rows] = True
        i = int(np.argmax(near))
        values = self._value(np.array([i]))[0]
        j = int(np.argmax(values >= values.max() - TIE))
        if values[j] == -np.inf:
            return None
        return MergeProposal(i, j, float(values[j] + self._cheaper()))

    def ranked(self, most: int) -> list[MergeProposal]:
        """The merges with the largest gains, the best first; rounding does not change the order."""
        i, j = np.nonzero(np.triu(self.gain > -np.inf, 1))
        values = self.gain[i, j] + price(self.n_states - 1, self.prior) * self.saved[i, j]
        best = np.argsort(-np.round(values, 6), kind="stable")[:most]
        gains = values[best] + self._cheaper()
        triples = zip(i[best].tolist(), j[best].tolist(), gains.tolist(), strict=True)
        return [MergeProposal(*triple) for triple in triples]

    def merge(self, kept: int, merged: int) -> None:
        """Merge two states."""
        moves, outside = self.counts.moves, len(self.alive)
        saves = (moves[:, kept] > 0.0) & (moves[:, merged] > 0.0)
        saves[kept], saves[merged] = True, False
        self._add(kept, merged, saves)
        self._remove(merged)
        changed = np.flatnonzero(saves)
        self._refresh(changed[changed < outside], np.flatnonzero(self.alive))
        for group in (moves[:, kept], *moves[changed]):
            states = np.flatnonzero(group[:outside])
            if len(states) > 1:
                self._refresh(states, states)
        if 2 * self.n_states <= len(self.alive):
            self._shrink()

    def _value(self, rows: Indices) -> Array:
        """The gains of merging, without the term that is the same for all pairs.

        They fall with the number of states, as moves become cheaper, so `ceiling` stays a bound.
        """
        values = self.gain[rows] + price(self.n_states - 1, self.prior) * self.saved[rows]
        return np.asarray(values)

    def _cheaper(self) -> float:
        """The gain of all moves becoming cheaper when there is one state less."""
        fall = price(self.n_states, self.prior) - price(self.n_states - 1, self.prior)
        return float(fall * self.counts.used_moves.sum())

    def _refresh(self, rows: Indices, columns: Indices) -> None:
        """Compute the gains of pairs again."""
        gain, saved, same_symbols = pair_gains(self.counts, self.prior, rows, columns)
        gain[rows[:, None] == columns] = -np.inf
        if self.alike:
            gain[same_symbols == 0] = -np.inf
        for i, j, g, s in ((rows, columns, gain, saved), (columns, rows, gain.T, saved.T)):
            self.gain[i[:, None], j] = g
            self.saved[i[:, None], j] = s
            values = g + price(self.n_states - 1, self.prior) * s
            self.ceiling[i] = np.maximum(self.ceiling[i], values.max(1, initial=-np.inf))

    def _add(self, kept: int, merged: int, saves: NDArray[np.bool_]) -> None:
        """Add the counts of one state to those of another."""
        moves, emitted, visits, used_moves, used_symbols = self.counts
        for table in (moves, moves.T, emitted, visits):
            table[kept] += table[merged]
            table[merged] = 0.0
        used_moves[saves] = np.count_nonzero(moves[saves], 1)
        used_symbols[kept] = np.count_nonzero(emitted[kept])
        used_moves[merged] = used_symbols[merged] = 0

    def _remove(self, state: int) -> None:
        self.alive[state] = False
        self.n_states -= 1
        self.gain[state] = self.gain[:, state] = self.ceiling[state] = -np.inf
        self.saved[state] = self.saved[:, state] = 0

    def _shrink(self) -> None:
        """Drop the rows and columns of states that were merged."""
        left = np.flatnonzero(self.alive)
        self.counts = select(self.counts, left)
        self.gain, self.saved = self.gain[np.ix_(left, left)], self.saved[np.ix_(left, left)]
        self.ceiling, self.numbers = self.ceiling[left], self.numbers[left]
        self.alive = self.alive[left]


class SplitProposal(NamedTuple):
    """Positions of one state that would get a new state, and the gain in log posterior."""

    state: int
    positions: Indices
    gain: float


def best_split(paths: Paths, counts: Counts, prior: Prior) -> SplitProposal | None:
    """The split with the largest gain; None if no split raises the posterior."""
    numbered = number_states(paths)
    positions = [np.flatnonzero(numbered.states == k) for k in range(len(numbered.numbers))]
    best: SplitProposal | None = None
    for mask in _histories(paths, numbered.states):
        for k, here in enumerate(positions):
            part = mask[here]
            if part.all() or not part.any():
                continue
            gain = _gain(k, here, part, paths, numbered, counts, prior)
            if gain > (TIE if best is None else best.gain + TIE):
                best = SplitProposal(int(numbered.numbers[k]), here[part], gain)
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
    numbered: NumberedPaths,
    counts: Counts,
    prior: Prior,
) -> float:
    """The gain of giving part of the visits to a state to a new state."""
    moves = _split_moves(k, here, part, paths, numbered, counts.moves)
    n_states, n_symbols = counts.emitted.shape
    rows = np.flatnonzero(counts.moves[:, k])
    rows = np.append(np.union1d(rows, k), n_states + 1)
    emitted = np.zeros((2, n_symbols))
    add_at(emitted, (part.astype(int), paths.symbols[here]), paths.weights[here])
    gain = log_rows(moves[rows], prior) - log_rows(counts.moves[rows[:-1]], prior)
    gain += log_rows(emitted, prior) - log_rows(counts.emitted[[k]], prior)
    n_moves = counts.used_moves.sum()
    more_moves = np.count_nonzero(moves[rows]) - np.count_nonzero(counts.moves[rows[:-1]])
    more_symbols = np.count_nonzero(emitted) - counts.used_symbols[k]
    gain -= price(n_states + 1, prior) * (n_moves + more_moves) - price(n_states, prior) * n_moves
    return float(gain - price(n_symbols, prior) * more_symbols)


def _split_moves(
    k: int, here: Indices, part: Mask, paths: Paths, numbered: NumberedPaths, moves: Array
) -> Array:
    """The counts of moves after a split; the new state is last, after the outside."""
    new = len(moves)
    split = np.zeros((new + 1, new + 1))
    split[:new, :new] = moves
    split[k] = split[:, k] = 0.0
    own, weights = np.where(part, new, k), paths.weights[here]
    before, after = numbered.before[here], numbered.after[here]
    within = before == k  # the position before is one of `here`, too: the one before in it
    before = np.where(within, np.append(k, own[:-1]), before)
    add_at(split, (before, own), weights)
    leaves = after != k
    add_at(split, (own[leaves], after[leaves]), weights[leaves])
    return split
