"""What chains over few variables have to find: their states, and how much each weighs."""

from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from naive import graph_sums, parent_sums
from scipy.stats import chi2

from jensen.q_graph.chains.raw_weights import RawWeights

P_VALUE = 1e-5
"""Below this, one of a few hundred tests of chance fails; seeds are fixed."""


class Case(NamedTuple):
    """Weights of parent sets."""

    raw: RawWeights
    table: np.ndarray  # (n, 2^(n-1)): log weights of all families, -inf where none is possible

    @property
    def n(self):
        return len(self.table)


def make_case(n, n_candidates=None, outside=0, spread=1.0, required=(), forbidden=(), most=None):
    """Random weights; edges that are required are candidates."""
    rng = np.random.default_rng(n)
    table = rng.normal(0.0, spread, (n, 1 << (n - 1)))
    for v in range(n):
        for column in range(table.shape[1]):
            parents = {u for u in range(n) if u != v and column >> (u - (u > v)) & 1}
            breaks = any(c == v and u not in parents for u, c in required)
            breaks |= any(c == v and u in parents for u, c in forbidden)
            if breaks or (most is not None and len(parents) > most):
                table[v, column] = -np.inf
    candidates = []
    for v in range(n):
        others = [u for u in range(n) if u != v and (u, v) not in forbidden]
        must = [u for u, c in required if c == v]
        rest = rng.permutation([u for u in others if u not in must]).tolist()
        wanted = n - 1 if n_candidates is None else n_candidates
        candidates.append(sorted([*must, *rest][: max(wanted, len(must))]))
    return Case(*parent_sums.cut(table, candidates, outside))


CASES = {
    "all candidates": make_case(4),
    "pairs outside": make_case(4, 1, 2),
    "pairs only": make_case(4, 0, 2),
    "singles outside": make_case(4, 2, 1),
    "nothing outside": make_case(4, 2, 0),
    "far apart": make_case(4, 1, 2, spread=200.0),
    "required": make_case(4, 2, 2, required=[(0, 1), (3, 2)]),
    "forbidden": make_case(4, 2, 2, forbidden=[(0, 1), (1, 0), (2, 3)]),
    "one parent": make_case(4, 1, 1, most=1),
    "three variables": make_case(3),
    "three and one candidate": make_case(3, 1, 2),
    "two variables": make_case(2),
}


def layers(parents):
    """Roots 0, others one more than their highest parent."""
    found = {}
    while len(found) < len(parents):
        for v, up in enumerate(parents):
            if v not in found and all(u in found for u in up):
                found[v] = max((found[u] + 1 for u in up), default=0)
    return tuple(found[v] for v in range(len(parents)))


def graph_logs(case):
    """Log weights of all DAGs, in the order of `graph_sums.networks`."""
    return case.table[np.arange(case.n), graph_sums.columns(case.n)].sum(1)


@lru_cache
def n_orders(n):
    """Of all DAGs, how many orders they allow: all orders are tried."""
    edges = graph_sums.adjacency(n)
    counts = np.zeros(len(edges), int)
    for order in permutations(range(n)):
        place = np.argsort(order)
        counts += ~(edges & (place[:, None] > place)).any((1, 2))
    return counts


def grouped(keys, logs):
    """Log sums of what has the same key."""
    terms = {}
    for key, log in zip(keys, logs, strict=True):
        terms.setdefault(key, []).append(log)
    return {key: graph_sums.log_sum(values) for key, values in terms.items()}


def states(case, kind):
    """State -> log weight, by adding up all graphs that belong to it."""
    graphs, logs = graph_sums.networks(case.n), graph_logs(case).tolist()
    if kind == "structure":
        found = dict(zip(graphs, logs, strict=True))
    elif kind == "partition":
        found = grouped(map(layers, graphs), logs)
    else:
        fits = [
            (order, log)
            for order in permutations(range(case.n))
            for g, log in zip(graphs, logs, strict=True)
            if all(order.index(u) < order.index(v) for v, up in enumerate(g) for u in up)
        ]
        found = grouped(*zip(*fits, strict=True))
    return {state: log for state, log in found.items() if log > -np.inf}


@lru_cache
def known_states(name, kind):
    """The same of one of the cases above."""
    return states(CASES[name], kind)


def to_bits(graph):
    """(n, 1) words of a tuple of parents."""
    return np.array([[sum(1 << u for u in up)] for up in graph], np.uint64)


def from_bits(words):
    """Tuples of parents of words (..., n, 1)."""
    n = words.shape[-2]
    flat = words.reshape(-1, n).tolist()
    return [tuple(tuple(u for u in range(n) if bits >> u & 1) for bits in row) for row in flat]


def fits(counts, probabilities, least=5.0):
    """The p-value of counts; states that are expected seldom are taken together."""
    counts, p = np.asarray(counts, float), np.asarray(probabilities, float)
    expected = counts.sum() * p
    seldom = expected < least
    observed = np.append(counts[~seldom], counts[seldom].sum())
    expected = np.append(expected[~seldom], expected[seldom].sum())
    if expected[-1] < 1e-3:  # nobody is expected there
        if observed[-1] > 1:
            return 0.0
        observed, expected = observed[:-1], expected[:-1]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return chi2.sf(statistic, len(expected) - 1) if len(expected) > 1 else 1.0


def is_symmetric(before, after, n_states):
    """The p-value of as many steps back as forth (Bowker's test)."""
    table = np.bincount(before * n_states + after, minlength=n_states**2)
    table = table.reshape(n_states, n_states)
    back, forth = table[np.tril_indices(n_states, -1)], table.T[np.tril_indices(n_states, -1)]
    often = back + forth >= 10
    statistic = ((back - forth)[often] ** 2 / (back + forth)[often]).sum()
    return chi2.sf(statistic, often.sum()) if often.any() else 1.0
