"""Questions about many rows to a network of tables: posteriors, likelihoods, imputation.

Rows are read with the network's own variables; unknown labels are refused or missing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.encode import Column
from jensen.data.fill_missing import Filled
from jensen.data.model_columns import (
    MissingColumns,
    UnknownLabels,
    check_own_columns,
    read_known,
    refuse_unknown,
    warn_of_unknown,
)
from jensen.exceptions import ImpossibleError, JensenError
from jensen.inference.fitted import Method, RowChoices
from jensen.inference.impossible import explain_row
from jensen.inference.rows import SplitRows, all_posteriors, log_tables_of
from jensen.inference.rows import log_likelihood as each_log_likelihood
from jensen.q_hidden.trees import run
from jensen.support.text import plural, some
from jensen.support.wording import option

if TYPE_CHECKING:
    from jensen.inference.network import Network

Array = NDArray[np.float64]
Codes = dict[int, NDArray[np.int64]]  # variable → the code of every row


class RowReader(NamedTuple):
    """Reads tables for one network."""

    network: Network
    hidden: Collection[str] = ()

    def recode(
        self, table: Table, missing_columns: MissingColumns, skip: Sequence[str] = ()
    ) -> tuple[Table, UnknownLabels | None]:
        """The columns of the network's variables with its states, and all unknown labels."""
        check_own_columns(
            self.network.graph.nodes,
            table.names,
            hidden=self.hidden,
            skip=skip,
            missing_columns=missing_columns,
        )
        wanted = [v for v in self.network.variables if v.name in table and v.name not in skip]
        if wanted:  # a table without columns would have no rows
            table = table.select([v.name for v in wanted])
        return read_known(table, wanted)

    def read(
        self,
        table: Any,
        unknown: Literal["raise", "missing"],
        missing_columns: MissingColumns,
        skip: Sequence[str] = (),
    ) -> Table:
        """The same; unknown labels are refused, or become missing."""
        rows, strange = self.recode(as_table(table), missing_columns, skip)
        refuse_unknown(strange, unknown)
        return rows

    def check_possible(
        self, rows: Table, possible: NDArray[np.bool_], impossible: Literal["raise", "nan"]
    ) -> None:
        """Refuse rows of probability 0, unless `impossible` is "nan"."""
        if impossible not in ("raise", "nan"):
            raise JensenError(f"impossible must be 'raise' or 'nan', not {impossible!r}")
        if possible.all() or impossible == "nan":
            return
        first = np.flatnonzero(~possible)
        error = explain_row(self.network, rows, "in this network")
        raise ImpossibleError(
            f"{plural(len(first), 'row')} cannot occur ({some(int(i) + 1 for i in first)}); "
            f"{error.marked}, or pass {option('impossible', 'nan')}"
        )


def posteriors(network: Network, table: Table, target: str | None, choices: RowChoices) -> Any:
    """P(target | the rest of the row), (N, K); without a target of every variable, by name."""
    reader = RowReader(network, choices.hidden)
    skip = () if target is None else (target,)
    rows = reader.read(table, choices.unknown, choices.missing_columns, skip)
    if target is not None:
        v = network.index(target)
        found, possible = all_posteriors(network, rows, [v], [v])
    else:
        absent = [v for v, name in enumerate(network.graph.nodes) if name not in rows]
        found, possible = all_posteriors(network, rows, absent, range(len(network.variables)))
    reader.check_possible(rows, possible, choices.impossible)
    if target is not None:
        return found[v]
    return {network.variables[v].name: values for v, values in found.items()}


def fill(
    network: Network, data: Table, method: Method, rng: np.random.Generator, choices: RowChoices
) -> dict[str, Filled]:
    """Columns as the network's own variables, before and after gaps were filled, by name."""
    reader = RowReader(network, choices.hidden)
    rows = reader.read(data, choices.unknown, choices.missing_columns)
    filled, lost = complete(network, rows, method, rng)
    reader.check_possible(rows, ~lost, choices.impossible)
    known = [name for name in data.names if name in filled]
    return {name: Filled(rows.column(name), filled.column(name)) for name in known}


