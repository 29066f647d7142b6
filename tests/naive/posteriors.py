"""Posteriors over graphs by their definition: every DAG is scored, nothing is sampled."""

from functools import cache

import numpy as np
from naive.graphs import all_dags

import jensen as jn
from jensen.q_graph.posterior import ChainRun
from jensen.q_graph.posterior.graph_samples import GraphSamples, bits_of


@cache
def dags_of(names):
    """All DAGs over the names."""
    return tuple(jn.DAG(list(edges), names) for edges in all_dags(names))


def random_dags(n, count, rng):
    """Sparse graphs of n variables, each along a random order."""
    names = [f"v{k:03d}" for k in range(n)]
    dags = []
    for _ in range(count):
        order = rng.permutation(n)
        joined = np.zeros((n, n), bool)
        joined[np.ix_(order, order)] = np.triu(rng.random((n, n)) < 3 / n, 1)
        dags.append(jn.DAG.from_adjacency(joined, names))
    return tuple(dags)


def probabilities(dags, table, name="bdeu", **choices):
    """P(G | table) under the uniform prior."""
    scores = np.array([jn.score(dag, table, name, **choices) for dag in dags])
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


@cache
def parents_of(dags):
    """(graphs, n, words): parents as bits."""
    return bits_of(np.array([dag.adjacency.T for dag in dags]))


def sampled(dags, p, shape, seed, **choices):
    """Independent samples with these probabilities, in the shape (chains, samples)."""
    which = np.random.default_rng(seed).choice(len(dags), shape, p=p)
    with np.errstate(divide="ignore"):
        scores = np.log(p)[which]
    return GraphSamples(dags[0].nodes, parents_of(dags)[which], scores, **choices)


def run_of(samples, moves=None, edge_batches=None, outside_share=None, interrupted=False):
    """What chains hand over."""
    return ChainRun(samples, moves or {}, outside_share, edge_batches, interrupted=interrupted)


class Enumerated:
    """Exact sums by enumeration, with draws."""

    def __init__(self, dags, p, log_evidence=0.0):
        self.dags, self.p = dags, p
        self.names = dags[0].nodes
        self.log_evidence, self.log_total = log_evidence, log_evidence + 1.0
        self.most_probable = None  # not looked for: the best of what is drawn will do
        self.edge_matrix = np.tensordot(p, np.array([dag.adjacency for dag in dags]), 1)

    def parent_set_probabilities(self, child):
        found = np.zeros(1 << (len(self.dags[0].nodes) - 1))
        for dag, p in zip(self.dags, self.p, strict=True):
            places = [u - (u > child) for u in dag.parent_indices[child]]
            found[sum(1 << k for k in places)] += p
        return found

    def path_matrix(self):
        nodes = self.dags[0].nodes
        each = [[[a in dag.ancestors(b) for b in nodes] for a in nodes] for dag in self.dags]
        return np.tensordot(self.p, np.array(each, float), 1)

    def draw(self, n_draws, rng):
        which = rng.choice(len(self.p), n_draws, p=self.p)
        return parents_of(self.dags)[which], np.log(self.p)[which], None
