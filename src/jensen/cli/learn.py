"""`jensen learn`: networks and their graphs, mixtures and hidden Markov models."""

from __future__ import annotations

from typing import Any

from jensen.cli import describe_model, inputs, outputs
from jensen.cli.command import Command, Given
from jensen.cli.learn_network import learn_graph_and_network, learn_network
from jensen.cli.learn_options import KNOWN, LEARNED, OPTIONS
from jensen.cli.learn_states import learn_states, refuse_state_numbers
from jensen.runs.interrupts import interruptible


def run(given: Given) -> None:
    """Learn a model: a network with its graph, or hidden states.

    A network without --graph learns the graph of all columns, from complete rows, and then its
    parameters (without --prior the most likely ones); with --graph it learns the parameters, and
    values may be missing anywhere, whole variables too. The other models learn hidden states:
    which component, class or state made a row.
    """
    inputs.set_threads(given.threads)
    given.refuse_two_inputs("data", "graph", "start", "start_graph", "prior_network")
    _check_files(given)
    given.refuse_together(
        ("-o -", given.output == "-"), ("--svg -", given.svg == "-"), ("--json", given.as_json)
    )
    if given.model == "network":
        _write(_learn_network(given), given)
        return
    given.check()
    with interruptible():  # while rows are prepared, an interrupt lets the first sweep end
        _write(describe_model.DescribedStates(*learn_states(given)), given)


def _learn_network(given: Given) -> Any:
    given.check(graph=LEARNED if given.graph is None else KNOWN)
    refuse_state_numbers(given)
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
        holds = "BayesianNetwork" if given.model == "network" else f"{given.model} model"
        io.check_path(given.output, holds=holds)
    outputs.check_files(given)


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
        "jensen learn patients.csv --graph 'smoker -> cancer' --prior bdeu -o net.json",
        "jensen learn answers.csv --graph 'kind -> a; kind -> b' --hidden kind=3 --n-init 10",
        "jensen learn faithful.csv --model mixture --states 6 --prior default -o mixture.json",
        "jensen learn walks.csv --model hmm --states 3 --sequences walk -o hmm.json",
    ),
)
