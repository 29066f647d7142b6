"""Features of many graphs at once, on bits: paths, Markov blankets, compelled edges."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.q_graph.posterior.graph_samples import (
    Array,
    Bits,
    Flags,
    GraphSamples,
    bits_of,
    members_of,
)
from jensen.support.machine import check_memory


def ancestral(samples: GraphSamples, start: Iterable[int], cut: Iterable[int] = ()) -> Flags:
    """(D, n): the nodes of `start` and all their ancestors, in every distinct graph.

    Arrows into the nodes of `cut` are not followed.
    """
    from jensen.kernels.graphs import find_ancestors_of

    n = len(samples.names)
    found = np.empty((samples.n_distinct, samples.sets.shape[1]), np.uint64)
    find_ancestors_of(samples.sets, samples.graphs, _word(start, n), _word(cut, n), found)
    return members_of(found, n)


def ancestors(samples: GraphSamples, node: int) -> Flags:
    """(D, n): the ancestors of a node in every distinct graph."""
    found = ancestral(samples, [node])
    found[:, node] = False
    return found


def path_matrix(samples: GraphSamples) -> Array:
    """(n, n): the share of graphs with a directed path from a to b."""
    each = [samples.shares @ ancestors(samples, b) for b in range(len(samples.names))]
    return np.array(each).T


def blanket(samples: GraphSamples, node: int) -> Flags:
    """(D, n): parents, children and the children's other parents."""
    found = samples.parents_of(node).copy()
    for child in range(len(samples.names)):
        parents = samples.parents_of(child)
        here = np.flatnonzero(parents[:, node])
        found[here] |= parents[here]
        found[here, child] = True
    found[:, node] = False
    return found


def compelled(samples: GraphSamples) -> Bits:
    """(D, n, words): as bits, the parents of each node along edges that are compelled."""
    from jensen.kernels.graphs import find_compelled

    shape = (*samples.graphs.shape, samples.sets.shape[1])
    check_memory(
        8.0 * np.prod(shape),
        f"the compelled edges of {samples.n_distinct:,} graphs",
        "keep fewer samples, with a larger thin",
    )
    found = np.empty(shape, np.uint64)
    find_compelled(samples.sets, samples.graphs, found)
    return found


def evaluate(samples: GraphSamples, f: Callable[[DAG], Any]) -> NDArray[Any]:
    """(D, ...): any function of a graph, called once for each distinct one."""
    values: list[NDArray[Any]] = []
    for d in range(samples.n_distinct):
        value = np.asarray(f(samples.dag(d)))
        if value.dtype.kind not in "biuf":
            raise JensenError(
                f"a feature is a number, True or False, or an array of them, but of "
                f"{samples.dag(d)!r} it is {value!r:.80}"
            )
        if values and value.shape != values[0].shape:
            raise JensenError(
                f"a feature has the same shape for every graph, but it is {values[0].shape} for "
                f"one and {value.shape} for another"
            )
        values.append(value)
    found = np.array(values)
    if found.dtype != bool:
        found = found.astype(np.float64)
        if not np.isfinite(found).all():
            raise JensenError("a feature must be finite for every graph, or it has no mean")
    return found


def _word(nodes: Iterable[int], n: int) -> Bits:
    chosen = np.zeros(n, bool)
    chosen[list(nodes)] = True
    return bits_of(chosen)
