"""Tables of a network from rows, by counting them one at a time; a row is a dict name → label."""

import math
from itertools import product


def count(rows, x, parents, states, weights=None):
    """Counts of the states of x given each configuration of its parents, as nested dicts."""
    configs = product(*(states[p] for p in parents))
    table = {config: dict.fromkeys(states[x], 0.0) for config in configs}
    for row, weight in zip(rows, weights or [1.0] * len(rows), strict=True):
        table[tuple(row[p] for p in parents)][row[x]] += weight
    return table


def frequencies(counts):
    """Shares of a row of counts; equal shares where nothing was counted."""
    total = sum(counts.values())
    return {s: n / total if total else 1.0 / len(counts) for s, n in counts.items()}


def mode(counts, alpha):
    """The most probable row under a Dirichlet with the concentrations alpha ≥ 1."""
    return frequencies({s: n + alpha[s] - 1.0 for s, n in counts.items()})


def mean(counts, alpha):
    """The expected row under a Dirichlet: Laplace's rule where alpha is 1."""
    return frequencies({s: n + alpha[s] for s, n in counts.items()})


def log_evidence(values, alpha):
    """Log probability of values seen one after another, each predicted from those before it."""
    seen, total = dict(alpha), 0.0
    for value in values:
        total += math.log(seen[value] / sum(seen.values()))
        seen[value] += 1.0
    return total
