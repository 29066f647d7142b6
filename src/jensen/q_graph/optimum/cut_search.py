"""Branch and bound over graphs: inequalities where they help, parts of the problem where not."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.optimum.branching import Node, Tree, branch
from jensen.q_graph.optimum.cluster_cuts import Cut, cluster_cut, find_cluster_in, find_clusters
from jensen.q_graph.optimum.families import Families
from jensen.q_graph.optimum.local_cuts import find_local_cuts
from jensen.q_graph.optimum.orders import (
    Network,
    climb,
    climb_at_random,
    climb_further,
    network_of,
    rounded_order,
)
from jensen.q_graph.optimum.relaxation import Point, Relaxation

Array = NDArray[np.float64]

TIE, LEAST_TIE = 1e-10, 1e-7
"""A bound that is above a score by less, in proportion or at all, is reached."""

SIZES = (8, 10)
"""Of the sets of variables over which the strongest inequalities are sought, one after another."""

GAIN = 0.02
"""The share of the gap that inequalities must close, or something else is tried."""

FEW = 3
"""With fewer clusters than these, other inequalities are sought too."""

LARGER = (2, 3)
"""The k of clusters in which k members must have fewer than k parents."""

MOST_ROUNDS = 500
"""How often inequalities are added to one part of the problem."""

SHRINK = 0.8
"""The program is made anew when only this share of its families is left."""


class _Bounded(NamedTuple):
    """A part of the problem after inequalities were added, and the weights there."""

    node: Node
    x: Array


class CutSearch:
    """What has been reached, and the parts of the problem that may hold something better."""

    def __init__(
        self, families: Families, is_over: Callable[[float, float], bool], end: float = math.inf
    ) -> None:
        self._ask = is_over
        self.relaxation = Relaxation(families, end=end)
        self.best: Network | None = None
        self.trace: list[float] = []
        self.bound = float(self.relaxation.top.sum())
        self.stopped = False
        self._tree = Tree()
        self._unsettled = -math.inf  # the bound of parts that rounding left open

    @property
    def score(self) -> float:
        """What has been reached."""
        return -math.inf if self.best is None else self.best.score

    def is_open(self, bound: float) -> bool:
        """Whether there may be something better."""
        return bound > self.score + self._tie

    @property
    def _tie(self) -> float:
        return 0.0 if self.best is None else TIE * abs(self.best.score) + LEAST_TIE

    def run(self) -> None:
        """Bound the problem, and part it until nothing is left that is better."""
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
                self._tree.add(part)
            here = self._next()
        if not self.stopped:
            self.bound = max(self.score, self._unsettled)

    def _next(self) -> _Bounded | None:
        """The part with the highest bound that inequalities do not close."""
        here = None
        while here is None:
            node = self._tree.pop()
            if node is None or not self.is_open(node.bound):
                return None
            self.bound = min(self.bound, max(node.bound, self._unsettled))
            here = self._tighten(node, SIZES[:1])
            if self.stopped:
                return None
        return here

    def _is_over(self) -> bool:
        """Tell what has been reached, and ask whether to stop."""
        self.stopped = self.stopped or self._ask(self.score, max(self.bound, self.score))
        return self.stopped

    def _reach(self, network: Network | None) -> None:
        if network is not None and network.score > self.score:
            self.best = network
            self.trace.append(network.score)

    def _tighten(self, node: Node, sizes: tuple[int, ...]) -> _Bounded | None:
        """Add inequalities as long as they help; None if nothing better is left in this part."""
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
        """Close families with which nothing better is possible."""
        lost = point.bound - point.loss <= self.score + self._tie
        return node._replace(bound=min(point.bound, node.bound), closed=node.closed | lost)

    def _shrunk(self, node: Node, point: Point) -> tuple[Node, Point]:
        """Leave out for good what is closed in the whole problem."""
        kept = np.flatnonzero(~node.closed)
        if len(kept) > SHRINK * len(node.closed):
            return node, point
        self.relaxation = self.relaxation.take(kept)
        some = Point(point.x[kept], point.bound, point.loss[kept])
        return node._replace(closed=np.zeros(len(kept), bool)), some

    def _cuts(self, x: Array, size: int) -> tuple[list[Cut], bool]:
        """Violated inequalities, and whether they were sought by all means."""
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
