"""Moves from one Markov equivalence class to the next, one a file.

A move is an edge between x and y, and a clique among the neighbours of y: the class has DAGs in
which these neighbours are parents of y and the others are not, and the move changes the edge in
them. Every file has the same functions:

- `candidates(graph, families, y, clique)`: the gain and the x of moves that gain something, each
  legal as far as the nodes around y tell;
- `is_legal(graph, x, y, clique)`: whether paths through the rest of the graph allow it too;
- `changed(graph, x, y, clique)`: the parents of every node in a DAG of the class that it leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jensen.q_graph.classes.families import Families
from jensen.q_graph.classes.graph import ClassGraph, Sets
from jensen.q_graph.classes.moves import delete, insert, turn

Gains = list[tuple[float, int]]


class Kind(NamedTuple):
    """The functions of one file."""

    candidates: Callable[[ClassGraph, Families, int, int], Gains]
    is_legal: Callable[[ClassGraph, int, int, int], bool]
    changed: Callable[[ClassGraph, int, int, int], Sets]


INSERT = Kind(insert.candidates, insert.is_legal, insert.changed)
DELETE = Kind(delete.candidates, delete.is_legal, delete.changed)
TURN = Kind(turn.candidates, turn.is_legal, turn.changed)
