"""`jensen evidence`: how probable a table is under a model, its parameters integrated out."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from jensen.cli import inputs, options, outputs
from jensen.cli.command import PARAMETERS, QUESTION, SAMPLING, Command, Given, Option
from jensen.cli.table_rows import read_state_rows
from jensen.exceptions import JensenError

METHODS = ("exact", "bic", "cheeseman-stutz", "laplace", "vb", "ais", "smc", "bridge")
CLIMB = {"method": ("bic", "cheeseman-stutz", "laplace", "vb")}
CHAINS = {"method": ("ais", "smc", "bridge")}
ANNEALED = {"method": ("ais", "smc")}
CHOICES = (
    "n_init", "n_chains", "n_temperatures", "n_samples", "checkpoint", "reverse", "simulate",
)  # fmt: skip


def run(given: Given) -> None:
    """Find log p(rows | model), with parameters and hidden values integrated out.

    MODEL is a file, of which the choices count (its prior above all), not what it has learned; or a
    graph such as 'A -> B', whose tables have the prior of --prior. The rows decide between models:
    the one with the higher evidence is the more probable one.
    """
    from jensen.evidence.methods import log_evidence

    inputs.set_threads(given.threads)
    given.refuse_two_inputs("subject", "data")
    is_file = inputs.names_net(given.subject)
    model = inputs.read_model(given.subject) if is_file else _of_graph(given)
    kind = inputs.kind_of(model) if is_file else "graph"
    if kind == "network":
        inputs.require_arrows(model, given.subject)
    given.check(
        model="network" if kind == "graph" else kind,
        prior_of="a graph" if kind == "graph" else "a file",
        method=given.method,
    )
    rows, fit = _rows(given, model, kind)
    found = log_evidence(
        model,
        rows,
        given.method,
        **given.chosen(*CHOICES),
        random_state=given.seed,
        progress=sys.stderr.isatty(),
        **fit,
    )
    if given.as_json:
        outputs.print_json(found.to_dict())
    else:
        print(found)


def _of_graph(given: Given) -> Any:
    """A network with the graph that a text spells, and a prior of its parameters."""
    from jensen.estimators.bayesian_network import BayesianNetwork

    prior: Any = given.prior or "bdeu"
    with suppress(ValueError):
        prior = float(prior)
    return BayesianNetwork(inputs.read_graph(given.subject), prior=prior)


def _rows(given: Given, model: Any, kind: str) -> tuple[Any, dict[str, Any]]:
    """The rows as the model takes them, and what else its `fit` is told."""
    if kind in ("network", "graph"):
        table = inputs.read_table(given, given.states)
        return table if kind == "graph" else inputs.read_as(table, model), {}
    if kind == "posterior":
        raise JensenError("a posterior over graphs has no evidence of its own: give a model")
    found = read_state_rows(given, model, given.weights)
    weights = found.written.table.weights
    if model.noun == "state":
        fit: dict[str, Any] = {"lengths": found.sequences.lengths}
        if weights is not None:
            fit["sequence_weight"] = found.sequences.weights(weights)
        return found.inputs, fit
    is_table = hasattr(model, "n_classes")
    return found.inputs, {} if weights is None or is_table else {"sample_weight": weights}


def _for_networks(option: Option) -> Option:
    return option.but(belongs={"model": ("network",)})


COMMAND = Command(
    name="evidence",
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
        _for_networks(options.DISCRETIZE),
        options.SEQUENCES,
        Option(
            "method",
            "How: exact (sums over what is hidden, if that is little); bic, laplace: asymptotic; "
            "cheeseman-stutz, vb: lower bounds; ais, smc, bridge: estimates with standard errors.",
            QUESTION,
            values=METHODS,
            default="vb",
        ),
        Option(
            "prior",
            "The prior of the tables of a graph: bdeu, k2, or a concentration (default bdeu).",
            PARAMETERS,
            metavar="PRIOR",
            suggested=("bdeu", "k2"),
            belongs={"prior_of": ("a graph",)},
            because="a file holds its own",
        ),
        Option(
            "n_init", "How many random starts (default: the model's own, at least 10).", SAMPLING,
            kind=int, metavar="N", at_least=1, belongs=CLIMB,
        ),
        Option(
            "n_chains", "How many chains (default 1000; bridge: 20).", SAMPLING, kind=int,
            metavar="N", at_least=2, belongs=CHAINS,
        ),
        Option(
            "n_temperatures", "How many temperatures (default: as a pilot run finds them needed).",
            SAMPLING, kind=int, metavar="N", at_least=1, belongs=ANNEALED,
        ),
        Option(
            "n_samples", "How many sweeps of each chain are kept (default 100).", SAMPLING,
            kind=int, metavar="N", at_least=10, belongs={"method": ("bridge",)},
        ),
        Option(
            "reverse", "Take the chains back to the prior, too, as a check.", SAMPLING, kind=bool,
            belongs=ANNEALED,
        ),
        Option(
            "simulate",
            "Ask of rows drawn from the model, with the gaps of DATA: between the ways up and "
            "down their evidence lies.",
            SAMPLING, kind=bool, belongs=ANNEALED,
        ),
        options.SEED,
        options.CHECKPOINT.but(belongs=ANNEALED),
        options.JSON,
        options.THREADS,
    ),
    examples=("jensen evidence classes.json patients.csv --method ais --seed 0",),
)  # fmt: skip