def log_likelihood(network: Network, table: Table, choices: RowChoices) -> Array:
    """Log p(row), what is missing summed out; -inf if impossible or of an unknown state."""
    rows, strange = RowReader(network, choices.hidden).recode(table, choices.missing_columns)
    found = each_log_likelihood(network, rows)
    if strange is not None:
        warn_of_unknown(strange)
        found[strange.rows] = -np.inf
    return found


# --- imputation ---


def complete(
    network: Network, table: Table, method: Method, rng: np.random.Generator
) -> tuple[Table, NDArray[np.bool_]]:
    """The table with its missing cells filled, and which rows are impossible.

    "mode" is the most probable joint completion of a row, "marginal" the most probable state of
    each cell, "draw" a joint draw. Cells of impossible rows stay missing.
    """
    if method not in get_args(Method):
        raise JensenError(f"method must be one of {list(get_args(Method))}, not {method!r}")
    if method == "marginal":
        filled, impossible = _fill_by_marginal(network, table)
    elif method == "mode":
        filled, impossible = _fill_by_mode(network, table)
    else:
        filled, impossible = _fill_by_draw(network, table, rng)
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


def _fill_by_marginal(network: Network, table: Table) -> tuple[Codes, NDArray[np.bool_]]:
    wanted = [v for v, name in enumerate(network.graph.nodes) if name in table]
    found, possible = all_posteriors(network, table, [], wanted)
    with np.errstate(invalid="ignore"):
        filled = {v: np.nan_to_num(p, nan=-1.0).argmax(1) for v, p in found.items()}
    return filled, ~possible


def _fill_by_mode(network: Network, table: Table) -> tuple[Codes, NDArray[np.bool_]]:
    if network.samples is not None:
        raise JensenError(
            "the most probable completion under a mixture of sampled tables cannot be computed "
            "exactly: use method='marginal' or 'draw'"
        )
    absent = [v for v, name in enumerate(network.graph.nodes) if name not in table]
    rows, log_tables = SplitRows(network, table, absent), network.kernel_tables[1]
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


def _fill_by_draw(
    network: Network, table: Table, rng: np.random.Generator
) -> tuple[Codes, NDArray[np.bool_]]:
    """An independent draw per row; after Gibbs from a sample s chosen with p ∝ p_s(row)."""
    rows = SplitRows(network, table)
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
        part = rows if len(here) == table.n_rows else SplitRows(network, table.take(here))
        tables = np.ascontiguousarray(log_tables[part.entries])
        times = part.problems.weight.astype(np.int64)
        _, at, states = run.drawn_states(tables, part.program, part.problems, times, rng)
        for v, out in filled.items():
            mine, problem, position = part.places(v)
            out[here[mine]] = states[_places_of_draws(part, at, problem, position)]
    return filled, which < 0


def _choose_samples(
    network: Network, rows: SplitRows, rng: np.random.Generator
) -> NDArray[np.int64]:
    """For every row a sample, drawn with probability ∝ p_s(row); -1 if none allows the row."""
    best, which = np.full(rows.table.n_rows, -np.inf), np.full(rows.table.n_rows, -1)
    for s, log_tables in enumerate(log_tables_of(network)):
        key = rows.log_likelihood_at(log_tables) + rng.gumbel(size=len(best))
        which[key > best] = s  # the largest of log p + Gumbel noise is such a draw
        best = np.maximum(best, key)
    return which


def _places_of_draws(
    rows: SplitRows,
    at: NDArray[np.int64],
    problem: NDArray[np.int64],
    position: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Offsets of v's states in the draws: the k-th row of a sub-problem takes its k-th draw."""
    n_members = rows.split.sets.n_members[rows.problems.set_of[problem]]
    order = np.argsort(problem, kind="stable")
    sorted_problems = problem[order]
    first = np.searchsorted(sorted_problems, sorted_problems, side="left")
    turn = np.empty(len(problem), np.int64)
    turn[order] = np.arange(len(problem)) - first
    return np.asarray(at[problem] + turn * n_members + position)
