"""`jensen score`: how well a graph or a model explains data."""

from __future__ import annotations

import math
import warnings
from typing import Any

from jensen.cli import inputs, options, outputs
from jensen.cli.command import OUTPUT, Command, Given, Option
from jensen.cli.structure import check_scaled, name_score, read_summed_prior
from jensen.cli.table_rows import read_state_rows
from jensen.scores.registry import DEFAULTS, TOLD
from jensen.support.text import grid, show_number

GRAPH, TABLES = "the score of a graph", "a network's own tables"
"""What rows are scored by, where a network is given."""


def run(given: Given) -> None:
    """Score a graph (a total, higher is better) or the rows under a network's own tables.

    A network's own tables score rows with values missing anywhere, as do other models, with their
    AIC and BIC (of these lower is better); the score of a graph needs complete rows.
    """
    inputs.set_threads(given.threads)
    given.refuse_two_inputs("subject", "data", "prior_network")
    model = inputs.read_model(given.subject) if inputs.names_net(given.subject) else None
    kind = "network" if model is None else inputs.kind_of(model)
    given.check(model=kind)
    if kind != "network":
        _print(_score_states(given, model), given)
        return
    by_tables = model is not None and given.score is None
    if model is not None and not by_tables:
        inputs.require_arrows(model, given.subject)
    given.check(model=kind, scored_by=TABLES if by_tables else GRAPH)
    graph = inputs.read_graph(given.subject) if model is None else model.graph
    table = inputs.read_table(given, given.states)
    if given.complete_rows:
        table = table.complete_rows([name for name in graph.nodes if name in table])
    if by_tables:
        _print(_score_rows(model, table, given.missing_columns), given)
    else:
        _print(_score_graph(given, graph, table), given)


def _print(answer: dict[str, Any], given: Given) -> None:
    if given.as_json:
        outputs.print_json(answer)
        return
    terms = answer.pop("terms", {})
    shown = [[name.replace("_", " "), show_number(x)] for name, x in answer.items()]
    print(grid(shown, left=1))
    if given.local:
        print()
        print(grid([[name, f"{value:.6f}"] for name, value in terms.items()], left=1))


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


def _score_states(given: Given, model: Any) -> dict[str, Any]:
    """Rows, or the steps of sequences, under a mixture or hidden Markov model."""
    import numpy as np

    rows = read_state_rows(given, model, given.weights)
    table, lengths = rows.written.table, rows.sequences.lengths
    answer: dict[str, Any] = {"rows": table.total_weight}
    if model.noun in ("state", "dimension"):
        log_like = model.log_likelihood(rows.inputs, lengths)
        weight = rows.sequences.weights(table.weights)
        answer = {"sequences": float(len(lengths)), **answer}
    else:
        log_like = model.log_likelihood(rows.inputs)
        weight = np.ones(len(log_like)) if table.weights is None else table.weights
    total = float((weight * log_like)[weight > 0.0].sum())
    answer |= {"log_likelihood": total, "per_row": total / table.total_weight}
    lost = (log_like == -math.inf) & (weight > 0.0)
    if lost.any():
        gone = lengths[lost].sum() if len(log_like) == len(lengths) else lost.sum()
        answer["impossible_rows"] = int(gone)
    p = model.n_parameters
    answer["aic"] = -2.0 * total + 2.0 * p
    answer["bic"] = -2.0 * total + math.log(table.total_weight) * p
    return answer


def _score_graph(given: Given, graph: Any, table: Any) -> dict[str, Any]:
    from jensen.scores import local_scores
    from jensen.scores.registry import kind_of_columns

    columns = [table.variable(name) for name in graph.nodes]
    name = given.score or DEFAULTS[kind_of_columns(columns)]
    choices: dict[str, Any] = given.chosen("equivalent_sample_size")
    if given.scale is not None:
        check_scaled(name)
        numbers = [variable.name for variable in columns if variable.kind != "categorical"]
        choices["scale"] = inputs.read_scale(given.scale, numbers)
    if given.available_case:
        choices["missing"] = "available-case"
    if given.prior_network is not None:
        choices["prior_network"] = inputs.read_net(given.prior_network)
    prior = read_summed_prior(given.graph_prior)
    terms = local_scores(graph, table, name, **choices, prior=prior)
    shown = name_score(name, prior)
    return {"rows": table.total_weight, shown: sum(terms.values()), "terms": terms}


def _for_networks(option: Option) -> Option:
    return option.but(belongs={"model": ("network",)})


def _for_graphs(option: Option) -> Option:
    return option.but(
        belongs={"model": ("network",), "scored_by": (GRAPH,)},
        because=f"add --score {DEFAULTS['categorical']} (or another) to score its graph",
    )


COMMAND = Command(
    name="score",
    run=run,
    group="Ask",
    options=(
        Option("subject", "The file of a model, or a graph like 'A -> B'.", metavar="MODEL|GRAPH"),
        options.TABLE,
        *options.READING,
        _for_networks(options.CATEGORICAL),
        _for_networks(options.CONTINUOUS),
        _for_networks(options.COUNTS),
        _for_networks(options.STATES),
        options.WEIGHTS,
        _for_networks(options.COMPLETE_ROWS),
        _for_networks(options.DISCRETIZE),
        options.SEQUENCES,
        options.MISSING_COLUMNS.but(
            belongs={"model": ("network",), "scored_by": (TABLES,)},
            because="the score of a graph needs a column for every variable",
        ),
        _for_networks(options.SCORE).but(help=f"The score of a graph: {TOLD}"),
        _for_graphs(options.GRAPH_PRIOR),
        _for_graphs(options.PRIOR_NETWORK),
        _for_graphs(options.AVAILABLE_CASE),
        _for_graphs(options.SAMPLE_SIZE),
        _for_graphs(options.SCALE),
        _for_graphs(
            Option("local", "Show the term of every variable.", OUTPUT, kind=bool, default=False)
        ),
        options.JSON,
        options.THREADS,
    ),
    examples=("jensen score 'smoker -> cancer' patients.csv --score bic",),
)
