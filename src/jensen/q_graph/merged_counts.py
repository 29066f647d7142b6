"""Counts of completed paths through a hidden Markov model, and what merging two states is worth.

A path visits one state per position. It comes from outside and ends there, so that one table holds
first states, transitions and ends: the last row and column of `moves` are the outside.

The prior is narrow. A state has probabilities only for the moves and the symbols that it uses, with
one Dirichlet concentration α for each, and its structure says which these are: a choice out of K + 1
states for every move, out of V + 1 symbols for every symbol. So a row with counts n₁, ..., n_m has

    Σ log Γ(α + n_k) / Γ(α)  -  log Γ(m α + n) / Γ(m α)  -  m · weight · log(K + 1)

and log p(structure, x, paths) is the sum of such terms: K + 1 rows of moves, K rows of symbols.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Prior(NamedTuple):
    """Of every model that a merge may lead to."""

    concentration: float
    structure_weight: float


class Counts(NamedTuple):
    """What the completed paths count, and the summaries of it that gains are made of."""

    moves: Array  # (K + 1, K + 1)
    emitted: Array  # (K, V)
    visits: Array  # (K + 1,) times a state was left, or a symbol emitted
    used_moves: Indices  # (K + 1,) moves out of a state that occur
    used_symbols: Indices  # (K,)


def count(moves: Array, emitted: Array) -> Counts:
    """Counts with their summaries."""
    used_moves, used_symbols = np.count_nonzero(moves, 1), np.count_nonzero(emitted, 1)
    return Counts(moves, emitted, moves.sum(1), used_moves, used_symbols)


def log_posterior(counts: Counts, prior: Prior) -> float:
    """Log p(structure, x, paths), the parameters integrated out."""
    n_states, n_symbols = counts.emitted.shape
    log_moves = _log_rows(counts.moves, prior) - log_structure(
        counts.used_moves.sum(), n_states, prior
    )
    log_symbols = _log_rows(counts.emitted, prior) - log_structure(
        counts.used_symbols.sum(), n_symbols, prior
    )
    return float(log_moves + log_symbols)


def log_structure(n_used: Array | float, n_choices: int, prior: Prior) -> Array | float:
    """What it costs to say which cells are used."""
    return prior.structure_weight * n_used * np.log(n_choices + 1)


def _log_rows(table: Array, prior: Prior) -> float:
    """The log evidence of rows, each a Dirichlet over the cells it uses."""
    used = np.count_nonzero(table, 1)
    cells = _rising(prior.concentration, table[table > 0.0]).sum()
    return float(cells - _rising(prior.concentration * used, table.sum(1))[used > 0].sum())


def _rising(alpha: Array | float, n: Array) -> Array:
    """Log Γ(α + n) - log Γ(α)."""
    return np.asarray(gammaln(alpha + n) - gammaln(alpha))


def _joined(alpha: float, a: Array, b: Array) -> Array:
    """What joining two cells of one row adds to its evidence, without its total."""
    return _rising(alpha, a + b) - _rising(alpha, a) - _rising(alpha, b)


def pair_gains(
    counts: Counts, prior: Prior, rows: Indices, columns: Indices
) -> tuple[Array, Indices]:
    """For each pair of a row state and a column state: what merging them is worth.

    Returns the gain of log p without what moves cost, and how many moves are saved; their cost is
    left to the caller, as it changes with the number of states.
    """
    alpha, n_symbols = prior.concentration, counts.emitted.shape[1]
    several = np.maximum(counts.used_moves, 2)  # where there is one, none is saved
    rejoined = _rising(alpha * several, counts.visits) - _rising(alpha * (several - 1), counts.visits)
    nothing = np.zeros(max(len(counts.moves), n_symbols))
    gain, saved = _shared(counts.moves, rows, columns, alpha, nothing)
    from_same, n_same = _shared(counts.moves.T, rows, columns, alpha, rejoined)
    loop_gain, loop_out, loop_in = _loops(counts.moves, rows, columns, alpha, rejoined)
    gain += loop_gain
    saved += loop_out
    used = counts.used_moves
    gain += from_same - _joined_totals(used, counts.visits, saved, rows, columns, alpha)
    symbols_gain, same_symbols = _shared(counts.emitted, rows, columns, alpha, nothing)
    used = counts.used_symbols
    gain += symbols_gain
    gain -= _joined_totals(used, counts.visits, same_symbols, rows, columns, alpha)
    gain += log_structure(same_symbols, n_symbols, prior)
    return gain, saved + n_same + loop_in


def _shared(
    table: Array, rows: Indices, columns: Indices, alpha: float, extra: Array
) -> tuple[Array, Indices]:
    """Sum what joining gives over the entries that two lines of a table share, and count these."""
    gain = np.zeros((len(rows), len(columns)))
    n_shared = np.zeros(gain.shape, np.int64)
    for t in np.flatnonzero(table[rows].any(0)):
        left, right = table[rows, t], table[columns, t]
        block = np.ix_(left > 0.0, right > 0.0)
        left, right = left[left > 0.0], right[right > 0.0]
        gain[block] += _joined(alpha, left[:, None], right) + extra[t]
        n_shared[block] += 1
    return gain, n_shared


def _loops(
    moves: Array, rows: Indices, columns: Indices, alpha: float, rejoined: Array
) -> tuple[Array, Indices, Indices]:
    """The moves within a pair become one loop: its gain and savings, less what `_shared` saw."""
    within = np.stack(
        np.broadcast_arrays(
            moves[rows, rows][:, None],
            moves[np.ix_(rows, columns)],
            moves[np.ix_(columns, rows)].T,
            moves[columns, columns],
        )
    )
    gain = np.zeros(within.shape[1:])
    saved_out, saved_in = np.zeros(gain.shape, np.int64), np.zeros(gain.shape, np.int64)
    n_within = np.count_nonzero(within, 0)
    at = np.nonzero(n_within > 1)
    ii, ij, ji, jj = within[:, *at]
    loops = _rising(alpha, ii + ij + ji + jj)
    for n in (ii, ij, ji, jj):
        loops -= _rising(alpha, n)
    saved_out[at] = n_within[at] - 1
    for a, b, out in ((ii, ji, None), (ij, jj, None), (ii, ij, rows[at[0]]), (ji, jj, columns[at[1]])):
        both = (a > 0.0) & (b > 0.0)
        seen = _joined(alpha, a, b) + (0.0 if out is None else rejoined[out])
        loops -= np.where(both, seen, 0.0)
        (saved_out if out is None else saved_in)[at] -= both
    gain[at] = loops
    return gain, saved_out, saved_in


def _joined_totals(
    used: Indices, visits: Array, saved: Indices, rows: Indices, columns: Indices, alpha: float
) -> Array:
    """How much more the total of a joined row costs than the totals of the two."""
    joined = _rising(
        alpha * (used[rows][:, None] + used[columns] - saved), visits[rows][:, None] + visits[columns]
    )
    alone = _rising(alpha * np.maximum(used, 1), visits[: len(used)])
    return joined - alone[rows][:, None] - alone[columns]
