"""Best-first merging: the gains of all pairs of states, kept up to date from merge to merge."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.state_merging.merged_counts import (
    TIE,
    Array,
    Counts,
    Indices,
    Prior,
    pair_gains,
    price,
    select,
)

BLOCK = 256
"""Rows of the first table of gains that are computed at a time, which bounds the memory."""


class Step(NamedTuple):
    """The best merge there is."""

    kept: int
    merged: int
    gain: float


class Search:
    """The model so far, and what each merge of two of its states would gain.

    A merge changes few gains: those of the merged state and of states that save a move by it, and
    those between states that lead to it, or that are led to by one state whose moves changed.
    """

    def __init__(self, counts: Counts, numbers: Indices, prior: Prior, *, alike: bool) -> None:
        """Begin with counts, which are changed; `alike`: only states that share a symbol merge."""
        self.counts, self.numbers, self.prior, self.alike = counts, numbers, prior, alike
        n_states = self.n_states = len(numbers)
        self.alive = np.ones(n_states, bool)
        self.gain = np.full((n_states, n_states), -np.inf)
        self.saved = np.zeros((n_states, n_states), np.int32)
        self.ceiling = np.full(n_states, -np.inf)  # no pair of a state gains more
        everyone = np.arange(n_states)
        for start in range(0, n_states, BLOCK):
            self._refresh(everyone[start : start + BLOCK], everyone)

    def best(self) -> Step | None:
        """The merge that gains most, the first of equals; None where no two may merge."""
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
        return Step(i, j, float(values[j] + self._cheaper()))

    def ranked(self, most: int) -> list[Step]:
        """The merges that gain most, the best first; gains are equal that differ by rounding."""
        i, j = np.nonzero(np.triu(self.gain > -np.inf, 1))
        values = self.gain[i, j] + price(self.n_states - 1, self.prior) * self.saved[i, j]
        best = np.argsort(-np.round(values, 6), kind="stable")[:most]
        gains = values[best] + self._cheaper()
        triples = zip(i[best].tolist(), j[best].tolist(), gains.tolist(), strict=True)
        return [Step(*triple) for triple in triples]

    def merge(self, kept: int, merged: int) -> None:
        """Make one state of two."""
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
        """What merging gains, but for what is the same for every pair.

        It falls with the number of states, as moves become cheaper: a ceiling remains one.
        """
        values = self.gain[rows] + price(self.n_states - 1, self.prior) * self.saved[rows]
        return np.asarray(values)

    def _cheaper(self) -> float:
        """What all moves gain when there is one state less."""
        fall = price(self.n_states, self.prior) - price(self.n_states - 1, self.prior)
        return float(fall * self.counts.used_moves.sum())

    def _refresh(self, rows: Indices, columns: Indices) -> None:
        """Compute the gains of pairs anew."""
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
        """Leave out the rows and columns of states that are gone."""
        left = np.flatnonzero(self.alive)
        self.counts = select(self.counts, left)
        self.gain, self.saved = self.gain[np.ix_(left, left)], self.saved[np.ix_(left, left)]
        self.ceiling, self.numbers = self.ceiling[left], self.numbers[left]
        self.alive = self.alive[left]
