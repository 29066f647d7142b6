"""Many rows and a network of tables: posteriors, likelihoods, imputation, and draws of rows.

Rows are read with the network's own variables; unknown labels are refused or missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.data import Table, as_table
from jensen.data.encode import Column, smallest_code_type
from jensen.data.fill_missing import Filled
from jensen.data.model_columns import (
    MissingColumns,
    UnknownLabels,
    check_own_columns,
    read_known,
    refuse_unknown,
    warn_of_misspelt,
    warn_of_unknown,
)
from jensen.data.variable import Variable
from jensen.exceptions import ImpossibleError, JensenError
from jensen.graphs.indexed_graph import topological_order
from jensen.inference.distribution import Distributions
from jensen.inference.findings import Findings, known_states, read_findings
from jensen.inference.fitted import Method, RowChoices
from jensen.inference.impossible import explain_row
from jensen.inference.network_queries import ask, query_many
from jensen.inference.questions import Question, find_question, form_of
from jensen.inference.rows import SplitRows, all_posteriors, log_tables_of
from jensen.inference.rows import log_likelihood as each_log_likelihood
from jensen.q_hidden.trees import run
from jensen.support.machine import check_memory, ordered_map, run_all
from jensen.support.text import one_of, option, plural, some

if TYPE_CHECKING:
    from jensen.inference.network import Network
    from jensen.inference.table_network import TableNetwork

Array = NDArray[np.float64]
Codes = dict[int, NDArray[np.int64]]  # variable → the code of every row


class RowReader(NamedTuple):
    """Reads tables for one network."""

    network: TableNetwork
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


def posteriors(network: TableNetwork, table: Table, target: str | None, choices: RowChoices) -> Any:
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


def best_states(variable: Variable, values: Array) -> NDArray[Any]:
    """The most probable state of every row of posteriors (N, K); "" where they are NaN."""
    states = np.array([*variable.states, ""])
    lost = np.isnan(values).any(1)
    best = np.where(lost, len(states) - 1, np.nan_to_num(values, nan=-1.0).argmax(1))
    return np.asarray(states[best])


def query_rows(
    network: TableNetwork,
    targets: str | Sequence[str],
    given: Any,
    do: Mapping[str, Any] | None,
    hidden: Collection[str],
) -> Distributions:
    """P(targets | do, given) for every dict of a list, or for every row of a table."""
    if isinstance(given, list | tuple):
        if not all(isinstance(row, Mapping) for row in given):
            raise JensenError("a list of evidence holds a dict for every row")
        return query_many(network, targets, given, do)
    evidence = as_table(given)
    warn_of_misspelt(network.graph.nodes, evidence.names)
    if isinstance(targets, str) and not do:
        choices = RowChoices(missing_columns="ignore", hidden=hidden)
        values = posteriors(network, evidence, targets, choices)
        return Distributions((network.variables[network.index(targets)],), values)
    names = [targets] if isinstance(targets, str) else targets
    table = RowReader(network, hidden).read(evidence, "raise", "ignore", skip=names)
    return query_many(network, targets, known_states(network, table), do)


def fill(
    network: TableNetwork,
    data: Table,
    method: Method,
    rng: np.random.Generator,
    choices: RowChoices,
) -> dict[str, Filled]:
    """Columns as the network's own variables, before and after gaps were filled, by name."""
    reader = RowReader(network, choices.hidden)
    rows = reader.read(data, choices.unknown, choices.missing_columns)
    filled, lost = complete(network, rows, method, rng)
    reader.check_possible(rows, ~lost, choices.impossible)
    known = [name for name in data.names if name in filled]
    return {name: Filled(rows.column(name), filled.column(name)) for name in known}


def log_likelihood(network: TableNetwork, table: Table, choices: RowChoices) -> Array:
    """Log p(row), what is missing summed out; -inf if impossible or of an unknown state."""
    rows, strange = RowReader(network, choices.hidden).recode(table, choices.missing_columns)
    found = each_log_likelihood(network, rows)
    if strange is not None:
        warn_of_unknown(strange)
        found[strange.rows] = -np.inf
    return found


# --- imputation ---


