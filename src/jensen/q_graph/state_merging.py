"""Hidden Markov models by merging states: the states and transitions that the data ask for."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jensen.checks import check_whole, is_real
from jensen.exceptions import DataError, JensenError
from jensen.memory import check_memory
from jensen.q_graph.merge_search import Search
from jensen.q_graph.merged_counts import (
    Array,
    Counts,
    Indices,
    Prior,
    log_posterior,
    summarise,
)

BYTES_PER_PAIR = 32
"""Of states at the beginning: their moves, their gain, and room to make these."""


class Merge(NamedTuple):
    """Two states became one, which keeps the smaller number."""

    kept: int
    merged: int
    log_posterior: float


class Merging(NamedTuple):
    """A hidden Markov model as counts of completed paths, and how it came about.

    States are ordered by falling number of visits. A state's number, in `numbers` and `merges`, is
    that of its first position, where the positions of all distinct sequences are numbered from 0,
    sequence after sequence, and these are sorted.
    """

    first: Array  # (K,) sequences that begin in a state
    pairs: Array  # (K, K) transitions
    last: Array  # (K,) sequences that end in a state
    emitted: Array  # (K, V)
    numbers: Indices  # (K,)
    merges: list[Merge]
    trace: Array  # log posterior at the beginning and after each merge
    log_posterior: float


class Paths(NamedTuple):
    """The distinct sequences end to end, and the state at each of their positions."""

    symbols: Indices  # (P,)
    weights: Array  # (P,) of the sequence that a position belongs to
    begins: Indices  # positions
    ends: Indices
    states: Indices  # (P,) the number of a state is that of its first position


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

    The first model has one state for each position of each distinct sequence, so that it gives just
    these sequences. Then the two states are merged whose merging raises the log posterior most, and
    so on. A merge adds counts: every sequence keeps its path through the model. First only states
    that share a symbol are merged; when this gains no more, any two.

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
    Stolcke and Omohundro (1994), *Best-first Model Merging for Hidden Markov Model Induction*,
    sections 3.3 and 3.4 (narrow priors, description length) and 3.5 (search).

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
    paths = _read(sequences, n_symbols, weights)
    n_states = len(paths.states)
    check_memory(
        BYTES_PER_PAIR * n_states**2,
        f"merging {n_states} states, one for each position of the distinct sequences,",
        "give fewer or shorter sequences",
    )
    prior = Prior(float(concentration), float(structure_weight))
    merges: list[Merge] = []
    before = log_posterior(_count(paths, n_symbols), prior)
    for alike in (True, False):
        found = _climb(paths, n_symbols, prior, lookahead, alike=alike)
        for merge in found:
            paths.states[paths.states == merge.merged] = merge.kept
        merges += found
    trace = np.array([before, *(merge.log_posterior for merge in merges)])
    return _result(paths, n_symbols, merges, trace)


def _climb(
    paths: Paths, n_symbols: int, prior: Prior, lookahead: int, *, alike: bool
) -> list[Merge]:
    """The merges that lead to the highest posterior that best-first search meets."""
    search = Search(_count(paths, n_symbols), np.unique(paths.states), prior, alike=alike)
    now = highest = log_posterior(search.counts, prior)
    merges: list[Merge] = []
    n_accepted = 0
    while len(merges) - n_accepted <= lookahead:
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


def _count(paths: Paths, n_symbols: int) -> Counts:
    """Count along the paths; states in the order of their numbers."""
    numbers, states = np.unique(paths.states, return_inverse=True)
    outside = len(numbers)
    moves, emitted = np.zeros((outside + 1, outside + 1)), np.zeros((outside, n_symbols))
    inner = np.setdiff1d(np.arange(len(states)), paths.ends)
    np.add.at(moves, (states[inner], states[inner + 1]), paths.weights[inner])
    np.add.at(moves[-1], states[paths.begins], paths.weights[paths.begins])
    np.add.at(moves[:, -1], states[paths.ends], paths.weights[paths.ends])
    np.add.at(emitted, (states, paths.symbols), paths.weights)
    return summarise(moves, emitted)


def _result(paths: Paths, n_symbols: int, merges: list[Merge], trace: Array) -> Merging:
    """Counts of the last model, the states most visited first."""
    moves, emitted, visits, _, _ = _count(paths, n_symbols)
    order = np.argsort(-visits[:-1], kind="stable")
    return Merging(
        first=moves[-1, order],
        pairs=moves[np.ix_(order, order)],
        last=moves[order, -1],
        emitted=emitted[order],
        numbers=np.unique(paths.states)[order],
        merges=merges,
        trace=trace,
        log_posterior=float(trace[-1]),
    )


def _read(sequences: Sequence[ArrayLike], n_symbols: int, weights: ArrayLike | None) -> Paths:
    """The distinct sequences in sorted order, each position a state of its own."""
    check_whole("n_symbols", n_symbols, at_least=1)
    codes = [_check_codes(k, sequence, n_symbols) for k, sequence in enumerate(sequences)]
    weight_of: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for code, weight in zip(codes, _check_weights(weights, len(codes)), strict=True):
        weight_of[code] += weight
    distinct = sorted(code for code, weight in weight_of.items() if weight > 0.0)
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


def _check_codes(k: int, sequence: ArrayLike, n_symbols: int) -> tuple[int, ...]:
    """One sequence as something that can be compared."""
    codes = np.asarray(sequence)
    if codes.ndim != 1 or not codes.size:
        raise DataError(
            f"sequence {k} has the shape {codes.shape}: give a list of codes with at least one; "
            f"the empty sequence visits no state"
        )
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_symbols:
        raise DataError(
            f"sequence {k} must have whole numbers from 0 to {n_symbols - 1} (n_symbols - 1), "
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


def _check_choices(concentration: Any, structure_weight: Any, lookahead: Any) -> None:
    if not (is_real(concentration) and 0 < concentration < math.inf):
        raise JensenError(f"concentration must be positive and finite, not {concentration!r}")
    if not (is_real(structure_weight) and 0 <= structure_weight < math.inf):
        raise JensenError(
            f"structure_weight must be finite and not negative, not {structure_weight!r}"
        )
    check_whole("lookahead", lookahead, at_least=0)
