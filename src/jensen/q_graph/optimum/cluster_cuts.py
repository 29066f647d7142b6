"""Inequalities that every graph without a cycle obeys, found where a fractional graph does not.

In a cluster C of a graph without cycles some variable has no parent in C, so that the weights of
all families of members whose parents lie outside sum to at least 1. More generally, k members have
fewer than k parents in C: the first k of an order.

References
----------
Jaakkola, Sontag, Globerson and Meila (2010), *Learning Bayesian network structure using LP
relaxations*, AISTATS. Cussens (2011), *Bayesian network learning with cutting planes*, UAI.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.order import find_cycle
from jensen.q_graph.optimum.families import Families

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

SHORT = 1e-3
"""By how much an inequality must be violated to be worth a row."""

MOST_CLUSTERS = 60
"""Clusters that are taken at once."""


class Cut(NamedTuple):
    """The sum of weight · (weights of families) is at least `least`."""

    at: Ints  # families, rising
    weight: Array
    least: float

    def violation(self, x: Array) -> float:
        """By how much the weights of families fall short."""
        return self.least - float(self.weight @ x[self.at])


def cluster_cut(families: Families, holds: Flags, cluster: Flags, k: int = 1) -> Cut:
    """At least k members of a cluster have fewer than k parents in it."""
    few = cluster[families.child] & (holds[:, cluster].sum(axis=1) < k)
    at = np.flatnonzero(few)
    return Cut(at, np.ones(len(at)), float(k))


def find_clusters(families: Families, x: Array, k: int = 1) -> list[Flags]:
    """Clusters whose inequality is violated, the most violated first."""
    from jensen.kernels.cluster_cuts import grow_clusters

    used = np.flatnonzero(x > 0.0)
    some = families.take(used)
    family = np.repeat(np.arange(len(used)), np.diff(some.ptr))
    by_parent = np.argsort(some.parent, kind="stable")
    holder_ptr = np.searchsorted(some.parent[by_parent], np.arange(families.n + 1))
    starts = np.unique(np.column_stack([some.parent, some.child[family]]), axis=0)
    found = np.zeros((len(starts), families.n), bool)
    values = np.zeros(len(starts))
    n_found = grow_clusters(
        some.child, some.first, x[used], family[by_parent], holder_ptr, starts, k, SHORT,
        found, values,
    )  # fmt: skip
    order = np.argsort(-values[:n_found], kind="stable")
    distinct = {found[i].tobytes(): found[i] for i in order}
    return list(distinct.values())[:MOST_CLUSTERS]


def find_cluster_in(families: Families, chosen: Ints) -> Flags | None:
    """The variables of a cycle, where each one has one family; None if there is no cycle."""
    cycle = find_cycle([families.parents(j) for j in chosen])
    if not cycle:
        return None
    cluster = np.zeros(families.n, bool)
    cluster[cycle] = True
    return cluster
