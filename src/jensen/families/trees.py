"""Trees over labels: which columns are linked, and the tables of the links, in one family.

A tree T over D columns has p(x | T, θ) = θ_r(x_r) Π θ_{v|u}(x_v | x_u), whatever its root r. With
p(T) ∝ Π β_uv over its edges, and Dirichlet counts that agree about the margins of every column,
p(T, θ) is conjugate, and does not depend on roots either (Meilă and Jaakkola 2006). η are the
counts of pairs of labels and of single ones:

    A(η) = Σ_v Σ log Γ(N_v) - log Γ(N) + log Σ_T Π_{uv ∈ T} exp(b_uv + s_uv),
    s_uv = Σ log Γ(N_uv) - Σ log Γ(N_u) - Σ log Γ(N_v),

where b makes p(T) of A(prior) what it shall be. Densities are those of softmax coordinates, in
which the mode of a table is its mean, and is the same for every root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, xlogy

from jensen.families.spanning_trees import TreeSums, log_tree_sums, tree_sums
from jensen.support.fields import LastResult, record, without_cached

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

ROOT = -1
"""Instead of the column that a root hangs from."""


@record
class TreeCounts(NamedTuple):
    """Counts of K trees; or what stands for their logs in t, where other links are 0."""

    singles: Array  # (K, S): of the labels of all columns, one column after the other
    pairs: Array  # (K, P): of the tables of all pairs u < v, labels of u along the rows
    parents: Array  # (K, D): in t the column that each hangs from; nothing in η and statistics


@dataclass(frozen=True, eq=False)
class PairTables:
    """Where the tables of all pairs of columns stand, end to end."""

    sizes: tuple[int, ...]  # labels of each column

    __getstate__ = without_cached

    @cached_property
    def at(self) -> Ints:
        """(D + 1,): where the labels of each column begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def columns(self) -> tuple[Ints, Ints]:
        """The columns u < v of every pair."""
        u, v = np.triu_indices(len(self.sizes), 1)
        return u.astype(np.int64), v.astype(np.int64)

    @cached_property
    def starts(self) -> Ints:
        """(pairs + 1,): where each table begins."""
        u, v = self.columns
        sizes = np.array(self.sizes, np.int64)
        return np.concatenate([[0], np.cumsum(sizes[u] * sizes[v])]).astype(np.int64)

    @cached_property
    def pair_at(self) -> Ints:
        """(D, D): where the table of two columns begins."""
        u, v = self.columns
        out = np.zeros((len(self.sizes), len(self.sizes)), np.int64)
        out[u, v] = out[v, u] = self.starts[:-1]
        return out

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """(P,), (P,): which labels of u and of v each cell counts, among all labels."""
        u, v = self.columns
        sizes = np.array(self.sizes, np.int64)
        pair = np.repeat(np.arange(len(u)), np.diff(self.starts))
        place = np.arange(self.starts[-1]) - self.starts[pair]
        return self.at[u[pair]] + place // sizes[v[pair]], self.at[v[pair]] + place % sizes[v[pair]]

    def square(self, of_pairs: Array, kind: type = np.float64) -> Array:
        """(..., D, D), symmetric, of numbers (..., pairs)."""
        u, v = self.columns
        D = len(self.sizes)
        out = np.zeros((*of_pairs.shape[:-1], D, D), kind)
        out[..., u, v] = out[..., v, u] = of_pairs
        return out

    def of_columns(self, singles: Array) -> Array:
        """(K, D): sums over the labels of each column."""
        return np.add.reduceat(singles, self.at[:-1], axis=1)

    def of_pairs(self, pairs: Array) -> Array:
        """(K, pairs): sums over each table."""
        if not len(self.starts[:-1]):
            return np.zeros((len(pairs), 0))
        return np.add.reduceat(pairs, self.starts[:-1], axis=1)

    def blank(self, n_states: int) -> TreeCounts:
        """Zeros."""
        shapes = self.at[-1], self.starts[-1], len(self.sizes)
        return TreeCounts(*(np.zeros((n_states, int(size))) for size in shapes))

    def even(self, n_states: int, sample_size: float) -> TreeCounts:
        """So many rows, spread evenly over all configurations."""
        u, v = self.columns
        sizes = np.array(self.sizes, np.float64)
        single = np.repeat(sample_size / sizes, self.sizes)
        pair = np.repeat(sample_size / (sizes[u] * sizes[v]), np.diff(self.starts))
        parts = single, pair, np.zeros(len(sizes))
        return TreeCounts(*(np.repeat(part[None], n_states, axis=0) for part in parts))


class Links(NamedTuple):
    """The cells of the tables that trees consist of."""

    parents: Ints  # (K, D)
    state: Ints  # (C,): which tree each of these cells belongs to
    cell: Ints  # (C,): which of all cells it is
    parent: Ints  # (C,): the label of the parent that it counts


