"""The best network of many variables, proven by integer programming.

Each family has a weight, and those of one child sum to one. A linear program chooses the weights
that score most; inequalities that every graph without a cycle obeys are added where it violates
them. What the program scores is a bound; networks that its weights suggest are what has been
reached. When no inequality helps much any more the problem is parted in two, by whether two
variables are joined, or by the direction of an edge.

References
----------
Bartlett and Cussens (2017), *Integer linear programming for the Bayesian network structure learning
problem*, Artificial Intelligence 244.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.interrupts import interruptible
from jensen.q_graph.branching import Node, Tree, branch
from jensen.q_graph.cluster_cuts import Cut, cluster_cut, find_cluster_in, find_clusters
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.exact import IMPOSSIBLE
from jensen.q_graph.families import Families
from jensen.q_graph.family_pruning import candidate_families
from jensen.q_graph.info import Outcome
from jensen.q_graph.local_cuts import find_local_cuts
from jensen.q_graph.orders import Network, climb, climb_at_random, network_of, rounded_order
from jensen.q_graph.relaxation import Point, Relaxation
from jensen.q_graph.solver import solver
from jensen.scores.scorer import Scorer

Array = NDArray[np.float64]

TIE, LEAST_TIE = 1e-10, 1e-7
"""A bound that is above a score by less, in proportion or at all, is reached."""

SIZES = (8, 10)
"""Of the sets of variables over which the strongest inequalities are sought, one after another."""

GAIN = 0.02
"""The share of the gap that a round of inequalities must close, or something else is tried."""

FEW = 3
"""Clusters that are enough for a round; with less, the other inequalities are sought too."""

Watch = Callable[[float, float], bool]
"""Sees the score that was reached and its bound; True stops the search."""


class Proof(NamedTuple):
    """The best network that was found, and how far above it another one may be."""

    outcome: Outcome
    gap: float


def prove_best(
    scorer: Scorer,
    constraints: Constraints,
    *,
    time_limit: float | None = None,
    watch: Watch | None = None,
) -> Proof:
    """The network with the highest score of all that the constraints allow, with its proof.

    Parameters
    ----------
    time_limit
        Seconds after which the best network so far is returned, once all families are scored.
    watch
        Called with the score that was reached and the bound; the search ends if it returns True.
    """
    began = time.perf_counter()
    solver()  # refuses before anything is scored
    families = candidate_families(scorer, constraints)
    left = None if time_limit is None else time_limit - (time.perf_counter() - began)
    return solve_by_cuts(families, time_limit=left, watch=watch)


def solve_by_cuts(
    families: Families, *, time_limit: float | None = None, watch: Watch | None = None
) -> Proof:
    """The best network of these families, with its proof."""
    if (np.diff(families.first) == 0).any():
        raise GraphError(IMPOSSIBLE)
    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    with interruptible() as wish:

        def is_over(score: float, bound: float) -> bool:
            seen = watch is not None and watch(score, bound)
            return seen or wish.is_set() or time.perf_counter() > end

        search = Search(families, is_over)
        search.run()
    return search.proof()


class Search:
    """What has been reached, and the parts of the problem that may hold something better."""

    def __init__(self, families: Families, is_over: Watch) -> None:
        self.is_over = is_over
        self.n_families = len(families.child)
        self.relaxation = Relaxation(families)
        self.best: Network | None = None
        self.trace: list[float] = []
        self.tree = Tree()
        self.stopped = False
        self.bound = float(self.relaxation.top.sum())

    @property
    def score(self) -> float:
        """What has been reached."""
        return -math.inf if self.best is None else self.best.score

    @property
    def tie(self) -> float:
        """What a bound must be above the score to matter."""
        return LEAST_TIE if self.best is None else TIE * abs(self.best.score) + LEAST_TIE

    def run(self) -> None:
        """Bound the problem, and part it until nothing is left that is better."""
        self._reach(climb_at_random(self.relaxation.families, LEAST_TIE))
        if not self._goes_on(self.bound):
            return
        node = self._bound_root()
        while node is not None and not self.stopped:
            for part in branch(self.relaxation, node, self._is_open):
                self.tree.add(part)
            node = self._next()
        if not self.stopped:
            self.bound = self.score

    def _next(self) -> Node | None:
        """The part with the highest bound that inequalities do not close."""
        while True:
            node = self.tree.pop()
            if node is None or not self._is_open(node.bound):
                return None
            if not self._goes_on(node.bound):
                return None
            tightened = self._tighten(node, SIZES[:1])
            if tightened is not None:
                return tightened

    def _goes_on(self, bound: float) -> bool:
        """Tell what has been reached, and ask whether to go on."""
        self.bound = min(self.bound, max(bound, self.score))
        self.stopped = self.stopped or self.is_over(self.score, self.bound)
        return not self.stopped

    def _is_open(self, bound: float) -> bool:
        return bound > self.score + self.tie

    def _reach(self, network: Network | None) -> None:
        if network is not None and network.score > self.score:
            self.best = network
            self.trace.append(network.score)

    def _bound_root(self) -> Node | None:
        closed = np.zeros(self.n_families, bool)
        root = self._tighten(Node(self.bound, (), (), closed, None), SIZES)
        if root is None and self.best is None and not self.stopped:
            raise GraphError(IMPOSSIBLE)
        return root

    def _tighten(self, node: Node, sizes: tuple[int, ...]) -> Node | None:
        """Add inequalities as long as they help; None if nothing better is left in this part."""
        step, before = 0, math.inf
        while True:
            self.relaxation.join(node.joined)
            point = self.relaxation.solve(node.closed)
            if point is None:
                return None
            bound = min(point.bound, node.bound)
            self._round(point)
            if not self._is_open(bound):
                return None
            closed = node.closed | (point.bound - point.loss <= self.score + self.tie)
            node = node._replace(bound=bound, closed=closed, point=point)
            if not node.decisions:
                node = self._shrink(node)
                if not self._goes_on(bound):
                    return None
            elif self.is_over(self.score, self.bound):
                self.stopped = True
                return None
            cuts, thorough = self._cuts(node.point, sizes[step])
            if thorough:
                if before - bound < GAIN * (bound - self.score):
                    step += 1
                before = bound
            if not cuts or step == len(sizes):
                return node
            self.relaxation.add(cuts)
            self.relaxation.drop_idle()

    def _shrink(self, node: Node) -> Node:
        """At the root, leave out for good what is closed."""
        kept = np.flatnonzero(~node.closed)
        if len(kept) > 0.8 * len(node.closed):
            return node
        self.relaxation = self.relaxation.take(kept)
        point = Point(node.point.x[kept], node.point.bound, node.point.loss[kept])
        return node._replace(closed=np.zeros(len(kept), bool), point=point)

    def _round(self, point: Point) -> None:
        """Networks that the weights suggest."""
        families = self.relaxation.families
        order = rounded_order(families, point.x)
        self._reach(climb(families, order, LEAST_TIE))

    def _cuts(self, point: Point, size: int) -> tuple[list[Cut], bool]:
        """Violated inequalities, and whether they were sought by all means."""
        families, holds = self.relaxation.families, self.relaxation.holds
        whole = np.flatnonzero(point.x > 1.0 - 1e-6)
        if len(whole) == families.n:
            cluster = find_cluster_in(families, whole)
            if cluster is None:
                self._reach(network_of(families, whole))
                return [], True
            return [cluster_cut(families, holds, cluster)], False
        cuts = [cluster_cut(families, holds, c) for c in find_clusters(families, point.x)]
        if len(cuts) >= FEW:
            return cuts, False
        for k in (2, 3):
            cuts += [cluster_cut(families, holds, c, k) for c in find_clusters(families, point.x, k)]
        stop = lambda: self.is_over(self.score, self.bound)
        return cuts + find_local_cuts(families, point.x, size, stop), True

    def proof(self) -> Proof:
        """The best network so far."""
        if self.best is None:
            raise GraphError("no network was found before the search was stopped")
        n = len(self.best.parents)
        joined = np.zeros((n, n), bool)
        for v, parents in enumerate(self.best.parents):
            joined[list(parents), v] = True
        proven = not self._is_open(self.bound)
        outcome = Outcome(
            joined, self.best.score, np.array(self.trace), self.n_families, proven, self.stopped
        )
        return Proof(outcome, 0.0 if proven else self.bound - self.best.score)
