"""Maximal cliques of undirected graphs, and the separators of chordal ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jensen.exceptions import GraphError
from jensen.graphs.undirected import UndirectedGraph

MOST_CLIQUES = 100_000
"""A graph can have 3^(n/3) maximal cliques, which nobody waits for."""

Scope = tuple[int, ...]


def maximal_cliques(graph: UndirectedGraph) -> tuple[Scope, ...]:
    """The nodes of every maximal clique, by number, in order.

    References
    ----------
    Tomita, Tanaka and Takahashi (2006), *The worst-case time complexity for generating all maximal
    cliques*: pivots with the most neighbours.

    Examples
    --------
    >>> maximal_cliques(UndirectedGraph("A - B - C - A; C - D"))
    ((0, 1, 2), (2, 3))
    """
    near = [{graph.index[y] for y in graph.neighbours(x)} for x in graph.nodes]
    found: list[Scope] = []
    waiting: list[tuple[list[int], set[int], set[int]]] = [([], set(range(len(near))), set())]
    while waiting:
        clique, open_, done = waiting.pop()
        if not open_ and not done:
            if clique:
                found.append(tuple(sorted(clique)))
            if len(found) > MOST_CLIQUES:
                raise GraphError(
                    f"this graph has more than {MOST_CLIQUES:,} maximal cliques: name the cliques "
                    f"that interact, or learn pairwise interactions"
                )
            continue
        pivot = max(open_ | done, key=lambda v: len(near[v] & open_))
        for v in sorted(open_ - near[pivot]):
            waiting.append(([*clique, v], open_ & near[v], done & near[v]))
            open_ = open_ - {v}
            done = done | {v}
    return tuple(sorted(found))


class Separator(NamedTuple):
    """What two cliques of a chordal graph share, where a tree joins them."""

    clique: int  # one of the two
    scope: Scope


def separators(cliques: Sequence[Scope]) -> list[Separator]:
    """The separators of a spanning tree of largest intersections (Jordan, chapter 17).

    Examples
    --------
    >>> separators([(0, 1), (1, 2), (3,)])
    [Separator(clique=0, scope=(1,))]
    """
    sets = [set(scope) for scope in cliques]
    best: dict[int, tuple[int, int]] = dict.fromkeys(range(len(sets)), (0, -1))
    found = []
    while best:
        k = max(best, key=lambda k: (best[k][0], -k))
        size, partner = best.pop(k)
        if size:
            found.append(Separator(partner, tuple(sorted(sets[k] & sets[partner]))))
        for j in best:
            shared = len(sets[j] & sets[k])
            if shared > best[j][0]:
                best[j] = (shared, k)
    return found
