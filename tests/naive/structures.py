"""Structure learning by its definition: every graph is made and scored.

A score is a function (child, parents) of positions; a graph is a tuple with the parents of each.
"""

from itertools import combinations, product


def all_networks(n):
    """All DAGs of 0 .. n - 1: every pair not joined, forwards or backwards, without a cycle."""
    pairs, found = list(combinations(range(n), 2)), []
    for choice in product((None, False, True), repeat=len(pairs)):
        parents = [[] for _ in range(n)]
        for (a, b), backwards in zip(pairs, choice, strict=True):
            if backwards is not None:
                parents[a if backwards else b].append(b if backwards else a)
        if is_acyclic(parents):
            found.append(tuple(map(tuple, map(sorted, parents))))
    return found


def is_acyclic(parents):
    """Whether nodes without parents can be taken away until none is left."""
    left = set(range(len(parents)))
    while left:
        roots = {v for v in left if not left.intersection(parents[v])}
        if not roots:
            return False
        left -= roots
    return True


def allowed(network, max_parents=None, required=(), forbidden=()):
    """Whether a network holds what it must and nothing that it must not."""
    edges = {(u, v) for v, parents in enumerate(network) for u in parents}
    few = max_parents is None or all(len(parents) <= max_parents for parents in network)
    return few and set(required) <= edges and not set(forbidden) & edges


def scored(networks, score):
    """Network → the sum of its local scores."""
    known = {}
    for network in networks:
        for v, parents in enumerate(network):
            if (v, parents) not in known:
                known[v, parents] = score(v, parents)
    return {g: sum(known[v, parents] for v, parents in enumerate(g)) for g in networks}
