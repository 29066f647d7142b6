"""Which layer of the picture each node stands in."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, groupby

import numpy as np


def assign_layers(n: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Put every lower end below its upper end, with edges as short as they can be in total.

    minimise Σ (layer[j] - layer[i])  where  layer[j] - layer[i] ≥ 1  for every edge i → j

    The corners of this linear program are whole numbers, and the simplex method stops at one.

    References
    ----------
    Gansner, Koutsofios, North and Vo (1993), *A technique for drawing directed graphs*, section 2.

    Examples
    --------
    >>> assign_layers(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    """
    if not pairs:
        return [0] * n
    from scipy.optimize import linprog  # slow to import, so only when something is drawn
    from scipy.sparse import csr_array

    upper, lower = np.array(pairs).T
    m = len(pairs)
    signs = np.concatenate([np.ones(m), -np.ones(m)])
    cells = (np.tile(np.arange(m), 2), np.concatenate([upper, lower]))
    shorten = csr_array((signs, cells), shape=(m, n))
    cost = np.bincount(lower, minlength=n) - np.bincount(upper, minlength=n)
    found = linprog(cost, A_ub=shorten, b_ub=-np.ones(m), method="highs-ds")
    layer = np.rint(found.x).astype(int)
    return [int(k) for k in layer - layer.min()]


def fold(
    layer: Sequence[int], pairs: Sequence[tuple[int, int]], widths: Sequence[float], limit: float
) -> list[int]:
    """Break layers that are wider than the limit into several; edges still run downwards.

    Nodes with more children than parents go to the lower ones, so that few edges pass a layer;
    nodes that are alike in this are dealt out in turn.

    >>> fold([0, 1, 1, 1, 1], [(0, 1), (0, 2), (0, 3), (0, 4)], [10.0] * 5, limit=20.0)
    [0, 1, 2, 1, 2]
    """
    pull = [0] * len(layer)
    for upper, lower in pairs:
        pull[upper] += 1
        pull[lower] -= 1
    members: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for v in sorted(range(len(layer)), key=lambda v: (pull[v], v)):
        members[layer[v]].append(v)
    folded, base = [0] * len(layer), 0
    for nodes in members:
        rows = _rows([widths[v] for v in nodes], limit)
        for _, alike in groupby(range(len(nodes)), key=lambda k: pull[nodes[k]]):
            places = list(alike)
            for k, row in zip(places, _in_turn([rows[k] for k in places]), strict=True):
                folded[nodes[k]] = base + row
        base += rows[-1] + 1
    return folded


def _rows(widths: Sequence[float], limit: float) -> list[int]:
    """The row of each box, in rows of about the same width, none wider than the limit."""
    total = sum(widths)
    n_rows = max(math.ceil(total / limit), 1)
    middles = [end - width / 2 for end, width in zip(accumulate(widths), widths, strict=True)]
    return [int(n_rows * middle / total) for middle in middles]


def _in_turn(rows: Sequence[int]) -> list[int]:
    """The same rows, in turn: 0 0 1 1 becomes 0 1 0 1."""
    seen: Counter[int] = Counter()
    turns = []
    for row in rows:
        turns.append((seen[row], row))
        seen[row] += 1
    return [row for _, row in sorted(turns)]
