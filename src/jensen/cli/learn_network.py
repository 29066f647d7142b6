"""`jensen learn --model network`: the parameters of a graph, which is given or learned before."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.cli.graph_scoring import read_scale, read_summed_prior, refuse_scale, row_choices
from jensen.cli.learn_options import LOOP
from jensen.cli.learn_refusals import (
    Retry,
    parameter_options,
    refuse_empty,
    refuse_kinds,
    refuse_missing,
)
from jensen.cli.learn_structure import FoundGraph, Task, check_structure, find_graph
from jensen.exceptions import JensenError
from jensen.scores.registry import (
    DEFAULTS,
    SAMPLE_SIZED,
    SPREAD_PRIORS,
    UNPENALISED,
    WITH_JOINT_PRIOR,
)
from jensen.support.text import either

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_kinds import NetworkKind

# --- a given graph ---


def learn_network(given: Given) -> tuple[BayesianNetwork, Table]:
    """Learn the parameters of --graph; the network, and the table that it was learned from."""
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_kinds import kind_of_data

    if given.equivalent_sample_size is not None and given.prior not in SPREAD_PRIORS:
        owners = either(f"--prior {name}" for name in SPREAD_PRIORS)
        raise JensenError(f"--equivalent-sample-size belongs to {owners}")
    known = inputs.read_net(given.graph) if inputs.names_net(given.graph) else None
    chosen = loop_choices(given) | given.chosen("equivalent_sample_size")
    if given.start is not None:
        chosen["start"] = inputs.read_net(given.start)
    dag = inputs.read_graph(given.graph) if known is None else known.graph
    net = BayesianNetwork(
        dag,
        prior=_scaled_prior(given, dag.nodes),
        hidden=dict(map(_one_hidden, given.hidden)) or None,
        **chosen,
    )
    table = inputs.read_table(given, given.states)
    if known is not None:
        table = inputs.read_as(table, known)
    if given.complete_rows:
        seen = [x for x in net.graph.nodes if x in table and x not in (net.hidden or {})]
        table = table.complete_rows(seen)
    kind = kind_of_data(net.graph, table)
    if given.scale is not None and not (kind.has_scale and _has_bge(given)):
        refuse_scale()
    _check_output(given, kind)
    return net.fit(table, checkpoint=given.checkpoint), table


def loop_choices(given: Given) -> dict[str, Any]:
    """How parameters are learned, as all estimators take it."""
    seed = {} if given.seed is None else {"random_state": given.seed}
    return {**given.chosen(*LOOP), **seed, "progress": sys.stderr.isatty()}


def _check_output(given: Given, kind: NetworkKind) -> None:
    """Refuse a file that cannot hold such a network, before it is learned."""
    from jensen import io

    if given.output not in (None, "-"):
        io.check_path(given.output, holds=kind.fitted.holds)


def _one_hidden(text: str) -> tuple[str, int | list[str]]:
    """NAME=3 or NAME=a,b,c; a name may hold =, so the last one counts."""
    name, equals, states = text.rpartition("=")
    if not equals:
        raise JensenError(
            f"--hidden {text}: write the node, =, and its number of states or their labels: "
            f"--hidden {text}=2"
        )
    return name, int(states) if states.strip().isdecimal() else states.split(",")


# --- the prior of the parameters ---


def _has_bge(given: Given) -> bool:
    """Whether the parameters of columns of numbers have the prior bge."""
    return given.prior == "bge" or (given.prior is None and given.method == "vbem")


def _scaled_prior(given: Given, names: Sequence[str]) -> Any:
    """The prior of the parameters, with its scale where one is given and has a meaning."""
    if given.scale is None or not _has_bge(given):
        return _read_prior(given.prior)
    return {"scale": read_scale(given.scale, names)}


def _read_prior(text: str | None) -> Any:
    """A number if it is one, else the name of a prior."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


# --- a learned graph ---


