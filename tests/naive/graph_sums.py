"""Posteriors over graphs by their definitions.

log_weights (n, 2^(n-1)) are of all families: bit k of a column is the k-th of the other variables.
"""

import math
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from naive import structures


def column(child, parents):
    """Where a set of parents stands."""
    return sum(1 << (u - (u > child)) for u in parents)


def subsets(items):
    """All of them, as tuples."""
    items = sorted(items)
    return [s for size in range(len(items) + 1) for s in combinations(items, size)]


def log_sum(terms):
    """Log Σ exp."""
    top = max(terms, default=-math.inf)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(t - top) for t in terms))


def n_orders(parents):
    """In how many orders parents come before children: all orders are tried."""
    n = len(parents)
    return sum(
        all(order.index(u) < order.index(v) for v in range(n) for u in parents[v])
        for order in permutations(range(n))
    )


@lru_cache
def networks(n):
    """All DAGs."""
    return structures.all_networks(n)


@lru_cache
def orders_of_networks(n):
    """Of all DAGs, how many orders they allow."""
    return tuple(map(n_orders, networks(n)))


@lru_cache
def adjacency(n):
    """(G, n, n): the edges of all DAGs [parent, child]."""
    flags = np.zeros((len(networks(n)), n, n), bool)
    for k, g in enumerate(networks(n)):
        for v, up in enumerate(g):
            flags[k, list(up), v] = True
    return flags


@lru_cache
def reachability(n):
    """(G, n, n): the paths of all DAGs [from, to]."""
    edges = adjacency(n)
    paths = edges
    for _ in range(n):
        paths = edges | (edges.astype(int) @ paths > 0)
    return paths


@lru_cache
def columns(n):
    """(G, n): where the parents of each variable stand."""
    return np.array([[column(v, up) for v, up in enumerate(g)] for g in networks(n)])


def by_enumeration(log_weights, counts_orders=False):
    """Log total, edges (n, n), paths (n, n) and parent sets (n, 2^(n-1)), from all graphs."""
    n = len(log_weights)
    logs = log_weights[np.arange(n), columns(n)].sum(1)
    if counts_orders:
        logs = logs + np.log(orders_of_networks(n))
    total = log_sum(logs.tolist())
    p = np.exp(logs - total)
    sets = [np.bincount(at, p, minlength=log_weights.shape[1]) for at in columns(n).T]
    edges, paths = (np.tensordot(p, flags(n), 1) for flags in (adjacency, reachability))
    return total, edges, paths, np.array(sets)


def log_total_by_layers(log_weights):
    """Sum over DAGs by their layers (longest path from a source): only positive terms.

    A variable of a layer has one parent at least in the layer before.
    """
    n = len(log_weights)

    @lru_cache(None)
    def parents(v, earlier, last):
        some = [p for p in subsets(earlier | last) if not last or last & set(p)]
        return log_sum([log_weights[v, column(v, p)] for p in some])

    @lru_cache(None)
    def beyond(earlier, last):
        done = earlier | last
        left = frozenset(range(n)) - done
        if not left:
            return 0.0
        own = {v: parents(v, earlier, last) for v in left}
        return log_sum(
            [
                sum(own[v] for v in layer) + beyond(done, frozenset(layer))
                for layer in subsets(left)
                if layer
            ]
        )

    return beyond(frozenset(), frozenset())


def log_total_by_exclusion(log_weights, digits=60):
    """Sum over DAGs by inclusion and exclusion over sinks, in decimals."""
    n = len(log_weights)
    with localcontext() as context:
        context.prec = digits
        weights = [[Decimal(float(x)).exp() for x in row] for row in log_weights]

        @lru_cache(None)
        def parents(v, within):
            return sum((weights[v][column(v, p)] for p in subsets(within)), Decimal(0))

        @lru_cache(None)
        def total(nodes):
            result = Decimal(0) if nodes else Decimal(1)
            for sinks in subsets(nodes):
                if sinks:
                    rest = nodes - set(sinks)
                    term = total(rest)
                    for v in sinks:
                        term *= parents(v, rest)
                    result += term if len(sinks) % 2 else -term
            return result

        return float(total(frozenset(range(n))).ln())


def log_total_by_orders(log_weights):
    """Sum over orders: each variable chooses its parents among those before it."""
    n = len(log_weights)

    @lru_cache(None)
    def parents(v, before):
        return log_sum([log_weights[v, column(v, p)] for p in subsets(before)])

    return log_sum(
        [
            sum(parents(v, frozenset(order[:k])) for k, v in enumerate(order))
            for order in permutations(range(n))
        ]
    )


def edge_probability(log_weights, log_total, u, v):
    """The share of the total where u is a parent of v; log_total is one of the above."""
    only = log_weights.copy()
    columns = np.arange(only.shape[1])
    only[v, columns >> (u - (u > v)) & 1 == 0] = -np.inf
    return math.exp(log_total(only) - log_total(log_weights))
