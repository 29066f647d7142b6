"""From the choices of a network of labels and numbers, and its rows, to what the loop learns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Variable
from jensen.data.blocks import Units
from jensen.data.counting import require_states
from jensen.data.number_rows import ColumnSummary, NumberRows, numbers_of, summarise
from jensen.data.variable import kind_in_graphs
from jensen.estimators.learning import Problem, Start
from jensen.estimators.network_choices import (
    InterventionTargets,
    NetworkSettings,
    counted_rows,
    hidden_or_seen,
    make_prior,
)
from jensen.exceptions import DataError, GraphError, JensenError
from jensen.families import linear_regression, log_evidence
from jensen.families.gamma import Gamma
from jensen.families.linear_regression import Regression
from jensen.graphs import DAG
from jensen.inference.mixed_network import MixedNetwork
from jensen.models.discrete_network import CountedRows, TableKind
from jensen.models.mixed_network import (
    MixedParameters,
    MixedRegressionNetwork,
    prior_of_regressions,
)
from jensen.models.mixed_rows import EncodedRows, encode
from jensen.models.mixed_starts import SEEN_ROWS, MixedStarts
from jensen.models.protocol import Data
from jensen.q_hidden.mixed.cells import MixedMoments
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.scores.conditional_counts import check_range, refuse_orphans
from jensen.scores.gaussian import make_bge
from jensen.scores.mixed_class import outside_class
from jensen.scores.table_checks import (
    is_constant,
    refuse_edges,
    refuse_narrow,
    require_finite,
    warn_of_constants,
)
from jensen.support.arguments import check_sample_size, is_real
from jensen.support.text import keyword, offer, option, some

Array = NDArray[np.float64]

PRIOR = "bdeu-bge"
PARTS = ("strength", "concentration")

STRENGTHS = (0.001, 0.01, 0.1, 1.0)
"""Of the prior of numbers in `fit`; that with the highest evidence, unless one is given.

