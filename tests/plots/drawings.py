"""Graphs to draw, and what a drawing must satisfy, from the definition."""

from functools import cache
from itertools import combinations, pairwise

import numpy as np

from jensen.graphs import DAG, PDAG, UndirectedGraph
from jensen.plots.layout import edges_of, layered

ALARM = (
    "[HIST|LVF][CVP|LVV][PCWP|LVV][HYP][LVV|HYP:LVF][LVF][STKV|HYP:LVF][ERLO][HRBP|ERLO:HR]"
    "[HREK|ERCA:HR][ERCA][HRSA|ERCA:HR][ANES][APL][TPR|APL][ECO2|ACO2:VLNG][KINK][MINV|INT:VLNG]"
    "[FIO2][PVS|FIO2:VALV][SAO2|PVS:SHNT][PAP|PMB][PMB][SHNT|INT:PMB][INT][PRSS|INT:KINK:VTUB]"
    "[DISC][MVS][VMCH|MVS][VTUB|DISC:VMCH][VLNG|INT:KINK:VTUB][VALV|INT:VLNG][ACO2|VALV]"
    "[CCHL|ACO2:ANES:SAO2:TPR][HR|CCHL][CO|HR:STKV][BP|CO:TPR]"
)


def random_graph(seed, *, kind=None):
    """A graph of any kind with 1 to 60 nodes, and a size for every box."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 61))
    names = [f"v{i:02d}" for i in rng.permutation(n)]
    chance = rng.choice([0.02, 0.04, 0.07]) if n > 15 else 0.35
    pairs = [(names[i], names[j]) for i, j in combinations(range(n), 2) if rng.random() < chance]
    sizes = [(float(w), float(h)) for w, h in rng.integers((36, 24), (160, 90), (n, 2))]
    kind = kind or ("dag", "undirected", "mixed")[seed % 3]
    if kind == "dag":
        return DAG(pairs, names), sizes
    if kind == "undirected":
        return UndirectedGraph(pairs, names), sizes
    kinds = rng.integers(3, size=len(pairs))
    turned = [p if rng.random() < 0.5 else p[::-1] for p in pairs]
    directed, free, both = (
        [p for p, k in zip(turned, kinds, strict=True) if k == q] for q in range(3)
    )
    return PDAG(directed, names, undirected=free, conflicting=both), sizes


def connected_dag(seed, n, extra):
    """A tree with further edges, and a size for every box."""
    rng = np.random.default_rng(seed)
    pairs = {(int(rng.integers(j)), j) for j in range(1, n)}
    while len(pairs) < n - 1 + extra:
        i, j = sorted(rng.choice(n, 2, replace=False))
        pairs.add((int(i), int(j)))
    names = [f"v{i:02d}" for i in range(n)]
    graph = DAG([(names[i], names[j]) for i, j in sorted(pairs)], names)
    return graph, [(float(w), 30.0) for w in rng.integers(36, 160, n)]


@cache
def layered_dag(seed, n=14, extra=16):
    """The same, cut into ordered layers; and the sizes."""
    graph, sizes = connected_dag(seed, n, extra)
    return layered(edges_of(graph), sizes), sizes


def crossings(graph, layers):
    """Count the pairs of pieces whose ends are in opposite orders."""
    place = {v: k for layer in layers for k, v in enumerate(layer)}
    total = 0
    for layer in layers:
        pieces = [(place[v], place[w]) for v in layer for w in graph.below[v]]
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(pieces, 2))
    return total


def x_at(points, y):
    """Where a route is at a height at which it is upright, or has a point."""
    for (x, top), (_, bottom) in pairwise(points):
        if top - 1e-6 <= y < bottom - 1e-6:
            return x
    return points[-1][0]
