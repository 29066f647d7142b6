"""Moves from one Markov equivalence class to another: insert, delete or turn an edge.

A move consists of an edge between x and y and a clique among the neighbours of y. The class has
DAGs in which the clique's members are parents of y and y's other neighbours are not; the move
changes the edge in these DAGs. A kind of move is a `ClassMoveKind`: three functions of the graph, y
and the clique (two of them also of x). A clique is a set of bits.

References
----------
Chickering (2002), *Optimal structure identification with greedy search*, theorem 15 (insert; the
clique is NA_{y,x} ∪ T) and theorem 17 (delete; the clique is NA_{y,x} without H, and x with it if
the edge is undirected). Hauser and Bühlmann (2012), *Characterization and greedy learning of
interventional Markov equivalence classes of directed acyclic graphs*, propositions 31 (turn an
undirected edge) and 34 (turn a directed one).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jensen.q_graph.classes.graph import ClassGraph, Sets, member, members, union, walk
from jensen.q_graph.search.family_scores import FamilyScores, ScoredFamily

Gains = list[tuple[float, int]]


class BitFamilies(FamilyScores):
    """Family scores by (child, parents), where the parents are a set of bits."""

    def look(self, child: int, parents: int) -> ScoredFamily:
        """The scores around one family; `less` lists the parents in ascending order."""
        key = child, parents
        return self.find(key) or self.score(key, child, list(members(parents)))


class ClassMoveKind(NamedTuple):
    """One kind of move.

    `candidates(graph, families, y, clique)` lists (gain, x) for moves that gain something and that
    the nodes around y allow; `is_legal(graph, x, y, clique)` tells whether paths through the rest
    of the graph allow the move too; `changed(graph, x, y, clique)` gives the parents of every node
    in one DAG of the resulting class.
    """

    candidates: Callable[[ClassGraph, BitFamilies, int, int], Gains]
    is_legal: Callable[[ClassGraph, int, int, int], bool]
    changed: Callable[[ClassGraph, int, int, int], Sets]


# --- insert: some DAG of the class gains x -> y ---


def _insertions(graph: ClassGraph, families: BitFamilies, y: int, clique: int) -> Gains:
    """Nodes that are not adjacent to y, nor to neighbours of y outside the clique."""
    family = families.look(y, graph.parents[y] | clique)
    gains = family.more - family.score
    joined = graph.adjacent[y] | 1 << y | union(graph.adjacent, graph.neighbours[y] & ~clique)
    rising = np.flatnonzero(gains > 0.0).tolist()
    return [(float(gains[x]), x) for x in rising if not joined >> x & 1]


def _may_insert(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """Every semi-directed path from y to x passes through the clique."""
    return not graph.reached(y, clique) >> x & 1


def _inserted(graph: ClassGraph, x: int, y: int, clique: int) -> Sets:
    """A DAG in which the clique's members are parents of y, with the new edge x -> y."""
    dag = member(graph, [*members(clique), y])
    dag[y] |= 1 << x
    return dag


# --- delete: some DAG of the class loses x -> y ---


def _deletions(graph: ClassGraph, families: BitFamilies, y: int, clique: int) -> Gains:
    """Every parent of y, and every member of the clique."""
    parents = graph.parents[y] | clique
    family = families.look(y, parents)
    gains = (family.less - family.score).tolist()
    return [(gain, x) for gain, x in zip(gains, members(parents), strict=True) if gain > 0.0]


def _may_delete(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """Always: deleting an edge never closes a cycle."""
    return True


def _deleted(graph: ClassGraph, x: int, y: int, clique: int) -> Sets:
    """A DAG in which the clique's members are parents of y, without the edge x -> y."""
    dag = member(graph, [*members(clique), y])
    dag[y] &= ~(1 << x)
    return dag


# --- turn: y -> x in some DAG of the class becomes x -> y, which changes the class ---


def _turns(graph: ClassGraph, families: BitFamilies, y: int, clique: int) -> Gains:
    """Children of y, and neighbours that are not in the clique."""
    family = families.look(y, graph.parents[y] | clique)
    found = []
    for x in members(graph.children[y] | graph.neighbours[y] & ~clique):
        if _is_possible_turn(graph, x, y, clique):
            gain = (
                float(family.more[x]) - family.score + _lost_by_turn(graph, families, x, y, clique)
            )
            if gain > 0.0:
                found.append((gain, x))
    return found


def _is_possible_turn(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """Whether the neighbours of y allow the turn."""
    common = graph.neighbours[y] & graph.adjacent[x]
    if graph.children[y] >> x & 1:
        return not common & ~clique
    far = clique & ~common  # without such a node the class would stay the same
    inside = graph.neighbours[y] & ~(clique & common)
    return bool(far) and not walk(graph.neighbours, far, inside) & common & ~clique


def _lost_by_turn(graph: ClassGraph, families: BitFamilies, x: int, y: int, clique: int) -> float:
    """The change of the score of x when it loses its parent y."""
    parents = graph.parents[x]
    if graph.neighbours[y] >> x & 1:
        parents |= clique & graph.adjacent[x] | 1 << y
    family = families.look(x, parents)
    place = (parents & (1 << y) - 1).bit_count()
    return float(family.less[place] - family.score)


def _may_turn(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """Beside the edge itself, paths from y to x pass through the clique or neighbours of x."""
    if graph.neighbours[y] >> x & 1:
        return True
    return not graph.reaches_beside(y, x, clique | graph.neighbours[x])


def _turned(graph: ClassGraph, x: int, y: int, clique: int) -> Sets:
    """A DAG in which the clique's members are parents of y, with the edge turned to x -> y."""
    dag = member(graph, [*members(clique), y, x])
    dag[x] &= ~(1 << y)
    dag[y] |= 1 << x
    return dag


INSERT = ClassMoveKind(_insertions, _may_insert, _inserted)
DELETE = ClassMoveKind(_deletions, _may_delete, _deleted)
TURN = ClassMoveKind(_turns, _may_turn, _turned)
