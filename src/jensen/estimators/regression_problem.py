"""From the choices of a network of regressions and its rows to what the loop learns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.data.number_rows import NumberRows
from jensen.data.statistics import Coordinates, Moments, MomentStatistics
from jensen.estimators.learning import Problem, Start
from jensen.estimators.network_choices import InterventionTargets, NetworkSettings, counted_rows
from jensen.exceptions import DataError, JensenError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.graphs import DAG
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.models.emissions.column_summary import summarise
from jensen.models.gaussian_network import RegressionNetwork, Regressions, encode, make_prior
from jensen.models.protocol import Data
from jensen.scores.constant_columns import (
    OWN_SCALE,
    are_drawn,
    is_constant,
    refuse_edges,
    warn_of_constants,
)
from jensen.scores.gaussian import PARTS, make_bge
from jensen.scores.table_checks import refuse_narrow, require_continuous
from jensen.support.text import some

Array = NDArray[np.float64]

METHODS = ("em", "vbem")


def is_gaussian(graph: DAG, table: RowSource) -> bool:
    """Whether a node of the graph is measured, not counted: then all of them must be."""
    return any(table.variable(x).kind == "continuous" for x in graph.nodes if x in table)


def regression_problem(
    graph: DAG, table: RowSource, choices: NetworkSettings, targets: InterventionTargets = None
) -> Problem:
    """The regressions of a graph, from rows with values missing anywhere.

    Columns without spread are left out (see `jensen.scores.constant_columns`), unless the prior has
    a scale of its own.
    """
    check_gaussian_choices(choices)
    rows, targets = _rows_that_count(graph, table, targets)
    for name in graph.nodes:
        if not rows.n_seen(name):
            raise DataError(f"the column {name!r} has no value in any row that has a weight")
    _, shift, variances, _ = summarise(NumberRows.scanned(rows, graph.nodes))
    constant = _constants(graph, choices, rows)
    variances[constant] = 1.0  # never asked for
    bge = _prior(graph, choices, shift, variances)
    constants = {graph.nodes[v]: rows.range_of(graph.nodes[v]).most for v in constant}
    if constants:
        kept = [v for v in range(len(graph)) if v not in constant]
        graph = graph.subgraph([graph.nodes[v] for v in kept])
        shift = shift[kept]
        bge = None if bge is None else bge.of_columns(kept)
        if targets is not None:  # -1 where nothing was, or one of those that are left out
            targets = np.array([kept.index(v) if v in kept else -1 for v in targets.tolist()])
    parents = graph.parent_indices
    prior = Regressions(None) if bge is None else make_prior(bge, parents, shift)
    model = RegressionNetwork(graph.nodes, parents, prior, graph, shift, bge, constants)
    numbers = NumberRows.scanned(rows, graph.nodes)
    units = encode(numbers, shift, targets)
    content = (graph.nodes, graph.edges, rows.select(graph.nodes), targets)
    data, start = Data(units, numbers, content), None
    if choices.start is not None:
        start = Start(_start(model, choices, units.total_weight), is_ready=True)
    return Problem(model, data, choices, start)


def check_gaussian_choices(choices: NetworkSettings) -> None:
    """Refuse what cannot be, and what belongs to tables of states."""
    prior = choices.prior
    if not (prior in (None, "bge") or isinstance(prior, Mapping)):
        raise JensenError(
            f"the prior of a Gaussian network is None (flat), 'bge', or a dict with some of "
            f"{some(PARTS)}, not {prior!r:.80}"
        )
    for name in prior if isinstance(prior, Mapping) else ():
        if name not in PARTS:
            raise JensenError(f"the prior of a Gaussian network has {some(PARTS)}, not {name!r}")
    if choices.hidden:
        raise JensenError("hidden variables have states, and the columns here are continuous")
    if choices.equivalent_sample_size != 1.0:
        raise JensenError("equivalent_sample_size belongs to tables of states: use mean_strength")
    if choices.algorithm.name not in METHODS:
        raise JensenError(
            f"a Gaussian network is learned by 'em' or 'vbem', not by {choices.algorithm.name!r}"
        )
    super(NetworkSettings, choices).check()


def _rows_that_count(
    graph: DAG, table: RowSource, targets: InterventionTargets
) -> tuple[RowSource, InterventionTargets]:
    """The columns of the graph, and the rows with a weight."""
    for name in graph.nodes:
        if name not in table:
            raise DataError(f"the node {name!r} has no column: rename one of {some(table.names)}")
        if table.n_rows and not table.n_seen(name):
            raise DataError(f"the column {name!r} has no value, so nothing is known of it")
    require_continuous(table, graph.nodes, "a Gaussian network")
    rows, targets = table.select(graph.nodes).counted(), counted_rows(table, targets)
    if rows.total_weight == 0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")
    if rows.total_weight == np.inf:
        raise DataError("the weights are too large: their sum is infinite")
    refuse_narrow(rows, graph.nodes)
    return rows, targets


def _constants(graph: DAG, choices: NetworkSettings, rows: RowSource) -> list[int]:
    """The columns without spread, which are warned of; none if the prior has its own scale."""
    given = choices.prior if isinstance(choices.prior, Mapping) else {}
    if given.get("scale") is not None:
        return []
    ranges = [rows.range_of(name) for name in graph.nodes]
    found = [v for v, (_, least, most) in enumerate(ranges) if is_constant(least, most)]
    if len(found) == len(graph):
        raise DataError(
            f"every column is constant ({some(map(repr, graph.nodes))}), so nothing says how much "
            f"any of them varies: give more rows, or {OWN_SCALE}"
        )
    if not are_drawn():
        refuse_edges(graph.nodes, graph.parent_indices, set(found), "learned")
    warn_of_constants([graph.nodes[v] for v in found], "network")
    return found


def _prior(
    graph: DAG, choices: NetworkSettings, means: Array, variances: Array
) -> NormalWishartPrior | None:
    """The prior, made once, by the means and variances of the values that are known."""
    prior = choices.prior
    if prior is None and choices.algorithm.name == "em":
        return None
    given = prior if isinstance(prior, Mapping) else {}
    return make_bge(graph.nodes, means, variances, *(given.get(part) for part in PARTS))


def _start(model: RegressionNetwork, choices: NetworkSettings, total_weight: float) -> Regressions:
    """Near a network of the same graph, or by statistics that another one may expect."""
    if not isinstance(choices.start, MomentStatistics):
        return model.start_near(_start_network(model.graph, choices), total_weight)
    names = [variable.name for variable in choices.start.variables]
    unknown = [name for name in model.names if name not in names]
    if unknown:
        raise JensenError(
            f"start= must have the variables of the network to learn, and lacks {unknown[0]!r}"
        )
    kept = [names.index(name) for name in model.names]
    as_written = Coordinates(np.zeros(len(names)), np.ones(len(names)))
    found = choices.start.moments(as_written)
    scatter = np.ascontiguousarray(found.scatter[np.ix_(kept, kept)])
    return model.start_from(Moments(found.weight, found.mean[kept], scatter))


def _start_network(graph: DAG, choices: NetworkSettings) -> GaussianNetwork:
    start = getattr(choices.start, "network_", choices.start)
    if not isinstance(start, GaussianNetwork) or start.graph != graph:
        raise JensenError(
            "start= must be a Gaussian network, or an estimator that holds one, of the same graph"
        )
    return start
