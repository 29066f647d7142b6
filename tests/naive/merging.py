"""State merging by its definition: paths as lists of states, every score from the beginning."""

import math
from collections import Counter
from itertools import combinations, product

OUTSIDE = "outside"


def first_paths(strings):
    """(symbols, weight, states) of each distinct string, in sorted order; a state per position."""
    paths, n = [], 0
    for symbols, weight in sorted(Counter(map(tuple, strings)).items()):
        paths.append((symbols, weight, tuple(range(n, n + len(symbols)))))
        n += len(symbols)
    return paths


def merge(paths, kept, merged):
    """The same paths, with one state for two."""
    return [(x, w, tuple(kept if q == merged else q for q in states)) for x, w, states in paths]


def states_of(paths):
    return sorted({q for _, _, states in paths for q in states})


def count(paths):
    """How often each state is followed by what, and emits what."""
    moves, emitted = Counter(), Counter()
    for symbols, weight, states in paths:
        for pair in zip((OUTSIDE, *states), (*states, OUTSIDE), strict=True):
            moves[pair] += weight
        for pair in zip(states, symbols, strict=True):
            emitted[pair] += weight
    return moves, emitted


def log_posterior(paths, n_symbols, alpha, structure_weight):
    """Rows one by one, in each of them count by count."""
    states = states_of(paths)
    total = 0.0
    for table, n_targets in zip(count(paths), (len(states), n_symbols), strict=True):
        for row in (OUTSIDE, *states):
            used = [n for (source, _), n in table.items() if source == row]
            total += sum(log_rising(alpha, n) for n in used)
            total -= log_rising(alpha * len(used), sum(used)) if used else 0.0
            total -= structure_weight * len(used) * math.log(n_targets + 1)
    return total


def log_rising(alpha, n):
    return math.lgamma(alpha + n) - math.lgamma(alpha)


def share_a_symbol(paths, a, b):
    emitted = count(paths)[1]
    return bool({x for q, x in emitted if q == a} & {x for q, x in emitted if q == b})


def best_merge(paths, n_symbols, alpha, structure_weight, alike):
    """The pair of states with the highest score after merging, the smallest numbers where equal."""
    tried = [
        (log_posterior(merge(paths, a, b), n_symbols, alpha, structure_weight), a, b)
        for a, b in combinations(states_of(paths), 2)
        if not alike or share_a_symbol(paths, a, b)
    ]
    top = max((score for score, _, _ in tried), default=None)
    return next(((a, b, score) for score, a, b in tried if score >= top - 1e-9), None)


def merge_states(strings, n_symbols, alpha=1.0, structure_weight=1.0, lookahead=20):
    """The trace of merges [(kept, merged, score)] and the paths at the end."""
    paths, trace = first_paths(strings), []
    for alike in (True, False):
        best, tried, now = log_posterior(paths, n_symbols, alpha, structure_weight), [], paths
        accepted = 0
        while len(tried) - accepted <= lookahead:
            found = best_merge(now, n_symbols, alpha, structure_weight, alike)
            if found is None:
                break
            tried.append(found)
            now = merge(now, *found[:2])
            if found[2] > best:
                best, accepted, paths = found[2], len(tried), now
        trace += tried[:accepted]
    return trace, paths


def gives(model, string):
    """Whether a model of counts gives a string, with its beginning and end, probability > 0."""
    now = set(range(len(model.first)))
    before = {q for q in now if model.first[q]}
    for t, symbol in enumerate(string):
        now = {q for q in before if model.emitted[q, symbol]}
        if t == len(string) - 1:
            return any(model.last[q] for q in now)
        before = {r for q in now for r in range(len(model.first)) if model.pairs[q, r]}
    return False


def all_strings(n_symbols, longest):
    for length in range(1, longest + 1):
        yield from product(range(n_symbols), repeat=length)
