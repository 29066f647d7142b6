"""From the choices of a network of tables and its rows to what the loop learns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jensen.data import RowSource, Variable
from jensen.data.statistics import CountStatistics
from jensen.estimators.learning import Problem, Start
from jensen.estimators.network_choices import (
    InterventionTargets,
    NetworkSettings,
    counted_rows,
    learned_variables,
    make_prior,
)
from jensen.exceptions import DataError, JensenError, warn_of_single_sites
from jensen.graphs import DAG
from jensen.graphs.wiring import wire
from jensen.inference import Network
from jensen.inference.handmade import network_from_tables
from jensen.models.discrete_network import DiscreteNetwork, NetworkRows, Tables, encode
from jensen.models.protocol import Data
from jensen.support.memory import check_memory
from jensen.support.wording import one_of, option

ARRAYS = 8
"""How many arrays as long as all tables together are alive at once while learning."""


def table_problem(
    graph: DAG, table: RowSource, choices: NetworkSettings, targets: InterventionTargets = None
) -> Problem:
    """The tables of a graph, from rows with values missing anywhere."""
    choices.check()
    variables = learned_variables(graph, table, choices.hidden)
    rows, targets = _rows_that_count(graph, table, variables, targets)
    if choices.algorithm.q_hidden.is_random:
        _check_draws(rows, choices)
    wiring = wire(graph.parent_indices, [v.n_states for v in variables])
    n_entries = int(wiring.fam_at[-1])
    check_memory(
        8.0 * ARRAYS * n_entries,
        f"the tables of this graph ({n_entries:,} entries)",
        "leave out parents, or merge states",
    )
    encoded = encode(rows, graph.nodes, wiring, targets)
    if choices.used_prior == "bds" and not encoded.units.is_complete:
        raise JensenError(
            f"{option('prior', 'bds')} depends on which parent configurations occur, and "
            f"with missing values nobody knows: use {option('prior', 'bdeu')}"
        )
    prior = make_prior(
        choices.used_prior, choices.equivalent_sample_size, graph.nodes, wiring, encoded.counts
    )
    hidden = tuple(v for v, name in enumerate(graph.nodes) if name not in rows)
    may_relabel = choices.start is None and not isinstance(choices.prior, Mapping)
    model = DiscreteNetwork(wiring, prior, graph, variables, hidden, may_relabel)
    seen = rows.select([name for name in graph.nodes if name in rows])  # in the order of names
    content: list[Any] = [graph.nodes, graph.edges, [v.states for v in variables], seen, targets]
    if choices.algorithm.q_hidden.is_random and (n_single := encoded.n_single):
        _check_single(n_single, rows.total_weight, choices)
        content.append(n_single)
    data = Data(encoded.units, NetworkRows(encoded, table), tuple(content))
    return Problem(model, data, choices, _start(model, choices))


def _rows_that_count(
    graph: DAG, table: RowSource, variables: tuple[Variable, ...], targets: InterventionTargets
) -> tuple[RowSource, InterventionTargets]:
    """The columns with values, and the rows with a weight."""
    if table.total_weight == 0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")
    if table.total_weight == np.inf:
        raise DataError("the weights are too large: their sum is infinite")
    # a column without any value is a hidden variable
    names = [v.name for v in variables if v.name in table and table.n_seen(v.name)]
    rows = table if len(names) == len(table.names) else table.select(names)  # packed for all fits
    if graph.nodes and not rows.names:
        raise DataError("there is nothing to learn from: no node of the graph has values")
    return rows.counted(), counted_rows(table, targets)


def _check_draws(rows: RowSource, choices: NetworkSettings) -> None:
    """Refuse parts of rows, and more rows than there is room for, where each is drawn."""
    if rows.is_weighted and rows.sum(lambda block: np.count_nonzero(block.weights % 1.0)):
        raise DataError(
            f"{choices.algorithm.name!r} draws what is missing row by row, so weights must be "
            f"whole numbers: use {one_of('method', ['em', 'vbem'])}"
        )
    check_memory(
        32.0 * rows.total_weight,
        f"drawing what is missing row by row for rows of weight {rows.total_weight:.3g}",
        f"use {one_of('method', ['em', 'vbem'])}, which take a weight at once",
    )


def _check_single(n_single: int, weight: float, choices: NetworkSettings) -> None:
    """Tell that cells are drawn one at a time, if there is room for their states."""
    check_memory(
        16.0 * weight * n_single,
        f"the states of {n_single} missing values in each of {weight:.3g} rows",
        "take fewer rows",
    )
    warn_of_single_sites(choices.algorithm.name, n_single)


def _start(model: DiscreteNetwork, choices: NetworkSettings) -> Start | None:
    """The tables to start from; their posterior, where there is one and one is learned."""
    if choices.start is None:
        return None
    if isinstance(choices.start, CountStatistics):
        _check_variables(choices.start, model.variables)
        return Start(model.start_from(choices.start), is_ready=True)
    network = _start_network(model.graph, model.variables, choices.start)
    if choices.algorithm.keeps_posterior and network.concentration is not None:
        return Start(Tables(network.concentration - 1.0), is_ready=True)
    return Start(Tables(np.array(network.probabilities)))


def _check_variables(statistics: CountStatistics, variables: tuple[Variable, ...]) -> None:
    known = {v.name: v.states for v in statistics.variables}
    for variable in variables:
        if known.get(variable.name) != variable.states:
            raise JensenError(
                f"start= must have the variables and the states of the network to learn, and has "
                f"other states of {variable.name!r}, or none"
            )


def _start_network(graph: DAG, variables: tuple[Variable, ...], start: Any) -> Network:
    found = start.require_network() if hasattr(start, "require_network") else start
    if isinstance(found, Mapping):
        found = network_from_tables(graph, found, {v.name: v.states for v in variables})
    if not isinstance(found, Network):
        raise JensenError(
            f"start must be a network, a fitted estimator or a dict of tables, not {found!r:.80}"
        )
    if found.graph != graph or [v.states for v in found.variables] != [v.states for v in variables]:
        raise JensenError("start= must have the graph and the states of the network to learn")
    return found
