"""Independences that a directed graph implies: d-separation, equivalence classes, their distance.

Graphs are given by the indices of their nodes.
"""

from collections.abc import Collection
from itertools import combinations

from jensen.exceptions import GraphError
from jensen.graphs.indexed_graph import IndexedGraph, Links, Pair, inverse, topological_order


def v_structures(parents: Links) -> list[tuple[int, int, int]]:
    """List a -> c <- b with a < b not joined, as (a, c, b), sorted."""
    joined = [{*up, *down} for up, down in zip(parents, inverse(parents), strict=True)]
    return sorted(
        (a, c, b)
        for c, up in enumerate(parents)
        for a, b in combinations(sorted(up), 2)
        if b not in joined[a]
    )


def compelled_parents(parents: Links) -> list[set[int]]:
    """Find the parents x of each y for which x -> y in every equivalent graph.

    References
    ----------
    Chickering (1995), *A transformational characterization of equivalent Bayesian network
    structures*, algorithm Label-Edges. There the last parent of y decides about all edges
    into y at once, so one look per node is enough.
    """
    order = topological_order(parents)
    rank = {x: place for place, x in enumerate(order)}
    up = [set(ps) for ps in parents]
    compelled: list[set[int]] = [set() for _ in parents]
    for y in order:
        if not up[y]:
            continue
        last = max(up[y], key=rank.__getitem__)
        free = compelled[last] <= up[y] and up[y] <= up[last] | {last}
        compelled[y] = compelled[last] if free else up[y]
    return compelled


def completed(nodes: tuple[str, ...], parents: Links) -> IndexedGraph:
    """Describe the equivalence class of a directed graph: compelled edges keep their arrow."""
    compelled = compelled_parents(parents)
    directed: list[Pair] = []
    undirected: list[Pair] = []
    for y, up in enumerate(parents):
        for x in up:
            if x in compelled[y]:
                directed.append((x, y))
            else:
                undirected.append((min(x, y), max(x, y)))
    return IndexedGraph(nodes, tuple(sorted(directed)), tuple(sorted(undirected)))


def hamming_distance(first: IndexedGraph, second: IndexedGraph) -> int:
    """Count the pairs of nodes that are joined differently."""
    if first.nodes != second.nodes:
        name = min(set(first.nodes) ^ set(second.nodes))
        raise GraphError(
            f"only one of the two graphs has the node {name!r}; "
            f"a distance needs graphs with the same nodes"
        )
    return len({frozenset((a, b)) for a, _, b in {*first.edges} ^ {*second.edges}})


def d_separated(
    parents: Links,
    children: Links,
    a: Collection[int],
    b: Collection[int],
    given: Collection[int],
) -> bool:
    """Tell whether every trail from a to b is blocked by given, in time linear in the edges.

    A search from a visits pairs (node, whether it came from a child). A node that is not given is
    passed on to its children, and to its parents if the search came from a child. A given node is
    left towards its parents if the search came from a parent: it opens colliders.

    References
    ----------
    Shachter (1998), *Bayes-ball: the rational pastime*.
    """
    seen: set[tuple[int, bool]] = set()
    todo = [(x, True) for x in a]  # (node, whether it was reached from a child)
    while todo:
        step = todo.pop()
        if step in seen:
            continue
        seen.add(step)
        x, rising = step
        passes = x not in given
        if passes and x in b:
            return False
        if passes:
            todo.extend((y, False) for y in children[x])
        if passes == rising:
            todo.extend((y, True) for y in parents[x])
    return True
