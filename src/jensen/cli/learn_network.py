"""`jensen learn --model network`: tables of a given graph."""

import sys
from collections.abc import Sequence
from typing import Any

from jensen.cli import inputs, options
from jensen.cli.gaussian_scale import read_scale, refuse_scale
from jensen.cli.learn_options import Loop, NetworkChoices, Source
from jensen.exceptions import JensenError
from jensen.scores.registry import SPREAD_PRIORS
from jensen.support.text import either


def learn_network(
    source: Source, loop: Loop, graph: str, choices: NetworkChoices
) -> tuple[Any, Any]:
    """Learn; the network, and the table that it was learned from."""
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_kinds import kind_of_data

    _, prior, equivalent_sample_size, scale, hidden, states, start, checkpoint, _ = choices
    options.refuse_two_inputs(source.data, graph, start)
    if equivalent_sample_size is not None and prior not in SPREAD_PRIORS:
        owners = either(f"--prior {name}" for name in SPREAD_PRIORS)
        raise JensenError(f"--equivalent-sample-size belongs to {owners}")
    known = inputs.read_net(graph) if inputs.names_net(graph) else None
    chosen = loop.chosen()
    if equivalent_sample_size is not None:
        chosen["equivalent_sample_size"] = equivalent_sample_size
    if start is not None:
        chosen["start"] = inputs.read_net(start)
    dag = inputs.read_graph(graph) if known is None else known.graph
    net = BayesianNetwork(
        dag,
        prior=scaled_prior(choices, loop, dag.nodes),
        hidden=dict(map(_one_hidden, hidden or [])) or None,
        progress=sys.stderr.isatty(),
        **chosen,
    )
    table = source.read(states)
    if known is not None:
        table = inputs.read_as(table, known)
    if source.complete_rows:
        seen = [x for x in net.graph.nodes if x in table and x not in (net.hidden or {})]
        table = table.complete_rows(seen)
    kind = kind_of_data(net.graph, table)
    if scale is not None and not (kind.has_scale and has_bge(choices, loop)):
        refuse_scale()
    choices.check_output(kind.fitted.holds)
    return net.fit(table, checkpoint=checkpoint), table


def has_bge(choices: NetworkChoices, loop: Loop) -> bool:
    """Whether the parameters of columns of numbers have the prior bge."""
    return choices.prior == "bge" or (choices.prior is None and loop.method == "vbem")


def scaled_prior(choices: NetworkChoices, loop: Loop, names: Sequence[str]) -> Any:
    """The prior of the parameters, with its scale where one is given and has a meaning."""
    if choices.scale is None or not has_bge(choices, loop):
        return read_prior(choices.prior)
    return {"scale": read_scale(choices.scale, names)}


def read_prior(text: str | None) -> Any:
    """A number if it is one, else the name of a prior."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _one_hidden(text: str) -> tuple[str, int | list[str]]:
    """NAME=3 or NAME=a,b,c; a name may hold =, so the last one counts."""
    name, equals, states = text.rpartition("=")
    if not equals:
        raise JensenError(
            f"--hidden {text}: write the node, =, and its number of states or their labels: "
            f"--hidden {text}=2"
        )
    return name, int(states) if states.strip().isdecimal() else states.split(",")
