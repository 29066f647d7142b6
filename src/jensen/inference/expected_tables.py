"""Expected tables of many families in few E-steps, whatever is missing.

The tables of the asked families join those of the network as ones, so that the members of each come
to stand in one cluster of every row's tree, and one E-step counts them all. Many families at once
would make large clusters: a batch whose trees are too large is cut in halves. Families that lie
within another one are read from its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, RowSource
from jensen.data.counting import count_families
from jensen.data.threads import ordered_map
from jensen.exceptions import ImpossibleError
from jensen.graphs.elimination import order_all
from jensen.graphs.wiring import Wiring, wire_families
from jensen.inference.network import Network
from jensen.inference.relevance import relevant_variables
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.plans import InternedLists, Plans, find_families
from jensen.q_hidden.trees.problems import BLOCK_ROWS, HiddenRows, code_rows, cut, pick
from jensen.support.memory import check_memory

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Scope = tuple[int, ...]

MOST = 64
"""Families that are asked for together at most."""

LARGE = 1 << 23
"""Entries of cluster tables that a batch may fill before it is cut in halves: a fraction of a
second, some times what it takes to split the rows and to compile their trees once more."""


class Rows(NamedTuple):
    """A network, its log tables, and rows with holes."""

    network: Network
    table: RowSource
    log_tables: Array  # (P,)
    is_normalised: bool  # whether tables sum to one, so that what has no say can be left out


class _Batch(NamedTuple):
    """Rows as the sub-problems of a network to which some families were added."""

    wiring: Wiring
    n_own: int  # families of the network; the others are asked for
    log_tables: Array
    hidden: HiddenRows


def expected_tables(rows: Rows, scopes: Sequence[Scope]) -> list[Array]:
    """Σ over rows of p(family | what the row knows), an axis per member of each scope."""
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
    """Every set that is asked for, sorted, and one with a member more to read it from."""
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


def _count(rows: Rows, scopes: Sequence[Scope]) -> list[Array]:
    """The part of the rows that miss no member."""
    names, cards = rows.network.graph.nodes, rows.network.wiring.cards
    named = [[names[v] for v in scope] for scope in scopes]
    known = [k for k, family in enumerate(named) if all(name in rows.table for name in family)]
    counts = [np.zeros(cards[list(scope)]) for scope in scopes]
    parts = count_families(rows.table, [named[k] for k in known])
    for k, part in zip(known, parts, strict=True):
        counts[k] += part
    return counts


def _expect(rows: Rows, scopes: Sequence[Scope]) -> Iterator[tuple[Sequence[Scope], list[Array]]]:
    """The part of the rows that miss a member, batch by batch."""
    todo = [scopes[k : k + MOST] for k in range(0, len(scopes), MOST)][::-1]
    while todo:
        batch = todo.pop()
        found = _form(rows, batch)
        if found is None:
            continue
        if len(batch) > 1 and _n_entries(found) > LARGE:
            middle = len(batch) // 2
            todo += [batch[middle:], batch[:middle]]
        else:
            yield batch, _solve(found)


def _form(rows: Rows, scopes: Sequence[Scope]) -> _Batch | None:
    """The rows that miss a member of some family; None if there are none."""
    network, names, w = rows.network, rows.network.graph.nodes, rows.network.wiring
    asked = sorted({v for scope in scopes for v in scope})
    own = list(range(len(names)))
    if rows.is_normalised:
        own = relevant_variables(network, {name for name in names if name in rows.table}, asked)
    families = [tuple(w.members(v).tolist()) for v in own]
    wiring = wire_families([*families, *scopes], w.cards.tolist())
    parts = [rows.log_tables[w.fam_at[v] : w.fam_at[v + 1]] for v in own]
    log_tables = np.zeros(wiring.fam_at[-1])
    log_tables[: wiring.fam_at[len(own)]] = np.concatenate([np.empty(0), *parts])
    irrelevant = np.ones(len(names), bool)
    irrelevant[own] = False

    def read(block: Block) -> tuple[NDArray[np.int32], Array]:
        codes, weights = code_rows(block, names), block.weights
        codes[:, irrelevant] = 0  # what cannot matter is not missing
        chosen = (codes[:, asked] < 0).any(axis=1) & (weights > 0.0)
        return codes[chosen], weights[chosen]

    plans, blocks = Plans(wiring, names), rows.table.blocks(BLOCK_ROWS)
    hidden = HiddenRows(plans, blocks, read, with_rows=False)
    return _Batch(wiring, len(own), log_tables, hidden) if len(hidden.end) else None


def _n_entries(batch: _Batch) -> float:
    """Entries of the clusters of all sub-problems that are asked for, by a quick order."""
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
    """Of every set, whether it touches a family that is asked for."""
    n_asked = np.append(0, np.cumsum(families >= n_own))
    return np.asarray(n_asked[end] > n_asked[np.append(0, end[:-1])])


def _solve(batch: _Batch) -> list[Array]:
    """One E-step; the tables of what is asked for."""
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
