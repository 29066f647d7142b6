"""Networks with tables of many kinds, small enough for every assignment to be written out."""

from itertools import product

import numpy as np
from naive import joint
from naive.networks import by_name

import jensen as jn

TINY = 1e-174  # about exp(-400): the product of two is no number any more
NAMES = ("s", "c", "a", "f", "b", "e", "d")


def positive(rng, shape):
    return rng.dirichlet(np.ones(shape[-1]), shape[:-1])


def with_zeros(rng, shape):
    values = rng.dirichlet(np.ones(shape[-1]), shape[:-1]) * (rng.random(shape) < 0.6)
    values[..., 0] += values.sum(-1) == 0
    return values / values.sum(-1, keepdims=True)


def deterministic(rng, shape):
    return np.eye(shape[-1])[rng.integers(shape[-1], size=shape[:-1])]


def extreme(rng, shape):
    values = np.where(rng.random(shape) < 0.6, TINY * rng.random(shape), rng.random(shape))
    values[..., 0] += values.sum(-1) < 1e-6
    return values / values.sum(-1, keepdims=True)


def mixed(rng, shape):
    return KINDS[rng.choice(["positive", "with zeros", "deterministic", "extreme"])](rng, shape)


KINDS = {
    "positive": positive,
    "with zeros": with_zeros,
    "deterministic": deterministic,
    "extreme": extreme,
    "mixed": mixed,
}


def random_net(seed, kind, n=5, density=0.45, configurations=400):
    """A random graph whose order is not that of the names; some nodes have one state or no edge."""
    rng = np.random.default_rng([seed, *kind.encode()])
    order = rng.permutation(NAMES[:n]).tolist()
    edges = [(order[i], order[j]) for j in range(n) for i in range(j) if rng.random() < density]
    graph = jn.DAG(edges, nodes=order)
    while True:
        cards = dict(zip(order, rng.choice([1, 2, 2, 3, 3, 4], n), strict=True))
        if np.prod([card + 1 for card in cards.values()]) <= configurations:
            break
    tables = {x: KINDS[kind](rng, (*(cards[p] for p in graph.parents(x)), cards[x])) for x in order}
    states = {x: [f"{x}{k}" for k in range(cards[x])] for x in order}
    return jn.BayesianNetwork.from_tables(graph, tables, states, parents=by_name(graph))


def all_evidence(net, names=None):
    """Every way to know some of the variables, and nothing of the others."""
    names = list(net.states) if names is None else names
    for labels in product(*([None, *net.states[x]] for x in names)):
        yield {x: label for x, label in zip(names, labels, strict=True) if label is not None}


def random_evidence(net, rng, share=0.4):
    """Some of the variables in random states, possible together or not."""
    return {x: str(rng.choice(s)) for x, s in net.states.items() if rng.random() < share}


def as_rows(table):
    """A table as dicts name → label, None where missing."""
    table = jn.Table(table)
    columns = {
        v.name: [(*v.states, None)[k] for k in table.column(v.name).data] for v in table.variables
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def cells(variables, of):
    """An array from a dict: tuple of states → number."""
    shape = [v.n_states for v in variables]
    keys = product(*(v.states for v in variables))
    return np.array([of.get(key, 0.0) for key in keys], float).reshape(shape)


def holes(net, n, seed, share=0.4, columns=None):
    """Rows of some columns, drawn from the network, with holes."""
    rng = np.random.default_rng(seed)
    names = list(columns or net.states)
    rows = as_rows(net.sample(n, random_state=seed))
    return {x: [None if rng.random() < share else row[x] for row in rows] for x in names}


def read(net, table):
    """The rows of a dict of columns as the twin knows them."""
    n = len(next(iter(table.values())))
    return [joint.known(joint.of(net), {x: table[x][i] for x in table}) for i in range(n)]


def some_columns(net, seed):
    """Three of the variables."""
    return np.random.default_rng(seed).permutation(list(net.states))[:3].tolist()
