"""Missing cells filled in: the most probable completion, cell by cell, or a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.encode import Column
from jensen.exceptions import JensenError
from jensen.inference.fitted import Method
from jensen.inference.rows import Rows, all_posteriors, log_tables_of
from jensen.q_hidden.trees import run

if TYPE_CHECKING:
    from jensen.inference.network import Network

Codes = dict[int, NDArray[np.int64]]


def complete(
    network: Network, table: Table, method: Method, rng: np.random.Generator
) -> tuple[Table, NDArray[np.bool_]]:
    """The table with its missing cells filled, and the rows for which that is impossible.

    "mode" is the most probable joint completion of a row, "marginal" the most probable state of
    each cell, "draw" a joint draw. Cells of impossible rows stay missing.
    """
    if method not in get_args(Method):
        raise JensenError(f"method must be one of {list(get_args(Method))}, not {method!r}")
    if method == "marginal":
        filled, impossible = _marginal(network, table)
    elif method == "mode":
        filled, impossible = _mode(network, table)
    else:
        filled, impossible = _draw(network, table, rng)
    columns = []
    for name in table.names:
        column = table.column(name)
        if name in network.graph:
            v = network.index(name)
            data = column.data.copy()
            missing = column.missing() & ~impossible
            data[missing] = filled[v][missing]
            column = Column(column.variable, data)
        columns.append(column)
    return Table.from_columns(columns, table.weights, table.source), impossible


def _marginal(network: Network, table: Table) -> tuple[Codes, NDArray[np.bool_]]:
    wanted = [v for v, name in enumerate(network.graph.nodes) if name in table]
    found, possible = all_posteriors(network, table, [], wanted)
    with np.errstate(invalid="ignore"):
        filled = {v: np.nan_to_num(p, nan=-1.0).argmax(1) for v, p in found.items()}
    return filled, ~possible


def _mode(network: Network, table: Table) -> tuple[Codes, NDArray[np.bool_]]:
    if network.samples is not None:
        raise JensenError(
            "the most probable completion under a mixture of sampled tables cannot be computed "
            "exactly: use method='marginal' or 'draw'"
        )
    absent = [v for v, name in enumerate(network.graph.nodes) if name not in table]
    rows, log_tables = Rows(network, table, absent), network.kernel_tables[1]
    tables = np.ascontiguousarray(log_tables[rows.entries])
    value, at, states = run.best_states(tables, rows.program, rows.problems)
    possible = rows.log_likelihood(log_tables, value) > -np.inf
    filled = {}
    for v, name in enumerate(network.graph.nodes):
        if name in table:
            mine, problem, position = rows.places(v)
            filled[v] = np.zeros(table.n_rows, np.int64)
            filled[v][mine] = states[at[problem] + position]
    return filled, ~possible


def _draw(
    network: Network, table: Table, rng: np.random.Generator
) -> tuple[Codes, NDArray[np.bool_]]:
    """A draw of every row on its own; after Gibbs under a sample chosen by the row's evidence."""
    rows = Rows(network, table)
    which = _choose_samples(network, rows, rng)
    filled = {
        v: np.zeros(table.n_rows, np.int64)
        for v, name in enumerate(network.graph.nodes)
        if name in table
    }
    for s, log_tables in enumerate(log_tables_of(network)):
        here = np.flatnonzero(which == s)
        if not len(here):
            continue
        part = rows if len(here) == table.n_rows else Rows(network, table.take(here))
        tables = np.ascontiguousarray(log_tables[part.entries])
        times = part.problems.weight.astype(np.int64)
        _, at, states = run.drawn_states(tables, part.program, part.problems, times, rng)
        for v, out in filled.items():
            mine, problem, position = part.places(v)
            out[here[mine]] = states[_places_of_draws(part, at, problem, position)]
    return filled, which < 0


def _choose_samples(network: Network, rows: Rows, rng: np.random.Generator) -> NDArray[np.int64]:
    """For every row a sample, drawn with probability ∝ p_s(row); -1 if none allows the row."""
    best, which = np.full(rows.table.n_rows, -np.inf), np.full(rows.table.n_rows, -1)
    for s, log_tables in enumerate(log_tables_of(network)):
        key = rows.log_likelihood_at(log_tables) + rng.gumbel(size=len(best))
        which[key > best] = s  # the largest of log p + Gumbel noise is such a draw
        best = np.maximum(best, key)
    return which


def _places_of_draws(
    rows: Rows,
    at: NDArray[np.int64],
    problem: NDArray[np.int64],
    position: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Where the state of v stands in the draws: row k of those with a problem has its k-th draw."""
    n_members = rows.split.sets.n_members[rows.problems.set_of[problem]]
    order = np.argsort(problem, kind="stable")
    sorted_problems = problem[order]
    first = np.searchsorted(sorted_problems, sorted_problems, side="left")
    turn = np.empty(len(problem), np.int64)
    turn[order] = np.arange(len(problem)) - first
    return np.asarray(at[problem] + turn * n_members + position)
