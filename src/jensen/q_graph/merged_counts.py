"""Counts of completed paths through a hidden Markov model, and what merging two states is worth.

A path visits one state per position. It comes from outside and ends there, so that one table holds
first states, transitions and ends: the last row and column of `moves` are the outside.

The prior is narrow: a state has probabilities only for the moves and the symbols that it uses, each
with the Dirichlet concentration α, and its structure says which these are: one of K + 1 targets for
each move, one of V + 1 for each symbol (the one beyond says that there are no more). A row with the
counts n₁, ..., n_m, together n, and C targets to choose from (K or V) adds to the log posterior

    Σ log Γ(α + n_k) / Γ(α)  -  log Γ(m α + n) / Γ(m α)  -  m · structure_weight · log(C + 1)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Prior(NamedTuple):
    """Of every model that merging may lead to."""

    concentration: float
    structure_weight: float


class Counts(NamedTuple):
    """What the completed paths count, and the summaries that gains are made of."""

    moves: Array  # (K + 1, K + 1)
    emitted: Array  # (K, V)
    visits: Array  # (K + 1,) how often a state was left, which is how often it emitted
    used_moves: Indices  # (K + 1,) how many different moves leave a state
    used_symbols: Indices  # (K,)


def summarise(moves: Array, emitted: Array) -> Counts:
    """Counts with their summaries."""
    used_moves, used_symbols = np.count_nonzero(moves, 1), np.count_nonzero(emitted, 1)
    return Counts(moves, emitted, moves.sum(1), used_moves, used_symbols)


def select(counts: Counts, states: Indices) -> Counts:
    """Some of the states, all others being empty."""
    lines = np.append(states, len(counts.emitted))
    return Counts(
        counts.moves[np.ix_(lines, lines)],
        counts.emitted[states],
        counts.visits[lines],
        counts.used_moves[lines],
        counts.used_symbols[states],
    )


def log_posterior(counts: Counts, prior: Prior) -> float:
    """Log p(structure, x, paths), the parameters integrated out."""
    return sum(_log_rows(table, prior) for table in (counts.moves, counts.emitted))


def price(n_targets: int, prior: Prior) -> float:
    """What one used move or symbol costs."""
    return float(prior.structure_weight * np.log(n_targets + 1))


def _log_rows(table: Array, prior: Prior) -> float:
    n_targets = table.shape[1] - (table.shape[0] == table.shape[1])
    used = np.count_nonzero(table, 1)
    cells = _rising(prior.concentration, table[table > 0.0]).sum()
    totals = _rising(prior.concentration * used, table.sum(1)).sum()
    return float(cells - totals - price(n_targets, prior) * used.sum())


def _rising(alpha: Array | float, n: Array) -> Array:
    """Log Γ(α + n) - log Γ(α)."""
    return np.asarray(gammaln(alpha + n) - gammaln(alpha))


def _joining(alpha: float, a: Array, b: Array) -> Array:
    """What two cells of one row gain by becoming one, besides the total of the row."""
    return _rising(alpha, a + b) - _rising(alpha, a) - _rising(alpha, b)
