"""`jensen learn`: networks and their graphs, mixtures, hidden Markov models, factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jensen.cli import describe_model, inputs, outputs
from jensen.cli.command import Command, Given
from jensen.cli.describe_states import DescribedStates
from jensen.cli.learn_markov import learn_markov, learn_rbm
from jensen.cli.learn_options import KNOWN, LEARNED, OPTIONS
from jensen.cli.learn_refusals import (
    Retry,
    can_learn,
    read_incomplete,
    read_kinds,
    refuse_empty,
    refuse_missing,
    refuse_ways,
)
from jensen.cli.learn_series import learn_series
from jensen.cli.learn_states import learn_factors, learn_states
from jensen.cli.structure import (
    FoundGraph,
    GraphTask,
    check_structure,
    find_graph,
    read_hidden,
    read_summed_prior,
    refuse_scale,
    row_choices,
)
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
    from jensen.scores.registry import Kind


def run(given: Given) -> None:
    """Learn a model: a network with its graph, or hidden states.

    A network without --graph learns the graph of all columns, and then its parameters (without
    --prior the most likely ones); with --graph it learns the parameters. Values may be missing
    anywhere, and whole variables too (--hidden). The other models learn hidden states: which
    component, class or state made a row; or hidden factors, on which all columns depend.
    """
    inputs.set_threads(given.threads)
    given.refuse_two_inputs("data", "graph", "start", "start_graph", "prior_network")
    _check_files(given)
    given.refuse_together(
        ("-o -", given.output == "-"), ("--svg -", given.svg == "-"), ("--json", given.as_json)
    )
    if given.model != "network" or given.graph is not None:
        refuse_ways(given)
    if given.model == "network":
        _write(_learn_described(given), given)
        return
    if given.model == "markov":
        given.check(**({} if given.graph is None else {"graph": KNOWN}))
        inputs.refuse_state_numbers(given)
        _write(learn_markov(given), given)
        return
    if given.model == "rbm":
        given.check()
        _write(learn_rbm(given), given)
        return
    from jensen.support.machine import interruptible

    given.check()
    with interruptible():  # while rows are prepared, an interrupt lets the first sweep end
        learn = learn_factors if given.model in inputs.FACTORS else learn_states
        learn = learn_series if given.model == "lds" else learn
        _write(DescribedStates(*learn(given)), given)


def _learn_described(given: Given) -> Any:
    given.check(graph=LEARNED if given.graph is None else KNOWN)
    inputs.refuse_state_numbers(given)
    if given.graph is not None:
        return describe_model.DescribedNetwork(*learn_network(given), None, given.svg)
    net, table, found = learn_graph_and_network(given)
    if net is None:
        return describe_model.DescribedGraph(found, table, given.svg)
    return describe_model.DescribedNetwork(net, table, found, given.svg)


def _write(described: Any, given: Given) -> None:
    """Write what was learned, and describe it; for an interrupted run with its exit code."""
    described.save(given.output)
    if given.svg is not None:
        outputs.write_text(described.picture(), given.svg)
    if given.as_json:
        outputs.print_json(described.summary(given.output))
    elif "-" not in (given.output, given.svg):
        described.print(given.output)
    if described.was_interrupted:
        outputs.exit_interrupted()


def _check_files(given: Given) -> None:
    """Refuse files that cannot be written, before anything is read."""
    from jensen import io

    if given.output not in (None, "-"):
        known = {"network": "BayesianNetwork", "markov": "MarkovNetwork"}
        holds = known.get(given.model, f"{given.model} model")
        io.check_path(given.output, holds=holds)
    given.check_files()


# --- a given graph ---


def learn_network(given: Given) -> tuple[BayesianNetwork, Table]:
    """Learn the parameters of --graph; the network, and the table that it was learned from."""
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_kinds import kind_of_data

    if given.equivalent_sample_size is not None and given.prior not in SPREAD_PRIORS:
        owners = either(f"--prior {name}" for name in SPREAD_PRIORS)
        raise JensenError(f"--equivalent-sample-size belongs to {owners}")
    known = inputs.read_net(given.graph) if inputs.names_net(given.graph) else None
    chosen = inputs.loop_choices(given) | given.chosen("equivalent_sample_size", "mode", "fixed")
    chosen["blocks"] = [[name.strip() for name in text.split(",")] for text in given.block]
    if given.start is not None:
        chosen["start"] = inputs.read_net(given.start)
    dag = inputs.read_graph(given.graph) if known is None else known.graph
    net = BayesianNetwork(
        dag,
        prior=_scaled_prior(given, dag.nodes),
        hidden=read_hidden(given.hidden),
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


def _check_output(given: Given, kind: NetworkKind) -> None:
    """Refuse a file that cannot hold such a network, before it is learned."""
    from jensen import io

    if given.output not in (None, "-"):
        io.check_path(given.output, holds=kind.fitted.holds)


# --- the prior of the parameters ---


def _has_bge(given: Given) -> bool:
    """Whether the parameters of columns of numbers have the prior bge."""
    return given.prior == "bge" or (given.prior is None and given.method == "vbem")


def _scaled_prior(given: Given, names: Sequence[str]) -> Any:
    """The prior of the parameters, with its scale where one is given and has a meaning."""
    if given.scale is None or not _has_bge(given):
        return _read_prior(given.prior)
    return {"scale": inputs.read_scale(given.scale, names)}


def _read_prior(text: str | None) -> Any:
    """A number if it is one, parts with their numbers, or the name of a prior."""
    from jensen.cli.learn_states import read_prior

    if text is not None and "=" in text:
        return read_prior(text)
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


# --- a learned graph ---


def learn_graph_and_network(given: Given) -> tuple[Any, Table, FoundGraph]:
    """Learn a graph and its parameters; the network, its table, and how the graph was found.

    Instead of the network there is None for tests that were interrupted, which leave a graph of
    nearly all edges.
    """
    from jensen.estimators.network_kinds import kind_of_data
    from jensen.graphs import DAG
    from jensen.q_graph.structural.reading import with_indicators
    from jensen.scores.registry import kind_of_columns
    from jensen.scores.table_checks import noting, warn_of_constants

    check_structure(given)
    prior = read_summed_prior(given.graph_prior)
    table, names, way = _read(given)
    retry = Retry(given)
    refuse_empty(table, names, retry)
    table = read_kinds(table, names)
    columns = kind_of_columns([table.variable(name) for name in names])
    kind = kind_of_data(DAG((), names), table)
    _check_output(given, kind)
    numbers = [name for name in names if table.variable(name).kind != "categorical"]
    scoring = _scoring(given, numbers, columns, way)
    rows = table.complete_rows(names) if given.complete_rows else table
    is_able = given.prior != "bds" and can_learn(way, given.structure, rows, names)
    has_gaps = bool(rows.n_missing(names)) and not is_able
    if has_gaps or (table.n_rows and not rows.n_rows):
        refuse_missing(table, names, retry)
    task = GraphTask(rows, scoring, prior, given)
    net = _estimator(given, names, kind)
    with noting(is_drawn=False) as constant:  # one warning for the graph and the parameters
        found = find_graph(task)
        if isinstance(found.graph, DAG):
            net.graph = found.graph
            _fit(net, with_indicators(rows)[0] if given.missing_indicators else rows, given)
    if not isinstance(found.graph, DAG):
        warn_of_constants(sorted(constant))
        return None, rows, found
    left_out = net.require_any().constants
    warn_of_constants(sorted(constant), "both" if left_out else "score")
    return net, rows, found


def _read(given: Given) -> tuple[Table, list[str], str]:
    """The table, the variables in it, and what is done with missing values."""
    table, way = read_incomplete(given)
    table = inputs.choose_columns(table, given.column, given.without, given.interventions)
    table = table.counted()  # gaps in rows without weight do not matter
    if given.structure != "naive":
        table = inputs.without_row_names(table, given)
    if given.interventions is not None:  # refused before gaps are looked for
        from jensen.scores.interventions import split_interventions

        split_interventions(table, given.interventions)
    names = [name for name in table.names if name != given.interventions]
    if not names:
        raise JensenError("there is no column to learn a graph of")
    return table, names, way


def _scoring(given: Given, numbers: Sequence[str], columns: Kind, way: str) -> dict[str, Any]:
    """The score and its choices, as the library takes them."""
    size, has_numbers = given.equivalent_sample_size, columns != "categorical"
    usual = DEFAULTS[columns]
    if given.structure == "tree":
        usual = UNPENALISED
    if way == "node-average":
        usual = "bic"
    found: dict[str, Any] = {"score": given.score or usual}
    if size is not None and found["score"] in SAMPLE_SIZED:
        found["equivalent_sample_size"] = size
    elif size is not None and given.prior not in SPREAD_PRIORS:
        raise JensenError(
            f"--equivalent-sample-size belongs to --score {either(SAMPLE_SIZED)}, not to "
            f"{found['score']}, or to --prior {either(SPREAD_PRIORS)}"
        )
    found |= row_choices(given, has_numbers)
    if way in ("available-case", "node-average"):
        found["missing"] = way
    if given.scale is not None:
        if has_numbers and found["score"] in WITH_JOINT_PRIOR:
            found["scale"] = inputs.read_scale(given.scale, numbers)
        elif not (has_numbers and _has_bge(given)):
            refuse_scale()
    return found


def _estimator(given: Given, names: Sequence[str], kind: NetworkKind) -> BayesianNetwork:
    """The network, its graph still to be found; choices of its parameters are checked before."""
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_choices import NetworkSettings
    from jensen.graphs import DAG

    chosen = inputs.loop_choices(given) | given.chosen("mode")
    chosen["prior"] = _scaled_prior(given, names) if kind.has_scale else _read_prior(given.prior)
    if given.prior in SPREAD_PRIORS:
        chosen |= given.chosen("equivalent_sample_size")
    chosen["hidden"] = read_hidden(given.hidden)
    net = BayesianNetwork(DAG((), names), **chosen)
    checked = {name: value for name, value in net.get_params().items() if name != "graph"}
    kind.check(NetworkSettings(**{**checked, "hidden": {}}), None)
    return net


def _fit(net: BayesianNetwork, rows: Table, given: Given) -> None:
    """Learn the parameters of the graph that was found."""
    from jensen.estimators.network_kinds import fit_network

    try:
        file = None if given.bootstrap else given.checkpoint
        fit_network(net, rows, given.interventions, file, learned=net.graph)
    except JensenError as error:
        raise error.after(f"the graph is {net.graph}, but its parameters: ") from None


COMMAND = Command(
    name="learn",
    run=run,
    group="Learn",
    options=OPTIONS,
    examples=(
        "jensen learn patients.csv --score bic --max-parents 3 --svg net.svg -o net.json",
        "jensen learn patients.csv --structure exact --tier age,sex --tier smoker,cancer",
        "jensen learn patients.csv --structure pc --test x2 --correction fdr --max-given 3",
        "jensen learn patients.csv --structure exact --graph-prior 'smoker -> cancer=0.9'",
        "jensen learn patients.csv --bootstrap 200 --seed 0 --svg stable.svg",
        "jensen learn holes.csv --score bic --hidden kind=2 --seed 0 -o net.json",
        "jensen learn patients.csv --graph 'smoker -> cancer' --prior bdeu -o net.json",
        "jensen learn answers.csv --graph 'kind -> a; kind -> b' --hidden kind=3 --n-init 10",
        "jensen learn faithful.csv --model mixture --states 6 --prior default -o mixture.json",
        "jensen learn flow.csv --model lds --states 2 -o flow.json",
        "jensen learn tests.csv --model factors --factors 3 -o factors.json",
        "jensen learn answers.csv --model markov --prior ridge=1 -o answers.json",
        "jensen learn walks.csv --model hmm --states 3 --sequences walk -o hmm.json",
    ),
)
