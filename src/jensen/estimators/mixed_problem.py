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
from jensen.families.joint_prior import NormalWishartPrior
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
from jensen.scores.gaussian import make_bge
from jensen.scores.table_checks import (
    is_constant,
    refuse_edges,
    refuse_narrow,
    require_finite,
    warn_of_constants,
)
from jensen.support.arguments import check_sample_size, is_real
from jensen.support.text import for_reader, keyword, offer, option, some

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
    counted, incomplete = encode(rows, layout, graph.nodes, summary.mean, found.targets)
    units = Units((counted, *incomplete), rows.total_weight, is_complete=not incomplete)
    hidden = tuple(u for u, v in enumerate(layout.labels) if graph.nodes[v] not in rows)
    kind = TableKind(choices.mode, _known_tables(layout, graph, variables, choices))
    model = MixedRegressionNetwork(
        layout,
        _prior(layout, graph, choices, counted.stats, summary, kind),
        graph,
        variables,
        summary.mean,
        hidden,
        may_relabel=choices.start is None,
        constants=found.constants,
        kind=kind,
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
    """The graph as flat arrays; refused if a label has a parent that is a number."""
    for v, above in enumerate(graph.parent_indices):
        bad = [u for u in above if variables[u].kind != "categorical"]
        if bad and variables[v].kind == "categorical":
            label, number = graph.nodes[v], graph.nodes[bad[0]]
            cut = for_reader(
                f"jn.discretize(table, columns=[{number!r}])", f"--discretize {number}=3"
            )
            raise GraphError(
                f"the label {label!r} has the number {number!r} as a parent: a number may depend "
                f"on labels, but a label only on labels; reverse the edge, or make states of "
                f"{number!r} ({cut})"
            )
    cards = tuple(v.n_states if v.kind == "categorical" else 0 for v in variables)
    return MixedLayout(graph.parent_indices, cards)


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
    choices.refuse_mean_field()
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
    require_finite(rows, numbers)
    refuse_narrow(rows, numbers)
    ranges = {name: rows.range_of(name) for name in numbers}
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


def _number_or_label(name: str, table: RowSource) -> Variable:
    """The variable of a column; a count is a number."""
    kind = table.variable(name).kind
    return require_states(table, name) if kind == "categorical" else Variable(name, "continuous")


def joint_prior(names: list[str], summary: ColumnSummary, strength: float) -> NormalWishartPrior:
    """The unit-free prior of all numbers; a strength below 1 weakens its mean and its scale."""
    return make_bge(names, summary.mean, summary.variance, None, strength, None, None)


def _prior(
    layout: MixedLayout,
    graph: DAG,
    choices: NetworkSettings,
    seen: MixedMoments,
    summary: ColumnSummary,
    kind: TableKind,
) -> MixedParameters:
    """Of the tables BDeu, or one concentration; of every regression the unit-free prior."""
    if choices.prior is None and choices.algorithm.seeks_mode:
        return MixedParameters(None, None)
    given = choices.prior if isinstance(choices.prior, Mapping) else {}
    labels = [graph.nodes[v] for v in layout.labels]
    chosen, size = given.get("concentration", "bdeu"), choices.equivalent_sample_size
    tables = make_prior(chosen, size, labels, layout.wiring, seen.counts, kind).tables
    names = [graph.nodes[v] for v in layout.numbers]
    stats = layout.stats_of(seen.moments)

    def of_strength(strength: float) -> tuple[Regression, ...]:
        joint = joint_prior(names, summary, strength)
        return prior_of_regressions(layout, joint, summary.mean)

    def evidence(prior: tuple[Regression, ...]) -> float:
        pairs = zip(prior, stats, strict=True)
        return sum(log_evidence(linear_regression, one, own) for one, own in pairs)

    strengths = (float(given["strength"]),) if "strength" in given else STRENGTHS
    return MixedParameters(tables, max(map(of_strength, strengths), key=evidence))


def _starts(
    model: MixedRegressionNetwork, rows: RowSource, summary: ColumnSummary, found: MixedColumns
) -> MixedStarts:
    """What random starts look at."""
    gaps = {model.graph.index[name] for name in rows.n_missing()}
    gaps |= {model.layout.labels[u] for u in model.hidden}
    first = next(iter(rows.blocks(SEEN_ROWS)))
    values = numbers_of(first, found.numbers)
    return MixedStarts.of(model.layout, model.hidden, gaps, summary, rows.total_weight, values)


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
