"""Small networks and tables with missing values in any place, for tests by enumeration."""

from typing import NamedTuple

import numpy as np
from naive import graphs as naive_graphs

import jensen as jn
from jensen.estimators.network_choices import make_prior
from jensen.free_energy import state_at
from jensen.graphs import wire
from jensen.models.discrete_network import DiscreteNetwork, Tables, encode


class Case(NamedTuple):
    graph: jn.DAG
    cards: list
    rows: np.ndarray  # (N, n) states, -1 where missing
    weights: np.ndarray | None = None
    hidden: tuple = ()  # variables without a value

    @property
    def names(self):
        return self.graph.nodes

    @property
    def wiring(self):
        return wire(self.graph.parent_indices, self.cards)

    @property
    def families(self):
        return self.wiring.scopes()

    @property
    def row_weights(self):
        return [1.0] * len(self.rows) if self.weights is None else self.weights.tolist()

    @property
    def facts(self):
        """What the slow twins want to know first."""
        return self.families, self.cards

    def split(self, flat):
        """One array per table, an axis per member."""
        shapes = [[self.cards[v] for v in family] for family in self.families]
        parts = np.split(np.asarray(flat), self.wiring.fam_at[1:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def table(self, *, empty_columns=False):
        """The rows; a hidden variable has no column, or one without a value."""
        columns, states = {}, {}
        for v, name in enumerate(self.names):
            if v in self.hidden and not empty_columns:
                continue
            columns[name] = [None if s < 0 else int(s) for s in self.rows[:, v]]
            states[name] = range(self.cards[v])
        return jn.Table(columns, states=states, weights=self.weights)

    def encoded(self, *, all_cells=True, **how):
        return encode(self.table(**how), self.names, self.wiring, all_cells=all_cells)

    def model(self, prior):
        size = int(self.wiring.fam_at[-1])
        eta = make_prior(prior, 1.0, self.names, self.wiring, np.ones(size))
        return DiscreteNetwork(self.wiring, eta)

    def declared(self):
        """The hidden variables as an estimator wants them."""
        return {self.names[v]: self.cards[v] for v in self.hidden}


def random_case(seed, *, n=None, n_rows=8, most_missing=4, weights=None, states=(1, 3)):
    """A random network; about a third of the cells are missing, some variables always."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5)) if n is None else n
    dag = jn.DAG(*naive_graphs.random_dag(rng, n, 0.6))
    cards = rng.integers(states[0], states[1] + 1, n)
    hidden = np.flatnonzero(rng.random(n) < 0.25)[: n - 1]
    cards[hidden] = np.maximum(cards[hidden], 2)
    rows = np.column_stack([rng.integers(0, max(c, 1), n_rows) for c in cards])
    rows[rng.random(rows.shape) < 0.3] = -1
    rows[:, hidden] = -1
    seen = [v for v in range(n) if v not in hidden]
    for row in rows:  # few enough completions to enumerate
        while np.sum(row < 0) > max(most_missing, len(hidden)):
            v = int(rng.choice(seen))
            row[v] = rng.integers(cards[v])
    for v in seen:  # a column without a value would be hidden
        if (rows[:, v] < 0).all():
            rows[0, v] = 0
    found = {
        None: None,
        "whole": rng.integers(1, 4, n_rows).astype(float),
        "parts": rng.uniform(0.1, 3.0, n_rows),
    }
    return Case(dag, cards.tolist(), rows, found[weights], tuple(map(int, hidden)))


def random_probabilities(rng, case, *, zeros=False):
    """Random tables, flat; with zeros where every row stays possible."""
    parts = []
    for table in case.split(np.zeros(int(case.wiring.fam_at[-1]))):
        p = rng.exponential(1.0, table.shape) + 0.05
        if zeros:
            p *= rng.random(table.shape) < 0.7
            p[..., 0] += 0.1
        parts.append((p / p.sum(-1, keepdims=True)).ravel())
    return np.concatenate(parts)


def start(case, model, data, algorithm, seed=0, rng=None):
    """The state at random tables as heavy as the data."""
    counts = random_probabilities(np.random.default_rng(seed), case) * (len(case.rows) + 1.0)
    prior = 0.0 if model.prior.tables is None else model.prior.tables
    return state_at(model, data, algorithm, Tables(prior + counts), rng)
