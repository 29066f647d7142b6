"""Expected counts of any families of variables, whatever is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.cluster_trees import run
from jensen.cluster_trees.plans import Plans
from jensen.cluster_trees.problems import cut, pick, split_rows
from jensen.data import Table
from jensen.data.counting import count_families
from jensen.data.threads import ordered_map
from jensen.exceptions import JensenError
from jensen.graphs.wiring import wire_families
from jensen.inference.impossible import explain_row
from jensen.inference.relevance import relevant_part
from jensen.inference.rows import log_likelihood

if TYPE_CHECKING:
    from jensen.inference.network import Network

Array = NDArray[np.float64]


def expected_counts(
    network: Network, table: Table, families: Sequence[Sequence[str]]
) -> list[Array]:
    """Σ over rows of p(family | what the row knows): an axis per member.

    Rows that miss no member are counted; for the others a table of ones over the family joins the
    network, so that its members come to stand in one cluster.
    """
    if network.samples is not None:
        raise JensenError(
            "expected counts are those of one set of tables, not of many samples: learn with "
            "method='em' or 'vbem'"
        )
    scopes = [tuple(network.index(name) for name in family) for family in families]
    for family, scope in zip(families, scopes, strict=True):
        if not scope or len(set(scope)) < len(scope):
            raise JensenError(f"a family is one variable or several different ones, not {family}")
    counts_for = True if table.weights is None else table.weights > 0
    if np.any((log_likelihood(network, table) == -np.inf) & counts_for):
        raise explain_row(network, table, "in this network")
    counted = _count_complete(table, families, network)
    return [
        counts + _expect(network, table, scope)
        for counts, scope in zip(counted, scopes, strict=True)
    ]


def _count_complete(
    table: Table, families: Sequence[Sequence[str]], network: Network
) -> list[Array]:
    known = [k for k, family in enumerate(families) if all(name in table for name in family)]
    counts = [
        np.zeros([network.variables[network.index(name)].n_states for name in family])
        for family in families
    ]
    for k, part in zip(known, count_families(table, [families[k] for k in known]), strict=True):
        counts[k] += part
    return counts


def _expect(network: Network, table: Table, scope: tuple[int, ...]) -> Array:
    """The part of the rows that miss a member of the family."""
    names, w = network.graph.nodes, network.wiring
    cards = w.cards[list(scope)]
    rows = table.take(_incomplete(table, [names[v] for v in scope]))
    if rows.n_rows == 0:
        return np.zeros(cards)
    part = relevant_part(network, rows, scope)
    wiring = wire_families([*part.families, scope], w.cards.tolist())
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    split = split_rows(Plans(wiring, names), part.read, weights)
    asked = wiring.n_families - 1
    touches = np.array([asked in split.sets.families_of(p) for p in range(len(split.sets.end))])
    mine = np.flatnonzero(touches[split.problems.set_of])
    split = split._replace(problems=pick(split.problems, mine))
    log_tables = np.append(network.kernel_tables[1][part.entries], np.zeros(cards.prod()))
    total = np.zeros(cards.prod())
    for _, counts in ordered_map(
        lambda some: run.expected_counts(log_tables, split.sets.program, some), cut(split)
    ):
        total += counts[wiring.fam_at[asked] :]
    return total.reshape(cards)


def _incomplete(table: Table, names: Sequence[str]) -> NDArray[np.bool_]:
    """The rows that count and miss one of these variables."""
    misses = np.zeros(table.n_rows, bool)
    for name in names:
        misses |= table.column(name).missing() if name in table else True
    return misses if table.weights is None else misses & (table.weights > 0)
