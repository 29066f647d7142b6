"""Searching graphs by the definition: every move is made, every graph is looked at.

A graph is a tuple with the sorted parents of each node, as in `structures`.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np
from naive.structures import is_acyclic

ADD, DROP, TURN = 0, 1, 2


class Rules(NamedTuple):
    """Edges that must and must not be there, and how many parents a node may have."""

    required: frozenset = frozenset()
    forbidden: frozenset = frozenset()
    max_parents: int = 99


def parents_of(joined):
    """The graph of a matrix [parent, child]."""
    return tuple(tuple(np.flatnonzero(column).tolist()) for column in np.asarray(joined).T)


def edges_of(graph):
    """All (parent, child)."""
    return {(u, v) for v, parents in enumerate(graph) for u in parents}


def graph_of(edges, n):
    """The graph with these edges."""
    return tuple(tuple(sorted(u for u, v in edges if v == x)) for x in range(n))


def moved(graph, move):
    """The graph after a move (what, parent, child)."""
    what, u, v = move
    edges = edges_of(graph) - {(u, v)}
    return graph_of(edges | {ADD: {(u, v)}, DROP: set(), TURN: {(v, u)}}[what], len(graph))


def legal_moves(graph, rules=Rules()):  # noqa: B008
    """Every move to a graph that keeps the rules: move → graph."""
    edges, found = edges_of(graph), {}
    for u, v in permutations(range(len(graph)), 2):
        if (u, v) in edges:
            tried = [(DROP, u, v), (TURN, u, v)]
        else:
            tried = [] if (v, u) in edges else [(ADD, u, v)]
        for move in tried:
            after = moved(graph, move)
            new = edges_of(after) - edges
            changed = {x for _, x in new}
            if (
                is_acyclic(after)
                and rules.required & edges <= edges_of(after)
                and not new & rules.forbidden
                and all(len(after[x]) <= rules.max_parents for x in changed)
            ):
                found[move] = after
    return found


def ancestors(graph, v):
    """All nodes from which a path leads to v."""
    found = set()
    while True:
        more = found | set(graph[v]) | {p for u in found for p in graph[u]}
        if more == found:
            return found
        found = more


def random_graph(rng, n, probability=0.4):
    """A matrix [parent, child] along a random order."""
    order = rng.permutation(n)
    upper = np.triu(rng.random((n, n)) < probability, 1)
    joined = np.zeros((n, n), bool)
    joined[np.ix_(order, order)] = upper
    return joined


def random_columns(seed, n_rows, cards, most_parents=2, concentration=0.5):
    """Codes drawn from a random network, a column for each of x0, x1, ..."""
    rng = np.random.default_rng(seed)
    columns = []
    for k, card in enumerate(cards):
        above = rng.choice(k, min(k, int(rng.integers(0, most_parents + 1))), replace=False)
        config = np.zeros(n_rows, int)
        for u in above:
            config = config * cards[u] + columns[u]
        size = int(np.prod([cards[u] for u in above], initial=1))
        tables = rng.dirichlet(np.full(card, concentration), size).cumsum(1)
        drawn = (rng.random(n_rows)[:, None] > tables[config]).sum(1)
        columns.append(np.minimum(drawn, card - 1))
    return {f"x{k}": column for k, column in enumerate(columns)}
