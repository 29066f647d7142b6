"""State merging by its definition: paths as lists of states, every score from the beginning."""

import math
from collections import Counter
from itertools import combinations, product

OUTSIDE = "outside"


def first_paths(strings):
    """(symbols, weight, states) of each distinct string, a state per position.

    The most frequent strings first, of these the shortest.
    """
    paths, n = [], 0
    for symbols, weight in sorted(
        Counter(map(tuple, strings)).items(), key=lambda item: (-item[1], len(item[0]), item[0])
    ):
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


def merge_phase(paths, n_symbols, alpha, structure_weight, lookahead, alike):
    """The merges [(kept, merged, score)] that lead to the highest score, and the paths then."""
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
    return tried[:accepted], paths


def best_path(paths, symbols, alpha):
    """Of all paths by moves and symbols in use the most probable, None if there is none.

    Of equals it is the first, read from the end.
    """
    moves, emitted = (log_means(table, alpha) for table in count(paths))
    ends = [(0, (OUTSIDE,))]
    for x in reversed(symbols):
        ends = [
            (score + moves[q, end[0]] + emitted[q, x], (q, *end))
            for score, end in ends
            for q in states_of(paths)
            if (q, end[0]) in moves and (q, x) in emitted
        ]
    found = [
        (-score - moves[OUTSIDE, path[0]], path[-2::-1])
        for score, path in ends
        if (OUTSIDE, path[0]) in moves
    ]
    return min(found)[1][::-1] if found else None


def log_means(table, alpha):
    """Posterior means of what each row uses, in multiples of 2⁻³⁰ so that equal paths are equal."""
    total = Counter()
    for (row, _), n in table.items():
        total[row] += n + alpha
    return {key: round(math.log((n + alpha) / total[key[0]]) * 2**30) for key, n in table.items()}


def splits(paths):
    """The states, and the places that a new state may have: after a visit to a state, or before."""
    states = states_of(paths)
    for seen in states:
        for after in (True, False):
            for split in states:
                places = {
                    (s, t)
                    for s, (_, _, path) in enumerate(paths)
                    for t, q in enumerate(path)
                    if q == split and seen in (path[:t] if after else path[t + 1 :])
                }
                if 0 < len(places) < sum(path.count(split) for _, _, path in paths):
                    yield split, places


def move_to(paths, new, places):
    return [
        (x, w, tuple(new if (s, t) in places else q for t, q in enumerate(states)))
        for s, (x, w, states) in enumerate(paths)
    ]


def best_split(paths, new, n_symbols, alpha, structure_weight):
    """The first of the best (split, score, paths) that raise the score; None if none does."""
    best, top = None, log_posterior(paths, n_symbols, alpha, structure_weight)
    for split, places in splits(paths):
        now = move_to(paths, new, places)
        score = log_posterior(now, n_symbols, alpha, structure_weight)
        if score > top + 1e-9:
            best, top = (split, score, now), score
    return best


def take_in(paths, ahead, batch, alpha):
    """Add strings until so many positions have new states, or as many were read as there are."""
    known, read, new = sum(len(x) for x, _, _ in paths), 0, 0
    model, paths, first = paths, list(paths), True
    for symbols, weight, states in ahead:
        found = best_path(model, symbols, alpha) if model else None
        read, new = read + len(symbols), new + (0 if found else len(symbols))
        if not first and (read > max(known, batch) or new > batch):
            break
        paths.append((symbols, weight, found or states))
        first = False
    return paths


def complete(paths, alpha):
    return [(x, w, best_path(paths, x, alpha)) for x, w, _ in paths]


def merge_anew(paths, n_symbols, alpha, structure_weight, n_pairs):
    """The first best [merge, recompletion] that raises the score, and the paths; else None."""
    choices = n_symbols, alpha, structure_weight
    ranked = [
        (-round(log_posterior(merge(paths, a, b), *choices), 6), a, b)
        for a, b in combinations(states_of(paths), 2)
    ]
    best, top = None, log_posterior(paths, *choices)
    for _, a, b in sorted(ranked)[:n_pairs]:
        joint = merge(paths, a, b)
        now = complete(joint, alpha)
        score = log_posterior(now, *choices)
        if score > top + 1e-9:
            first = ("Merge", a, b, log_posterior(joint, *choices))
            best, top = ([first, ("Recompletion", len(states_of(now)), score)], now), score
    return best


def merge_states(strings, n_symbols, alpha=1.0, structure_weight=1.0, lookahead=20, batch=100):
    """The steps [(kind, what, ..., score)] and the paths at the end."""
    everything, paths, steps = first_paths(strings), [], []
    new = sum(len(x) for x, _, _ in everything)
    choices = n_symbols, alpha, structure_weight
    while len(paths) < len(everything):
        paths = take_in(paths, everything[len(paths) :], batch, alpha)
        steps.append(("Intake", len(paths), len(states_of(paths)), log_posterior(paths, *choices)))
        while True:
            for alike in (True, False):
                merges, paths = merge_phase(paths, *choices, lookahead, alike)
                steps += [("Merge", *found) for found in merges]
            now = complete(paths, alpha)
            score = log_posterior(now, *choices)
            if score > steps[-1][-1] + 1e-9:
                paths = now
                steps.append(("Recompletion", len(states_of(paths)), score))
            elif found := best_split(paths, new, *choices):
                split, score, paths = found
                steps.append(("StateSplit", split, new, score))
                new += 1
            elif found := merge_anew(paths, *choices, n_pairs=32):
                steps += found[0]
                paths = found[1]
            else:
                break
    return steps, paths


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