class BestTrees(NamedTuple):
    """The most probable trees."""

    weights: Array  # (trees, D, D): of all edges
    links: Links


@dataclass(frozen=True, eq=False)
class Trees:
    """One tree for each of K states, or one for all; q(T) is a point.

    `base` are the numbers b of all pairs; None under the flat prior, where they are 0 and cost
    nothing.
    """

    tables: PairTables
    base: Array | None = None  # (pairs,)
    is_shared: bool = False

    __getstate__ = without_cached

    # --- counts ---

    def log_partitions(self, eta: TreeCounts) -> Array:
        """A(η) of the tree that is best, one for each tree."""
        best = self._best(eta)
        return self._alone(eta) + self._of_links(best.links.parents, best.weights)

    def log_partition(self, eta: TreeCounts) -> float:
        """A(η)."""
        return float(self.log_partitions(eta).sum())

    def log_prior_partition(self, eta: TreeCounts) -> float:
        """A of a prior: it sums over all trees, of which q(T) is one."""
        return float((self._alone(eta) + log_tree_sums(self._weights(eta, gammaln))).sum())

    def mean_stats(self, eta: TreeCounts) -> TreeCounts:
        """E[t] given the best tree: of the logs of its tables."""
        return self._read(eta, self._best(eta).links, digamma)

    def mode_stats(self, eta: TreeCounts) -> TreeCounts:
        """Read t at the best tree and its best tables: shares of counts."""
        weights = self._weights(eta, lambda x: xlogy(x, x))
        return self._read(eta, self._find_links(eta, weights), _log)

    def mean_tables(self, eta: TreeCounts) -> TreeCounts:
        """Logs of the expected tables of the tree that is most probable."""
        return self._read(eta, self._best(eta).links, _log)

    def has_mode(self, eta: TreeCounts) -> bool:
        """Whether no count is negative."""
        return bool((eta.singles >= 0.0).all() and (eta.pairs >= 0.0).all())

    def log_base(self, t: TreeCounts) -> float:
        """The log of Π b over the edges of t."""
        if self.base is None:
            return 0.0
        parents = (t.parents[:1] if self.is_shared else t.parents).astype(np.int64)
        k, v = np.nonzero(parents >= 0)
        return float(self.tables.square(self.base)[v, parents[k, v]].sum())

    def describe(self, eta: TreeCounts) -> dict[str, Array]:
        """The counts, and how probable every edge is."""
        return {"counts": eta.singles, "pairs": eta.pairs, "edges": self.edges(eta)}

    def edges(self, eta: TreeCounts) -> Array:
        """(K, D, D): whether the most probable tree has an edge."""
        parents = self._best(eta).links.parents
        if self.is_shared:
            parents = np.repeat(parents, len(eta.singles), axis=0)
        found = np.zeros((*parents.shape, parents.shape[1]))
        k, v = np.nonzero(parents >= 0)
        u = parents[k, v]
        found[k, u, v] = found[k, v, u] = 1.0
        return found

    # --- the weights of edges ---

    def _weights(self, eta: TreeCounts, term: Callable[[Array], Array]) -> Array:
        """(trees, D, D): b + s; of η with tables integrated out, or with them at their best."""
        tables = self.tables
        u, v = tables.columns
        own = tables.of_columns(term(eta.singles))
        score = tables.of_pairs(term(eta.pairs)) - own[:, u] - own[:, v]
        if self.is_shared:
            score = score.sum(0, keepdims=True)
        return tables.square(score if self.base is None else score + self.base)

    def _alone(self, eta: TreeCounts) -> Array:
        """(trees,): what A(η) is without links."""
        first = slice(0, self.tables.sizes[0])
        own = gammaln(eta.singles).sum(1) - gammaln(eta.singles[:, first].sum(1))
        return np.asarray(own.sum(keepdims=True) if self.is_shared else own)

    def _of_links(self, parents: Ints, weights: Array) -> Array:
        """(trees,): the sum of the weights of the edges of trees."""
        k, v = np.nonzero(parents[: len(weights)] >= 0)
        return np.asarray(np.bincount(k, weights[k, v, parents[k, v]], len(weights)), float)

    # --- trees ---

    @cached_property
    def _best(self) -> LastResult[BestTrees]:
        return LastResult(self._find_best)

    def _find_best(self, eta: TreeCounts) -> BestTrees:
        weights = self._weights(eta, gammaln)
        return BestTrees(weights, self._find_links(eta, weights))

    def _find_links(self, eta: TreeCounts, weights: Array) -> Links:
        """The spanning trees of largest weight."""
        from jensen.kernels import graphs

        D, n = len(self.tables.sizes), len(weights)
        total = eta.singles[:, : self.tables.sizes[0]].sum(1)
        each = total.sum(keepdims=True) if self.is_shared else total
        per_row = weights / np.maximum(each, 1.0)[:, None, None]  # near ones count as equal
        stages, best, near = np.zeros(D, np.int64), np.zeros(D), np.empty((n, D), np.int64)
        for k in range(n):
            graphs.grow(per_row[k], stages, best, near[k])
        return self._cells(near)

    def _cells(self, parents: Ints) -> Links:
        """The cells of the tables of trees."""
        tables = self.tables
        k, v = np.nonzero(parents >= 0)
        u = parents[k, v]
        begin, sizes = tables.pair_at[u, v], np.array(tables.sizes)
        width = sizes[u] * sizes[v]
        ends = np.cumsum(width)
        cell = np.repeat(begin - (ends - width), width) + np.arange(int(width.sum()))
        of_first, of_second = tables.cells
        is_first = np.repeat(u < v, width)
        parent = np.where(is_first, of_first[cell], of_second[cell])
        return Links(parents, np.repeat(k, width), cell, parent)

    def _read(self, eta: TreeCounts, links: Links, log: Callable[[Array], Array]) -> TreeCounts:
        """Logs of the tables of these trees; f(N_uv) - f(N_u), as f is log or its expectation."""
        parents, state, cell, parent = links
        K = len(eta.singles)
        if self.is_shared and K > 1:
            parents = np.repeat(parents, K, axis=0)
            state = np.repeat(np.arange(K), len(cell))
            cell, parent = np.tile(cell, K), np.tile(parent, K)
        found = self.tables.blank(K)
        with np.errstate(invalid="ignore"):
            found.pairs[state, cell] = log(eta.pairs[state, cell]) - log(eta.singles[state, parent])
        self._fill_roots(eta, parents, log, found.singles)
        if np.isnan(found.pairs).any():  # nothing was counted: each child label is as likely
            lost, place = np.nonzero(np.isnan(found.pairs))
            found.pairs[lost, place] = -np.log(self._child_labels(parents[lost], place))
        return found._replace(parents=parents.astype(np.float64))

    def _fill_roots(
        self, eta: TreeCounts, parents: Ints, log: Callable[[Array], Array], out: Array
    ) -> None:
        at = self.tables.at
        for k, root in zip(*np.nonzero(parents < 0), strict=True):
            own = slice(at[root], at[root + 1])
            counts = eta.singles[k, own]
            total = counts.sum()
            out[k, own] = log(counts) - log(total) if total > 0.0 else -np.log(len(counts))

    def _child_labels(self, parents: Ints, place: Ints) -> Array:
        """How many labels the child has in the table of each of these cells."""
        at, sizes = self.tables.at, np.array(self.tables.sizes)
        u, v = (np.searchsorted(at, cells[place], "right") - 1 for cells in self.tables.cells)
        child = np.where(parents[np.arange(len(place)), v] == u, v, u)
        return np.asarray(sizes[child], np.float64)


