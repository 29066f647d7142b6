"""Graphs by their definitions: everything is enumerated, nothing is clever.

A directed graph is a frozenset of pairs (from, to) over `nodes`, a tuple of sortable labels.
"""

from itertools import combinations, permutations, product

import numpy as np


def all_dags(nodes):
    """All directed acyclic graphs: every pair not joined, forwards or backwards."""
    pairs = list(combinations(nodes, 2))
    for choice in product((None, False, True), repeat=len(pairs)):
        edges = frozenset(
            (b, a) if backwards else (a, b)
            for (a, b), backwards in zip(pairs, choice, strict=True)
            if backwards is not None
        )
        if is_acyclic(nodes, edges):
            yield edges


def all_mixed(nodes):
    """All ways to leave each pair alone, join it, or direct it: (directed, undirected)."""
    pairs = list(combinations(nodes, 2))
    for choice in product(range(4), repeat=len(pairs)):
        kinds = list(zip(pairs, choice, strict=True))
        forwards = [(a, b) for (a, b), kind in kinds if kind == 1]
        backwards = [(b, a) for (a, b), kind in kinds if kind == 2]
        yield frozenset(forwards + backwards), frozenset(p for p, kind in kinds if kind == 3)


def all_undirected(nodes):
    """All undirected graphs."""
    pairs = list(combinations(nodes, 2))
    for choice in product((False, True), repeat=len(pairs)):
        yield frozenset(pair for pair, present in zip(pairs, choice, strict=True) if present)


def is_acyclic(nodes, edges):
    """Tell whether some order of the nodes agrees with every edge."""
    return n_linear_extensions(nodes, edges) > 0


def n_linear_extensions(nodes, edges):
    """Count the orders of the nodes that agree with every edge."""
    return sum(
        all(order.index(a) < order.index(b) for a, b in edges) for order in permutations(nodes)
    )


def skeleton(edges):
    """Forget the directions."""
    return frozenset(frozenset(edge) for edge in edges)


def v_structures(nodes, edges):
    """All (a, c, b) with a -> c <- b, a < b, where no edge joins a and b."""
    return frozenset(
        (a, c, b)
        for a, c, b in permutations(nodes, 3)
        if a < b and (a, c) in edges and (b, c) in edges and {a, b} not in skeleton(edges)
    )


def equivalence_classes(nodes):
    """All DAGs, grouped by skeleton and v-structures (Verma and Pearl, 1990)."""
    classes = {}
    for edges in all_dags(nodes):
        key = skeleton(edges), v_structures(nodes, edges)
        classes.setdefault(key, []).append(edges)
    return list(classes.values())


def agreement(members):
    """Find what several DAGs with one skeleton agree on: (directed, undirected)."""
    directed = frozenset.intersection(*members)
    turned = frozenset.union(*members) - directed
    return directed, frozenset(tuple(sorted(edge)) for edge in turned)


def extensions(nodes, directed, undirected):
    """All DAGs that keep the directed edges and add no v-structure to those already there."""
    wanted = frozenset(
        (a, c, b) for a, c, b in v_structures(nodes, directed) if {a, b} not in skeleton(undirected)
    )
    for choice in product((False, True), repeat=len(undirected)):
        turned = zip(undirected, choice, strict=True)
        edges = directed | {(b, a) if backwards else (a, b) for (a, b), backwards in turned}
        if is_acyclic(nodes, edges) and v_structures(nodes, edges) == wanted:
            yield edges


def paths(edges, a, b):
    """All paths from a to b without a repeated node, along edges in either direction."""
    joined = skeleton(edges)
    nodes = set().union(*joined)

    def grow(path):
        if path[-1] == b:
            yield path
            return
        for x in nodes - set(path):
            if {path[-1], x} in joined:
                yield from grow((*path, x))

    yield from grow((a,))


def descendants(edges, x):
    """All nodes that a directed path from x reaches, with x."""
    found = {x}
    while True:
        more = found | {b for a, b in edges if a in found}
        if more == found:
            return found
        found = more


def is_blocked(edges, path, given):
    """Find a middle node that blocks: a collider without given descendants, or another given."""
    for before, x, after in zip(path, path[1:], path[2:], strict=False):
        is_collider = (before, x) in edges and (after, x) in edges
        if is_collider and not descendants(edges, x) & set(given):
            return True
        if not is_collider and x in given:
            return True
    return False


def d_separated(edges, a, b, given):
    """Every path between a node of a and a node of b is blocked."""
    return all(is_blocked(edges, path, given) for x in a for y in b for path in paths(edges, x, y))


def is_chordal(nodes, edges):
    """Every cycle of four or more nodes has an edge between two that are not successive."""
    joined = skeleton(edges)
    for size in range(4, len(nodes) + 1):
        for cycle in permutations(nodes, size):
            sides = [{x, y} for x, y in zip(cycle, (*cycle[1:], cycle[0]), strict=True)]
            chords = [set(pair) for pair in combinations(cycle, 2) if set(pair) not in sides]
            if all(side in joined for side in sides) and not any(c in joined for c in chords):
                return False
    return True


def random_dag(rng, n, probability):
    """Join each pair with the given probability, along a random order: (edges, names)."""
    names = [f"x{i}" for i in rng.permutation(n)]
    upper = np.triu(rng.random((n, n)) < probability, 1)
    return [(names[i], names[j]) for i, j in np.argwhere(upper)], names
