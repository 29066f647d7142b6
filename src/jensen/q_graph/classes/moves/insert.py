"""Insert an edge: some DAG of the class gains x -> y.

References
----------
Chickering (2002), *Optimal structure identification with greedy search*, theorem 15. The clique is
there NA_{y,x} ∪ T.
"""

from __future__ import annotations

import numpy as np

from jensen.q_graph.classes.families import Families
from jensen.q_graph.classes.graph import ClassGraph, Sets, members, union
from jensen.q_graph.classes.members import member


def candidates(
    graph: ClassGraph, families: Families, y: int, clique: int
) -> list[tuple[float, int]]:
    """Nodes that are not joined to y, nor to neighbours of y that are not in the clique."""
    family = families.look(y, graph.parents[y] | clique)
    gains = family.more - family.score
    joined = graph.adjacent[y] | 1 << y | union(graph.adjacent, graph.neighbours[y] & ~clique)
    rising = np.flatnonzero(gains > 0.0).tolist()
    return [(float(gains[x]), x) for x in rising if not joined >> x & 1]


def is_legal(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """No way leads from y to x but through the clique."""
    return not graph.reached(y, clique) >> x & 1


def changed(graph: ClassGraph, x: int, y: int, clique: int) -> Sets:
    """A DAG in which the clique leads to y, and the new edge."""
    dag = member(graph, [*members(clique), y])
    dag[y] |= 1 << x
    return dag
