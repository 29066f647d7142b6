"""A Markov equivalence class on its way up: its score, and the moves that raise it.

A move changes what is possible around few nodes: only there moves are listed and scored again.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

from jensen.exceptions import JensenError
from jensen.q_graph.classes.families import Families
from jensen.q_graph.classes.graph import ClassGraph, Sets, members, set_of, union
from jensen.q_graph.classes.knowledge import Knowledge
from jensen.q_graph.classes.members import class_of
from jensen.q_graph.classes.moves import DELETE, INSERT, TURN, Kind
from jensen.q_graph.search.climbing import SLACK

KINDS = (DELETE, TURN, INSERT)
"""In the order in which they are made: an edge is inserted where no other move gains."""

MOST_CLIQUES = 1 << 14
"""How many sets of neighbours of one variable are looked at."""


class Move(NamedTuple):
    """An edge between x and y, and neighbours of y that are parents of y meanwhile."""

    kind: Kind
    gain: float
    x: int
    y: int
    clique: int

    @property
    def by_name(self) -> tuple[int, int, list[int]]:
        """What decides between equals."""
        return self.x, self.y, list(members(self.clique))


class ClassClimber:
    """A class, one of whose DAGs obeys the constraints, its score, and the moves from it."""

    def __init__(self, graph: ClassGraph, families: Families, knowledge: Knowledge) -> None:
        self.graph = graph
        self.families = families
        self.knowledge = knowledge
        self.total = self._sum()
        self._listed: dict[tuple[Kind, int], list[Move]] = {}

    @property
    def slack(self) -> float:
        """Gains that differ by less are equal."""
        return SLACK * (1.0 + self.families.scorer.total_weight + abs(self.total))

    def next_move(self) -> Move | None:
        """The best move of the first kind that gains something."""
        found = (self.best_move(kind) for kind in KINDS)
        return next((move for move in found if move), None)

    def best_move(self, kind: Kind) -> Move | None:
        """The legal move that gains most, the first by name among equals."""
        slack, lists = self.slack, [self._moves(kind, y) for y in range(len(self.graph.dag))]
        top, found = 2.0 * slack, []
        for moves in sorted(filter(None, lists), key=lambda moves: -moves[0].gain):
            for move in moves:
                if move.gain <= top - slack:
                    break
                if self._is_allowed(move):
                    found.append(move)
                    top = max(top, move.gain)
        equals = [move for move in found if move.gain > top - slack]
        return min(equals, key=lambda move: move.by_name, default=None)

    def _is_allowed(self, move: Move) -> bool:
        """Whether a move is legal and leads to a class that may be entered."""
        edge = move.x, move.y, move.clique
        if not move.kind.is_legal(self.graph, *edge):
            return False
        if not self.knowledge.is_directed:
            return True
        after = class_of(move.kind.changed(self.graph, *edge))
        return self.knowledge.member(after) is not None

    def make(self, move: Move) -> None:
        """Go to the class that a move leads to."""
        self._go(move.kind.changed(self.graph, move.x, move.y, move.clique))

    def without(self, y: int) -> ClassClimber:
        """Another one, at the class in which nothing is joined to y but what must be."""
        other = copy(self)
        other._listed = self._listed.copy()
        kept = self.knowledge.joined[y]
        obeying = self.knowledge.member(self.graph) or self.graph.dag
        dag = [up if kept >> v & 1 else up & ~(1 << y) for v, up in enumerate(obeying)]
        dag[y] &= kept
        other._go(dag)
        return other

    def _go(self, dag: Sets) -> None:
        """Stand at the class of this DAG, and forget the moves of nodes that it touches."""
        before, self.graph = self.graph, class_of(dag)
        pairs = zip(before.around, self.graph.around, strict=True)
        touched = set_of(y for y, (old, new) in enumerate(pairs) if old != new)
        # what y can do depends on its neighbours too, and where edges turn on its children
        touched |= union(self.graph.parents, touched) | union(self.graph.neighbours, touched)
        for y in members(touched):
            for kind in KINDS:
                self._listed.pop((kind, y), None)
        self.total = self._sum()

    def _sum(self) -> float:
        """The score of every DAG in the class."""
        return sum(self.families.look(y, above).score for y, above in enumerate(self.graph.dag))

    def _moves(self, kind: Kind, y: int) -> list[Move]:
        """Moves that gain something and are legal as far as the nodes around y tell."""
        if (kind, y) not in self._listed:
            never = self.knowledge.joined[y] if kind is DELETE else self.knowledge.apart[y]
            found = [
                Move(kind, gain, x, y, clique)
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
                    f"method='ges' has more than {MOST_CLIQUES:,} sets of neighbours of "
                    f"{self.families.scorer.names[y]!r} to try, because so many of them are "
                    f"joined to each other: give max_parents= or a score that asks for fewer "
                    f"edges, or use method='hill-climb'"
                )
            yield clique
