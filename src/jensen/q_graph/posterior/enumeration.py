"""All graphs of a few variables, one by one, with their weights."""

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.constraints import Constraints
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.scorer import Scorer, log_jacobian_of_units

MOST_ENUMERATED = 5
"""Variables up to which all graphs are written down: there are 29,281 of five."""

Masks = NDArray[np.int64]


def all_graphs(scorer: Scorer, prior: GraphPrior, constraints: Constraints) -> GraphSamples:
    """Every graph that the constraints allow, weighted by its posterior probability."""
    n = len(scorer.names)
    families = [_families(scorer, prior, constraints, v) for v in range(n)]
    sizes = [len(masks) for masks, _ in families]
    choice = np.indices(sizes, np.int8).reshape(n, -1)
    parents = np.array([masks[k] for (masks, _), k in zip(families, choice, strict=True)])
    possible = _acyclic(parents)
    parents, choice = parents[:, possible], choice[:, possible]
    scores = sum(
        (logs[k] for (_, logs), k in zip(families, choice, strict=True)), np.zeros(len(choice[0]))
    )
    if prior.counts_orders:
        scores = scores + np.log(n_orders(parents))
    bits = parents.T.astype(np.uint64)[None, :, :, None]
    total = scores + log_jacobian_of_units(scorer)
    return GraphSamples(scorer.names, bits, total[None], None, scores[None], "all")


def _families(
    scorer: Scorer, prior: GraphPrior, constraints: Constraints, child: int
) -> tuple[Masks, Array]:
    """Sets of parents that are allowed, as bits, and the score and log prior of each."""
    n = len(scorer.names)
    must = sum(1 << int(u) for u in np.flatnonzero(constraints.required[:, child]))
    never = 1 << child | sum(1 << int(u) for u in np.flatnonzero(constraints.forbidden[:, child]))
    masks, logs = [], []
    for mask in range(1 << n):
        if mask & never or mask & must != must or mask.bit_count() > constraints.most_parents:
            continue
        members = [u for u in range(n) if mask >> u & 1]
        masks.append(mask)
        logs.append(scorer.family(child, members) + prior.of_family(child, members))
    return np.array(masks, np.int64), np.array(logs)


def _acyclic(parents: Masks) -> NDArray[np.bool_]:
    """(graphs,): whether parents (n, graphs) make no cycle."""
    left = np.full(parents.shape[1], (1 << len(parents)) - 1)
    for _ in parents:
        for v, above in enumerate(parents):
            left = np.where(above & left, left, left & ~(1 << v))
    return np.asarray(left == 0)


def n_orders(parents: Masks) -> Array:
    """(graphs,): how many orders each graph allows, by sums over the sets that come first."""
    n = len(parents)
    ways = np.zeros((1 << n, parents.shape[1]))
    ways[0] = 1.0
    for first in range(1 << n):
        for v in range(n):
            if not first >> v & 1:
                ways[first | 1 << v] += np.where(parents[v] & ~first, 0.0, ways[first])
    return np.asarray(ways[-1])
