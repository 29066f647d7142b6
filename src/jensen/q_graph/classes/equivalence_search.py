"""q(G) as a point: greedy search over Markov equivalence classes (GES).

Each step makes the best deletion that raises the score, else the best turn, else the best
insertion, until no move gains. To leave local optima the search then removes all edges at one
variable, climbs again, and keeps the better class; this is repeated over all variables. Unless a
start is given, the search runs twice: from the class of the required edges, and from the class of
the DAG that hill climbing finds.

A move changes what is possible around few nodes; only their moves are listed and scored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.classes.class_moves import DELETE, INSERT, TURN, BitFamilies, ClassMoveKind
from jensen.q_graph.classes.graph import (
    ClassGraph,
    Flags,
    Sets,
    class_of,
    class_of_matrix,
    members,
    set_of,
    union,
)
from jensen.q_graph.classes.rules import GES, BackgroundKnowledge, check_scorer
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.info import SearchOutcome
from jensen.q_graph.search.climbing import TIE, Climber, Watch
from jensen.q_graph.search.recombining import thorough_climb
from jensen.scores.scorer import Scorer
from jensen.support.text import keyword, option

KINDS = (DELETE, TURN, INSERT)
"""The kinds of moves by priority: an edge is inserted only if no other move gains."""

MOST_CLIQUES = 1 << 14
"""The most sets of neighbours of one variable that are tried."""


class ClassMove(NamedTuple):
    """An edge between x and y, and the clique of neighbours that become parents of y first."""

    kind: ClassMoveKind
    gain: float
    x: int
    y: int
    clique: int

    @property
    def by_name(self) -> tuple[int, int, list[int]]:
        """The key by which moves with equal gains are ordered."""
        return self.x, self.y, list(members(self.clique))


class ClassClimber:
    """The current class of a search, its score, and the moves from it.

    At least one DAG of the class obeys the constraints.
    """

    def __init__(
        self, graph: ClassGraph, families: BitFamilies, knowledge: BackgroundKnowledge
    ) -> None:
        self.graph = graph
        self.families = families
        self.knowledge = knowledge
        self.total = self._sum()
        self._listed: dict[tuple[ClassMoveKind, int], list[ClassMove]] = {}

    @property
    def tie(self) -> float:
        """Gains that differ by less are equal."""
        return TIE * (1.0 + self.families.scorer.total_weight + abs(self.total))

    def next_move(self) -> ClassMove | None:
        """The best move of the first kind of which one gains; None if no move gains."""
        found = (self.best_move(kind) for kind in KINDS)
        return next((move for move in found if move), None)

    def best_move(self, kind: ClassMoveKind) -> ClassMove | None:
        """The legal move with the largest gain, the first by name among equals."""
        tie, lists = self.tie, [self._moves(kind, y) for y in range(len(self.graph.dag))]
        top, found = 2.0 * tie, []
        for moves in sorted(filter(None, lists), key=lambda moves: -moves[0].gain):
            for move in moves:
                if move.gain <= top - tie:
                    break
                if self._is_allowed(move):
                    found.append(move)
                    top = max(top, move.gain)
        equals = [move for move in found if move.gain > top - tie]
        return min(equals, key=lambda move: move.by_name, default=None)

    def _is_allowed(self, move: ClassMove) -> bool:
        """Whether a move is legal and leads to a class that may be entered."""
        edge = move.x, move.y, move.clique
        if not move.kind.is_legal(self.graph, *edge):
            return False
        if not self.knowledge.is_directed:
            return True
        after = class_of(move.kind.changed(self.graph, *edge))
        return self.knowledge.member(after) is not None

    def make(self, move: ClassMove) -> None:
        """Make a move."""
        self._go(move.kind.changed(self.graph, move.x, move.y, move.clique))

    def without(self, y: int) -> ClassClimber:
        """A copy at the class in which y has only its required edges."""
        other = copy(self)
        other._listed = self._listed.copy()
        kept = self.knowledge.joined[y]
        obeying = self.knowledge.member(self.graph) or self.graph.dag
        dag = [up if kept >> v & 1 else up & ~(1 << y) for v, up in enumerate(obeying)]
        dag[y] &= kept
        other._go(dag)
        return other

    def _go(self, dag: Sets) -> None:
        """Set the class to that of a DAG, and forget the moves of the nodes that changed."""
        before, self.graph = self.graph, class_of(dag)
        pairs = zip(before.around, self.graph.around, strict=True)
        touched = set_of(y for y, (old, new) in enumerate(pairs) if old != new)
        # the moves of y depend on its neighbours too, and turns on its children
        touched |= union(self.graph.parents, touched) | union(self.graph.neighbours, touched)
        for y in members(touched):
            for kind in KINDS:
                self._listed.pop((kind, y), None)
        self.total = self._sum()

    def _sum(self) -> float:
        """The score that all DAGs of the class have in common."""
        return sum(self.families.look(y, above).score for y, above in enumerate(self.graph.dag))

    def _moves(self, kind: ClassMoveKind, y: int) -> list[ClassMove]:
        """Moves at y that gain and that the nodes around y allow, by falling gain."""
        if (kind, y) not in self._listed:
            never = self.knowledge.joined[y] if kind is DELETE else self.knowledge.apart[y]
            found = [
                ClassMove(kind, gain, x, y, clique)
                for clique in self._cliques(y)
                for gain, x in kind.candidates(self.graph, self.families, y, clique)
                if not never >> x & 1
            ]
            self._listed[kind, y] = sorted(found, key=lambda move: -move.gain)
        return self._listed[kind, y]

    def _cliques(self, y: int) -> Iterator[int]:
        for k, clique in enumerate(self.graph.cliques(y)):
            if k == MOST_CLIQUES:
                raise JensenError(
                    f"{GES} has more than {MOST_CLIQUES:,} sets of neighbours of "
                    f"{self.families.scorer.names[y]!r} to try, because so many of them are "
                    f"joined to each other: give {keyword('max_parents')} or a score that asks for "
                    f"fewer edges, or use {option('method', 'hill-climb', 'structure')}"
                )
            yield clique


def equivalence_search(
    scorer: Scorer,
    constraints: Constraints,
    start: Flags | None,
    watch: Watch,
    order: Sequence[int] | None = None,
) -> SearchOutcome:
    """Greedy equivalence search: delete, turn and insert edges until no move gains.

    With enough rows from a distribution that has exactly the independences of a DAG, the search
    finds the class of that DAG; this requires only that no insertion and no deletion gains.

    No variable has more than `most_parents` parents in any DAG of the class; the largest number of
    parents is the same in all its DAGs. Every class that the search visits contains a DAG with all
    required and no forbidden edges.

    Parameters
    ----------
    scorer
        Its score must be the same for all graphs of a class; other scores are refused.
    start : (n, n) flags, optional
        A completed PDAG, undirected edges in both directions, from `rules.read_class`. By default
        the search begins with the required edges, and again where hill climbing ends, so its score
        is never below that of hill climbing.
    watch
        Called before each move with the best score and the number of moves; returning True stops
        the search.
    order
        Of the columns, as `thorough_climb` takes it.

    Returns
    -------
    SearchOutcome
        `joined` is a completed PDAG, undirected edges in both directions; `trace` concatenates the
        scores of the climbs that led to a better class.

    References
    ----------
    Chickering (2002), *Optimal structure identification with greedy search*; Hauser and Bühlmann
    (2012), *Characterization and greedy learning of interventional Markov equivalence classes of
    directed acyclic graphs*, for turned edges; Nazaret and Blei (2024), *Extremely greedy
    equivalence search*, for deleting first.
    """
    check_scorer(scorer)
    first = _class_of_dag(constraints.required) if start is None else class_of_matrix(start)
    if first is None:
        raise GraphError("the search cannot begin there: this is not a completed PDAG")
    families, knowledge = (
        BitFamilies(scorer, constraints.most_parents),
        BackgroundKnowledge(constraints),
    )
    if knowledge.member(first) is None:
        raise GraphError(
            "the search cannot begin there: no graph of this class has all required edges and "
            "none that are forbidden"
        )
    best = _climb(ClassClimber(first, families, knowledge), watch)
    if start is None and not best.stopped:
        best = _after_hill_climbing(best, constraints, watch, order)
    best = _climb_without_each(best, watch)
    top = best.top
    return SearchOutcome(
        joined=top.graph.matrix,
        score=top.total,
        trace=np.array(best.trace),
        n_scored=families.n_scored,
        proven=False,
        interrupted=best.stopped,
    )


class Climbed(NamedTuple):
    """The result of a climb."""

    top: ClassClimber
    trace: list[float]  # the score at the start and after every move
    stopped: bool  # whether the caller stopped the search


def _climb(climber: ClassClimber, watch: Watch, best: float = -np.inf) -> Climbed:
    """Make the best move until none gains."""
    trace = [climber.total]
    while move := climber.next_move():
        if watch(max(best, climber.total), len(trace) - 1):
            return Climbed(climber, trace, stopped=True)
        climber.make(move)
        if climber.total <= trace[-1]:  # what seemed a gain was rounding
            break
        trace.append(climber.total)
    return Climbed(climber, trace, stopped=False)


def _better(best: Climbed, other: Climbed) -> Climbed:
    """The climb with the higher score; the first one if they are equal."""
    if other.top.total > best.top.total + best.top.tie:
        return Climbed(other.top, best.trace + other.trace, other.stopped)
    return best._replace(stopped=other.stopped)


def _after_hill_climbing(
    best: Climbed, constraints: Constraints, watch: Watch, order: Sequence[int] | None
) -> Climbed:
    """Climb again, from the class of the DAG that hill climbing finds."""
    families = best.top.families
    climber = Climber(families.scorer, constraints).begin(constraints.required)
    found = thorough_climb(climber, watch, order=order)
    families.n_scored += climber.families.n_scored
    if found.stopped:
        return best._replace(stopped=True)
    again = ClassClimber(_class_of_dag(found.joined), families, best.top.knowledge)
    return _better(best, _climb(again, watch))


def _class_of_dag(joined: Flags) -> ClassGraph:
    return class_of([set_of(np.flatnonzero(column).tolist()) for column in joined.T])


def _climb_without_each(best: Climbed, watch: Watch) -> Climbed:
    """Remove the edges at one variable and climb again, for each variable, until none gains."""
    n, y, idle = len(best.top.graph.dag), 0, 0
    while idle < n and not best.stopped:
        y, idle, before = (y + 1) % n, idle + 1, best.top
        if before.graph.adjacent[y]:
            best = _better(best, _climb(before.without(y), watch, before.total))
            idle = idle if best.top is before else 0
    return best
