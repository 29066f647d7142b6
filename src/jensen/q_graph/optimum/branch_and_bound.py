"""Branch and bound over networks: cutting planes while they help, branching where they do not.

Lower bounds on the optimum are networks that greedy moves in orders of the variables find, from
random orders and from orders that fractional solutions suggest.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.indexed_graph import topological_order
from jensen.q_graph.optimum.cuts import (
    Cut,
    cluster_cut,
    find_cluster_in,
    find_clusters,
    find_local_cuts,
)
from jensen.q_graph.optimum.families import CandidateFamilies
from jensen.q_graph.optimum.relaxation import Node, OpenParts, Point, Relaxation, branch

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
StopTest = Callable[[], bool]

TIE, LEAST_TIE = 1e-10, 1e-7
"""A bound counts as reached if it exceeds the score by less than TIE · |score| + LEAST_TIE."""

SIZES = (8, 10)
"""The sizes of the sets for local cuts, tried one after the other."""

GAIN = 0.02
"""Cuts must close this share of the gap, or the next size of sets, then branching, follows."""

FEW = 3
"""With fewer violated clusters, other kinds of cuts are sought too."""

LARGER = (2, 3)
"""The further k of cluster cuts: k members must have fewer than k parents in the cluster."""

MOST_ROUNDS = 500
"""The most rounds of cuts for one part of the problem."""

SHRINK = 0.8
"""The linear program is rebuilt when at most this share of its families is left."""

STARTS = 20
"""The number of random orders from which greedy search starts."""

PATIENCE = 150
"""Greedy search ends after this many perturbed orders without a better network."""


class ScoredNetwork(NamedTuple):
    """An acyclic network and its score."""

    parents: tuple[tuple[int, ...], ...]
    score: float


def network_of(families: CandidateFamilies, chosen: Ints) -> ScoredNetwork | None:
    """The network of one family index per variable; None if one is missing or it has a cycle."""
    if (chosen < 0).any():
        return None
    parents = tuple(families.parents(j) for j in chosen)
    if len(topological_order(parents)) < len(parents):
        return None
    return ScoredNetwork(parents, math.fsum(families.score[chosen]))


def climb(families: CandidateFamilies, order: Ints, tie: float) -> ScoredNetwork | None:
    """The best network of an order, after greedy moves of single variables in the order."""
    from jensen.kernels.best_networks import climb_order

    chosen = np.empty(families.n, np.int64)
    climb_order(
        families.first, families.ptr, families.parent, families.score, tie, order.copy(), chosen
    )
    return network_of(families, chosen)


def best_of(networks: Iterable[ScoredNetwork | None], tie: float) -> ScoredNetwork | None:
    """The first of the best networks."""
    best: ScoredNetwork | None = None
    for network in networks:
        if network is not None and (best is None or network.score > best.score + tie):
            best = network
    return best


def climb_at_random(families: CandidateFamilies, tie: float) -> ScoredNetwork | None:
    """The best network from random orders with a fixed seed."""
    rng = np.random.default_rng(0)
    starts = [np.arange(families.n), *(rng.permutation(families.n) for _ in range(STARTS - 1))]
    return best_of((climb(families, order, tie) for order in starts), tie)


def climb_further(
    families: CandidateFamilies, best: ScoredNetwork, tie: float, is_over: StopTest
) -> ScoredNetwork:
    """Perturb an order of the best network, climb again, and keep the better network.

    Climbs that start near a good order end in better networks than climbs from random orders.
    """
    rng, idle = np.random.default_rng(0), 0
    while idle < PATIENCE and not is_over():
        order = topological_order(best.parents)
        for _ in range(rng.integers(1, max(2, families.n // 5) + 1)):
            here, there = rng.integers(0, families.n, 2)
            order.insert(there, order.pop(here))
        found = climb(families, np.array(order, np.int64), tie)
        is_better = found is not None and found.score > best.score + tie
        best, idle = (found, 0) if found is not None and is_better else (best, idle + 1)
    return best


def rounded_order(families: CandidateFamilies, weight: Array) -> Ints:
    """An order from fractional weights: next is the variable that needs the rest least."""
    used = np.flatnonzero(weight > 0.0)
    some = families.take(used)
    holds, weights = some.holds, weight[used]
    left = np.ones(families.n, bool)
    order = []
    for _ in range(families.n):
        waits = holds[:, left].any(axis=1)
        need = np.bincount(some.child[waits], weights[waits], families.n).astype(float)
        need[~left] = np.inf
        order.append(int(need.argmin()))
        left[order[-1]] = False
    return np.array(order, np.int64)


class _Bounded(NamedTuple):
    """A part of the problem after cuts were added, and the weights of families there."""

    node: Node
    x: Array


class CutSearch:
    """Branch and bound: the best network so far, and the parts that may hold a better one.

    Parameters
    ----------
    families
        The candidate families.
    is_over
        Called with the best score and the bound; returning True stops the search.
    end
        The time (`time.perf_counter`) after which linear programs are not solved further.
    """

    def __init__(
        self,
        families: CandidateFamilies,
        is_over: Callable[[float, float], bool],
        end: float = math.inf,
    ) -> None:
        self._ask = is_over
        self.relaxation = Relaxation(families, end=end)
        self.best: ScoredNetwork | None = None
        self.trace: list[float] = []
        self.bound = float(self.relaxation.top.sum())
        self.stopped = False
        self._open = OpenParts()
        self._unsettled = -math.inf  # the bound of parts that rounding left open

    @property
    def score(self) -> float:
        """The best score so far."""
        return -math.inf if self.best is None else self.best.score

    def is_open(self, bound: float) -> bool:
        """Whether a part with this bound may hold a better network."""
        return bound > self.score + self._tie

    @property
    def _tie(self) -> float:
        return 0.0 if self.best is None else TIE * abs(self.best.score) + LEAST_TIE

    def run(self) -> None:
        """Tighten the bound and branch until no part can hold a better network."""
        families = self.relaxation.families
        self._reach(climb_at_random(families, LEAST_TIE))
        if self.best is not None:
            self._reach(climb_further(families, self.best, LEAST_TIE, self._is_over))
        closed = np.zeros(len(self.relaxation.families.child), bool)
        here = self._tighten(Node(self.bound, 0, (), closed), SIZES)
        while here is not None:
            parts = branch(self.relaxation, here.node, here.x, self.is_open)
            if parts is None:
                self._unsettled = max(self._unsettled, here.node.bound)
            for part in parts or ():
                self._open.add(part)
            here = self._next()
        if not self.stopped:
            self.bound = max(self.score, self._unsettled)

    def _next(self) -> _Bounded | None:
        """The part with the highest bound that cuts do not close."""
        here = None
        while here is None:
            node = self._open.pop()
            if node is None or not self.is_open(node.bound):
                return None
            self.bound = min(self.bound, max(node.bound, self._unsettled))
            here = self._tighten(node, SIZES[:1])
            if self.stopped:
                return None
        return here

    def _is_over(self) -> bool:
        """Report the best score and the bound; return whether to stop."""
        self.stopped = self.stopped or self._ask(self.score, max(self.bound, self.score))
        return self.stopped

    def _reach(self, network: ScoredNetwork | None) -> None:
        if network is not None and network.score > self.score:
            self.best = network
            self.trace.append(network.score)

    def _tighten(self, node: Node, sizes: tuple[int, ...]) -> _Bounded | None:
        """Add cuts as long as they help; None if this part holds no better network."""
        step, before, x = 0, math.inf, np.zeros(0)
        for _ in range(MOST_ROUNDS):
            point = self._solve(node)
            if point is None:
                return None
            node = self._closed(node, point)
            if not self.is_open(node.bound):
                return None
            if node.depth == 0:
                self.bound = node.bound
                node, point = self._shrunk(node, point)
            if self._is_over():
                return None
            x = point.x
            cuts, by_all_means = self._cuts(x, sizes[step])
            if by_all_means:
                step += before - node.bound < GAIN * (node.bound - self.score)
                before = node.bound
            if not cuts or step == len(sizes):
                break
            self.relaxation.add(cuts)
            self.relaxation.drop_idle()
        return _Bounded(node, x)

    def _solve(self, node: Node) -> Point | None:
        self.relaxation.join(node.joined)
        point = self.relaxation.solve(node.closed)
        if point is not None:
            families = self.relaxation.families
            self._reach(climb(families, rounded_order(families, point.x), LEAST_TIE))
        return point

    def _closed(self, node: Node, point: Point) -> Node:
        """Close the families that no better network can have."""
        lost = point.bound - point.loss <= self.score + self._tie
        return node._replace(bound=min(point.bound, node.bound), closed=node.closed | lost)

    def _shrunk(self, node: Node, point: Point) -> tuple[Node, Point]:
        """Remove the families that are closed in the whole problem from the program."""
        kept = np.flatnonzero(~node.closed)
        if len(kept) > SHRINK * len(node.closed):
            return node, point
        self.relaxation = self.relaxation.take(kept)
        some = Point(point.x[kept], point.bound, point.loss[kept])
        return node._replace(closed=np.zeros(len(kept), bool)), some

    def _cuts(self, x: Array, size: int) -> tuple[list[Cut], bool]:
        """Violated cuts, and whether all kinds of cuts were sought."""
        families, holds = self.relaxation.families, self.relaxation.holds
        whole = np.flatnonzero(x > 1.0 - 1e-6)
        if len(whole) == families.n:
            cluster = find_cluster_in(families, whole)
            if cluster is not None:
                return [cluster_cut(families, holds, cluster)], False
            self._reach(network_of(families, whole))
            return [], True
        cuts = [cluster_cut(families, holds, c) for c in find_clusters(families, x)]
        if len(cuts) >= FEW:
            return cuts, False
        for k in LARGER:
            cuts += [cluster_cut(families, holds, c, k) for c in find_clusters(families, x, k)]
        return cuts + find_local_cuts(families, x, size, self._is_over), True
