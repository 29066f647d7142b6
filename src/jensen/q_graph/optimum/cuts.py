"""Cutting planes: inequalities that every acyclic graph obeys and a fractional solution violates.

**Cluster cuts.** In every set C of variables of an acyclic graph some variable has no parent in C,
so the weights of all families of members of C whose parents lie outside C sum to at least 1. More
generally, at least k members have fewer than k parents in C: the first k in a topological order.

**Local cuts.** Restrict every parent set to a few variables S. If the restricted weights are a
mixture of acyclic graphs over S, no inequality over S is violated. Otherwise a linear program packs
as much of the weights as possible into such graphs; its dual prices of families are a violated
inequality: every acyclic graph pays at least 1, the fractional one less. Graphs enter the program
by column generation, the cheapest at the current prices first. Finally the prices of families with
weight 0 are lowered as far as every graph still pays at least 1.

References
----------
Jaakkola, Sontag, Globerson and Meila (2010), *Learning Bayesian network structure using LP
relaxations*, AISTATS. Cussens (2011), *Bayesian network learning with cutting planes*, UAI.
Applegate, Bixby, Chvátal and Cook (2001), *TSP cuts which do not conform to the template paradigm*,
for local cuts.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from jensen.graphs.indexed_graph import find_cycle
from jensen.q_graph.optimum.families import CandidateFamilies
from jensen.q_graph.optimum.solver import solver
from jensen.support.fields import add_at

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

SHORT = 1e-3
"""The smallest violation for which an inequality is added."""

MOST_CLUSTERS = 60
"""The most clusters that are returned at once."""

SMALL = 5
"""Sets of this size are tried too: they take little time."""

MOST_ROUNDS = 200
"""The most rounds in which graphs are added to the packing program."""

GOOD_ENOUGH = 0.5
"""Prices are accepted at this share of the largest possible violation."""

PRIMAL = 4
"""HiGHS' primal simplex, which continues from its last solution after a column is added."""

UNUSED = 1e3
"""The price of families with weight 0 while graphs are packed."""


class Cut(NamedTuple):
    """The inequality Σ_j weight[j] x[at[j]] ≥ least, where x are the weights of families."""

    at: Ints  # indices of families, ascending
    weight: Array
    least: float

    def violation(self, x: Array) -> float:
        """`least` minus the left-hand side at x; positive if the inequality is violated."""
        return self.least - float(self.weight @ x[self.at])


def cluster_cut(families: CandidateFamilies, holds: Flags, cluster: Flags, k: int = 1) -> Cut:
    """The inequality that at least k members of a cluster have fewer than k parents in it."""
    few = cluster[families.child] & (holds[:, cluster].sum(axis=1) < k)
    at = np.flatnonzero(few)
    return Cut(at, np.ones(len(at)), float(k))


def find_clusters(families: CandidateFamilies, x: Array, k: int = 1) -> list[Flags]:
    """Clusters whose inequality is violated, the most violated first."""
    from jensen.kernels.cuts import grow_clusters

    used = np.flatnonzero(x > 0.0)
    some = families.take(used)
    family = np.repeat(np.arange(len(used)), np.diff(some.ptr))
    by_parent = np.argsort(some.parent, kind="stable")
    holder_ptr = np.searchsorted(some.parent[by_parent], np.arange(families.n + 1))
    starts = np.unique(np.column_stack([some.parent, some.child[family]]), axis=0)
    found = np.zeros((len(starts), families.n), bool)
    values = np.zeros(len(starts))
    n_found = grow_clusters(
        some.child, some.first, x[used], family[by_parent], holder_ptr, starts, k, SHORT,
        found, values,
    )  # fmt: skip
    order = np.argsort(-values[:n_found], kind="stable")
    distinct = {found[i].tobytes(): found[i] for i in order}
    return list(distinct.values())[:MOST_CLUSTERS]


def find_cluster_in(families: CandidateFamilies, chosen: Ints) -> Flags | None:
    """The variables of a cycle in a graph of one family each; None if it is acyclic."""
    cycle = find_cycle([families.parents(j) for j in chosen])
    if not cycle:
        return None
    cluster = np.zeros(families.n, bool)
    cluster[cycle] = True
    return cluster


def find_local_cuts(
    families: CandidateFamilies, x: Array, size: int, is_over: Callable[[], bool]
) -> list[Cut]:
    """Violated local cuts over sets of variables among which the fractional graph has cycles."""
    cuts = []
    for members in dense_sets(families, x, size):
        if is_over():
            break
        cut = local_cut(families, x, members)
        if cut is not None and cut.violation(x) > SHORT:
            cuts.append(cut)
    return cuts


def dense_sets(families: CandidateFamilies, x: Array, size: int) -> list[tuple[int, ...]]:
    """Sets of variables with heavy edges between them, grown greedily around each variable."""
    joined = edge_weights(families, x)
    _, part = connected_components(joined > 0.0, directed=True, connection="strong")
    within = np.where(part[:, None] == part, joined + joined.T, 0.0)
    found = set()
    for v in range(families.n):
        members = [v]
        while len(members) < size:
            pull = within[:, members].sum(axis=1)
            pull[members] = 0.0
            if pull.max() <= 0.0:
                break
            members.append(int(pull.argmax()))
            if len(members) == SMALL:
                found.add(tuple(sorted(members)))
        if len(members) > 2:
            found.add(tuple(sorted(members)))
    return sorted(found)


