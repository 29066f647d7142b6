"""`jensen score`: how well a graph or a model explains data."""

import math
import warnings
from typing import Annotated, Any

import typer

from jensen.cli import inputs, options, outputs
from jensen.cli.gaussian_scale import Scale, check_scaled, read_scale
from jensen.cli.graph_prior import GraphPrior, name_score, read_summed_prior
from jensen.cli.state_rows import read_state_rows
from jensen.exceptions import JensenError
from jensen.scores.registry import DEFAULTS, TOLD
from jensen.support.text import grid

NAME = "score"
EPILOG = "Example: jensen score 'smoker -> cancer' patients.csv --score bic"

Subject = Annotated[
    str, typer.Argument(metavar="MODEL|GRAPH", help="A file of a model, or a graph like 'A -> B'.")
]
Name = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="SCORE",
        help=f"Of a graph: {TOLD}",
    ),
]
Local = Annotated[bool, typer.Option("--local", help="Show the term of every variable.")]


def command(
    subject: Subject,
    data: options.Data,
    score: Name = None,
    equivalent_sample_size: options.SampleSize = None,
    scale: Scale = None,
    prior_network: options.PriorNetwork = None,
    graph_prior: GraphPrior = None,
    available_case: options.AvailableCase = False,
    local: Local = False,
    sequences: options.Sequences = None,
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    missing_columns: options.OnMissingColumns = options.MissingColumns.WARN,
    categorical: options.Categorical = None,
    continuous: options.Continuous = None,
    weights: options.Weights = None,
    states: options.States = None,
    complete_rows: options.CompleteRows = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Score a graph (a total, higher is better) or the rows under a network's own tables.

    A network's own tables score rows with values missing anywhere, as do other models, with their
    AIC and BIC (of these lower is better); the score of a graph needs complete rows.
    """
    options.set_threads(threads)
    options.refuse_two_inputs(subject, data, prior_network)
    net = inputs.read_model(subject) if inputs.names_net(subject) else None
    reading = inputs.Reading(missing, separator, decimal)
    if net is not None and not inputs.is_network(net):
        of_graphs = {
            "--score": score,
            "--equivalent-sample-size": equivalent_sample_size is not None,
            "--scale": scale,
            "--prior-network": prior_network,
            "--graph-prior": graph_prior,
            "--available-case": available_case,
            "--local": local,
            "--categorical": categorical,
            "--continuous": continuous,
            "--states": states,
            "--complete-rows": complete_rows,
            "--missing-columns": missing_columns is not options.MissingColumns.WARN,
        }
        options.refuse_for_states(net, of_graphs)
        _print(_score_states(net, data, reading, sequences, weights), as_json)
        return
    options.refuse_for_networks({"--sequences": sequences})
    graph = inputs.read_graph(subject) if net is None else net.graph
    table = inputs.read_data(data, reading, categorical, weights, states, continuous)
    if complete_rows:
        table = table.complete_rows([name for name in graph.nodes if name in table])
    if score is None and net is not None:
        _refuse_options(
            {
                "--local": local,
                "--available-case": available_case,
                "--equivalent-sample-size": equivalent_sample_size is not None,
                "--scale": scale,
                "--prior-network": prior_network,
                "--graph-prior": graph_prior,
            }
        )
        answer = _score_rows(net, table, missing_columns.value)
    else:
        if missing_columns is not options.MissingColumns.WARN:
            raise JensenError(
                "--missing-columns belongs to a network's own tables: the score of a graph needs "
                "a column for every variable"
            )
        name = score or _usual_score(graph, table)
        if scale is not None:
            check_scaled(name)
        given = {} if scale is None else {"scale": read_scale(scale, graph.nodes)}
        answer = _score_graph(
            graph,
            table,
            name,
            **given,
            equivalent_sample_size=equivalent_sample_size,
            missing="available-case" if available_case else "refuse",
            prior_network=None if prior_network is None else inputs.read_net(prior_network),
            prior=read_summed_prior(graph_prior),
        )
    _print(answer, as_json, local)


def _print(answer: dict[str, Any], as_json: bool, local: bool = False) -> None:
    if as_json:
        outputs.print_json(answer)
        return
    terms = answer.pop("terms", {})
    shown = [[name.replace("_", " "), outputs.show_number(x)] for name, x in answer.items()]
    print(grid(shown, left=1))
    if local:
        print()
        print(grid([[name, f"{value:.6f}"] for name, value in terms.items()], left=1))


def _refuse_options(given: dict[str, object]) -> None:
    """Say which options belong to a score; none is ignored in silence."""
    for name, is_given in given.items():
        if is_given:
            raise JensenError(
                f"{name} belongs to the score of a graph, but a network's own tables score the "
                f"rows: add --score {DEFAULTS['categorical']} (or another) to score its graph"
            )


def _score_rows(net: Any, table: Any, missing_columns: str) -> dict[str, Any]:
    mean = net.score(table, missing_columns=missing_columns)
    answer = {
        "rows": table.total_weight,
        "log_likelihood": mean * table.total_weight,
        "per_row": mean,
    }
    if mean == -math.inf:
        answer["impossible_rows"] = _impossible(net, table)
    return answer


def _impossible(net: Any, table: Any) -> int:
    """How many rows have probability 0."""
    with warnings.catch_warnings(action="ignore"):  # told when they were scored
        each = net.log_likelihood(table, missing_columns="ignore")
    return int((each == -math.inf).sum())


def _score_states(
    model: Any, data: str, reading: inputs.Reading, sequences: str | None, weights: str | None
) -> dict[str, Any]:
    """Rows, or the steps of sequences, under a mixture or hidden Markov model."""
    import numpy as np

    rows = read_state_rows(model, data, reading, sequences, weights)
    table, lengths = rows.written.table, rows.groups.lengths
    answer: dict[str, Any] = {"rows": table.total_weight}
    if model.noun == "state":
        log_like = model.log_likelihood(rows.inputs, lengths)
        weight = rows.groups.weights(table.weights)
        answer = {"sequences": float(len(lengths)), **answer}
    else:
        log_like = model.log_likelihood(rows.inputs)
        weight = np.ones(len(log_like)) if table.weights is None else table.weights
    total = float((weight * log_like)[weight > 0.0].sum())
    answer |= {"log_likelihood": total, "per_row": total / table.total_weight}
    lost = (log_like == -math.inf) & (weight > 0.0)
    if lost.any():
        gone = lengths[lost].sum() if model.noun == "state" else lost.sum()
        answer["impossible_rows"] = int(gone)
    p = model.n_parameters
    answer["aic"] = -2.0 * total + 2.0 * p
    answer["bic"] = -2.0 * total + math.log(table.total_weight) * p
    return answer


def _usual_score(graph: Any, table: Any) -> str:
    kinds = {table.variable(name).kind for name in graph.nodes}
    return DEFAULTS["continuous" if kinds == {"continuous"} else "categorical"]


def _score_graph(graph: Any, table: Any, name: str, **choices: Any) -> dict[str, Any]:
    from jensen.scores import local_scores

    terms = local_scores(graph, table, name, **choices)
    shown = name_score(name, choices["prior"])
    return {"rows": table.total_weight, shown: sum(terms.values()), "terms": terms}
