"""Expected statistics of incomplete rows under a fitted network; scores read them like counts.

Every completion of a row counts with its probability given what the row shows, so that any family
can be counted, whether it is a family of the network or not.

Many families are counted in few E-steps: the asked families are added to those of the network as
tables of ones, so that the members of each stand in one cluster of every row's tree. Many families
at once would make large clusters, so a batch whose trees are too large is cut in halves. Families
within another one are read from its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast, overload

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, RowSource, Table
from jensen.data.counting import count_families
from jensen.data.statistics import Family, FamilyCounts
from jensen.exceptions import ImpossibleError, JensenError
from jensen.graphs.elimination import order_all
from jensen.graphs.indexed_graph import wire_families
from jensen.inference.gaussian_joint import ExpectedMoments, ExpectedStatistics
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.impossible import explain_row
from jensen.inference.network import Network
from jensen.inference.rows import log_likelihood
from jensen.inference.table_network import RelevantTables, TableNetwork
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.plans import InternedLists, Plans, find_families
from jensen.q_hidden.trees.problems import BLOCK_ROWS, HiddenRows, code_rows, cut
from jensen.q_hidden.trees.run import pick
from jensen.support.machine import check_memory, ordered_map
from jensen.support.text import one_of
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]


@overload
def expected(network: Network, table: RowSource) -> ExpectedCounts: ...
@overload
def expected(network: GaussianNetwork, table: RowSource) -> ExpectedMoments: ...
def expected(
    network: Network | GaussianNetwork, table: RowSource
) -> ExpectedCounts | ExpectedMoments:
    """The expected statistics of a table under a known network of either kind.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.examples.load("asia")
    >>> rows = jn.Table({"lung": ["yes", None]}, states={"lung": net.states["lung"]})
    >>> (found,) = expected(net.network_, rows).counts([("smoke", ["lung"])])
    >>> found.table.round(3), found.total
    (array([[0.495, 0.45 ],
           [0.096, 0.959]]), 2.0)
    """
    if isinstance(network, GaussianNetwork):
        return ExpectedMoments(network, table)
    return ExpectedCounts(network, table)


def expected_counts(
    network: TableNetwork, table: RowSource, families: Sequence[Sequence[str]]
) -> list[Array]:
    """Σ over rows of p(family | observed cells of the row): an axis per member."""
    return ExpectedCounts(cast("Network", network), table).tables(families)


@dataclass(frozen=True, eq=False)
class ExpectedCounts(ExpectedStatistics[Network]):
    """Expected counts of families of categorical variables; implements `CountStatistics`.

    Parameters
    ----------
    network
        One set of tables, not samples.
    table
        Rows of its variables, with their states; one without a column is hidden in every row.
    log_tables : array (P,)
        The log potentials of q(h), where they are not the logs of the tables: E[log θ] of a
        posterior, as in VB. They need not sum to one, so nothing is left out as irrelevant.
    """

    log_tables: Array | None = None

    @property
    def is_whole(self) -> bool:
        """False: expected counts are not whole numbers."""
        return False

    @property
    def rows(self) -> None:
        """None: there are no complete rows to count."""
        return

    def counts(self, families: Sequence[Family]) -> list[FamilyCounts]:
        """Expected counts of many families, in the graph or not."""
        found = self.tables([(*parents, x) for x, parents in families])
        return [
            _family_counts(table, (*parents, x))
            for table, (x, parents) in zip(found, families, strict=True)
        ]

    def tables(self, families: Sequence[Sequence[str]]) -> list[Array]:
        """Expected counts as arrays with an axis per member."""
        return expected_tables(self._rows, [self._scope(family) for family in families])

    def _scope(self, family: Sequence[str]) -> Scope:
        scope = tuple(self.network.index(name) for name in family)
        if not scope or len(set(scope)) < len(scope):
            raise JensenError(f"a family is one variable or several different ones, not {family}")
        return scope

    @cached_property
    def _rows(self) -> IncompleteRows:
        """The rows of all questions; impossible ones are refused, once."""
        if self.network.samples is not None:
            raise JensenError(
                "expected counts are those of one set of tables, not of many samples: learn with "
                f"{one_of('method', ['em', 'vbem'])}"
            )
        if self.log_tables is not None:
            return IncompleteRows(self.network, self.table, self.log_tables, is_normalised=False)
        if any(_has_impossible(self.network, part) for part in self.table.tables()):
            raise explain_row(self.network, self.table, "in this network")
        return IncompleteRows(
            self.network, self.table, self.network.kernel_tables[1], is_normalised=True
        )


def _has_impossible(network: Network, table: Table) -> bool:
    """Whether a row with weight > 0 has probability 0."""
    counts = np.ones(table.n_rows, bool) if table.weights is None else table.weights > 0.0
    return bool(np.any((log_likelihood(network, table) == -np.inf) & counts))


def _family_counts(table: Array, family: tuple[str, ...]) -> FamilyCounts:
    """A table with an axis per member as the counts that a score reads."""
    rows = table.reshape(-1, table.shape[-1])
    configs = np.flatnonzero(rows.any(axis=1))
    return FamilyCounts(rows[configs], float(len(rows)), float(rows.sum()), family, configs)


Ints = NDArray[np.int64]
Scope = tuple[int, ...]

MOST_FAMILIES = 64
"""The largest number of families in a batch."""

LARGE_BATCH = 1 << 23
"""Entries of cluster tables that a batch may fill before it is cut in halves: a fraction of a
second, some times what it takes to split the rows and to compile their trees once more."""


class IncompleteRows(NamedTuple):
    """A network, its log tables, and rows with missing cells."""

    network: TableNetwork
    table: RowSource
    log_tables: Array  # (P,)
    is_normalised: bool  # whether tables sum to one, so that irrelevant variables can be left out


class _Batch(NamedTuple):
    """Rows, split into sub-problems of a network to which the asked families were added."""

    wiring: Wiring
    n_own: int  # families of the network; the others are asked for
    log_tables: Array
    hidden: HiddenRows


def expected_tables(rows: IncompleteRows, scopes: Sequence[Scope]) -> list[Array]:
    """Σ over rows of p(scope | observed cells of the row), an axis per member of each scope."""
    cards = rows.network.wiring.cards
    check_memory(
        16.0 * sum(float(np.prod(cards[list(scope)], dtype=float)) for scope in scopes),
        f"the expected counts of {len(scopes)} families",
        "ask for fewer, or leave out parents",
    )
    sources = _sources(scopes)
    alone = sorted(scope for scope, source in sources.items() if source is None)
    found = dict(zip(alone, _count(rows, alone), strict=True))
    for batch, tables in _expect(rows, alone):
        for scope, part in zip(batch, tables, strict=True):
            found[scope] += part
    for scope in sorted(sources, key=len, reverse=True):
        source = sources[scope]
        if source is not None:
            others = tuple(k for k, v in enumerate(source) if v not in scope)
            found[scope] = found[source].sum(axis=others)
    return [_in_order(found[tuple(sorted(scope))], scope) for scope in scopes]


def _sources(scopes: Sequence[Scope]) -> dict[Scope, Scope | None]:
    """Every asked set, sorted → an asked set with one member more to sum it from, or None."""
    sources: dict[Scope, Scope | None] = {tuple(sorted(scope)): None for scope in scopes}
    for scope in list(sources):
        for v in scope:
            less = tuple(u for u in scope if u != v)
            if less in sources:
                sources[less] = scope
    return sources


def _in_order(table: Array, scope: Scope) -> Array:
    """The table of sorted members with the axes of a scope."""
    place = {v: k for k, v in enumerate(sorted(scope))}
    return np.ascontiguousarray(table.transpose([place[v] for v in scope]))


def _count(rows: IncompleteRows, scopes: Sequence[Scope]) -> list[Array]:
    """Counts over the rows in which no member is missing."""
    names, cards = rows.network.graph.nodes, rows.network.wiring.cards
    named = [[names[v] for v in scope] for scope in scopes]
    known = [k for k, family in enumerate(named) if all(name in rows.table for name in family)]
    counts = [np.zeros(cards[list(scope)]) for scope in scopes]
    parts = count_families(rows.table, [named[k] for k in known])
    for k, part in zip(known, parts, strict=True):
        counts[k] += part
    return counts


def _expect(
    rows: IncompleteRows, scopes: Sequence[Scope]
) -> Iterator[tuple[Sequence[Scope], list[Array]]]:
    """Expected counts over the rows in which a member is missing, batch by batch."""
    todo = [scopes[k : k + MOST_FAMILIES] for k in range(0, len(scopes), MOST_FAMILIES)][::-1]
    while todo:
        batch = todo.pop()
        found = _form(rows, batch)
        if found is None:
            continue
        if len(batch) > 1 and _n_entries(found) > LARGE_BATCH:
            middle = len(batch) // 2
            todo += [batch[middle:], batch[:middle]]
        else:
            yield batch, _solve(found)


def _form(rows: IncompleteRows, scopes: Sequence[Scope]) -> _Batch | None:
    """The batch of rows in which a member of some family is missing; None if there are none."""
    network, names, w = rows.network, rows.network.graph.nodes, rows.network.wiring
    asked = sorted({v for scope in scopes for v in scope})
    part = RelevantTables(list(range(len(names))), list(range(w.n_families)))
    if rows.is_normalised:
        known = {v for v, name in enumerate(names) if name in rows.table}
        part = network.relevant(known.union(asked))
    own = part.tables
    families = [tuple(w.members(f).tolist()) for f in own]
    wiring = wire_families([*families, *scopes], w.cards.tolist())
    parts = [rows.log_tables[w.fam_at[f] : w.fam_at[f + 1]] for f in own]
    log_tables = np.zeros(wiring.fam_at[-1])
    log_tables[: wiring.fam_at[len(own)]] = np.concatenate([np.empty(0), *parts])
    irrelevant = np.ones(len(names), bool)
    irrelevant[part.variables] = False

    def read(block: Block) -> tuple[NDArray[np.int32], Array]:
        codes, weights = code_rows(block, names), block.weights
        codes[:, irrelevant] = 0  # irrelevant cells do not count as missing
        chosen = (codes[:, asked] < 0).any(axis=1) & (weights > 0.0)
        return codes[chosen], weights[chosen]

    plans, blocks = Plans(wiring, names), rows.table.blocks(BLOCK_ROWS)
    hidden = HiddenRows(plans, blocks, read, with_rows=False)
    return _Batch(wiring, len(own), log_tables, hidden) if len(hidden.end) else None


def _n_entries(batch: _Batch) -> float:
    """Entries of the clusters of all asked sub-problems, under a quick elimination order."""
    hidden, wiring = batch.hidden, batch.wiring
    sets = InternedLists()
    which = sets.number(hidden.entries, hidden.begin, hidden.end)
    ptr = np.append(sets.begin, len(sets.entries))
    touched = find_families(ptr, sets.entries, wiring)
    _, sizes = order_all(
        ptr, sets.entries, wiring, touched.end, touched.of, rule=0, uniforms=np.zeros(1)
    )
    is_asked = _any_asked(touched.end, touched.of, batch.n_own)
    entries = np.where(is_asked, np.exp(np.minimum(sizes[:, 0], 600.0)), 0.0)
    return float(entries[which].sum())


def _any_asked(end: Ints, families: Ints, n_own: int) -> NDArray[np.bool_]:
    """For every set, whether it touches an asked family."""
    n_asked = np.append(0, np.cumsum(families >= n_own))
    return np.asarray(n_asked[end] > n_asked[np.append(0, end[:-1])])


def _solve(batch: _Batch) -> list[Array]:
    """One E-step: the expected tables of the asked families."""
    split, wiring, n_own = batch.hidden.split, batch.wiring, batch.n_own
    is_asked = _any_asked(split.sets.families.end, split.sets.families.of, n_own)
    mine = np.flatnonzero(is_asked[split.problems.set_of])
    split = split._replace(problems=pick(split.problems, mine))
    first = wiring.fam_at[n_own]
    total = np.zeros(wiring.fam_at[-1] - first)
    parts = ordered_map(
        lambda some: run.expected_counts(batch.log_tables, split.sets.program, some), cut(split)
    )
    for log_z, counts in parts:
        if np.any(log_z == -np.inf):
            raise ImpossibleError("a row is impossible under these tables")
        total += counts[first:]
    flat = np.split(total, wiring.fam_at[n_own + 1 : -1] - first)
    shapes = [wiring.cards[wiring.members(f)] for f in range(n_own, wiring.n_families)]
    return [part.reshape(shape) for part, shape in zip(flat, shapes, strict=True)]
