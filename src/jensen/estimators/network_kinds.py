"""The kinds of networks that `BayesianNetwork` learns: their columns, files, and how they fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jensen.data import RowSource, Table, as_rows
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.counting import counts_as_numbers
from jensen.data.discretizing import with_cuts
from jensen.estimators.learning import FitReport, Problem, Start, learn
from jensen.estimators.mixed_problem import PRIOR, check_mixed_choices, mixed_problem
from jensen.estimators.network_choices import (
    InterventionTargets,
    NetworkSettings,
    make_prior,
    split_targets,
)
from jensen.estimators.network_problems import (
    check_gaussian_choices,
    regression_problem,
    table_problem,
)
from jensen.estimators.reports import (
    LABELS,
    Stored,
    plain_choices,
    plain_learned,
    plain_states,
    read_bge,
    read_choices,
    read_learned,
    read_stored_prior,
    stored_choices,
    usual_choices,
)
from jensen.exceptions import JensenError
from jensen.graphs import DAG, PDAG, as_dag
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.network import Network
from jensen.models.discrete_network import DiscreteNetwork, Tables
from jensen.q_graph.info import StructuralInfo
from jensen.scores.registry import SPREAD_PRIORS
from jensen.scores.table_checks import (
    note_columns,
    noting,
    warn_of_constant_labels,
    warn_of_constants,
)
from jensen.support.arguments import is_real
from jensen.support.json_values import Checked, refusing
from jensen.support.machine import one_blas_thread

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


class NetworkKind(NamedTuple):
    """A kind of network."""

    fitted: type[FittedNetwork]
    learns: Callable[[DAG, RowSource], bool]  # whether these columns make such a network
    problem: Callable[[DAG, RowSource, NetworkSettings, InterventionTargets], Problem]
    check: Callable[
        [NetworkSettings, FittedNetwork | None], None
    ]  # refuses what `fit` would refuse
    stored: Mapping[str, Stored]  # the choices that files hold
    has_scale: bool = False  # whether its prior may have a scale
    scoring: Callable[[NetworkSettings], dict[str, Any]] = lambda choices: {}
    # the score of graphs that fits a prior, as `learn_structure` takes it; default: its own


def kind_of_data(graph: DAG, table: RowSource) -> NetworkKind:
    """Which kind of network the columns of a graph make."""
    return next(kind for kind in KINDS if kind.learns(graph, table))


def is_mixed(graph: DAG | PDAG, table: RowSource) -> bool:
    """Whether some nodes are numbers and others labels, or without a column; or some counts."""
    known = [table.variable(x) for x in graph.nodes if x in table]
    are_labels = {v.kind == "categorical" for v in known} | {True} & {len(known) < len(graph.nodes)}
    return len(are_labels) > 1 or any(v.is_declared for v in known)


def is_gaussian(graph: DAG, table: RowSource) -> bool:
    """Whether a node of the graph is measured, not counted: then all of them must be."""
    return any(table.variable(x).kind == "continuous" for x in graph.nodes if x in table)


def kind_of_format(name: str) -> NetworkKind:
    """The kind that files of a format hold."""
    return next(kind for kind in KINDS if kind.fitted.format == name)


# --- tables ---


def _check_tables(choices: NetworkSettings, known: FittedNetwork | None) -> None:
    """Refuse choices that make no sense whatever the data, or not with a network."""
    choices.check()
    if known is None:
        return
    network = known.require_tables()
    size, counts = choices.equivalent_sample_size, np.zeros(len(network.tables))
    make_prior(choices.prior, size, network.graph.nodes, network.wiring, counts)
    for name, states in choices.hidden.items():
        labels = network.variables[network.index(name)].states
        plain = plain_states(states)
        if plain not in (len(labels), list(labels)):
            raise JensenError(
                f"hidden gives {name!r} the states {plain!r:.80}, but the network has "
                f"{list(labels)}"
            )


def _score_of_tables(choices: NetworkSettings) -> dict[str, Any]:
    """BIC approximates the evidence under any prior that has no score of its own."""
    prior = choices.used_prior
    if isinstance(prior, str) and prior in SPREAD_PRIORS:
        return {"score": prior, "equivalent_sample_size": choices.equivalent_sample_size}
    is_k2 = prior == "k2" if isinstance(prior, str) else is_real(prior) and float(prior) == 1.0
    return {"score": "k2" if is_k2 else "bic"}


# --- regressions ---


def _score_of_regressions(choices: NetworkSettings) -> dict[str, Any]:
    prior = choices.prior
    if prior is None and choices.algorithm.seeks_mode:
        return {"score": "bic"}
    return {"score": "bge", **(prior if isinstance(prior, Mapping) else {})}


def _check_regressions(choices: NetworkSettings, known: FittedNetwork | None) -> None:
    check_gaussian_choices(choices)


# --- labels and numbers ---


def _check_mixed(choices: NetworkSettings, known: FittedNetwork | None) -> None:
    """Samples of a network of numbers are kept as a network without labels."""
    if isinstance(known, MixedNetwork) and not known.layout.labels:
        check_gaussian_choices(choices)
    else:
        check_mixed_choices(choices)


def _score_of_mixed(choices: NetworkSettings) -> dict[str, Any]:
    prior = choices.prior
    if prior is None and choices.algorithm.seeks_mode:
        return {"score": "bic"}
    own = prior if isinstance(prior, Mapping) else {}
    if "concentration" in own:  # BIC approximates the evidence under any prior
        return {"score": "bic"}
    return {"score": PRIOR, "equivalent_sample_size": choices.equivalent_sample_size, **own}


# --- all of them ---


REGRESSIONS = NetworkKind(
    GaussianNetwork,
    is_gaussian,
    regression_problem,
    _check_regressions,
    stored_choices(read_bge),
    has_scale=True,
    scoring=_score_of_regressions,
)
TABLES = NetworkKind(
    Network,
    lambda graph, table: True,
    table_problem,
    _check_tables,
    stored_choices(read_stored_prior, LABELS),
    scoring=_score_of_tables,
)
MIXED = NetworkKind(
    MixedNetwork,
    is_mixed,
    mixed_problem,
    _check_mixed,
    stored_choices(read_bge, LABELS),
    scoring=_score_of_mixed,
)
KINDS = (MIXED, REGRESSIONS, TABLES)
"""The first that learns the columns of a graph does."""


def plain_network(net: BayesianNetwork) -> dict[str, Any]:
    """Choices, what was learned, and the network, in the order of files."""
    network = net.require_any()
    kind = kind_of_format(network.format)
    kind.check(_checked(net, kind), network)
    own = network.to_dict()
    first = {name: own.pop(name) for name in ("properties",) if name in own}
    return {
        "format": network.format,
        **first,
        "choices": plain_choices(kind.stored, net.get_params(), usual_choices(net)),
        "learned": plain_learned(net),
        **own,
    }


def read_network(make: type[BayesianNetwork], value: Checked) -> BayesianNetwork:
    """What `plain_network` gave."""
    members, rest = value.parted({"format", "choices", "learned"})
    kind = kind_of_format(members["format"].text())
    choices = read_choices(kind.stored, members["choices"])
    with refusing(value.file):
        network = kind.fitted.from_dict(rest)
    net = make(network.graph, **choices)
    net.network_ = network
    with refusing(f"{value.file}: choices"):
        kind.check(_checked(net, kind), network)
    read_learned(net, members["learned"], network)
    return net


def _checked(net: BayesianNetwork, kind: NetworkKind) -> NetworkSettings:
    """Choices that no file holds unless `fit` would take them; a file says nothing of a start."""
    names = [name for name in kind.stored if name not in ("hidden", "random_state")]
    return NetworkSettings(**{name: getattr(net, name) for name in names}, hidden=net.hidden or {})


# --- fitting: the parameters of a graph, and the graph itself where none is given ---


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
    problem: Problem


@one_blas_thread()
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
    told = net.get_params()
    graph = told.pop("graph")
    choices = NetworkSettings(**{**told, "hidden": told["hidden"] or {}})
    rows: RowSource = as_rows(table)
    if graph is None:
        from jensen.q_graph.learned_columns import learned_columns

        rows, _ = learned_columns(rows, {"interventions": interventions})
    rows = _with_numbers(rows, graph)
    if isinstance(graph, PDAG):
        graph = _extended(graph, rows)
    task = FittingTask(rows, choices, interventions, checkpoint)
    found = _fit_both(task) if graph is None else _fit(graph, task, is_learned=learned is not None)
    net.graph_, net.network_ = found.graph, found.network
    found.report.set_on(net, choices)
    net.hold_rows(found.problem)


@one_blas_thread()
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
    """The rows with whole numbers as numbers, and others cut as when the graph was learned.

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
    return FitOutcome(graph, network, report, problem)


def _begin_at(problem: Problem, expected: Any) -> Problem:
    """Begin where structural EM ended, which may be better than where a random start leads."""
    model = problem.model
    if expected is None or not isinstance(model, DiscreteNetwork):
        return problem
    prior = model.prior.tables
    eta = expected if prior is None else prior + expected
    return problem._replace(start=Start(Tables(eta), is_ready=True))
