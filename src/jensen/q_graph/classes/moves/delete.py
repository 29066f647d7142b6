"""Delete an edge: some DAG of the class loses x -> y.

References
----------
Chickering (2002), *Optimal structure identification with greedy search*, theorem 17. The clique is
there NA_{y,x} without H, and x with it if the edge is undirected.
"""

from __future__ import annotations

from jensen.q_graph.classes.families import Families
from jensen.q_graph.classes.graph import ClassGraph, Sets, members
from jensen.q_graph.classes.members import member


def candidates(
    graph: ClassGraph, families: Families, y: int, clique: int
) -> list[tuple[float, int]]:
    """Every parent of y, and every member of the clique."""
    parents = graph.parents[y] | clique
    family = families.look(y, parents)
    gains = (family.less - family.score).tolist()
    return [(gain, x) for gain, x in zip(gains, members(parents), strict=True) if gain > 0.0]


def is_legal(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """Taking an edge away never closes a cycle."""
    return True


def changed(graph: ClassGraph, x: int, y: int, clique: int) -> Sets:
    """A DAG in which the clique leads to y, without the edge."""
    dag = member(graph, [*members(clique), y])
    dag[y] &= ~(1 << x)
    return dag
