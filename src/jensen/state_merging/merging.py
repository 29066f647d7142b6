"""Bayesian model merging: learn the states and transitions of a hidden Markov model.

The search takes in sequences in batches, merges and splits states, and completes paths again, as
long as the log posterior rises.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jensen.exceptions import JensenError
from jensen.state_merging.merged_counts import TIE, Array, Counts, Indices, Prior, log_posterior
from jensen.state_merging.paths import (
    Paths,
    best_paths,
    count,
    first_paths,
    number_states,
    read_paths,
)
from jensen.state_merging.proposals import MergeSearch, best_split
from jensen.support.arguments import check_whole, is_real
from jensen.support.machine import check_memory

BYTES_PER_PAIR = 32
"""Memory per pair of initial states: moves, gains and temporary arrays."""

BATCH = 300
"""Positions that get new states in one batch, unless one sequence has more."""

PAIRS = 32
"""The number of best merges that are tried together with a recompletion of paths."""


class Intake(NamedTuple):
    """Sequences were taken in, along paths of the current model or with new states."""

    n_sequences: int  # distinct sequences so far
    n_states: int
    log_posterior: float


class Merge(NamedTuple):
    """Two states became one, which keeps the smaller number."""

    kept: int
    merged: int
    log_posterior: float


class StateSplit(NamedTuple):
    """A state became two."""

    state: int
    new: int
    log_posterior: float


class Recompletion(NamedTuple):
    """Each sequence took its most probable path; states without visits were dropped."""

    n_states: int
    log_posterior: float


Step = Intake | Merge | StateSplit | Recompletion


class MergeClimber:
    """Greedy ascent of the log posterior: the sequences taken in so far, their paths, the steps."""

    def __init__(self, paths: Paths, n_symbols: int, prior: Prior, lookahead: int) -> None:
        """Start with no sequence taken in; the states of `paths` are modified."""
        self.all, self.n_symbols, self.prior, self.lookahead = paths, n_symbols, prior, lookahead
        self.n_sequences = 0
        self.steps: list[Step] = []

    @property
    def paths(self) -> Paths:
        """The paths of the sequences taken in so far."""
        return first_paths(self.all, self.n_sequences)

    @property
    def counts(self) -> Counts:
        """The counts along these paths."""
        return count(self.paths, self.n_symbols)

    def run(self) -> None:
        """Take in all sequences; after each batch, climb until nothing raises the posterior."""
        while self.n_sequences < len(self.all.ends):
            self._take_in()
            self._merge()
            while self._recomplete() or self._split() or self._merge_anew():
                self._merge()

    def _take_in(self) -> None:
        """Take in the next batch, along paths of the model where it has any, else new states."""
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
            ahead.states[follow] = number_states(self.paths).numbers[states[follow]]
        self.n_sequences = n
        counts = self.counts
        self.steps.append(Intake(n, len(counts.emitted), log_posterior(counts, self.prior)))

    def _within(self, new: Indices, most: int) -> int:
        """The number of sequences with at most `most` new positions; at least one is new."""
        n = int(np.searchsorted(np.cumsum(new), most, side="right"))
        return max(n, self.n_sequences + 1)

    def _merge(self) -> None:
        """Merge states that share a symbol; when this gains no more, any two."""
        for alike in (True, False):
            states = self.paths.states
            for merge in self._climb(alike=alike):
                states[states == merge.merged] = merge.kept
                self.steps.append(merge)

    def _climb(self, *, alike: bool) -> list[Merge]:
        """The merges up to the highest posterior that best-first search with lookahead finds."""
        numbers = number_states(self.paths).numbers
        _check_room(len(numbers))
        search = MergeSearch(self.counts, numbers, self.prior, alike=alike)
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
        numbers, now = number_states(self.paths).numbers, self.steps[-1].log_posterior
        states, before = self.paths.states, self.paths.states.copy()
        best, highest = before, now
        steps: list[Step] = []
        for pair in MergeSearch(self.counts, numbers, self.prior, alike=False).ranked(PAIRS):
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
        """Give each sequence its most probable path, even if the posterior falls."""
        paths, counts = self.paths, self.counts
        states, _ = best_paths(counts, self.prior, paths)
        paths.states[:] = number_states(paths).numbers[states]
        counts = self.counts
        return Recompletion(len(counts.emitted), log_posterior(counts, self.prior))

    def _split(self) -> bool:
        """Make the best split, if this raises the posterior."""
        split = best_split(self.paths, self.counts, self.prior)
        if split is None:
            return False
        new = len(self.all.states) + sum(isinstance(step, StateSplit) for step in self.steps)
        self.paths.states[split.positions] = new
        self.steps.append(StateSplit(split.state, new, self.steps[-1].log_posterior + split.gain))
        return True


def _check_room(n_states: int) -> None:
    check_memory(
        BYTES_PER_PAIR * n_states**2,
        f"merging {n_states} states, at the beginning one for each position of a sequence,",
        "give fewer or shorter sequences",
    )


class Merging(NamedTuple):
    """A hidden Markov model as counts of completed paths, and the steps that led to it.

    States are ordered by falling number of visits. The number of a state, in `numbers` and `steps`,
    is that of the position for which it was made. The positions of all distinct sequences are
    numbered from 0; sequences are ordered by falling frequency, then by length, then by their
    codes. States that splits make have the numbers after these.
    """

    first: Array  # (K,) sequences that begin in a state
    pairs: Array  # (K, K) transitions
    last: Array  # (K,) sequences that end in a state
    emitted: Array  # (K, V)
    numbers: Indices  # (K,)
    steps: list[Step]
    trace: Array  # log posterior after each step, of the sequences taken in so far
    log_posterior: float

    @property
    def merges(self) -> list[Merge]:
        """The steps that made one state of two."""
        return [step for step in self.steps if isinstance(step, Merge)]


def merge_states(
    sequences: Sequence[ArrayLike],
    n_symbols: int,
    *,
    weights: ArrayLike | None = None,
    concentration: float = 1.0,
    structure_weight: float = 1.0,
    lookahead: int = 20,
) -> Merging:
    """Learn the states of a hidden Markov model by Bayesian model merging.

    Distinct sequences are taken in by batches, the most frequent first. One that the model so far
    gives takes its most probable path there; any other gets a new state for each position. Then the
    two states are merged whose merging raises the log posterior most, and so on: first only states
    that share a symbol, then any two. A merge adds counts, and every sequence keeps its path.

    When no merge helps, every sequence takes its most probable path anew (Viterbi, by the posterior
    means of the moves and symbols in use), or else the best split is made: of a state, the visits
    before, or after, a visit to some state become a new one; or else two states merge, and every
    sequence takes its most probable path after that. Each is kept only if it raises the same log
    posterior. Then states merge again, until nothing helps.

    The log posterior is log p(structure) + log p(x, paths | structure). A state has a Dirichlet
    distribution over the moves that it uses (to a state, or to the end) and one over the symbols
    that it uses; so has the beginning over first states. With the counts n₁, ..., n_m of what is
    used, together n, each of these adds

        Σ log Γ(α + n_k) / Γ(α) - log Γ(m α + n) / Γ(m α) - m λ log(C + 1)

    where C is the number of states for moves, and of symbols for symbols.

    Parameters
    ----------
    sequences
        Arrays of codes 0, ..., n_symbols - 1; none may be empty. Their order is of no importance.
    n_symbols
        How many symbols there are, also if some do not occur.
    weights
        How often each sequence was seen, which need not be whole; once, if None.
    concentration
        α, of each move and symbol that a state uses. 1 is the uniform distribution.
    structure_weight
        λ, the weight of the description length of the structure. 1 is its full length; less keeps
        more states, more merges more.
    lookahead
        How many merges that do not raise the posterior are tried in a row. If the posterior is
        higher after them than ever before they are accepted, else undone.

    References
    ----------
    Stolcke and Omohundro (1994), *Best-first Model Merging for Hidden Markov Model Induction*.
    Splits are not theirs.

    Examples
    --------
    >>> model = merge_states([[0, 1], [0, 1, 0, 1], [0, 1, 0, 1, 0, 1]], n_symbols=2)
    >>> model.emitted
    array([[6., 0.],
           [0., 6.]])
    >>> model.pairs
    array([[0., 6.],
           [3., 0.]])
    """
    _check_choices(concentration, structure_weight, lookahead)
    prior = Prior(float(concentration), float(structure_weight))
    climber = MergeClimber(read_paths(sequences, n_symbols, weights), n_symbols, prior, lookahead)
    climber.run()
    return _result(climber)


def _result(climber: MergeClimber) -> Merging:
    """The counts of the final model, the most visited states first."""
    moves, emitted, visits, _, _ = count(climber.paths, climber.n_symbols)
    order = np.argsort(-visits[:-1], kind="stable")
    trace = np.array([step.log_posterior for step in climber.steps])
    return Merging(
        first=moves[-1, order],
        pairs=moves[np.ix_(order, order)],
        last=moves[order, -1],
        emitted=emitted[order],
        numbers=number_states(climber.paths).numbers[order],
        steps=climber.steps,
        trace=trace,
        log_posterior=float(trace[-1]),
    )


def _check_choices(concentration: Any, structure_weight: Any, lookahead: Any) -> None:
    if not (is_real(concentration) and 0 < concentration < math.inf):
        raise JensenError(f"concentration must be positive and finite, not {concentration!r}")
    if not (is_real(structure_weight) and 0 <= structure_weight < math.inf):
        raise JensenError(
            f"structure_weight must be finite and not negative, not {structure_weight!r}"
        )
    check_whole("lookahead", lookahead, at_least=0)
