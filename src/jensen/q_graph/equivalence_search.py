"""q(G) as a point, found by climbing from one Markov equivalence class to the next.

Edges are inserted while that gains, then deleted, then turned, and again until nothing gains. A
move changes what is possible around few nodes: only there moves are listed and scored again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.class_families import Families
from jensen.q_graph.class_graph import ClassGraph, Flags, members, union
from jensen.q_graph.class_members import class_of, class_of_matrix
from jensen.q_graph.class_rules import check_rules, check_scorer
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.info import Outcome
from jensen.q_graph.moves import DELETE, INSERT, TURN, Kind
from jensen.q_graph.search import SLACK, Watch
from jensen.scores.scorer import Scorer

MOST_CLIQUES = 1 << 16
"""How many cliques among the neighbours of one variable are looked at."""

PHASES = (INSERT, DELETE, TURN)


class Move(NamedTuple):
    """An edge between x and y, and neighbours of y that lead to y."""

    gain: float
    x: int
    y: int
    clique: int

    @property
    def by_name(self) -> tuple[int, int, list[int]]:
        """What decides between equals."""
        return self.x, self.y, list(members(self.clique))


class ClassClimber:
    """A class, its score, and the moves that gain something.

    Parameters
    ----------
    joined : (n, n) flags
        A completed PDAG, undirected edges in both directions.
    """

    def __init__(self, scorer: Scorer, constraints: Constraints, joined: Flags) -> None:
        graph = class_of_matrix(joined)
        if graph is None:
            raise GraphError("start= is not a completed PDAG")
        self.names = scorer.names
        self.graph = graph
        self.families = Families(scorer, constraints.most_parents)
        self.forbidden = [sum(1 << int(x) for x in np.flatnonzero(row)) for row in constraints.forbidden]
        self.listed: dict[tuple[Kind, int], list[Move]] = {}

    @property
    def total(self) -> float:
        """The score of the class."""
        return sum(self.families.look(y, above).score for y, above in enumerate(self.graph.dag))

    def best(self, kind: Kind, slack: float) -> Move | None:
        """The best legal move, the first by name of those that gain the same."""
        lists = [self._moves(kind, y) for y in range(len(self.names))]
        lists = sorted(filter(None, lists), key=lambda moves: -moves[0].gain)
        top, found = 2.0 * slack, []
        for move in (move for moves in lists for move in moves)
        ...
