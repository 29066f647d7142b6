"""Weights of parent sets by their definition: every set that is possible is written down.

`Sets` lists them for one variable, from the `RawWeights` that chains are made of.
"""

import itertools
from typing import NamedTuple

import numpy as np

from jensen.q_graph.chains.raw_weights import RawWeights


class Sets(NamedTuple):
    """All parent sets of one variable."""

    members: np.ndarray  # (S, n) bool
    log_weights: np.ndarray  # (S,)


def list_sets(raw, v):
    """The subsets of the candidates, then single others and pairs that are not within them."""
    n, candidates = len(raw.candidates), raw.candidates[v]
    sets = {
        frozenset(u for k, u in enumerate(candidates) if bits >> k & 1): weight
        for bits, weight in enumerate(raw.inside[v].tolist())
    }
    sets |= {frozenset([u]): raw.singles[v, u] for u in range(n) if u not in (v, *candidates)}
    if raw.pairs.size:
        others = [u for u in range(n) if u != v]
        for pair in itertools.combinations(others, 2):
            if not set(pair) <= set(candidates):
                sets[frozenset(pair)] = raw.pairs[v][pair]
    members = np.zeros((len(sets), n), bool)
    for k, chosen in enumerate(sets):
        members[k, list(chosen)] = True
    return Sets(members, np.array(list(sets.values()), float))


def possible(sets, level, must_meet):
    """Which sets have members of level 1 and 2 only, and one of level 2 if they must."""
    fits = ~(sets.members & (level == 0)).any(1)
    return fits & (sets.members & (level == 2)).any(1) if must_meet else fits


def log_sum(terms):
    """Log Σ exp, from the smallest term up."""
    top = terms.max(initial=-np.inf)
    return top if top == -np.inf else top + np.log(np.exp(np.sort(terms) - top).sum())


def cut(log_weights, candidates, outside):
    """RawWeights of some candidates out of a table of all families (n, 2^(n-1)), and what is left.

    The second is the table with -inf at all sets that the chains do not know.
    """
    n = len(log_weights)
    left = np.full_like(log_weights, -np.inf)
    singles, pairs = np.full((n, n), -np.inf), np.full((n, n, n), -np.inf)
    inside = []
    for v in range(n):
        mine = [
            [u for k, u in enumerate(candidates[v]) if bits >> k & 1]
            for bits in range(1 << len(candidates[v]))
        ]
        at = [_column(v, chosen) for chosen in mine]
        inside.append(log_weights[v, at])
        left[v, at] = log_weights[v, at]
        for a, b in itertools.combinations_with_replacement(range(n), 2):
            size = len({a, b})
            if v in (a, b) or {a, b} <= set(candidates[v]) or size > outside:
                continue
            weight = left[v, _column(v, {a, b})] = log_weights[v, _column(v, {a, b})]
            if a == b:
                singles[v, a] = weight
            else:
                pairs[v, a, b] = pairs[v, b, a] = weight
    if outside < 2:
        pairs = np.empty((n, 0, 0))
    return RawWeights([list(c) for c in candidates], inside, singles, pairs), left


def _column(child, parents):
    return sum(1 << (u - (u > child)) for u in parents)
