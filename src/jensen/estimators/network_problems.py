"""From the choices of a network and its rows to what the loop learns: tables, or regressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Variable
from jensen.data.number_rows import NumberRows, summarise
from jensen.data.statistics import Coordinates, CountStatistics, Moments, MomentStatistics
from jensen.estimators.learning import Problem, Start
from jensen.estimators.network_choices import (
    InterventionTargets,
    NetworkSettings,
    counted_rows,
    learned_variables,
    make_prior,
)
from jensen.exceptions import DataError, JensenError, warn_of_single_sites
from jensen.families.joint_prior import NormalWishartPrior
from jensen.graphs import DAG
from jensen.graphs.base import Graph
from jensen.graphs.indexed_graph import wire
from jensen.inference import Network
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.handmade import network_from_tables
from jensen.models.discrete_network import (
    PROBABILITIES,
    CountedRows,
    DiscreteNetwork,
    NetworkRows,
    TableKind,
    Tables,
    encode,
)
from jensen.models.gaussian_network import RegressionNetwork, Regressions
from jensen.models.gaussian_network import encode as encode_numbers
from jensen.models.gaussian_network import make_prior as make_prior_of_regressions
from jensen.models.protocol import Data
from jensen.scores.gaussian import make_bge
from jensen.scores.registry import PARTS
from jensen.scores.table_checks import (
    OWN_SCALE,
    are_drawn,
    is_constant,
    refuse_edges,
    refuse_narrow,
    require_continuous,
    warn_of_constants,
)
from jensen.support.machine import check_memory
from jensen.support.text import for_reader, keyword, offer, one_of, option, plural, some
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]

ARRAYS = 8
"""How many arrays as long as all tables together are alive at once while learning."""


def table_problem(
    graph: DAG, table: RowSource, choices: NetworkSettings, targets: InterventionTargets = None
) -> Problem:
    """The tables of a graph, from rows with values missing anywhere."""
    choices.check()
    variables = learned_variables(graph, table, choices.hidden)
    rows, targets = rows_that_count(graph, table, variables, targets)
    if choices.algorithm.q_hidden.is_random:
        _check_draws(rows, choices)
    wiring = wire(graph.parent_indices, [v.n_states for v in variables])
    n_entries = int(wiring.fam_at[-1])
    check_memory(
        8.0 * ARRAYS * n_entries,
        f"the tables of this graph ({n_entries:,} entries)",
        "leave out parents, or merge states",
    )
    # A mode pays for no cell; EM is the textbook's, sweep by sweep, if all of them are in h.
    all_cells = choices.algorithm.seeks_mode
    encoded = encode(rows, graph.nodes, wiring, targets, all_cells=all_cells)
    hidden = tuple(v for v, name in enumerate(graph.nodes) if name not in rows)
    if choices.used_prior == "bds" and (hidden or rows.n_missing(graph.nodes)):
        raise JensenError(
            f"{option('prior', 'bds')} depends on which parent configurations occur, and "
            f"with missing values nobody knows: use {option('prior', 'bdeu')}"
        )
    kind = TableKind(choices.mode, known_tables(graph, variables, choices, wiring))
    prior = make_prior(
        choices.used_prior,
        choices.equivalent_sample_size,
        graph.nodes,
        wiring,
        encoded.counts,
        kind,
    )
    may_relabel = choices.start is None and not isinstance(choices.prior, Mapping)
    blocks = _blocks(graph, variables, choices)
    model = DiscreteNetwork(wiring, prior, graph, variables, hidden, may_relabel, kind, blocks)
    seen = rows.select([name for name in graph.nodes if name in rows])  # in the order of names
    content: list[Any] = [graph.nodes, graph.edges, [v.states for v in variables], seen, targets]
    content += [*kind.content, *(("blocks", blocks) if blocks else ())]
    if choices.algorithm.q_hidden.is_random and (n_single := encoded.n_single):
        _check_single(n_single, rows.total_weight, choices)
        content.append(n_single)
    data = Data(
        encoded.units, NetworkRows(encoded, table, CountedRows(rows, targets)), tuple(content)
    )
    return Problem(model, data, choices, _start(model, choices))


def _blocks(
    graph: DAG, variables: tuple[Variable, ...], choices: NetworkSettings
) -> tuple[tuple[int, ...], ...]:
    """The variables that mean field keeps together, by number."""
    for name in (name for block in choices.blocks for name in block):
        if name not in graph.nodes:
            raise JensenError(
                f"{option('block', name)}: there is no such variable: {offer(name, graph.nodes)}"
            )
    found = tuple(tuple(sorted(map(graph.nodes.index, b))) for b in choices.blocks if len(b) > 1)
    for block in found:
        n = prod(variables[v].n_states for v in block)
        check_memory(
            800.0 * n,
            f"a block of {plural(len(block), 'variable')} ({n:,} joint states)",
            "take fewer together",
        )
    return found


def rows_that_count(
    graph: Graph, table: RowSource, variables: tuple[Variable, ...], targets: InterventionTargets
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


def _refuse_parts_of_rows(rows: RowSource, choices: NetworkSettings) -> None:
    """Refuse weights that are not whole, where what is missing is drawn row by row."""
    if rows.is_weighted and rows.sum(lambda block: np.count_nonzero(block.weights % 1.0)):
        raise DataError(
            f"{choices.algorithm.name!r} draws what is missing row by row, so weights must be "
            f"whole numbers: use {one_of('method', ['em', 'vbem'])}"
        )


def _check_draws(rows: RowSource, choices: NetworkSettings) -> None:
    """Refuse parts of rows, and more rows than there is room for, where each is drawn."""
    _refuse_parts_of_rows(rows, choices)
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
    if choices.starts_at is None:
        return None
    if isinstance(choices.start, CountStatistics):
        _check_variables(choices.start, model.variables)
        return Start(model.start_from(choices.start), is_ready=True)
    network = _start_network(model.graph, model.variables, choices.start)
    if choices.algorithm.keeps_posterior and network.concentration is not None:
        return Start(Tables(network.concentration - 1.0), is_ready=True)
    return Start(Tables(np.array(network.probabilities)))


def known_tables(
    graph: DAG, variables: tuple[Variable, ...], choices: NetworkSettings, wiring: Wiring
) -> Array | None:
    """(P,): the tables of start= that are held, NaN in all others; None if none is."""
    names = list(choices.fixed)
    if not names:
        return None
    told = option("fixed", names[0])
    for name in names:
        if name not in graph:
            raise JensenError(
                f"{option('fixed', name)}: the graph has no node {name!r}; "
                f"{offer(name, graph.nodes, 'node')}"
            )
    if choices.start is None or isinstance(choices.start, CountStatistics):
        raise JensenError(
            f"{told} holds the table that {keyword('start')} gives, and it gives none: add "
            f"{for_reader(f'start={{{names[0]!r}: table}}, or a network', '--start FILE')}"
        )
    given = choices.start
    if isinstance(given, Mapping):
        absent = [name for name in names if name not in given]
        if absent:
            raise JensenError(f"{option('fixed', absent[0])}: start= has no table of {absent[0]!r}")
        if choices.starts_at is None:  # tables that are not given are not looked at
            by_name = {v.name: v for v in variables}
            given = {x: _uniform(by_name, graph.parents(x), x) for x in graph.nodes} | dict(given)
    network = _start_network(graph, variables, given)
    known = np.full(int(wiring.fam_at[-1]), np.nan)
    for name in names:
        v = graph.index[name]
        table = network.part(name, network.probabilities)
        known[wiring.fam_at[v] : wiring.fam_at[v + 1]] = table.ravel()
    return known


def _uniform(variables: Mapping[str, Variable], parents: Iterable[str], name: str) -> Array:
    """A table of equal probabilities, an axis per parent and then its own."""
    n = variables[name].n_states
    return np.full([*(variables[p].n_states for p in parents), n], 1.0 / n)


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


def regression_problem(
    graph: DAG, table: RowSource, choices: NetworkSettings, targets: InterventionTargets = None
) -> Problem:
    """The regressions of a graph, from rows with values missing anywhere.

    Columns without spread are left out (see `jensen.scores.table_checks`), unless the prior has
    a scale of its own.
    """
    check_gaussian_choices(choices)
    rows, targets = numbers_that_count(graph, table, targets)
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
    prior = Regressions(None) if bge is None else make_prior_of_regressions(bge, parents, shift)
    model = RegressionNetwork(graph.nodes, parents, prior, graph, shift, bge, constants)
    numbers = NumberRows.scanned(rows, graph.nodes)
    in_h = None if choices.algorithm.seeks_mode else parents  # None: all cells
    units = encode_numbers(numbers, shift, targets, parents=in_h)
    if choices.algorithm.q_hidden.is_random and not units.is_complete:
        _refuse_parts_of_rows(rows, choices)
    content = (graph.nodes, graph.edges, rows.select(graph.nodes), targets)
    data, start = Data(units, numbers, content), None
    if choices.start is not None:
        start = Start(_start_of_regressions(model, choices, units.total_weight), is_ready=True)
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
    if choices.mode != PROBABILITIES:
        raise JensenError(
            f"{option('mode', choices.mode)} belongs to tables of states, and the columns here "
            f"are continuous: leave it out"
        )
    choices.check_fixed()
    choices.refuse_approximate()
    for name in choices.fixed:
        raise JensenError(
            f"{option('fixed', name)} holds the table of a label, and the columns here are "
            f"continuous: leave it out"
        )
    super(NetworkSettings, choices).check()


def numbers_that_count(
    graph: Graph, table: RowSource, targets: InterventionTargets
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
    if prior is None and choices.algorithm.seeks_mode:
        return None
    given = prior if isinstance(prior, Mapping) else {}
    return make_bge(graph.nodes, means, variances, *(given.get(part) for part in PARTS))


def _start_of_regressions(
    model: RegressionNetwork, choices: NetworkSettings, total_weight: float
) -> Regressions:
    """Near a network of the same graph, or by statistics that another one may expect."""
    if not isinstance(choices.start, MomentStatistics):
        return model.start_near(_known_regressions(model.graph, choices), total_weight)
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


def _known_regressions(graph: DAG, choices: NetworkSettings) -> GaussianNetwork:
    start = getattr(choices.start, "network_", choices.start)
    if not isinstance(start, GaussianNetwork) or start.graph != graph:
        raise JensenError(
            "start= must be a Gaussian network, or an estimator that holds one, of the same graph"
        )
    return start
