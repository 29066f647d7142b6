"""Moves between Markov equivalence classes by the definition, and scores without sampling error.

A graph is a tuple with the sorted parents of each node, as in `structures`. A move is (x, y,
clique): in some graph of the class, those neighbours of y that are its parents are the clique.
"""

from itertools import combinations, permutations

import numpy as np
from naive.search import edges_of, graph_of
from naive.structures import all_networks, is_acyclic


def class_key(graph):
    """The skeleton and the v-structures (Verma and Pearl, 1990)."""
    joined = frozenset(frozenset(edge) for edge in edges_of(graph))
    colliders = frozenset(
        (a, c, b)
        for c, parents in enumerate(graph)
        for a, b in combinations(parents, 2)
        if frozenset((a, b)) not in joined
    )
    return joined, colliders


def all_classes(n):
    """Key → all graphs of the class."""
    found = {}
    for graph in all_networks(n):
        found.setdefault(class_key(graph), []).append(graph)
    return found


def completed(members):
    """(n, n): [a, b] if some graph of the class has a -> b."""
    n = len(members[0])
    joined = np.zeros((n, n), bool)
    for graph in members:
        for u, v in edges_of(graph):
            joined[u, v] = True
    return joined


def moves(kind, members):
    """Every move of a kind: (x, y, clique) → pairs of graphs before and after it."""
    joined, n, found = completed(members), len(members[0]), {}
    for graph in members:
        edges = edges_of(graph)
        for x, y in permutations(range(n), 2):
            after = _changed(kind, edges, x, y)
            if after is None or not is_acyclic(after := graph_of(after, n)):
                continue
            if class_key(after) == class_key(graph):
                continue
            clique = frozenset(z for z in graph[y] if joined[y, z])
            found.setdefault((x, y, clique), []).append((graph, after))
    return found


def _changed(kind, edges, x, y):
    if kind == "insert" and not {(x, y), (y, x)} & edges:
        return edges | {(x, y)}
    if kind == "delete" and (x, y) in edges:
        return edges - {(x, y)}
    if kind == "turn" and (y, x) in edges:
        return edges - {(y, x)} | {(x, y)}
    return None


class SetScorer:
    """score(x, parents) = L(parents + x) - L(parents) for any function of sets."""

    is_set_function = True

    def __init__(self, names, value, total_weight=0.0):
        self.names = tuple(names)
        self.total_weight = total_weight
        self.value = value
        self._known = {}

    def _of(self, members):
        key = frozenset(members)
        if key not in self._known:
            self._known[key] = self.value(sorted(key))
        return self._known[key]

    def family(self, child, parents):
        return self._of([*parents, child]) - self._of(parents)

    def without_each(self, child, parents):
        return np.array([self.family(child, [p for p in parents if p != x]) for x in parents])

    def with_each(self, child, parents):
        taken = {child, *parents}
        n = len(self.names)
        scores = [np.nan if u in taken else self.family(child, [*parents, u]) for u in range(n)]
        return np.array(scores)


def random_scorer(seed, n):
    """Scores that no data have, but the same for all graphs of a class."""
    values = np.random.default_rng(seed).normal(size=2**n)
    return SetScorer([f"x{k}" for k in range(n)], lambda s: values[sum(1 << v for v in s)])


def gaussian_scorer(covariance, n_rows):
    """BIC of so many rows whose covariance is exactly this one."""

    def value(members):
        k = len(members)
        log_det = np.linalg.slogdet(covariance[np.ix_(members, members)])[1] if k else 0.0
        return -0.5 * n_rows * log_det - 0.5 * np.log(n_rows) * k * (k + 1) / 2

    return SetScorer([f"x{v}" for v in range(len(covariance))], value, n_rows)


def binary_scorer(joint, n_rows):
    """BIC of so many rows of binary variables, whose shares are exactly these."""
    n = joint.ndim

    def value(members):
        p = joint.sum(tuple(set(range(n)) - set(members))).ravel()
        return n_rows * np.sum(p * np.log(p)) - 0.5 * np.log(n_rows) * (2 ** len(members) - 1)

    return SetScorer([f"x{v}" for v in range(n)], value, n_rows)


def random_covariance(rng, joined):
    """The covariance of a linear network with coefficients that are not small."""
    n = len(joined)
    weights = np.where(joined, rng.uniform(0.4, 1.2, (n, n)) * rng.choice([-1, 1], (n, n)), 0.0)
    spread = np.linalg.inv(np.eye(n) - weights)
    return spread.T @ np.diag(rng.uniform(0.5, 1.5, n)) @ spread


def random_joint(rng, joined):
    """The joint probabilities of a network of binary variables."""
    n = len(joined)
    joint = np.ones((2,) * n)
    for v in range(n):
        shape = [2 if joined[u, v] else 1 for u in range(n)]
        p = rng.uniform(0.1, 0.9, shape)
        joint = joint * np.stack([p.take(0, v), 1.0 - p.take(0, v)], v)
    return joint


def partial_correlation(covariance, a, b, given):
    """Of two variables given others."""
    chosen = [a, b, *given]
    precision = np.linalg.inv(covariance[np.ix_(chosen, chosen)])
    return -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])
