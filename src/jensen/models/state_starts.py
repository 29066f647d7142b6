"""Where learners of hidden states begin: rows shared out to states by their distances.

Identical states would stay identical for ever. A start near centres gives each state the rows
around one of K centres, chosen by the greedy k-means++ (Arthur and Vassilvitskii 2007, section 6)
and moved by k-means. The other kind shares out many small cells of rows at random, and is the only
one where distances say nothing, as between the labels of one column.
"""

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import NumberRows
from jensen.models.emissions import Emission
from jensen.q_hidden.states.records import segments
from jensen.support.fields import add, leaves, rebuild

Array = NDArray[np.float64]

LOOKED_AT = 20_000
"""So many rows, drawn at random, are enough to start from."""
STEPS = 50
"""Of k-means; most starts have settled by then."""
CELLS = 8
SURE, MIXED = 0.99, 0.9
"""The share of a row by its centre, or by chance; the rest keeps every state from collapsing."""


def start_stats(
    emission: Emission, K: int, data: NumberRows, near: bool, rng: np.random.Generator
) -> tuple[Array, Any]:
    """Counts of states (K,) and statistics of rows to start from, near centres or at random."""
    some = np.arange(data.n_rows)
    if len(some) > LOOKED_AT:
        some = np.sort(rng.choice(len(some), LOOKED_AT, replace=False))
    rows, share = _distinct(*data.take(some))
    found = emission.survey(rows)
    points = np.ascontiguousarray(found.points.T)
    near = near and found.has_distances
    nodes = (_near_centres if near else _random_cells)(points, share, K, rng)
    sure = SURE if near else MIXED
    nodes = (sure * nodes + (1.0 - sure) / K) * (share * data.total_weight / share.sum())
    return nodes.sum(1), _stats(emission, found.wide, rows, nodes)


def _distinct(rows: Array, weight: Array) -> tuple[Array, Array]:
    """Rows that differ, in an order of their own, with their weights.

    So a start depends neither on the order of rows nor on whether one of them counts twice or is
    there twice.
    """
    order = np.lexsort(rows.T)
    rows, weight = rows[order], weight[order]
    above, below = rows[:-1], rows[1:]
    same = (above == below) | (np.isnan(above) & np.isnan(below))
    first = np.flatnonzero(np.concatenate([[True], ~same.all(1)]))
    return rows[first], np.add.reduceat(weight, first)


def _stats(emission: Emission, eta: Any, rows: Array, nodes: Array) -> Any:
    """Statistics of rows that are shared out; what is missing is completed at the mode of η."""
    t = emission.family.mode_stats(eta)
    observed = emission.observe(t, emission.encode(rows))
    parts = [
        observed.stats(start, stop, np.ascontiguousarray(nodes[:, start:stop]))
        for start, stop in segments(len(rows), len(nodes))
    ]
    pairs = zip(leaves(reduce(add, parts)), leaves(t), strict=True)
    possible = (np.where(at == -np.inf, 0.0, own) for own, at in pairs)  # masked: never counted
    return rebuild(t, possible)


def _near_centres(points: Array, weight: Array, K: int, rng: np.random.Generator) -> Array:
    """(K, n): 1 for the state whose centre is nearest."""
    centres = _spread_centres(points, weight, K, 2 + int(np.log(K)), rng)
    for _ in range(STEPS):
        moved = _means(points, weight, _nearest(points, centres), centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return np.eye(K)[_nearest(points, centres)].T


def _random_cells(points: Array, weight: Array, K: int, rng: np.random.Generator) -> Array:
    """(K, n): random shares, the same for all rows of a cell."""
    n_cells = min(CELLS * K, points.shape[1])
    own = _nearest(points, _spread_centres(points, weight, n_cells, 1, rng))
    return rng.dirichlet(np.ones(K), n_cells)[own].T


def _spread_centres(
    points: Array, weight: Array, n: int, tries: int, rng: np.random.Generator
) -> Array:
    """(n, D): rows drawn one after the other, by their squared distance from those drawn before.

    Of so many that are tried for each, the one is kept which leaves all rows nearest to centres.
    """
    centres = np.empty((n, len(points)))
    nearness = np.full(points.shape[1], -np.inf)
    for k in range(n):
        farness = weight if k == 0 else -nearness * weight
        tried = [_draw(farness, rng) for _ in range(tries if k else 1)]
        rows = np.ascontiguousarray(points[:, tried].T)
        found = np.maximum(nearness, _nearness(points, rows, slice(None)))
        best = int(np.argmax(found @ weight))
        centres[k], nearness = rows[best], found[best]
    return centres


def _draw(weight: Array, rng: np.random.Generator) -> int:
    below = np.cumsum(weight)
    if not below[-1] > 0.0:  # fewer different rows than centres
        return int(rng.integers(len(weight)))
    return int(np.searchsorted(below / below[-1], rng.random(), side="right"))


def _means(points: Array, weight: Array, own: NDArray[np.intp], centres: Array) -> Array:
    """Of the points that belong to each centre; one without any stays."""
    K = len(centres)
    total = np.bincount(own, weight, K)
    sums = np.stack([np.bincount(own, weight * values, K) for values in points], axis=1)
    means = np.divide(sums, total[:, None], out=centres.copy(), where=total[:, None] > 0.0)
    return np.asarray(means)


def _nearest(points: Array, centres: Array) -> NDArray[np.intp]:
    """(n,): which centre is nearest, the first of equals."""
    own = np.empty(points.shape[1], np.intp)
    for start, stop in segments(points.shape[1], len(centres)):
        own[start:stop] = _nearness(points, centres, slice(start, stop)).argmax(0)
    return own


def _nearness(points: Array, centres: Array, some: slice) -> Array:
    """(centres, points): minus half the squared distances of some points."""
    from jensen.kernels.columns import add_diagonal

    start, stop, _ = some.indices(points.shape[1])
    out, ones = np.zeros((len(centres), stop - start)), np.ones_like(centres)
    add_diagonal(points, start, stop, centres, ones, np.zeros_like(centres), out)
    return out
