"""`BayesianNetwork.fit`: the parameters of a graph, and the graph itself where none is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.data import RowSource, Table, as_rows
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.counting import counts_as_numbers
from jensen.data.discretizing import with_cuts
from jensen.estimators.learning import FitReport, Problem, Start, learn
from jensen.estimators.network_choices import NetworkSettings, split_targets
from jensen.estimators.network_kinds import is_mixed, kind_of_data
from jensen.exceptions import JensenError
from jensen.graphs import DAG, PDAG, as_dag
from jensen.inference.fitted import FittedNetwork
from jensen.models.discrete_network import DiscreteNetwork, Tables
from jensen.q_graph.info import StructuralInfo
from jensen.scores.table_checks import (
    note_columns,
    noting,
    warn_of_constant_labels,
    warn_of_constants,
)

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


class FittingTask(NamedTuple):
    """What a network is learned from, and how."""

    table: RowSource
    choices: NetworkSettings
    interventions: Any
    checkpoint: str | Path | None


class FitOutcome(NamedTuple):
    """A graph with its parameters, and how these were found."""

    graph: DAG
    network: FittedNetwork
    report: FitReport


def fit_network(
    net: BayesianNetwork,
    table: Any,
    interventions: Any = None,
    checkpoint: str | Path | None = None,
    learned: DAG | None = None,
) -> None:
    """Set on a network what it learns: its parameters, and its graph where none was given.

    `learned` is its graph, if it was learned from the same rows before.
    """
    given = net.get_params()
    graph = given.pop("graph")
    choices = NetworkSettings(**{**given, "hidden": given["hidden"] or {}})
    rows = _with_numbers(as_rows(table), graph)
    if isinstance(graph, PDAG):
        graph = _extended(graph, rows)
    task = FittingTask(rows, choices, interventions, checkpoint)
    if learned is not None:
        found = _fit(learned, task, is_learned=True)
    else:
        found = _fit_both(task) if graph is None else _fit(graph, task)
    net.graph_, net.network_ = found.graph, found.network
    found.report.set_on(net, choices)


def network_problem(net: BayesianNetwork, table: Any, interventions: Any = None) -> Problem:
    """What `fit_network` learns: the model with its prior, the encoded rows, the choices."""
    given = net.get_params()
    graph = given.pop("graph")
    if graph is None:
        raise JensenError(
            "this network has no graph of its own, only rows to learn one from: give the graph"
        )
    choices = NetworkSettings(**{**given, "hidden": given["hidden"] or {}})
    rows = _with_numbers(as_rows(table), graph)
    graph = _extended(graph, rows) if isinstance(graph, PDAG) else graph
    return _problem(graph, FittingTask(rows, choices, interventions, None))[1]


def _problem(graph: DAG, task: FittingTask) -> tuple[RowSource, Problem]:
    """The rows without the column of interventions, and what is learned from them."""
    data, targets = split_targets(graph, task.table, task.interventions)
    return data, kind_of_data(graph, data).problem(graph, data, task.choices, targets)


def _extended(graph: PDAG, rows: RowSource) -> DAG:
    """An extension, of labels and numbers one in which these depend on those."""
    if is_mixed(graph, rows):
        numbers = {x for x in graph.nodes if x in rows and rows.variable(x).kind != "categorical"}
        found = graph.labels_first(x for x in graph.nodes if x not in numbers)
    else:
        found = graph.extension()
    return found.with_info(graph.info) if graph.info else found


def _with_numbers(rows: RowSource, graph: DAG | PDAG | None) -> RowSource:
    """The rows with counts as numbers, and numbers cut as they were when the graph was learned.

    Of counts is told if the graph is given, for learning it tells, too.
    """
    if not isinstance(rows, Table):
        return rows
    cuts = {} if graph is None else getattr(graph.info, "cuts", {})
    cuts = {x: c for x, c in cuts.items() if x in rows and rows.variable(x).kind != "categorical"}
    rows = with_cuts(rows, cuts) if cuts else rows
    counts = [v for v in rows.variables if v.kind == "count"]
    if graph is not None:
        note_columns([v for v in counts if v.name in graph], is_class=False)
    return counts_as_numbers(rows)


def _fit_both(task: FittingTask) -> FitOutcome:
    """Learn a graph, and its parameters."""
    with noting(is_drawn=False) as constant:  # one warning for the graph and the parameters
        found = _fit(_learn_graph(task), task, is_learned=True)
    warn_of_constants(sorted(constant), "both" if found.network.constants else "score")
    return found


def _learn_graph(task: FittingTask) -> DAG:
    """The graph of all columns, by the score that fits the prior of the parameters."""
    from jensen.q_graph.learning import learn_structure  # slow to import; most graphs are given
    from jensen.q_graph.methods import needs_structural_em

    table, choices = task.table, task.choices
    if choices.start is not None:
        raise JensenError(
            "start= are the parameters of a known graph, and graph=None learns one: leave out "
            "start, or give the graph"
        )
    beside = task.interventions if isinstance(task.interventions, str) else None
    columns = DAG((), [name for name in table.names if name != beside])
    kind = kind_of_data(columns, table)
    kind.check(choices, None)
    scoring = kind.scoring(choices)
    if scoring.get("score") == "bds" and (
        choices.hidden or table.counted().n_missing(columns.nodes)
    ):
        raise JensenError(
            "prior='bds' depends on which configurations occur, which nobody knows where values "
            "are missing: use prior='bdeu'"
        )
    told = {"hidden": choices.hidden, "interventions": task.interventions}
    file = None
    if task.checkpoint is not None and needs_structural_em(table, told):
        file = f"{task.checkpoint}.graph"  # that of the parameters has its own name
    found = learn_structure(
        table,
        **scoring,
        checkpoint=file,
        hidden=choices.hidden or None,
        interventions=task.interventions,
        random_state=choices.random_state,
        progress=choices.progress,
    )
    return as_dag(found)


def _fit(graph: DAG, task: FittingTask, *, is_learned: bool = False) -> FitOutcome:
    """Learn the parameters of a graph; `is_learned`: that was learned from the same rows."""
    data, problem = _problem(graph, task)
    seen = [x for x in graph.nodes if x in data]
    warn_of_row_names(data, seen, "Leave it out of the graph")
    warn_of_constant_labels(data, seen, "network")
    if is_learned and isinstance(graph.info, StructuralInfo) and task.choices.n_init == 1:
        problem = _begin_at(problem, graph.info.expected)
    network, report = learn(problem, task.checkpoint)
    return FitOutcome(graph, network, report)


def _begin_at(problem: Problem, expected: Any) -> Problem:
    """Begin where structural EM ended, which may be better than where a random start leads."""
    model = problem.model
    if expected is None or not isinstance(model, DiscreteNetwork):
        return problem
    prior = model.prior.tables
    eta = expected if prior is None else prior + expected
    return problem._replace(start=Start(Tables(eta), is_ready=True))