@dataclass(frozen=True, eq=False)
class AllTrees(Trees):
    """The same with q(T) whole: sums over all trees in the place of the best one."""

    def log_partitions(self, eta: TreeCounts) -> Array:
        """A(η)."""
        return self._alone(eta) + self._sums(eta).log_total

    def log_prior_partition(self, eta: TreeCounts) -> float:
        """The same."""
        return self.log_partition(eta)

    def edges(self, eta: TreeCounts) -> Array:
        """(K, D, D): how probable every edge is."""
        found = self._sums(eta).edges
        return np.repeat(found, len(eta.singles), axis=0) if self.is_shared else found

    @cached_property
    def _sums(self) -> LastResult[TreeSums]:
        return LastResult(lambda eta: tree_sums(self._weights(eta, gammaln)))

    def mean_stats(self, eta: TreeCounts) -> TreeCounts:
        """E[t] over all trees: P(uv ∈ T) · E[log θ_uv / θ_u θ_v], and E[log θ_v]."""
        tables = self.tables
        u, v = tables.columns
        edges = np.repeat(self.edges(eta)[:, u, v], np.diff(tables.starts), axis=1)
        total = digamma(eta.singles[:, : tables.sizes[0]].sum(1))[:, None]
        of_u, of_v = tables.cells
        log_singles = digamma(eta.singles) - total
        ratio = digamma(eta.pairs) - total - log_singles[:, of_u] - log_singles[:, of_v]
        return TreeCounts(
            log_singles, edges * ratio, np.full((len(total), len(tables.sizes)), -1.0)
        )


def edge_base(tables: PairTables, prior: TreeCounts, log_beta: Array, is_shared: bool) -> Array:
    """(pairs,): b, with which the prior of T is ∝ Π β: that of all states must be the same."""
    weights = Trees(tables, None, is_shared)._weights(prior, gammaln)[0]
    u, v = tables.columns
    return np.asarray(log_beta - weights[u, v])


def _log(counts: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(counts))