def learn_graph_and_network(given: Given) -> tuple[Any, Table, FoundGraph]:
    """Learn a graph and its parameters; the network, its table, and how the graph was found.

    Instead of the network there is None for a tree of columns of both kinds, and for tests that
    were interrupted, which leave a graph of nearly all edges.
    """
    from jensen.estimators.network_kinds import kind_of_data
    from jensen.graphs import DAG
    from jensen.scores.constant_columns import noting, warn_of_constants

    check_structure(given)
    prior = read_summed_prior(given.graph_prior)
    table, names = _read(given)
    retry = Retry(given)
    refuse_empty(table, names, retry)
    refuse_kinds(table, names, retry)
    is_mixed = _is_mixed_tree(table, names, given)
    if is_mixed:
        _refuse_parameters(given)
    is_numbers = not is_mixed and table.variable(names[0]).kind == "continuous"
    kind = kind_of_data(DAG((), names), table)
    _check_output(given, kind)
    scoring = _scoring(given, names, is_numbers)
    rows = table.complete_rows(names) if given.complete_rows else table
    has_gaps = bool(rows.n_missing(names)) and not given.available_case
    if has_gaps or (table.n_rows and not rows.n_rows):
        refuse_missing(table, names, retry)
    task = Task(rows, scoring, prior, given)
    if is_mixed:
        return None, rows, find_graph(task)
    net = _estimator(given, names, kind)
    with noting(is_drawn=False) as constant:  # one warning for the graph and the parameters
        found = find_graph(task)
        if isinstance(found.graph, DAG):
            net.graph = found.graph
            _fit(net, rows, given)
    if not isinstance(found.graph, DAG):
        warn_of_constants(sorted(constant))
        return None, rows, found
    left_out = net.require_any().constants
    warn_of_constants(sorted(constant), "both" if left_out else "score")
    return net, rows, found


def _read(given: Given) -> tuple[Table, list[str]]:
    """The table, and the variables in it."""
    from jensen.scores.interventions import split_interventions

    table = inputs.choose_columns(
        inputs.read_table(given, given.states), given.column, given.without, given.interventions
    )
    if table.weights is not None:
        table = table.take(table.weights > 0.0)  # gaps in rows without weight do not matter
    split_interventions(table, given.interventions)  # refused before gaps are looked for
    names = [name for name in table.names if name != given.interventions]
    if not names:
        raise JensenError("there is no column to learn a graph of")
    return table, names


def _is_mixed_tree(table: Table, names: Sequence[str], given: Given) -> bool:
    """Whether a tree of columns of both kinds is asked for."""
    kinds = {table.variable(name).kind for name in names}
    return given.structure == "tree" and kinds == {"categorical", "continuous"}


def _refuse_parameters(given: Given) -> None:
    """Refuse options of parameters, for no network holds columns of both kinds yet."""
    for option in parameter_options(given):
        raise JensenError(
            f"{option.flag}: for columns with labels and columns with numbers together only the "
            f"graph is learned, no parameters: leave it out (--json and --svg keep the graph)"
        )


def _scoring(given: Given, names: Sequence[str], is_numbers: bool) -> dict[str, Any]:
    """The score and its choices, as the library takes them."""
    size = given.equivalent_sample_size
    usual = DEFAULTS["continuous" if is_numbers else "categorical"]
    if given.structure == "tree":
        usual = UNPENALISED
    found: dict[str, Any] = {"score": given.score or usual}
    if size is not None and found["score"] in SAMPLE_SIZED:
        found["equivalent_sample_size"] = size
    elif size is not None and given.prior not in SPREAD_PRIORS:
        raise JensenError(
            f"--equivalent-sample-size belongs to --score {either(SAMPLE_SIZED)}, not to "
            f"{found['score']}, or to --prior {either(SPREAD_PRIORS)}"
        )
    found |= row_choices(given, is_numbers)
    if given.scale is not None:
        if is_numbers and found["score"] in WITH_JOINT_PRIOR:
            found["scale"] = read_scale(given.scale, names)
        elif not (is_numbers and _has_bge(given)):
            refuse_scale()
    return found


def _estimator(given: Given, names: Sequence[str], kind: NetworkKind) -> BayesianNetwork:
    """The network, its graph still to be found; choices of its parameters are checked before."""
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_choices import NetworkSettings
    from jensen.graphs import DAG

    chosen = loop_choices(given)
    chosen["prior"] = _scaled_prior(given, names) if kind.has_scale else _read_prior(given.prior)
    if given.prior in SPREAD_PRIORS:
        chosen |= given.chosen("equivalent_sample_size")
    net = BayesianNetwork(DAG((), names), **chosen)
    checked = {name: value for name, value in net.get_params().items() if name != "graph"}
    kind.check(NetworkSettings(**{**checked, "hidden": {}}), None)
    return net


def _fit(net: BayesianNetwork, rows: Table, given: Given) -> None:
    """Learn the parameters of the graph that was found."""
    try:
        file = None if given.bootstrap else given.checkpoint
        net.fit(rows, interventions=given.interventions, checkpoint=file)
    except JensenError as error:
        raise type(error)(f"the graph is {net.graph}, but its parameters: {error.marked}") from None