def edge_weights(families: CandidateFamilies, x: Array) -> Array:
    """(n, n) [parent, child]: the total weight of the child's families that have the parent."""
    weight = np.repeat(x, np.diff(families.ptr))
    child = np.repeat(families.child, np.diff(families.ptr))
    n = families.n
    flat = np.bincount(families.parent * n + child, weight, minlength=n * n)
    return np.asarray(flat.reshape(n, n))


def local_cut(families: CandidateFamilies, x: Array, members: Sequence[int]) -> Cut | None:
    """An inequality over these variables with nearly the largest violation."""
    from jensen.kernels.cuts import lower_costs

    at, row, number = _within(families, members)
    s, n_sets = len(members), 1 << len(members)
    weight: Array = np.zeros((s, n_sets))
    add_at(weight, (row, number), x[at])
    prices = _packing_prices(weight)
    if prices is None:
        return None
    cost = _extended(prices, weight)
    lower_costs(cost)
    value = cost[row, number]
    return Cut(at[value > 0.0], value[value > 0.0], _Graphs(s).find(cost))


def _within(families: CandidateFamilies, members: Sequence[int]) -> tuple[Ints, Ints, Ints]:
    """The families of the members: their indices, children, and parents among the members as bits.

    Children and bits are positions among the members.
    """
    place = np.full(families.n, -1)
    place[list(members)] = np.arange(len(members))
    bit = np.where(place >= 0, 1 << np.maximum(place, 0), 0)
    sums = np.concatenate([[0], np.cumsum(bit[families.parent])])
    number = sums[families.ptr[1:]] - sums[families.ptr[:-1]]
    at = np.flatnonzero(place[families.child] >= 0)
    return at, place[families.child[at]], number[at]


def _packing_prices(weight: Array) -> Array | None:
    """Prices of families with positive weight: each graph costs at least 1, the weights less."""
    row, number = np.nonzero(weight > 1e-9)
    have = weight[row, number]
    s, _ = weight.shape
    index = np.full(weight.shape, -1, np.int32)
    index[row, number] = np.arange(len(row))
    packing, graphs = _Packing(have), _Graphs(s)
    prices, best, most_short = np.full(len(row), 0.5 / s), None, SHORT
    cost = np.full(weight.shape, UNUSED)
    for _ in range(MOST_ROUNDS):
        cost[row, number] = prices
        paid = graphs.find(cost)
        if paid >= UNUSED:  # the families with positive weight make no acyclic graph
            return np.zeros(len(row))
        short = 1.0 - float(prices @ have) / paid if paid > 0.0 else 0.0
        if short > most_short:
            best, most_short = prices / paid, short
        if paid >= 1.0 - 1e-7:
            break
        packed, prices = packing.add(index[np.arange(s), graphs.below(1.0)])
        if 1.0 - packed < SHORT or most_short > GOOD_ENOUGH * (1.0 - packed):
            break
    return best


class _Graphs:
    """Cheap graphs over a few variables: for each variable the cheapest that has it as a sink."""

    def __init__(self, s: int) -> None:
        self.least, self.totals = np.empty((s, 1 << s)), np.empty(1 << s)
        self.chosen, self.paid = np.empty((s, s), np.int64), np.empty(s)

    def find(self, cost: Array) -> float:
        """Find the graphs at these costs (s, 2^s); return the cost of the cheapest."""
        from jensen.kernels.cuts import cheapest_graphs

        cheapest_graphs(cost, self.least, self.totals, self.chosen, self.paid)
        return float(self.paid.min())

    def below(self, price: float) -> Ints:
        """(g, s): the distinct graphs that cost less than a price."""
        some = {graph.tobytes(): graph for graph in self.chosen[self.paid < price]}
        return np.array(list(some.values()))


class _Packing:
    """The linear program that packs graphs into the weights of families, and its dual prices."""

    def __init__(self, have: Array) -> None:
        self.model, highspy = solver()
        self.infinity = highspy.kHighsInf
        n = len(have)
        none = np.array([], np.int32)
        self.model.addRows(
            n, np.full(n, -self.infinity), have, 0, np.zeros(n, np.int32), none, np.array([])
        )
        self.model.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self.model.setOptionValue("simplex_strategy", PRIMAL)

    def add(self, graphs: NDArray[np.int32]) -> tuple[float, Array]:
        """Add graphs (g, s) of family indices; return the packed amount and the dual prices."""
        g, s = graphs.shape
        self.model.addCols(
            g, np.ones(g), np.zeros(g), np.full(g, self.infinity), g * s,
            np.arange(0, g * s, s, dtype=np.int32), graphs.ravel(), np.ones(g * s),
        )  # fmt: skip
        self.model.run()
        packed = self.model.getInfo().objective_function_value
        return packed, np.maximum(np.array(self.model.getSolution().row_dual), 0.0)


def _extended(prices: Array, weight: Array) -> Array:
    """(s, 2^s): prices of all families; with weight 0, the least price of a subset, at most 1."""
    cost = np.full(weight.shape, np.inf)
    cost[weight > 1e-9] = prices
    s, n_sets = weight.shape
    sets = np.arange(n_sets)
    for v in range(s):
        smaller = cost[v].copy()
        for b in range(s):
            with_b = sets[sets >> b & 1 == 1]
            smaller[with_b] = np.minimum(smaller[with_b], smaller[with_b ^ 1 << b])
        cost[v] = np.where(np.isinf(cost[v]), np.minimum(smaller, 1.0), cost[v])
    return np.asarray(np.minimum(cost, 1.0))
