"""Trees over columns of labels: every state has a tree of its own, or all share one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import segments
from jensen.data.number_rows import ColumnSummary
from jensen.families.trees import AllTrees, PairTables, TreeCounts, Trees
from jensen.models.emissions import Survey
from jensen.models.emissions.kinds import (
    Chosen,
    EmissionKind,
    Line,
    PriorParts,
    as_shares,
)
from jensen.q_hidden.structures import SUM, FastObserved, ReadMode, StateCounts
from jensen.support.fields import LastResult, without_cached

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class LabelRows(NamedTuple):
    """Encoded rows."""

    codes: NDArray[np.int32]  # (n, D): a missing label has the code after the last
    seen: Ints  # rows without a missing label, rising
    holed: Ints  # the others


class RowLinks(NamedTuple):
    """The trees of one θ as kernels want them."""

    links: NDArray[np.int64]  # (K, D, 4): see kernels/tree_rows.py
    order: NDArray[np.int64]  # (K, D): columns, parents first


@dataclass(frozen=True, eq=False)
class TreeLabels:
    """Columns of labels under one tree for each state."""

    n_states: int
    tables: PairTables
    prior: TreeCounts | None
    base: Array | None = None  # see families/trees.py
    is_shared: bool = False
    is_whole: bool = False  # whether a posterior keeps all trees: rows must be complete then
    merges_rows: ClassVar[bool] = True  # equal ones are counted together

    __getstate__ = without_cached

    @cached_property
    def family(self) -> Trees:
        """Of all trees and their tables."""
        kind = AllTrees if self.is_whole else Trees
        return kind(self.tables, self.base, self.is_shared)

    @property
    def blank(self) -> TreeCounts:
        """Zeros."""
        return self.tables.blank(self.n_states)

    @property
    def n_columns(self) -> int:
        """D."""
        return len(self.tables.sizes)

    def n_parameters_of(self, t: TreeCounts) -> int:
        """How many free parameters the tables of these trees have."""
        sizes = np.array(self.tables.sizes)
        above = t.parents.astype(np.int64)
        given = np.where(above < 0, 1, sizes[above])
        return int((given * (sizes - 1)).sum())

    def encode(self, values: Array) -> LabelRows:
        """Codes row by row."""
        missing = np.isnan(values)
        codes = np.where(missing, np.array(self.tables.sizes), values).astype(np.int32)
        holes = missing.any(1)
        return LabelRows(np.ascontiguousarray(codes), np.flatnonzero(~holes), np.flatnonzero(holes))

    def observe(self, t: TreeCounts, rows: LabelRows) -> "ObservedTrees":
        """Rows at this θ."""
        return ObservedTrees(self, t, rows, None if self.is_whole else self._links(t))

    @cached_property
    def _links(self) -> LastResult[RowLinks]:
        return LastResult(lambda t: row_links(self.tables, t.parents.astype(np.int64)))

    def predict(self, eta: TreeCounts, rows: LabelRows) -> "ObservedTrees":
        """Rows under the expected tables of the most probable tree."""
        one = replace(self, is_whole=False)
        return one.observe(self.point(eta), rows)

    def point(self, eta: TreeCounts) -> TreeCounts:
        """The most probable tree and its expected tables."""
        return self.family.mean_tables(eta)

    def simulate(self, t: TreeCounts, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Codes of the rows of these states, column by column from the roots."""
        tables, values = self.tables, np.empty((len(states), self.n_columns))
        links, order = row_links(tables, t.parents.astype(np.int64))
        uniform = rng.random(values.shape)
        for k in np.unique(states):
            rows = np.flatnonzero(states == k)
            for v in order[k]:
                u, at, by_parent, by_child = links[k, v]
                labels = np.arange(tables.sizes[v])
                if u < 0:
                    log_shares = t.singles[k, tables.at[v] + labels][None]
                    above = np.zeros(len(rows), np.int64)
                else:
                    places = (
                        at + by_parent * np.arange(tables.sizes[u])[:, None] + by_child * labels
                    )
                    log_shares, above = t.pairs[k, places], values[rows, u].astype(np.int64)
                below = np.cumsum(np.exp(log_shares), axis=1)[above]
                drawn = (below <= (uniform[rows, v] * below[:, -1])[:, None]).sum(1)
                values[rows, v] = np.minimum(drawn, tables.sizes[v] - 1)
        return values

    def survey(self, values: Array) -> Survey:
        """One coordinate for each label: two are 1 apart; a missing one is the middle."""
        tables = self.tables
        points = np.zeros((len(values), int(tables.at[-1])))
        for v, size in enumerate(tables.sizes):
            column = values[:, v]
            own = points[:, tables.at[v] : tables.at[v + 1]]
            seen = np.flatnonzero(~np.isnan(column))
            own[seen, column[seen].astype(np.int64)] = 1.0 / np.sqrt(2.0)
            own[np.isnan(column)] = 1.0 / (size * np.sqrt(2.0))
        wide = self.tables.even(self.n_states, 1.0)
        return Survey(points, self.n_columns > 1, wide)

    def read(self, named: Mapping[str, Any]) -> TreeCounts:
        """Not from words: `start=` is a fitted mixture of trees."""
        raise NotImplementedError

    def show(self, *draws: TreeCounts) -> dict[str, Any]:
        """(K, S): the probabilities of all labels of all columns."""
        return {"margins": np.mean([self.margins(t) for t in draws], axis=0)}

    def margins(self, t: TreeCounts) -> Array:
        """(K, S): how probable each label of each column is."""
        tables, out = self.tables, np.exp(t.singles)
        links, order = row_links(tables, t.parents.astype(np.int64))
        for k, columns in enumerate(order):
            for v in columns:
                u, at, by_parent, by_child = links[k, v]
                if u < 0:
                    continue
                places = (
                    at
                    + by_parent * np.arange(tables.sizes[u])[:, None]
                    + by_child * np.arange(tables.sizes[v])
                )
                own = out[k, tables.at[u] : tables.at[u + 1]] @ np.exp(t.pairs[k, places])
                out[k, tables.at[v] : tables.at[v + 1]] = own
        return out


