"""Missing cells of rows of a mixed network filled: by the most probable values, or by draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.encode import Column
from jensen.data.fill_missing import Filled
from jensen.data.number_rows import numbers_of
from jensen.exceptions import JensenError
from jensen.inference.fitted import Method, RowChoices
from jensen.inference.gaussian_queries import read_numbers
from jensen.inference.mixed_parameters import Parameters, fill_counts
from jensen.inference.mixed_rows import ReadRows, check_possible, expected_cells, read
from jensen.inference.mixed_solver import (
    MixedQuestion,
    filled_tables,
    groups_of,
    kinds_in,
    label_positions,
    log_density,
    make_question,
    take_rows,
)
from jensen.q_hidden.mixed.cells import CellUnit, MixedRows
from jensen.q_hidden.mixed.shapes import Asked, GroupKind
from jensen.q_hidden.trees import run
from jensen.support.cell_records import make_group_workspace
from jensen.support.machine import ordered_map
from jensen.support.text import one_of

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


class CompleteCells(NamedTuple):
    """Rows in which what was missing has a value."""

    codes: Codes  # (N, labels)
    values: Array  # (N, numbers): relative to the centre
    possible: NDArray[np.bool_]  # (N,): in the other rows the gaps are left


def best_cells(network: MixedNetwork, rows: MixedRows) -> CompleteCells:
    """The most probable labels of each row, numbers integrated out; then the means of these."""
    refuse_samples(network, "completion", ["marginal", "draw"])
    question = make_question(network, rows, asked=Asked(frozenset(range(len(network.variables)))))
    (parameters,) = network.parameter_sets()
    possible = log_density(question, parameters) > -np.inf
    codes, values = _chosen(question, parameters, None)
    codes[~possible], values[~possible] = rows.codes[~possible], rows.values[~possible]
    return CompleteCells(codes, values, possible)


def drawn_cells(question: MixedQuestion, rng: np.random.Generator) -> CompleteCells:
    """A joint draw in each row; after Gibbs from a sample s chosen with p ∝ p_s(row)."""
    network, rows = question.network, question.rows
    best, which = np.full(question.n_rows, -np.inf), np.full(question.n_rows, -1)
    sets = network.parameter_sets()
    for s, parameters in enumerate(sets):
        key = log_density(question, parameters) + rng.gumbel(size=len(best))
        which[key > best] = s  # the largest of log p + Gumbel noise is such a draw
        best = np.maximum(best, key)
    codes, values = rows.codes.copy(), rows.values.copy()
    for s in np.unique(which[which >= 0]):
        own, part = np.flatnonzero(which == s), question
        if len(own) < question.n_rows:
            part = make_question(
                network, take_rows(rows, own), question.was_set, question.asked, question.soft
            )
        codes[own], values[own] = _chosen(part, sets[s], rng)
    return CompleteCells(codes, values, which >= 0)


def refuse_samples(network: MixedNetwork, what: str, methods: list[str]) -> None:
    """Refuse a maximum over a mixture of samples."""
    if network.samples is not None:
        raise JensenError(
            f"the most probable {what} under a mixture of sampled parameters cannot be computed "
            f"exactly: use {one_of('method', methods)}"
        )


def _chosen(
    question: MixedQuestion, parameters: Parameters, rng: np.random.Generator | None
) -> tuple[Codes, Array]:
    """Labels at their joint maximum and numbers at their means given these; or all drawn."""
    parameters = question.with_soft(parameters)
    codes, values = question.rows.codes.copy(), question.rows.values.copy()
    program, units = question.shapes.program, question.units
    streams = [None] * len(units) if rng is None else rng.spawn(len(units))

    def choose(task: tuple[CellUnit, np.random.Generator | None]) -> None:
        unit, stream = task
        log_tables = filled_tables(question, parameters, unit).log_tables
        if stream is None:
            _, at, states = run.best_states(log_tables, program, unit.problems)
        else:
            once = np.ones(len(unit.problems.set_of), np.int64)
            _, at, states = run.drawn_states(log_tables, program, unit.problems, once, stream)
        put_labels(unit, at, states, codes)
        for number, kind in kinds_in(unit):
            if kind.missing:
                put_numbers(unit, parameters.forms, number, kind, codes, values, stream)

    for _ in ordered_map(choose, list(zip(units, streams, strict=True))):
        pass
    fill_counts(question.network.layout, parameters.numbers, codes, values, rng)
    return codes, values


def put_labels(unit: CellUnit, at: Ints, states: Codes, codes: Codes) -> None:
    """Write the chosen states of all problems of a unit."""
    for u in range(codes.shape[1]):
        position = label_positions(unit.shapes, u)[unit.problems.set_of]
        mine = np.flatnonzero(position >= 0)
        codes[unit.row[unit.problem_row[mine]], u] = states[at[mine] + position[mine]]


def put_numbers(
    unit: CellUnit,
    forms: Array,
    number: int,
    kind: GroupKind,
    codes: Codes,
    values: Array,
    stream: np.random.Generator | None,
) -> None:
    """Write the missing numbers of all groups of a kind, given the labels around them."""
    from jensen.kernels.cell_groups import choose_numbers

    kinds = unit.shapes.kinds
    _, groups = groups_of(unit, number)
    rows = unit.row[groups.row]
    config = config_of(unit.shapes.layout.wiring.cards, kind.scope, codes[rows])
    shape = len(rows), len(kind.missing)
    normals = np.empty((0, 0)) if stream is None else stream.standard_normal(shape)
    chosen, work = np.empty(shape), make_group_workspace(kinds)
    choose_numbers(kinds, groups, unit.values, forms, config, normals, work, chosen)
    values[rows[:, None], list(kind.missing)] = chosen


def config_of(cards: Ints, scope: tuple[int, ...], codes: Codes) -> Ints:
    """(rows,): the configuration of some labels."""
    found = np.zeros(len(codes), np.int64)
    for u in scope:
        found = found * int(cards[u]) + codes[:, u]
    return found


def fill(
    network: MixedNetwork,
    data: Table,
    method: Method,
    rng: np.random.Generator,
    choices: RowChoices,
) -> dict[str, Filled]:
    """Columns as the network's own variables, before and after gaps were filled, by name.

    "mode" fills the most probable joint states of the labels, numbers integrated out, then the
    means of the numbers given these; "marginal" the most probable state, or the mean, of each cell
    on its own; "draw" draws all jointly. Of counts "mode" fills the most probable one, "marginal"
    the whole number that is nearest to the mean.
    """
    if method not in get_args(Method):
        raise JensenError(f"method must be one of {list(get_args(Method))}, not {method!r}")
    rows = read(network, data, choices)
    if method == "mode":
        codes, values, possible = best_cells(network, rows.cells)
    else:
        nodes = [v for v, name in enumerate(network.graph.nodes) if name in data]
        question = make_question(network, rows.cells, asked=Asked(frozenset(nodes)))
        if method == "draw":
            codes, values, possible = drawn_cells(question, rng)
        else:
            codes, values, possible = _likely_cells(question, nodes)
    check_possible(network, rows, possible, choices.impossible)
    return _filled_columns(network, data, rows, codes, values)


def _likely_cells(
    question: MixedQuestion, nodes: Sequence[int]
) -> tuple[NDArray[np.int32], Array, NDArray[np.bool_]]:
    """Each cell on its own."""
    found = expected_cells(question, nodes)
    codes, values = question.rows.codes.copy(), question.rows.values.copy()
    for u, p in found.labels.items():
        codes[:, u] = np.where(found.possible, np.nan_to_num(p, nan=-1.0).argmax(1), codes[:, u])
    is_count = question.network.layout.is_count
    for v, mean in found.numbers.items():
        filled = np.round(mean) if is_count[v] else mean
        values[:, v] = np.where(found.possible, filled, values[:, v])
    return codes, values, found.possible


def _filled_columns(
    network: MixedNetwork,
    data: Table,
    rows: ReadRows,
    codes: NDArray[np.int32],
    values: Array,
) -> dict[str, Filled]:
    found = {}
    for name in data.names:
        if name not in network.graph:
            continue
        node = network.index(name)
        variable, place = network.variables[node], network.layout.place[node]
        if network.layout.cards[node]:
            before = rows.labels.column(name)
            gaps = before.missing() & (codes[:, place] >= 0)
            filled = before.data.copy()
            filled[gaps] = codes[gaps, place]
            found[name] = Filled(before, Column(before.variable, filled))
        else:
            shift = network.centre[place]
            known = numbers_of(read_numbers(data, [variable]), [name])[:, 0]
            gaps = np.isnan(known)
            after = np.where(gaps, values[:, place] + shift, known)
            found[name] = Filled(
                Column(variable, np.ascontiguousarray(known)), Column(variable, after)
            )
    return found
