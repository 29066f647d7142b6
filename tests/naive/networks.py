"""Discrete networks by their definitions: tables are dictionaries (parents' states, state) → p."""

import math
from itertools import product


def cells(parents, cards, x):
    """All (parents' states, state) of x, parents in ascending order, in the order of its table."""
    for config in product(*(range(cards[p]) for p in parents[x])):
        for state in range(cards[x]):
            yield config, state


def as_dictionaries(flat, parents, cards):
    """The flat tables of all variables, as one dictionary each."""
    values = iter(flat)
    return [{cell: next(values) for cell in cells(parents, cards, x)} for x in range(len(cards))]


def draw(tables, parents, cards, uniforms):
    """One row, each variable once its parents are known, by running through its probabilities."""
    row = {}
    while len(row) < len(cards):
        for x in range(len(cards)):
            if x not in row and all(p in row for p in parents[x]):
                config = tuple(row[p] for p in parents[x])
                below, state = tables[x][config, 0], 0
                while uniforms[x] >= below and state < cards[x] - 1:
                    state += 1
                    below += tables[x][config, state]
                row[x] = state
    return [row[x] for x in range(len(cards))]


def log_probability(tables, parents, row):
    """Log of the product of one table entry per variable."""
    total = 0.0
    for x, table in enumerate(tables):
        p = table[tuple(row[u] for u in parents[x]), row[x]]
        total += math.log(p) if p > 0.0 else -math.inf
    return total


def by_name(graph):
    """What `parents=` says of tables whose axes stand in the order of the parents' names."""
    return {x: sorted(graph.parents(x)) for x in graph.nodes}
