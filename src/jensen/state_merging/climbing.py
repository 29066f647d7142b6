"""The way up: sequences are taken in, states merge and split, and paths are completed anew."""

from typing import NamedTuple

import numpy as np

from jensen.state_merging.merge_search import Search
from jensen.state_merging.merged_counts import TIE, Counts, Indices, Prior, log_posterior
from jensen.state_merging.paths import Paths, count, first_paths, place
from jensen.state_merging.recompletion import best_paths
from jensen.state_merging.splitting import best_split
from jensen.support.memory import check_memory

BYTES_PER_PAIR = 32
"""Of states at the beginning: their moves, their gain, and room to make these."""

BATCH = 300
"""Positions that are given new states at a time, unless one sequence has more."""

PAIRS = 32
"""Merges that are tried with new paths after them, those that gain most without."""


class Intake(NamedTuple):
    """Sequences were taken in, along paths of the model so far or by new states."""

    n_sequences: int  # distinct ones, so far
    n_states: int
    log_posterior: float


class Merge(NamedTuple):
    """Two states became one, which keeps the smaller number."""

    kept: int
    merged: int
    log_posterior: float


class Split(NamedTuple):
    """A state became two."""

    state: int
    new: int
    log_posterior: float


class Recompletion(NamedTuple):
    """Each sequence took its most probable path; states that none visits are gone."""

    n_states: int
    log_posterior: float


Step = Intake | Merge | Split | Recompletion


class Climber:
    """The sequences taken in so far, their paths, and the steps that led there."""

    def __init__(self, paths: Paths, n_symbols: int, prior: Prior, lookahead: int) -> None:
        """Begin with a state for each position, none of them taken in; paths are changed."""
        self.all, self.n_symbols, self.prior, self.lookahead = paths, n_symbols, prior, lookahead
        self.n_sequences = 0
        self.steps: list[Step] = []

    @property
    def paths(self) -> Paths:
        """Of the sequences taken in so far."""
        return first_paths(self.all, self.n_sequences)

    @property
    def counts(self) -> Counts:
        """Along these paths."""
        return count(self.paths, self.n_symbols)

    def run(self) -> None:
        """Take in all sequences; after each batch, climb until nothing raises the posterior."""
        while self.n_sequences < len(self.all.ends):
            self._take_in()
            self._merge()
            while self._recomplete() or self._split() or self._merge_anew():
                self._merge()

    def _take_in(self) -> None:
        """The next sequences, by paths of the model if it has any, else by new states."""
        lengths = self.all.ends - self.all.begins + 1
        lengths[: self.n_sequences] = 0
        known = int(self.all.begins[self.n_sequences])
        n = self._within(lengths, max(known, BATCH))
        if known:
            ahead = first_paths(self.all, n)
            states, possible = best_paths(self.counts, self.prior, ahead)
            n = self._within(np.where(possible, 0, lengths[:n]), BATCH)
            possible[: self.n_sequences] = possible[n:] = False
            follow = np.repeat(possible, ahead.ends - ahead.begins + 1)
            ahead.states[follow] = place(self.paths).numbers[states[follow]]
        self.n_sequences = n
        counts = self.counts
        self.steps.append(Intake(n, len(counts.emitted), log_posterior(counts, self.prior)))

    def _within(self, new: Indices, most: int) -> int:
        """How many sequences have at most so many new positions; at least one more than before."""
        n = int(np.searchsorted(np.cumsum(new), most, side="right"))
        return max(n, self.n_sequences + 1)

    def _merge(self) -> None:
        """States that share a symbol; when this gains no more, any two."""
        for alike in (True, False):
            states = self.paths.states
            for merge in self._climb(alike=alike):
                states[states == merge.merged] = merge.kept
                self.steps.append(merge)

    def _climb(self, *, alike: bool) -> list[Merge]:
        """The merges that lead to the highest posterior that best-first search meets."""
        numbers = place(self.paths).numbers
        _check_room(len(numbers))
        search = Search(self.counts, numbers, self.prior, alike=alike)
        now = highest = self.steps[-1].log_posterior
        merges: list[Merge] = []
        n_accepted = 0
        while len(merges) - n_accepted <= self.lookahead:
            step = search.best()
            if step is None:
                break
            now += step.gain
            kept, merged = map(int, search.numbers[[step.kept, step.merged]])
            merges.append(Merge(kept, merged, now))
            search.merge(step.kept, step.merged)
            if now > highest:
                highest, n_accepted = now, len(merges)
        return merges[:n_accepted]

    def _recomplete(self) -> bool:
        """Give each sequence its most probable path, if this raises the posterior."""
        before = self.paths.states.copy()
        step = self._follow_best()
        if step.log_posterior > self.steps[-1].log_posterior + TIE:
            self.steps.append(step)
            return True
        self.paths.states[:] = before
        return False

    def _merge_anew(self) -> bool:
        """Make the merge that raises the posterior most when paths are completed after it."""
        numbers, now = place(self.paths).numbers, self.steps[-1].log_posterior
        states, before = self.paths.states, self.paths.states.copy()
        best, highest = before, now
        steps: list[Step] = []
        for pair in Search(self.counts, numbers, self.prior, alike=False).ranked(PAIRS):
            kept, merged = map(int, numbers[[pair.kept, pair.merged]])
            states[:] = np.where(before == merged, kept, before)
            step = self._follow_best()
            if step.log_posterior > highest + TIE:
                best, highest = states.copy(), step.log_posterior
                steps = [Merge(kept, merged, now + pair.gain), step]
        states[:] = best
        self.steps += steps
        return bool(steps)

    def _follow_best(self) -> Recompletion:
        """Give each sequence its most probable path in any case."""
        paths, counts = self.paths, self.counts
        states, _ = best_paths(counts, self.prior, paths)
        paths.states[:] = place(paths).numbers[states]
        counts = self.counts
        return Recompletion(len(counts.emitted), log_posterior(counts, self.prior))

    def _split(self) -> bool:
        """Make two states of one, if this raises the posterior."""
        split = best_split(self.paths, self.counts, self.prior)
        if split is None:
            return False
        new = len(self.all.states) + sum(isinstance(step, Split) for step in self.steps)
        self.paths.states[split.positions] = new
        self.steps.append(Split(split.state, new, self.steps[-1].log_posterior + split.gain))
        return True


def _check_room(n_states: int) -> None:
    check_memory(
        BYTES_PER_PAIR * n_states**2,
        f"merging {n_states} states, at the beginning one for each position of a sequence,",
        "give fewer or shorter sequences",
    )