def row_links(tables: PairTables, parents: Ints) -> RowLinks:
    """Trees (K, D) by their parents, as kernels want them."""
    K, D = parents.shape
    sizes, own = np.array(tables.sizes, np.int64), np.arange(D)
    depth, up = np.zeros((K, D), np.int64), parents.copy()
    while (up >= 0).any():
        depth += up >= 0
        up = np.where(up >= 0, np.take_along_axis(parents, np.maximum(up, 0), 1), -1)
    is_first = (parents < own) & (parents >= 0)
    at = np.where(parents >= 0, tables.pair_at[np.maximum(parents, 0), own], 0)
    by_parent = np.where(is_first, sizes, 1)
    by_child = np.where(is_first, 1, sizes[np.maximum(parents, 0)])
    links = np.stack([parents, at, by_parent, by_child], axis=2)
    return RowLinks(np.ascontiguousarray(links), np.argsort(depth, axis=1, kind="stable"))


class ObservedTrees(FastObserved):
    """Rows at one θ."""

    def __init__(
        self, emission: TreeLabels, t: TreeCounts, rows: LabelRows, links: RowLinks | None
    ) -> None:
        self.emission = emission
        self.t = t
        self.rows = rows
        self.links = links  # None: all pairs count, not the links of a tree

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows)."""
        from jensen.kernels import tree_rows

        tables, t = self.emission.tables, self.t
        out = np.empty((self.emission.n_states, stop - start))
        for places, is_seen in self._parts(start, stop):
            codes = self.rows.codes[places + start]
            found = np.empty((len(out), len(places)))
            if self.links is None:
                tree_rows.add_all_pairs(codes, t.singles, t.pairs, tables.at, tables.pair_at, found)
            elif is_seen:
                tree_rows.add_linked(codes, t.singles, t.pairs, tables.at, self.links.links, found)
            else:
                tree_rows.fill_incomplete(codes, *self._shares, tables.at, *self.links, found)
            if len(places) == stop - start:
                return found
            out[:, places] = found
        return out

    def _parts(self, start: int, stop: int) -> list[tuple[Ints, bool]]:
        """The rows of a segment, complete ones and others, by their places in it."""
        both = []
        for rows, is_seen in ((self.rows.seen, True), (self.rows.holed, False)):
            a, b = np.searchsorted(rows, [start, stop])
            if a < b:
                both.append((rows[a:b] - start, is_seen))
        return both

    @cached_property
    def _shares(self) -> tuple[Array, Array]:
        """The tables without logs."""
        return np.exp(self.t.singles), np.exp(self.t.pairs)

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> TreeCounts:
        """Counts of labels and pairs of labels, missing ones as expected."""
        sums = PairSums(self)
        sums.add(start, stop, nodes)
        return sums.total()

    def expected_rows(self, log_weights: Array, weight: Array) -> tuple[Array, StateCounts]:
        """Log Z of every row, and the statistics under p(state | row)."""
        from jensen.kernels.log_tables import share_rows

        value, states, sums = np.empty(len(weight)), np.zeros(len(log_weights)), PairSums(self)
        for start, stop in segments(len(weight), len(log_weights)):
            nodes = self.log_like(start, stop)
            share_rows(nodes, log_weights, weight[start:stop], value[start:stop], states)
            sums.add(start, stop, nodes)
        return value, StateCounts(states, sums.total())


class PairSums:
    """What rows add to the tables of all pairs; complete rows are counted together."""

    def __init__(self, observed: ObservedTrees) -> None:
        self.observed = observed
        tables, K = observed.emission.tables, observed.emission.n_states
        inner = int(tables.at[-1]) - len(tables.sizes)
        self.meetings = np.zeros((inner, inner, K))
        self.weight = np.zeros(K)
        self.counts = tables.blank(K)

    def add(self, start: int, stop: int, nodes: Array) -> None:
        """Add the rows of a segment; nodes (K, rows) is how much of each a state has."""
        from jensen.kernels import tree_rows

        observed, tables = self.observed, self.observed.emission.tables
        for places, is_seen in observed._parts(start, stop):
            codes, own = observed.rows.codes[places + start], nodes[:, places]
            if is_seen:
                tree_rows.count_meetings(
                    codes, np.ascontiguousarray(own.T), tables.at, self.meetings
                )
                self.weight += own.sum(1)
            else:
                assert observed.links is not None
                tree_rows.add_incomplete(
                    codes, np.ascontiguousarray(own), *observed._shares, tables.at,
                    tables.pair_at, *observed.links, self.counts.singles, self.counts.pairs,
                )  # fmt: skip

    def total(self) -> TreeCounts:
        """The counts of all rows."""
        from jensen.kernels import tree_rows

        tables = self.observed.emission.tables
        tree_rows.add_tables(
            self.meetings, self.weight, tables.at, tables.pair_at,
            self.counts.singles, self.counts.pairs,
        )  # fmt: skip
        return self.counts


class TreeKind(EmissionKind):
    """Trees over columns of labels."""

    def make(
        self, n_states: int, columns: ColumnSummary, prior_parts: PriorParts, chosen: Chosen
    ) -> TreeLabels:
        """Not from a summary: `estimators.tree_choices` makes them."""
        raise NotImplementedError

    def owns(self, emission: Any) -> bool:
        """Whether these are trees."""
        return isinstance(emission, TreeLabels)

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """The probabilities of all labels."""
        for name, column in zip(names, shown["margins"].T, strict=True):
            yield name, as_shares(column)

    def draw(
        self,
        emission: TreeLabels,
        eta: TreeCounts,
        states: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> Array:
        """Rows of the most probable trees with their expected tables."""
        return emission.simulate(emission.point(eta), states, rng)


def tree_tables(emission: TreeLabels, t: TreeCounts, k: int) -> Sequence[tuple[int, Array]]:
    """The parent of every column and its table of probabilities (labels of the parent, own)."""
    tables, found = emission.tables, []
    links, _ = row_links(tables, t.parents[k : k + 1].astype(np.int64))
    for v, (u, at, by_parent, by_child) in enumerate(links[0].tolist()):
        labels = np.arange(tables.sizes[v])
        if u < 0:
            found.append((u, np.exp(t.singles[k, tables.at[v] + labels])[None]))
        else:
            places = at + by_parent * np.arange(tables.sizes[u])[:, None] + by_child * labels
            found.append((u, np.exp(t.pairs[k, places])))
    return found


def joint_tables(emission: TreeLabels, t: TreeCounts, weight: Array) -> TreeCounts:
    """What rows add up to that are just as trees say: so many of each; their mode is t."""
    nothing = np.full((1, emission.n_columns), np.nan)
    one = replace(emission, is_whole=False)
    return one.observe(t, one.encode(nothing)).stats(0, 1, weight[:, None])
