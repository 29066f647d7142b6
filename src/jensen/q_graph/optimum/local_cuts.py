"""The strongest inequalities over a few variables, by packing graphs into a fractional one.

Leave out of every set of parents what is not among some variables S. If the weights that are left
are a mixture of graphs over S without cycles, no inequality over S is violated. Else as much of
them as possible is made up of such graphs, by linear programming; the prices of families in this
program are an inequality: every graph without a cycle pays at least 1, the fractional one less.
Graphs are added to the program as they are needed, each the cheapest at the current prices. Last,
prices of what does not occur are lowered as far as no graph pays less than 1.

References
----------
Applegate, Bixby, Chvátal and Cook (2001), *TSP cuts which do not conform to the template paradigm*:
the idea of such cuts, for tours.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from jensen.q_graph.optimum.cluster_cuts import SHORT, Cut
from jensen.q_graph.optimum.families import Families
from jensen.q_graph.optimum.solver import solver

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 5
"""Sets of this size are looked at too: there are more of them, and they take no time."""

MOST_ROUNDS = 200
"""How often graphs are added at most."""

GOOD_ENOUGH = 0.5
"""The share of the largest possible violation at which prices are taken as they are."""

PRIMAL = 4
"""The simplex method that goes on from where it is when a column is added."""

UNUSED = 1e3
"""The price of what does not occur, while graphs are packed."""


def find_local_cuts(families: Families, x: Array, size: int, wish: Any) -> list[Cut]:
    """Violated inequalities over sets of variables that the fractional graph joins in cycles."""
    cuts = []
    for members in knots(families, x, size):
        if wish():
            break
        cut = local_cut(families, x, members)
        if cut is not None and cut.violation(x) > SHORT:
            cuts.append(cut)
    return cuts


def knots(families: Families, x: Array, size: int) -> list[tuple[int, ...]]:
    """Sets of variables with much weight of edges between them, around each variable one."""
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


def edge_weights(families: Families, x: Array) -> Array:
    """(n, n): the weight of all families of a child that hold a parent, [parent, child]."""
    weight = np.repeat(x, np.diff(families.ptr))
    child = np.repeat(families.child, np.diff(families.ptr))
    n = families.n
    flat = np.bincount(families.parent * n + child, weight, minlength=n * n)
    return np.asarray(flat.reshape(n, n))


def local_cut(families: Families, x: Array, members: Sequence[int]) -> Cut | None:
    """The inequality over these variables that is violated most, or about so."""
    from jensen.kernels.small_graphs import lower_costs

    at, row, number = _within(families, members)
    s, n_sets = len(members), 1 << len(members)
    weight: Array = np.zeros((s, n_sets))
    np.add.at(weight, (row, number), x[at])
    prices = _packing_prices(weight)
    if prices is None:
        return None
    cost = _extended(prices, weight)
    lower_costs(cost)
    value = cost[row, number]
    return Cut(at[value > 0.0], value[value > 0.0], _Graphs(s).find(cost))


def _within(families: Families, members: Sequence[int]) -> tuple[Ints, Ints, Ints]:
    """The families of members: which they are, whose, and the number of their parents among them.

    A member stands for its place among them.
    """
    place = np.full(families.n, -1)
    place[list(members)] = np.arange(len(members))
    bit = np.where(place >= 0, 1 << np.maximum(place, 0), 0)
    sums = np.concatenate([[0], np.cumsum(bit[families.parent])])
    number = sums[families.ptr[1:]] - sums[families.ptr[:-1]]
    at = np.flatnonzero(place[families.child] >= 0)
    return at, place[families.child[at]], number[at]


def _packing_prices(weight: Array) -> Array | None:
    """Prices of the families that occur at which each graph pays 1 and all weights less."""
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
        if paid >= UNUSED:  # no graph can be made of what occurs
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
    """Cheap graphs over a few variables, one that ends in each of them."""

    def __init__(self, s: int) -> None:
        self.least, self.totals = np.empty((s, 1 << s)), np.empty(1 << s)
        self.chosen, self.paid = np.empty((s, s), np.int64), np.empty(s)

    def find(self, cost: Array) -> float:
        """Find them; what the cheapest pays."""
        from jensen.kernels.small_graphs import cheapest_graphs

        cheapest_graphs(cost, self.least, self.totals, self.chosen, self.paid)
        return float(self.paid.min())

    def below(self, price: float) -> Ints:
        """(g, s): those that pay less, each once."""
        some = {graph.tobytes(): graph for graph in self.chosen[self.paid < price]}
        return np.array(list(some.values()))


class _Packing:
    """How much of the weights is made up of graphs, and what a little more of each is worth."""

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
        """Add graphs (g, s) of families; what can be packed now, and the prices."""
        g, s = graphs.shape
        self.model.addCols(
            g, np.ones(g), np.zeros(g), np.full(g, self.infinity), g * s,
            np.arange(0, g * s, s, dtype=np.int32), graphs.ravel(), np.ones(g * s),
        )  # fmt: skip
        self.model.run()
        packed = self.model.getInfo().objective_function_value
        return packed, np.maximum(np.array(self.model.getSolution().row_dual), 0.0)


def _extended(prices: Array, weight: Array) -> Array:
    """Prices of all families: of what does not occur, that of a smaller set which does, else 1."""
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
