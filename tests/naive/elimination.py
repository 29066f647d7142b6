"""Eliminating variables one by one, by the definition, on sets of neighbours."""

import math
from itertools import combinations, permutations

MIN_FILL, MIN_WEIGHT, WEIGHTED_FILL = range(3)


def neighbours(adjacent):
    """Variable → those that stand together with it."""
    n = len(adjacent)
    return {v: {u for u in range(n) if adjacent[v][u]} for v in range(n)}


def without(near, v):
    """The graph after v is gone: its neighbours now stand together."""
    return {u: (n | near[v]) - {u, v} if v in n else set(n) for u, n in near.items() if u != v}


def cliques(adjacent, order):
    """The variables of the table that each step of an order makes."""
    near, found = neighbours(adjacent), []
    for v in order:
        found.append({int(v)} | near[v])
        near = without(near, v)
    return found


def sizes(adjacent, cards, order):
    """How many entries these tables have."""
    return [math.prod(int(cards[v]) for v in clique) for clique in cliques(adjacent, order)]


def least_total(adjacent, cards):
    """The fewest entries that all tables can have together."""
    return min(sum(sizes(adjacent, cards, order)) for order in permutations(range(len(cards))))


def cost(near, cards, v, rule):
    """What a greedy rule holds against v."""
    if rule == MIN_WEIGHT:
        return math.log(math.prod(int(cards[u]) for u in near[v] | {v}))
    missing = [(a, b) for a, b in combinations(sorted(near[v]), 2) if b not in near[a]]
    return float(sum(1 if rule == MIN_FILL else int(cards[a] * cards[b]) for a, b in missing))
