"""Families of discrete variables with tables of many kinds, and rows with missing cells."""

from itertools import product
from typing import NamedTuple

import numpy as np
from naive import hidden as naive

from jensen.graphs.indexed_graph import wire_families
from jensen.q_hidden.trees.plans import Plans
from jensen.q_hidden.trees.problems import split_rows
from jensen.support.tree_records import CHILDREN as N_CHILDREN
from jensen.support.tree_records import CLUSTERS, KIND, N_CLUSTERS, SIZE, SLOT, SLOTS, TILE
from jensen.support.tree_records import FAMILIES as N_FAMILIES


class Case(NamedTuple):
    families: list  # of tuples of variables
    cards: list
    tables: list  # of arrays of logarithms

    @property
    def flat(self):
        return np.concatenate([np.empty(0), *(table.ravel() for table in self.tables)])


def directed(rng, n, density):
    """The families of a random directed graph, whose order is not that of the numbers."""
    rank = rng.permutation(n)
    return [
        (*(u for u in range(n) if rank[u] < rank[v] and rng.random() < density), v)
        for v in range(n)
    ]


def general(rng, n):
    """Any families: members in any order, the same twice, variables in none."""
    found = [
        tuple(map(int, rng.permutation(n)[: rng.integers(1, min(n, 3) + 1)])) for _ in range(n)
    ]
    return [*found, found[0]]


def random_cards(rng, n, most=4, configurations=2500):
    """Numbers of states, so small that all rows with missing cells can be enumerated."""
    while True:
        cards = rng.integers(1, most + 1, n)
        if np.prod(cards + 1) <= configurations:
            return cards.tolist()


def random_tables(rng, families, cards, kind):
    """Logarithms of tables; a row is what the states of the last member have."""
    shapes = [[cards[v] for v in family] for family in families]
    with np.errstate(divide="ignore"):
        return [KINDS[kind](rng, shape) for shape in shapes]


def normal(rng, shape):
    p = rng.exponential(1.0, shape)
    return np.log(p / p.sum(-1, keepdims=True))


def with_zeros(rng, shape):
    p = rng.exponential(1.0, shape) * (rng.random(shape) < 0.6)
    p[..., 0] += 0.1
    return np.log(p / p.sum(-1, keepdims=True))


def deterministic(rng, shape):
    return np.log(rng.permuted(np.eye(shape[-1])[np.zeros(shape[:-1], int)], axis=-1))


def below_normal(rng, shape):
    return normal(rng, shape) - rng.exponential(1.0, shape)


def potentials(rng, shape):
    return rng.normal(0.0, 3.0, shape)


def to_minus_400(rng, shape):
    return -400.0 * rng.random(shape)


def to_minus_1000(rng, shape):
    return -1000.0 * rng.random(shape)


def deep(rng, shape):
    """Far below what linear space can hold, and yet no entry is far from the next."""
    return normal(rng, shape) - 300.0


def cliffs(rng, shape):
    """Factors that linear space can hold one by one but not together, and some that it cannot."""
    return rng.choice([0.0, -1.0, -200.0, -222.0, -400.0, -800.0, -np.inf], shape)


KINDS = {
    f.__name__: f
    for f in (
        normal,
        with_zeros,
        deterministic,
        below_normal,
        potentials,
        to_minus_400,
        to_minus_1000,
        deep,
        cliffs,
    )
}


def make_case(rng, families, cards, kind="normal"):
    return Case(families, list(cards), random_tables(rng, families, cards, kind))


def random_case(seed, kind):
    """A small network, directed or not, connected or not."""
    rng = np.random.default_rng(seed)
    n = seed % 7 + 1
    families = general(rng, n) if seed % 4 == 3 else directed(rng, n, rng.choice([0.2, 0.5, 0.8]))
    return make_case(rng, families, random_cards(rng, n), kind)


def every_pattern(rng, case, n_each=1):
    """Rows with every set of missing cells; what is seen is likely, or anything."""
    n = len(case.cards)
    everything = naive.configurations(case.cards, range(n))
    values = naive.log_values(case.families, case.tables, [-1] * n, list(range(n)), everything)
    rows = []
    for pattern, _ in product(product([False, True], repeat=n), range(n_each)):
        possible = np.flatnonzero(values > -np.inf)
        pick = possible if len(possible) and rng.random() < 0.7 else np.arange(len(values))
        row = everything[rng.choice(pick)].copy()
        row[list(pattern)] = -1
        rows.append(row)
    return np.array(rows, np.int32).reshape(len(rows), n)


def make_plans(case):
    names = [f"x{v}" for v in range(len(case.cards))]
    return Plans(wire_families(case.families, case.cards), names)


def split(plans, rows, weights=None):
    """The sub-problems of rows."""
    rows = np.asarray(rows, np.int32)
    weights = np.ones(len(rows)) if weights is None else weights
    return split_rows(plans, lambda start, stop: rows[start:stop], weights)


def set_members(plans, p):
    """The variables of set p, in its order."""
    return plans.sets.entries[plans.sets.begin[p] : plans.sets.end[p]].tolist()


def problems_of(found, i):
    """The numbers of the sub-problems of row i."""
    return found.of_row[found.row_end[i - 1] if i else 0 : found.row_end[i]].tolist()


def clusters(program, p):
    """(size, tile, kinds of slots) of every cluster of set p."""
    code, head = program.code, int(program.start[p])
    found = []
    for c in range(code[head + N_CLUSTERS]):
        q = head + int(code[head + CLUSTERS + c])
        n_slots = int(code[q + N_FAMILIES] + code[q + N_CHILDREN])
        kinds = [int(code[q + SLOTS + s * SLOT + KIND]) for s in range(n_slots)]
        found.append((int(code[q + SIZE]), int(code[q + TILE]), kinds))
    return found


def chain(n):
    """Every variable after the one before."""
    return [(0,), *((v - 1, v) for v in range(1, n))]


def grid(height, width):
    """Every cell below and right of its neighbours."""
    families = []
    for i, j in product(range(height), range(width)):
        up = [(i - 1) * width + j] if i else []
        left = [i * width + j - 1] if j else []
        families.append((*up, *left, i * width + j))
    return families
