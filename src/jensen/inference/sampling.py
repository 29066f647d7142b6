"""Rows drawn from a network of tables: parents first, or exactly given evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.data import Table
from jensen.data.encode import Column, smallest_code_type
from jensen.data.threads import ordered_map, run_all
from jensen.graphs.order import topological_order
from jensen.inference.findings import Findings, read_findings
from jensen.inference.network_queries import ask
from jensen.inference.questions import Question, find_question, form_of
from jensen.inference.rows import log_tables_of
from jensen.q_hidden.trees import run
from jensen.support.memory import check_memory

if TYPE_CHECKING:
    from jensen.inference.network import Network

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
    network: Network,
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