def complete(
    network: TableNetwork, table: Table, method: Method, rng: np.random.Generator
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


def _fill_by_marginal(network: TableNetwork, table: Table) -> tuple[Codes, NDArray[np.bool_]]:
    wanted = [v for v, name in enumerate(network.graph.nodes) if name in table]
    found, possible = all_posteriors(network, table, [], wanted)
    with np.errstate(invalid="ignore"):
        filled = {v: np.nan_to_num(p, nan=-1.0).argmax(1) for v, p in found.items()}
    return filled, ~possible


def _fill_by_mode(network: TableNetwork, table: Table) -> tuple[Codes, NDArray[np.bool_]]:
    if network.samples is not None:
        raise JensenError(
            "the most probable completion under a mixture of sampled tables cannot be computed "
            f"exactly: use {one_of('method', ['marginal', 'draw'])}"
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
    network: TableNetwork, table: Table, rng: np.random.Generator
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
    network: TableNetwork, rows: SplitRows, rng: np.random.Generator
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


# --- draws ---

DRAWN_ROWS = 1 << 13
"""Rows per random stream; fixed, so that the number of threads changes nothing."""


def sample(network: Network, n: int, rng: np.random.Generator, *, progress: bool = False) -> Table:
    """Draw n rows, parents first; every block of rows has its own random stream."""
    from jensen.kernels.forward import draw_rows

    types = [np.dtype(smallest_code_type(v.n_states)) for v in network.variables]
    check_memory(float(n) * sum(t.itemsize for t in types), f"{n:,} rows", "draw fewer at a time")
    w, order = network.wiring, np.array(topological_order(network.graph.parent_indices), np.int64)
    cumulative = _cumulative(network)
    codes = [np.empty(n, dtype) for dtype in types]

    def draw(unit: tuple[int, np.random.Generator]) -> None:
        start, stream = unit
        size = min(DRAWN_ROWS, n - start)
        uniforms, drawn = stream.random((len(codes), size)), np.empty((len(codes), size), np.int32)
        draw_rows(order, w.fam_ptr, w.fam_vars, w.fam_stride, w.fam_at, cumulative, uniforms, drawn)
        for column, row in zip(codes, drawn, strict=True):
            column[start : start + size] = row

    starts = range(0, n, DRAWN_ROWS)
    done = ordered_map(draw, list(zip(starts, rng.spawn(len(starts)), strict=True)))
    for _ in tqdm(done, "drawing", len(starts), disable=not progress, delay=1.0):
        pass
    return Table.from_columns(map(Column, network.variables, codes))


def _cumulative(network: Network) -> NDArray[np.float64]:
    """Cumulative sums within every row of every table; the last possible state reaches 1."""
    parts = []
    for variable, start, stop in zip(
        network.variables, network.wiring.fam_at[:-1], network.wiring.fam_at[1:], strict=True
    ):
        rows = network.probabilities[start:stop].reshape(-1, variable.n_states)
        sums = np.cumsum(rows, axis=1)
        parts.append((sums / sums[:, -1:]).ravel())
    return np.concatenate(parts) if parts else np.empty(0)


# --- given evidence ---

CONDITIONAL_ROWS = 1 << 12
"""Rows per random stream; fixed, so that the number of threads changes nothing."""


def sample_given(
    network: TableNetwork,
    n: int,
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None,
    rng: np.random.Generator,
) -> Table:
    """Draw n rows of all variables given evidence; known variables are constant columns."""
    findings = read_findings(network, given, do)
    question = find_question(network, form_of(findings, everything=True))
    types = [np.dtype(smallest_code_type(v.n_states)) for v in network.variables]
    n_bytes = sum(4.0 + t.itemsize for t in types)  # of a row while it is drawn, and as a column
    check_memory(n * n_bytes, f"{n:,} rows", "draw fewer at a time")
    weights = ask(network, question, findings, count=False).weights
    log_tables = list(log_tables_of(network))
    codes = np.empty((len(types), n), np.int32)
    for v, state in {**findings.hard, **findings.do}.items():
        codes[v] = state
    starts = range(0, n, CONDITIONAL_ROWS)
    streams = rng.spawn(len(starts))

    def draw(unit: tuple[int, np.random.Generator]) -> None:
        start, stream = unit
        here = codes[:, start : start + CONDITIONAL_ROWS]
        which = stream.choice(len(weights), here.shape[1], p=weights)
        for s in np.unique(which):
            mine = np.flatnonzero(which == s)
            here[:, mine] = _draw_hidden(question, findings, log_tables[s], here[:, mine], stream)

    run_all(draw, zip(starts, streams, strict=True))
    columns = [codes[v].astype(t) for v, t in enumerate(types)]
    return Table.from_columns(map(Column, network.variables, columns))


def _draw_hidden(
    question: Question,
    findings: Findings,
    log_tables: NDArray[np.float64],
    codes: NDArray[np.int32],
    stream: np.random.Generator,
) -> NDArray[np.int32]:
    """Codes (n, N) in which the hidden variables are drawn."""
    problems, _ = question.with_states(findings, log_tables)
    if question.n_extra:
        _, log_tables = question.with_extra(findings, log_tables, log_tables)
    times = np.full(len(problems.set_of), codes.shape[1], np.int64)
    _, at, states = run.drawn_states(log_tables, question.program, problems, times, stream)
    for members, a, b in zip(question.members, at[:-1], at[1:], strict=True):
        codes[members] = states[a:b].reshape(-1, len(members)).T
    return codes
