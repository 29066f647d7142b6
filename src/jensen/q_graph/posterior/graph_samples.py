"""Sampled graphs in compact form: the distinct parent sets, and the distinct graphs of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import IndexedGraph
from jensen.runs.diagnostics import effective_sample_size

Array = NDArray[np.float64]
Bits = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int32]

SampleKind = Literal["chains", "draws", "all"]
"""The kind of samples: successive states of chains, independent draws, or all graphs."""

LEAST_SAMPLES = 10
"""With fewer samples of a chain its effective sample size is unknown."""


class GraphSamples:
    """Samples of directed acyclic graphs from several chains of the same length.

    Parameters
    ----------
    names
        The variables, sorted. A node is its position among them.
    parents : uint64 (chains, samples, n, words)
        The parents of each node: parent u is bit u % 64 of word u // 64.
    scores : (chains, samples)
        Log p(x | G) + log prior of each graph, up to a constant.
    states : (chains, samples)
        The log weight of the chain's state (a graph, an order or a partition); `scores` if None.
    log_weights : (chains, samples)
        Log importance weights, up to a constant; None if all samples have equal weights.
    kind
        "chains", independent "draws", or "all" graphs, each once with its weight.

    Attributes
    ----------
    sets : uint64 (K, words)
        The distinct sets of parents.
    graphs : int32 (D, n)
        The distinct graphs: for each node the index of its parent set.
    which : int32 (chains, samples)
        The index of the graph of each sample.

    Examples
    --------
    >>> parents = np.array([[[[0], [1]], [[0], [0]], [[0], [1]]]], np.uint64)
    >>> samples = GraphSamples(("A", "B"), parents, np.zeros((1, 3)))
    >>> [(dag, round(weight, 3)) for dag, weight in samples.distinct()]
    [(DAG('A -> B'), 0.667), (DAG('A; B'), 0.333)]
    """

    def __init__(
        self,
        names: Sequence[str],
        parents: Bits,
        scores: Array,
        states: Array | None = None,
        log_weights: Array | None = None,
        kind: SampleKind = "chains",
    ) -> None:
        n_chains, n_samples, n, n_words = parents.shape
        sets, of_node = _distinct(np.ascontiguousarray(parents, np.uint64).reshape(-1, n_words))
        graphs, which = _distinct(of_node.reshape(-1, n))
        self._set(names, sets, graphs, which.reshape(n_chains, n_samples))
        self._weigh(scores, states, log_weights, kind)

    @classmethod
    def from_distinct(
        cls,
        names: Sequence[str],
        sets: Bits,
        graphs: Numbers,
        which: Numbers,
        scores: Array,
        states: Array | None = None,
        log_weights: Array | None = None,
        kind: SampleKind = "chains",
    ) -> GraphSamples:
        """Samples from the compact form, see the attributes of the class."""
        samples = cls.__new__(cls)
        samples._set(names, sets, graphs, which)
        samples._weigh(scores, states, log_weights, kind)
        return samples

    def _set(self, names: Sequence[str], sets: Bits, graphs: Numbers, which: Numbers) -> None:
        if not which.size:
            raise GraphError("there are no samples: a posterior needs one graph at least")
        self.names = tuple(names)
        self.sets, self.graphs, self.which = sets, graphs, which

    def _weigh(
        self, scores: Array, states: Array | None, log_weights: Array | None, kind: SampleKind
    ) -> None:
        self.scores = np.asarray(scores, np.float64)
        self.states = self.scores if states is None else np.asarray(states, np.float64)
        self.log_weights = None if log_weights is None else np.asarray(log_weights, np.float64)
        self.kind = kind

    # --- how many, and how much each counts ---

    @property
    def n_chains(self) -> int:
        """The number of chains."""
        return int(self.which.shape[0])

    @property
    def n_samples(self) -> int:
        """The number of samples of all chains together."""
        return int(self.which.size)

    @property
    def n_distinct(self) -> int:
        """The number of distinct graphs."""
        return len(self.graphs)

    @cached_property
    def weights(self) -> Array | None:
        """(chains, samples): importance weights with mean 1; None if all weights are equal."""
        if self.log_weights is None:
            return None
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(weights / weights.mean())

    @cached_property
    def shares(self) -> Array:
        """(D,): the share of each distinct graph, by weight: its estimated probability."""
        counts = self.counts(...)
        return np.asarray(counts / counts.sum())

    def counts(self, part: Any) -> Array:
        """(D,): the total weight of each distinct graph among the samples `which[part]`."""
        weights = None if self.weights is None else self.weights[part].ravel()
        found = np.bincount(self.which[part].ravel(), weights, minlength=self.n_distinct)
        return found.astype(np.float64)

    @cached_property
    def weights_size(self) -> float:
        """(Σw)² / Σw²: the number of equally weighted samples that the samples are worth."""
        if self.weights is None:
            return float(self.n_samples)
        return float(self.weights.sum() ** 2 / np.square(self.weights).sum())

    @cached_property
    def effective_size(self) -> float:
        """The effective sample size, by the log weights of the states."""
        if self.kind != "chains":
            return self.weights_size
        size = float(effective_sample_size(self.states))
        if np.isnan(size) and self.which.shape[1] >= LEAST_SAMPLES:
            size = float(self.n_samples)  # a chain whose log weight never moved
        return size * self.weights_size / self.n_samples

    # --- what is in the graphs ---

    @cached_property
    def members(self) -> Flags:
        """(K, n): whether each node is in each set."""
        return members_of(self.sets, len(self.names))

    def edge_matrix(self, part: Any = ...) -> Array:
        """(n, n) [parent, child]: the share of the samples `which[part]` that have an edge.

        Counts are summed before dividing, so an edge of all samples has the share 1 exactly.
        """
        counts = self.counts(part)
        each = [
            np.bincount(self.graphs[:, v], counts, minlength=len(self.sets)) @ self.members
            for v in range(len(self.names))
        ]
        return np.asarray(np.array(each).T / counts.sum())

    def parents_of(self, child: int) -> Flags:
        """(D, n): the parents of a node in each distinct graph."""
        return np.asarray(self.members[self.graphs[:, child]])

    def dag(self, graph: int) -> DAG:
        """The distinct graph with this index as a `DAG`."""
        children, parents = np.nonzero(self.members[self.graphs[graph]])
        pairs = zip(parents.tolist(), children.tolist(), strict=True)
        return DAG._of(IndexedGraph(self.names, tuple(sorted(pairs))))

    def distinct(self) -> Iterator[tuple[DAG, float]]:
        """Every distinct graph with its probability, the most probable first, one at a time."""
        for d in self.by_share.tolist():
            yield self.dag(d), float(self.shares[d])

    @cached_property
    def by_share(self) -> NDArray[np.intp]:
        """(D,): the indices of distinct graphs by falling share; of equal ones the first seen."""
        return np.argsort(-self.shares, kind="stable")

    def without_weights(self) -> GraphSamples:
        """The same samples with equal weights: samples of the chain's own target."""
        if self.log_weights is None:
            return self
        return GraphSamples.from_distinct(
            self.names, self.sets, self.graphs, self.which, self.scores, self.states
        )

    def thinned(self, n_samples: int) -> GraphSamples:
        """At most `n_samples` samples, evenly spaced along each chain; for "all", the best."""
        if n_samples >= self.n_samples:
            return self
        if self.kind == "all":
            keep = np.sort(self.by_share[:n_samples])
        else:
            each = max(1, n_samples // self.n_chains)
            length = self.which.shape[1]
            keep = ((np.arange(each) + 0.5) * length / each).astype(np.intp)
        kept, which = np.unique(self.which[:, keep], return_inverse=True)
        weights = None if self.log_weights is None else self.log_weights[:, keep]
        return GraphSamples.from_distinct(
            self.names,
            self.sets,
            self.graphs[kept],
            which.reshape(self.n_chains, -1).astype(np.int32),
            self.scores[:, keep],
            self.states[:, keep],
            weights,
            self.kind,
        )


class WeightedGraphs(Sequence[tuple[DAG, float]]):
    """Pairs (graph, probability), the most probable first; graphs are built when read."""

    def __init__(self, samples: GraphSamples) -> None:
        self._samples = samples

    def __len__(self) -> int:
        return self._samples.n_distinct

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[k] for k in range(len(self))[place]]
        d = int(self._samples.by_share[place])
        return self._samples.dag(d), float(self._samples.shares[d])

    def __iter__(self) -> Iterator[tuple[DAG, float]]:
        return self._samples.distinct()

    def __repr__(self) -> str:
        return f"<{len(self):,} weighted graphs of {len(self._samples.names)} variables>"


def members_of(sets: Bits, n: int) -> Flags:
    """(K, n): bits as truth values."""
    octets = np.ascontiguousarray(sets.astype("<u8")).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :n].astype(bool)


def bits_of(members: Flags) -> Bits:
    """Truth values (..., n) as bits (..., words)."""
    n_words = -(-members.shape[-1] // 64)
    room = [(0, 0)] * (members.ndim - 1) + [(0, 64 * n_words - members.shape[-1])]
    octets = np.packbits(np.pad(members, room), axis=-1, bitorder="little")
    return np.ascontiguousarray(octets).view("<u8").astype(np.uint64)


def _distinct(rows: NDArray[Any]) -> tuple[NDArray[Any], Numbers]:
    """The distinct rows in order of first occurrence, and the index of each row among them."""
    keys = _hashed(rows)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    if not np.array_equal(rows[first[which]], rows):  # two rows with one hash
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
    place = np.empty(len(first), np.int32)
    place[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rows[np.sort(first)], place[which]


def _hashed(rows: NDArray[Any]) -> Bits:
    """(rows,): a hash of each row."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys
