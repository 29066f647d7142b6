"""Turn an edge: some DAG of the class has y -> x, which becomes x -> y, and the class another.

References
----------
Hauser and Bühlmann (2012), *Characterization and greedy learning of interventional Markov
equivalence classes of directed acyclic graphs*, propositions 31 (undirected) and 34 (directed).
"""

from __future__ import annotations

from jensen.q_graph.classes.families import Families
from jensen.q_graph.classes.graph import ClassGraph, Sets, members, walk
from jensen.q_graph.classes.members import member


def candidates(
    graph: ClassGraph, families: Families, y: int, clique: int
) -> list[tuple[float, int]]:
    """Children of y, and neighbours that are not in the clique."""
    family = families.look(y, graph.parents[y] | clique)
    found = []
    for x in members(graph.children[y] | graph.neighbours[y] & ~clique):
        if _is_possible(graph, x, y, clique):
            gain = float(family.more[x]) - family.score + _lost(graph, families, x, y, clique)
            if gain > 0.0:
                found.append((gain, x))
    return found


def _is_possible(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """What the neighbours of y say."""
    common = graph.neighbours[y] & graph.adjacent[x]
    if graph.children[y] >> x & 1:
        return not common & ~clique
    far = clique & ~common  # without such a node the class would stay what it is
    inside = graph.neighbours[y] & ~(clique & common)
    return bool(far) and not walk(graph.neighbours, far, inside) & common & ~clique


def _lost(graph: ClassGraph, families: Families, x: int, y: int, clique: int) -> float:
    """What x gains or loses without its parent y."""
    parents = graph.parents[x]
    if graph.neighbours[y] >> x & 1:
        parents |= clique & graph.adjacent[x] | 1 << y
    family = families.look(x, parents)
    place = (parents & (1 << y) - 1).bit_count()
    return float(family.less[place] - family.score)


def is_legal(graph: ClassGraph, x: int, y: int, clique: int) -> bool:
    """No way leads from y to x but the edge, and through the clique or the neighbours of x."""
    if graph.neighbours[y] >> x & 1:
        return True
    return not graph.reaches_beside(y, x, clique | graph.neighbours[x])


def changed(graph: ClassGraph, x: int, y: int, clique: int) -> Sets:
    """A DAG in which the clique leads to y, and the edge turned."""
    dag = member(graph, [*members(clique), y, x])
    dag[x] &= ~(1 << y)
    dag[y] |= 1 << x
    return dag
