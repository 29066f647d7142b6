"""q(G) as a point: hill climbing and tabu search over DAGs, one edge at a time.

A move adds, drops or turns one edge. After a move only the families that changed are scored again:
one child, or two after a turn. Of moves with equal gains the first by name is made, with two
exceptions that improve greedy search much. If an edge gains the same in both directions, the search
takes the direction that leaves more to be gained. And if no move gains any more, the search turns
edges whose turn changes nothing: the graph is equivalent, but other moves become possible.

Tabu search continues where hill climbing ends. It forbids the pairs of variables that the last
moves changed, rather than the graphs that it visited: a graph has so many neighbours that the
search could circle around its optimum for long without visiting any graph twice.

References
----------
Glover (1989), *Tabu search, part I*, ORSA Journal on Computing 1.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import DataError
from jensen.q_graph.classes.graph import are_equivalent
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.search.family_scores import FamilyScores, ScoredFamily, pack_sets
from jensen.scores.scorer import Scorer
from jensen.support.text import keyword, option

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

TIE = 1e-11
"""Gains are equal if they differ by less than this times (1 + rows + |score|)."""

TABU_LENGTH = 100
"""Tabu search ends after this many moves without a better graph."""

TENURE = 10
"""For this many moves tabu search does not change a pair again (at most half of all pairs)."""

SHORT = 10
"""Plain tabu search: the number of last graphs that are forbidden, and of moves without a gain."""

PATIENCE = 8
"""The most moves in a row that hill climbing makes without a gain."""

MORE, FIRST, BACK = 0, 1, 2
"""Which direction of an edge to take if both gain the same: the one that leaves more to be gained,
the one from the earlier variable, or the one from the later one."""

Move = tuple[int, int, int]
"""The kind of move (ADD, DROP or TURN), the parent and the child."""

Pair = tuple[int, int]

Watch = Callable[[float, int], bool]
"""Called with the score and the number of moves; returning True stops the search."""


class Found(NamedTuple):
    """The best graph of a search."""

    joined: Flags  # (n, n), [parent, child]
    score: float
    trace: list[float]  # the score at the start and after every move
    stopped: bool  # whether the caller stopped the search


class Climber:
    """The current graph of a search, its score, and the gain of every possible move.

    `score` (n,) holds the scores of the current families; `more` and `less` (n, n), indexed
    [child, parent], hold the scores with one parent more or less; -inf where this is not possible.
    `parents` holds the parents of each variable, `children` (n, words) the children as bits, and
    `ancestors` those at the last call of `best_move`.
    """

    def __init__(self, scorer: Scorer, constraints: Constraints) -> None:
        from jensen.kernels import graph_moves

        self.kernels = graph_moves
        self.scorer, self.weight = scorer, scorer.total_weight
        self.constraints = constraints
        self.allowed = constraints.allowed
        n = len(scorer.names)
        # how many parents each may have; all in the order that decides between moves; their places
        self.variables = np.empty((3, n), np.int64)
        self.variables[0] = (self.allowed & 1).sum(0)
        self.put_in_order(range(n))
        self.parents: list[tuple[int, ...]] = [()] * n
        self.joined = np.zeros((n, n), bool)
        self.links = np.zeros((2, n, (n + 63) // 64), np.uint64)
        self.children, self.ancestors = self.links
        self.own = np.zeros((2, n))
        self.score = self.own[0]
        self.around = np.full((2, n, n), -np.inf)
        self.more, self.less = self.around
        # a graph's key is the exclusive or of those of its edges
        self.keys = np.random.default_rng(0).integers(1, 1 << 63, (n, n)).astype(np.uint64)
        self.key = np.uint64(0)
        self.now = np.zeros(1, np.uint64)
        self.move = np.empty(4, np.int64)
        self.families = FamilyScores(scorer, constraints.most_parents)
        self.n_tried = 0
        self.gain = 0.0  # of the move that was found last
        self.total = 0.0
        self.tie = 0.0
        self.is_begun = False
        self.ties = MORE

    def put_in_order(self, order: Sequence[int]) -> None:
        """Set the order in which the first of moves that gain the same is looked for."""
        self.variables[1] = order
        self.variables[2, self.variables[1]] = range(len(order))

    def begin(self, joined: Flags) -> "Climber":
        """Set the current graph; families that changed are scored."""
        changed = (joined != self.joined).any(0) if self.is_begun else np.ones(len(joined), bool)
        self.is_begun = True
        self.key = np.uint64(np.bitwise_xor.reduce(self.keys[joined], initial=0))
        above: dict[int, list[int]] = {v: [] for v in changed.nonzero()[0].tolist()}
        for v, u in np.argwhere(joined.T & changed[:, None]).tolist():
            above[v].append(u)
        for v, parents in above.items():
            self._set_parents(v, tuple(parents))
        impossible = np.flatnonzero(self.score == -np.inf)
        if len(impossible):
            raise DataError(
                f"the search cannot begin: {self.scorer.names[impossible[0]]!r} with its parents "
                f"at the start has the score -inf (never seen together, or not listed): begin "
                f"with another {keyword('start', 'start_graph')}, or use "
                f"{option('method', 'exact', 'structure')}"
            )
        self._sum_up()
        return self

    def best_move(
        self,
        tabu: Sequence[np.uint64],
        floor: float,
        shut: Sequence[Pair] = (),
        *,
        for_nothing: bool = False,
    ) -> Move | None:
        """The best move that gains more than `floor` and does not lead to a graph in `tabu`.

        `tabu` holds the keys of graphs. The edges between the pairs in `shut` stay as they are.
        Edges that gain nothing are added only if `for_nothing` is True.
        """
        allowed, variables = self.allowed, self.variables
        if shut:
            allowed = allowed.copy()
            for u, v in shut:
                allowed[u, v] = allowed[v, u] = 0
            variables = np.stack([(allowed & 1).sum(0, dtype=np.int64), *variables[1:]])
        self.now[0] = self.key
        visited = np.array([*tabu, self.key], np.uint64) if tabu else self.now
        self.gain = self.kernels.best_move(
            self.joined, self.links, self.own, self.around, allowed, variables,
            self.constraints.most_parents, self.keys, visited, floor, self.tie, for_nothing,
            self.move,
        )  # fmt: skip
        what, u, v, n_tried = self.move.tolist()
        self.n_tried += n_tried
        if what == self.kernels.ADD and self._is_better_turned(u, v):
            return (what, v, u) if self.key ^ self.keys[v, u] not in tabu else (what, u, v)
        return None if what < 0 else (what, u, v)

    def make(self, move: Move) -> None:
        """Change the graph, and score the families that changed."""
        what, u, v = move
        self.key ^= self.keys[u, v]
        if what == self.kernels.ADD:
            self._set_parents(v, tuple(sorted((*self.parents[v], u))))
        else:
            self._set_parents(v, tuple(x for x in self.parents[v] if x != u))
        if what == self.kernels.TURN:
            self.key ^= self.keys[v, u]
            self._set_parents(u, tuple(sorted((*self.parents[u], v))))
        self._sum_up()

    def drop_idle(self) -> None:
        """Drop optional edges that gain nothing, one at a time, the first by name."""
        idle: Sequence[Pair] = [(0, 0)]
        while idle:
            idle = [
                (u, v)
                for u, v in np.argwhere(self.joined & (self.allowed & 2 > 0)).tolist()
                if self.less[v, u] >= self.score[v] - self.tie
            ]
            for u, v in idle[:1]:
                self.make((self.kernels.DROP, u, v))

    def _is_better_turned(self, u: int, v: int) -> bool:
        """Whether v -> u gains as much as u -> v and is preferred by `ties`."""
        if self.ties == FIRST:
            return False
        gain, other = self.more[v, u] - self.score[v], self.more[u, v] - self.score[u]
        if abs(gain - other) > self.tie or not self._may_add(v, u):
            return False
        return self.ties == BACK or self._prospect(v, u) - self._prospect(u, v) > self.tie

    def _prospect(self, u: int, v: int) -> float:
        """The change in the sum of the gains of all further parents of v, if u -> v is added."""
        after = self._look(v, tuple(sorted((*self.parents[v], u))))
        now = self.more[v], float(self.score[v])
        added = self.kernels.added_hope
        return float(added(self.joined, self.allowed, u, v, *now, after.more, after.score))

    def _may_add(self, u: int, v: int) -> bool:
        closes = int(self.ancestors[u, v >> 6]) >> (v & 63) & 1
        few = len(self.parents[v]) < self.constraints.most_parents
        return bool(self.allowed[u, v] & 1 and not closes and few)

    def _set_parents(self, v: int, parents: tuple[int, ...]) -> None:
        """Change the family of one variable; `_sum_up` is due."""
        family = self._look(v, parents)
        self.parents[v] = parents
        self.kernels.set_family(
            v, family.parents, family.score, family.less, family.more, self.allowed, self.joined,
            self.children, self.own, self.around,
        )  # fmt: skip

    def _look(self, v: int, parents: tuple[int, ...]) -> ScoredFamily:
        """The scores of a family and of its neighbours; the parents are sorted."""
        key = v, parents
        return self.families.find(key) or self.families.score(key, v, parents)

    def _sum_up(self) -> None:
        """Update what depends on the whole graph: the total score, and `tie`.

        Gains that differ by less than `tie` are equal up to rounding. The total of a density
        depends on the units and may be near 0, so the number of rows enters `tie` too.
        """
        self.total = float(np.add.reduce(self.score))
        self.tie = TIE * (1.0 + self.weight + abs(self.total))


def hill_climb(climber: Climber, watch: Watch, patience: int = PATIENCE) -> Found:
    """Make the best move until none gains, and turning edges without a gain does not help."""
    trace, visited = [climber.total], [climber.key]
    best, top, idle = climber.joined.copy(), trace[0], 0
    while not watch(top, len(trace) - 1):
        if idle < patience:  # an edge may turn for nothing
            move = climber.best_move(visited, -2.0 * climber.tie)
        else:
            move = climber.best_move((), 0.0)
        if move is None or idle > 2 * patience:  # what seems a gain may be rounding, for ever
            return Found(best, top, trace, stopped=False)
        climber.make(move)
        trace.append(climber.total)
        idle += 1
        visited.append(climber.key)
        if trace[-1] > top + climber.tie:
            best, top, idle, visited = climber.joined.copy(), trace[-1], 0, [climber.key]
    return Found(best, top, trace, stopped=True)


def plain_climb(climber: Climber, watch: Watch) -> Found:
    """Plain greedy search: make the best move until none gains."""
    return hill_climb(climber, watch, patience=0)


def plain_tabu(climber: Climber, watch: Watch) -> Found:
    """Plain tabu search: the best move to a graph that is not among the last `SHORT` ones.

    Moves may lose; the search ends after `SHORT` moves without a better graph. Edges that gain
    nothing are added too: where one variable is a function of others, this may allow to drop
    another edge. Edges without a gain are dropped from the best graph at the end.
    """
    trace, visited = [climber.total], deque([climber.key], maxlen=SHORT)
    best, top, idle = climber.joined.copy(), trace[0], 0
    stopped = watch(top, 0)
    while not stopped and idle <= SHORT:
        move = climber.best_move(visited, 0.0)
        if move is None and idle < SHORT:
            move = climber.best_move(visited, -np.inf, for_nothing=True)
        if move is None:
            break
        climber.make(move)
        trace.append(climber.total)
        visited.append(climber.key)
        idle += 1
        if trace[-1] > top + climber.tie:
            best, top, idle = climber.joined.copy(), trace[-1], 0
        stopped = watch(top, len(trace) - 1)
    climber.begin(best).drop_idle()
    return Found(climber.joined.copy(), climber.total, trace, stopped)


def tabu_search(
    climber: Climber,
    watch: Watch,
    length: int = TABU_LENGTH,
    climb: Callable[["Climber", Watch], Found] | None = None,
) -> Found:
    """Climb, and then keep making the best move, even if it loses.

    The search ends after `length` moves without a graph better than the best so far, so a longer
    search begins with the moves of a shorter one. Turns that change nothing do not count, but at
    most `PATIENCE` of them are made in a row. `climb` is the search that runs first (default:
    `hill_climb`).
    """
    best, top, trace, stopped = (climb or hill_climb)(climber, watch)
    if climb is not None:
        climber.begin(best)
    n = len(best)
    recent_pairs: deque[Pair] = deque(maxlen=min(TENURE, n * (n - 1) // 4))
    idle = n_turned = 0
    while idle < length and not stopped:
        move = _tabu_move(climber, top, recent_pairs, may_turn=n_turned < PATIENCE)
        if move is None:
            break
        climber.make(move)
        recent_pairs.append(move[1:])
        trace.append(climber.total)
        is_turned = abs(climber.gain) <= climber.tie
        n_turned, idle = (n_turned + 1, idle) if is_turned else (0, idle + 1)
        if trace[-1] > top + climber.tie:
            best, top, idle = climber.joined.copy(), trace[-1], 0
        stopped = watch(top, len(trace) - 1)
    return Found(best, top, trace, stopped)


def _tabu_move(
    climber: Climber, top: float, recent_pairs: Sequence[Pair], *, may_turn: bool
) -> Move | None:
    """The best move to a new best graph; else the best move that changes no recent pair."""
    move = climber.best_move((), top - climber.total)
    if move is not None:
        return move
    shut = list(recent_pairs)
    move = climber.best_move((), -np.inf, shut)
    while move is not None and not may_turn and abs(climber.gain) <= climber.tie:
        shut.append(move[1:])
        move = climber.best_move((), -np.inf, shut)
    return move


def perturbed(
    joined: Flags, constraints: Constraints, n_moves: int, rng: np.random.Generator
) -> Flags:
    """A copy of the graph after random additions and deletions that the constraints allow."""
    from jensen.kernels.graph_moves import find_ancestors

    joined, n = joined.copy(), len(joined)
    allowed = constraints.allowed
    ancestors = np.empty((n, (n + 63) // 64), np.uint64)
    for _ in range(n_moves):
        u, v = (int(x) for x in rng.choice(n, 2, replace=False)) if n > 1 else (0, 0)
        if joined[u, v] or joined[v, u]:
            parent, child = (u, v) if joined[u, v] else (v, u)
            if allowed[parent, child] & 2:
                joined[parent, child] = False
            continue
        find_ancestors(pack_sets(joined), ancestors)
        closes = bool(int(ancestors[u, v >> 6]) >> (v & 63) & 1)
        if allowed[u, v] & 1 and not closes and joined[:, v].sum() < constraints.most_parents:
            joined[u, v] = True
    return joined


def best_neighbours(
    scorer: Scorer, joined: Flags, constraints: Constraints, most: int
) -> Iterator[Flags]:
    """The graphs of other classes that differ by one edge, the best by their scores first."""
    if not most:
        return
    climber = Climber(scorer, constraints).begin(joined)
    visited: list[np.uint64] = []
    while most and (move := climber.best_move(visited, -np.inf, for_nothing=True)) is not None:
        what, u, v = move
        near, key = joined.copy(), climber.key ^ climber.keys[u, v]
        near[u, v] = what == climber.kernels.ADD
        if what == climber.kernels.TURN:
            near[v, u] = True
            key ^= climber.keys[v, u]
        visited.append(key)
        if not are_equivalent(near, joined):
            most -= 1
            yield near
