"""Counts of completed paths through a hidden Markov model, and what merging two states is worth.

A path visits one state per position. It comes from outside and ends there, so that one table holds
first states, transitions and ends: the last row and column of `moves` are the outside.

The prior is narrow: a state has probabilities only for the moves and the symbols that it uses, each
with the Dirichlet concentration α, and its structure says which these are. A row that uses m of C
targets (K states, or V symbols) with the counts n₁, ..., n_m, together n, adds to the log posterior

    Σ log Γ(α + n_k) / Γ(α)  -  log Γ(m α + n) / Γ(m α)  -  m · structure_weight · log(C + 1)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import log_evidence
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.families.dirichlet_posterior import PosteriorDirichlet
from jensen.families.gamma_ratio import log_rising

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

TIE = 1e-9
"""Scores that differ by less are equal."""


class Prior(NamedTuple):
    """The prior of all models: Dirichlet concentration and weight of the structure's length."""

    concentration: float
    structure_weight: float


class Counts(NamedTuple):
    """The counts of completed paths, and the summaries from which gains are computed."""

    moves: Array  # (K + 1, K + 1)
    emitted: Array  # (K, V)
    visits: Array  # (K + 1,) how often a state was left, which is how often it emitted
    used_moves: Indices  # (K + 1,) how many different moves leave a state
    used_symbols: Indices  # (K,)


class Gains(NamedTuple):
    """What merging a row state with a column state gains."""

    gain: Array  # in log posterior, without the price of moves, which depends on K
    saved: Indices  # the number of moves that are no longer used
    same_symbols: Indices  # symbols that both emit


def summarise(moves: Array, emitted: Array) -> Counts:
    """Counts with their summaries."""
    used_moves, used_symbols = np.count_nonzero(moves, 1), np.count_nonzero(emitted, 1)
    return Counts(moves, emitted, moves.sum(1), used_moves, used_symbols)


def select(counts: Counts, states: Indices) -> Counts:
    """The counts of the given states, if no other state is visited."""
    lines = np.append(states, len(counts.emitted))
    return Counts(
        counts.moves[np.ix_(lines, lines)],
        counts.emitted[states],
        counts.visits[lines],
        counts.used_moves[lines],
        counts.used_symbols[states],
    )


def price(n_targets: int, prior: Prior) -> float:
    """The cost of one used move or symbol in log posterior."""
    return float(prior.structure_weight * np.log(n_targets + 1))


def log_posterior(counts: Counts, prior: Prior) -> float:
    """Log p(structure, x, paths), the parameters integrated out."""
    n_states, n_symbols = counts.emitted.shape
    moves = log_rows(counts.moves, prior) - price(n_states, prior) * counts.used_moves.sum()
    symbols = log_rows(counts.emitted, prior) - price(n_symbols, prior) * counts.used_symbols.sum()
    return float(moves + symbols)


def pair_gains(counts: Counts, prior: Prior, rows: Indices, columns: Indices) -> Gains:
    """The gains of merging every row state with every column state."""
    alpha = prior.concentration
    gain, saved_after = _shared(counts.moves, rows, columns, alpha)
    from_same, saved_before = _shared(
        counts.moves.T, rows, columns, alpha, _one_less(counts, alpha)
    )
    gain += from_same
    _count_loops(counts, alpha, rows, columns, gain, saved_after, saved_before)
    gain -= _joint_totals(counts.used_moves, counts.visits, saved_after, rows, columns, alpha)
    symbols, same_symbols = _shared(counts.emitted, rows, columns, alpha)
    gain += symbols + price(counts.emitted.shape[1], prior) * same_symbols
    gain -= _joint_totals(counts.used_symbols, counts.visits, same_symbols, rows, columns, alpha)
    return Gains(gain, saved_after + saved_before, same_symbols)


def log_rows(table: Array, prior: Prior) -> float:
    """The log evidence of rows, each a Dirichlet over the cells that it uses."""
    used = table > 0.0
    lengths = used.sum(1)
    lengths = lengths[lengths > 0]
    alpha = prior.concentration
    family = PosteriorDirichlet(alpha, alpha * lengths, SegmentedDirichlet(lengths))
    return log_evidence(family, None, table[used])


def _joining(alpha: float, a: Array, b: Array) -> Array:
    """The gain of joining two cells of one row, without the term of the row's total."""
    return log_rising(alpha, a + b) - log_rising(alpha, a) - log_rising(alpha, b)


def _one_less(counts: Counts, alpha: float) -> Array:
    """The gain in the term of each row's total if one of its moves is saved."""
    used = np.maximum(counts.used_moves, 2)
    return log_rising(alpha * used, counts.visits) - log_rising(alpha * (used - 1), counts.visits)


def _shared(
    table: Array, rows: Indices, columns: Indices, alpha: float, extra: Array | None = None
) -> tuple[Array, Indices]:
    """The gain of joining two lines of a table in the entries that both use, and their number.

    `extra` is added to the gain for each such entry.
    """
    gain = np.zeros((len(rows), len(columns)))
    n_shared = np.zeros(gain.shape, np.int64)
    at_least = 2 if rows is columns else 1  # a state shares its entries with itself
    for t in np.flatnonzero(np.count_nonzero(table[rows], 0) >= at_least):
        left, right = table[rows, t], table[columns, t]
        i, j = np.flatnonzero(left), np.flatnonzero(right)
        gain[i[:, None], j] += _joining(alpha, left[i, None], right[j])
        n_shared[i[:, None], j] += 1
        if extra is not None:
            gain[i[:, None], j] += extra[t]
    return gain, n_shared


def _joint_totals(
    used: Indices, visits: Array, saved: Indices, rows: Indices, columns: Indices, alpha: float
) -> Array:
    """How much more the term of a joint row's total costs than the terms of the two rows."""
    joint_used = used[rows, None] + used[columns] - saved
    joint = log_rising(alpha * joint_used, visits[rows, None] + visits[columns])
    left = log_rising(alpha * used[rows], visits[rows])
    right = log_rising(alpha * used[columns], visits[columns])
    return np.asarray(joint - left[:, None] - right)


def _count_loops(
    counts: Counts,
    alpha: float,
    rows: Indices,
    columns: Indices,
    gain: Array,
    saved_after: Indices,
    saved_before: Indices,
) -> None:
    """Correct the gains in place for pairs that follow each other: their moves become a loop."""
    moves, extra = counts.moves, _one_less(counts, alpha)
    row_loops, column_loops = moves[rows, rows], moves[columns, columns]
    forth, back = moves[np.ix_(rows, columns)], moves[np.ix_(columns, rows)].T
    n_within = np.sign(row_loops)[:, None] + np.sign(forth) + np.sign(back) + np.sign(column_loops)
    at = np.nonzero(n_within > 1)
    i, j = rows[at[0]], columns[at[1]]
    ii, ij, ji, jj = row_loops[at[0]], forth[at], back[at], column_loops[at[1]]
    gain[at] += log_rising(alpha, ii + ij + ji + jj) - sum(
        log_rising(alpha, n) for n in (ii, ij, ji, jj)
    )
    saved_after[at] += n_within[at].astype(np.int64) - 1
    for (
        a,
        b,
        saved,
        besides,
    ) in (  # what `_shared` took for two moves that lead to, or from, a third
        (ii, ji, saved_after, 0.0),
        (ij, jj, saved_after, 0.0),
        (ii, ij, saved_before, extra[i]),
        (ji, jj, saved_before, extra[j]),
    ):
        both = (a > 0.0) & (b > 0.0)
        gain[at] -= np.where(both, _joining(alpha, a, b) + besides, 0.0)
        saved[at] -= both