A strong prior keeps regressions of few rows near the columns' own mean and variance, and widens the
noise of a number by up to half its variance over the number of rows, which hides a relation that
leaves 1e-4 of it. The first is taken where no row shows all members of a regression.
"""


class MixedColumns(NamedTuple):
    """The columns of a graph, those that count; constant ones left out."""

    graph: DAG
    variables: tuple[Variable, ...]
    rows: RowSource
    targets: InterventionTargets
    constants: dict[str, float]

    @property
    def numbers(self) -> list[str]:
        """Names of the numbers."""
        return [v.name for v in self.variables if v.kind != "categorical"]


def mixed_problem(
    graph: DAG, table: RowSource, choices: NetworkSettings, targets: InterventionTargets = None
) -> Problem:
    """The tables and regressions of a graph, from rows with values missing anywhere."""
    check_mixed_choices(choices)
    found = _columns(graph, table, choices, targets)
    graph, variables, rows = found.graph, found.variables, found.rows
    layout = make_layout(graph, variables)
    summary = summarise(NumberRows.scanned(rows, found.numbers))
    shift = np.where(layout.is_count, 0.0, summary.mean)
    counted, incomplete = encode(rows, layout, graph.nodes, shift, found.targets)
    units = Units((counted, *incomplete), rows.total_weight, is_complete=not incomplete)
    hidden = tuple(u for u, v in enumerate(layout.labels) if graph.nodes[v] not in rows)
    kind = TableKind(choices.mode, _known_tables(layout, graph, variables, choices))
    prior, strength = _prior(layout, graph, choices, counted.stats, summary, kind)
    model = MixedRegressionNetwork(
        layout,
        prior,
        graph,
        variables,
        shift,
        hidden,
        may_relabel=choices.start is None,
        constants=found.constants,
        kind=kind,
        strength=strength,
    )
    starts = _starts(model, rows, summary, found)
    source = CountedRows(rows, found.targets)
    content = (
        graph.nodes, graph.edges, [v.states for v in variables],
        rows.select([x for x in graph.nodes if x in rows]), found.targets,
    )  # fmt: skip
    data = Data(units, EncodedRows(units, counted, starts, source), content + kind.content)
    return Problem(model, data, choices, _start(model, choices))


def make_layout(graph: DAG, variables: tuple[Variable, ...]) -> MixedLayout:
    """The graph as flat arrays; refused if it has an edge that no such network has."""
    for v, above in enumerate(graph.parent_indices):
        for u in above:
            why = outside_class(variables[u], variables[v])
            if why:
                raise GraphError(why)
    return MixedLayout.of(graph.parent_indices, variables)


def check_mixed_choices(choices: NetworkSettings) -> None:
    """Refuse what cannot be, and what would be ignored."""
    prior = choices.prior
    if not (prior is None or prior == PRIOR or isinstance(prior, Mapping)):
        raise JensenError(
            f"the prior of a network of labels and numbers is None (flat), {PRIOR!r}, or a dict "
            f"with {some(PARTS)}, not {prior!r:.80}"
        )
    for name, value in prior.items() if isinstance(prior, Mapping) else ():
        if name not in PARTS:
            raise JensenError(
                f"the prior of a network of labels and numbers has {some(PARTS)}, not {name!r}"
            )
        if not is_real(value) or not 0.0 < float(value) < np.inf:
            raise JensenError(f"{name} must be positive and finite, not {value!r:.40}")
    check_sample_size(choices.equivalent_sample_size)
    choices.check_mode()
    choices.check_fixed()
    choices.refuse_approximate()
    if prior is None and choices.algorithm.seeks_mode and choices.equivalent_sample_size != 1.0:
        raise JensenError(
            f"{option('equivalent_sample_size', choices.equivalent_sample_size)} belongs to "
            f"{option('prior', PRIOR)}, and would be ignored without a prior"
        )
    super(NetworkSettings, choices).check()


def _columns(
    graph: DAG, table: RowSource, choices: NetworkSettings, targets: InterventionTargets
) -> MixedColumns:
    """The nodes with their columns, and the rows that count."""
    if table.total_weight == 0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")
    if table.total_weight == np.inf:
        raise DataError("the weights are too large: their sum is infinite")
    variables = tuple(hidden_or_seen(graph, table, choices.hidden, _number_or_label))
    numbers = [v.name for v in variables if v.kind != "categorical"]
    for name in numbers:
        if not table.n_seen(name):
            raise DataError(f"the column {name!r} has no value, so nothing is known of it")
    # a column of labels without any value is a hidden variable
    kept = [v.name for v in variables if v.name in table and table.n_seen(v.name)]
    rows, targets = table.select(kept).counted(), counted_rows(table, targets)
    measured = [v.name for v in variables if v.kind == "continuous"]
    require_finite(rows, measured)
    refuse_narrow(rows, measured)
    _check_counts(rows, variables)
    ranges = {name: rows.range_of(name) for name in measured}
    constants = {x: each.most for x, each in ranges.items() if is_constant(each.least, each.most)}
    if constants:
        at = {graph.index[name] for name in constants}
        refuse_edges(graph.nodes, graph.parent_indices, at, "learned")
        warn_of_constants(sorted(constants), "network")
        left = [v for v in range(len(graph)) if v not in at]
        graph = graph.subgraph([graph.nodes[v] for v in left])
        variables = tuple(variables[v] for v in left)
        if targets is not None:  # -1 where nothing was, or one of those that are left out
            targets = np.array([left.index(v) if v in left else -1 for v in targets.tolist()])
        rows = rows.select([name for name in rows.names if name not in constants])
    return MixedColumns(graph, variables, rows, targets, constants)


def _check_counts(rows: RowSource, variables: tuple[Variable, ...]) -> None:
    """Refuse counts that are too large, or that have no label to depend on."""
    counts = [v.name for v in variables if v.kind == "count"]
    for name in counts:
        check_range(name, rows.range_of(name).most)
    refuse_orphans(counts, [v.name for v in variables if v.kind == "categorical"])


def _number_or_label(name: str, table: RowSource) -> Variable:
    """The variable of a column; whole numbers are numbers, if they are not declared as counts."""
    own = table.variable(name)
    if own.kind == "categorical":
        return require_states(table, name)
    return Variable(name, kind_in_graphs(own))


def _prior(
    layout: MixedLayout,
    graph: DAG,
    choices: NetworkSettings,
    seen: MixedMoments,
    summary: ColumnSummary,
    kind: TableKind,
) -> tuple[MixedParameters, float | None]:
    """Of the tables BDeu, or one concentration; of every regression the unit-free prior.

    And the strength of the latter, None if there is no prior, or no number.
    """
    if choices.prior is None and choices.algorithm.seeks_mode:
        return MixedParameters(None, None), None
    given = choices.prior if isinstance(choices.prior, Mapping) else {}
    labels = [graph.nodes[v] for v in layout.labels]
    chosen, size = given.get("concentration", "bdeu"), choices.equivalent_sample_size
    tables = make_prior(chosen, size, labels, layout.wiring, seen.counts, kind).tables
    measured = ~np.array(layout.is_count, bool)
    if "strength" in given and not measured.any():
        raise JensenError("strength belongs to numbers, and there are none here: leave it out")
    names = [graph.nodes[v] for v in layout.numbers if v not in layout.counts]
    means, variances = summary.mean[measured], summary.variance[measured]
    stats, shift = layout.stats_of(seen.moments), np.where(measured, summary.mean, 0.0)

    def of_strength(strength: float) -> tuple[Regression | Gamma, ...]:
        joint = make_bge(names, means, variances, None, strength, None, None)
        return prior_of_regressions(layout, joint, shift, summary.mean)

    def evidence(prior: tuple[Regression | Gamma, ...]) -> float:
        pairs = zip(prior, stats, strict=True)
        return sum(
            log_evidence(linear_regression, one, own)
            for one, own in pairs
            if isinstance(one, Regression) and isinstance(own, Regression)
        )

    strengths = (float(given["strength"]),) if "strength" in given else STRENGTHS
    priors = {strength: of_strength(strength) for strength in strengths}
    best = max(priors, key=lambda strength: evidence(priors[strength]))
    return MixedParameters(tables, priors[best]), best if measured.any() else None


def _starts(
    model: MixedRegressionNetwork, rows: RowSource, summary: ColumnSummary, found: MixedColumns
) -> MixedStarts:
    """What random starts look at."""
    gaps = {model.graph.index[name] for name in rows.n_missing()}
    gaps |= {model.layout.labels[u] for u in model.hidden}
    first = next(iter(rows.blocks(SEEN_ROWS)))
    values = numbers_of(first, found.numbers)
    return MixedStarts.of(
        model.layout, model.hidden, gaps, summary, model.shift, rows.total_weight, values
    )


def _start(model: MixedRegressionNetwork, choices: NetworkSettings) -> Start | None:
    """The parameters to start from."""
    if choices.start is None:
        return None
    network = _start_network(model.graph, model.variables, choices)
    return Start(model.near(np.array(network.tables), network.numbers))


def _start_network(
    graph: DAG, variables: tuple[Variable, ...], choices: NetworkSettings
) -> MixedNetwork:
    """The network to start from."""
    network = getattr(choices.start, "network_", choices.start)
    if not isinstance(network, MixedNetwork) or network.graph != graph:
        raise JensenError(
            "start= must be a network of labels and numbers, or an estimator that holds one, of "
            "the same graph"
        )
    if [v.states for v in network.variables] != [v.states for v in variables]:
        raise JensenError("start= must have the states of the network to learn")
    return network


def _known_tables(
    layout: MixedLayout, graph: DAG, variables: tuple[Variable, ...], choices: NetworkSettings
) -> Array | None:
    """(P,): the tables of labels that are held, NaN in all others; None if none is."""
    names = list(choices.fixed)
    if not names:
        return None
    labels = [graph.nodes[v] for v in layout.labels]
    for name in names:
        if name not in labels:
            raise JensenError(
                f"{option('fixed', name)} holds the table of a label, and {name!r} is none; "
                f"{offer(name, labels, 'label')}"
            )
    if choices.start is None:
        raise JensenError(
            f"{option('fixed', names[0])} holds the table that {keyword('start')} gives, and it "
            f"gives none: add a network"
        )
    tables = _start_network(graph, variables, choices).tables
    known, at = np.full(len(tables), np.nan), layout.wiring.fam_at
    for v in map(labels.index, names):
        known[at[v] : at[v + 1]] = tables[at[v] : at[v + 1]]
    return known
