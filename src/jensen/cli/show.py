"""`jensen show`: a model in the terminal."""

from __future__ import annotations

from typing import Any

from jensen.cli import describe_posterior, inputs, options, outputs
from jensen.cli.command import OUTPUT, QUESTION, Command, Given, Option
from jensen.cli.describe_states import states_summary
from jensen.exceptions import JensenError
from jensen.support.text import LIKELY


def run(given: Given) -> None:
    """Show the graph and the tables of a network, or draw its graph; the parameters of others.

    Of a posterior over graphs: the edges and how probable they are.
    """
    given.refuse_together(
        ("--svg", given.svg), ("--json", given.as_json), ("--intervals", given.intervals)
    )
    given.refuse_together(
        ("--svg", given.svg), ("--intervals", given.intervals), ("--standard-errors", given.data)
    )
    given.refuse_two_inputs("file", "data")
    if given.svg is not None:
        outputs.check_svg_path(given.svg)
    given.check()
    shown = inputs.read_file(given.file)
    kind = inputs.kind_of(shown)
    given.check(model=kind)
    if kind == "posterior":
        _show_posterior(given, shown)
    elif kind != "network":
        if given.as_json:
            outputs.print_json(states_summary(shown))
        else:
            print(shown.summary())
    elif not inputs.has_arrows(shown):
        _show_markov(given, shown)
    elif given.svg is not None:
        evidence = inputs.read_evidence(given, shown)
        drawn = shown.to_svg(beliefs=given.beliefs or None, highlight=given.node, **evidence)
        outputs.write_text(drawn, given.svg)
    elif given.data is not None:
        _show_errors(given, shown)
    else:
        _show_network(given, shown)


def _show_errors(given: Given, shown: Any) -> None:
    """The standard errors of a network, from the rows that it was learned from."""
    from jensen.inference.parameter_errors import StandardErrors

    table = inputs.read_as(inputs.read_table(given, []), shown)
    found = shown.standard_errors(table)
    found = StandardErrors({x: found[x] for x in given.node or found}, found.least_information)
    if given.as_json:
        outputs.print_json(found.to_pandas().to_dict("records"))
    else:
        print(found)


def _show_markov(given: Given, shown: Any) -> None:
    """A Markov network: its variables with their neighbours, and all effects."""
    from jensen import io

    if given.intervals:
        raise JensenError("--intervals belong to posteriors, and a Markov network has none")
    if given.svg is not None:
        evidence = inputs.read_evidence(given, shown)
        drawn = shown.to_svg(beliefs=given.beliefs, highlight=given.node, **evidence)
        outputs.write_text(drawn, given.svg)
    elif given.data is not None:
        table = inputs.read_as(inputs.read_table(given, []), shown)
        _print_effects(given, shown.standard_errors(table))
    elif given.as_json and not given.node:
        outputs.print_bytes(io.to_bytes(shown))
    else:
        if not given.as_json:
            print(f"{shown.summary()}\n")
        _print_effects(given, shown.effects())


def _print_effects(given: Given, found: Any) -> None:
    """Effects, or those of some variables."""
    chosen = found.of(given.node) if given.node else found
    if given.as_json:
        outputs.print_json(chosen.plain())
    else:
        print(chosen)


def _show_network(given: Given, shown: Any) -> None:
    """The variables of a network, and the distribution of each given its parents."""
    from jensen import io

    network = shown.require_any()
    if given.as_json and given.node:
        outputs.print_json([network.entry(name) for name in given.node])
        return
    if given.as_json:
        outputs.print_bytes(io.to_bytes(shown))
        return
    names = given.node or shown.graph.topological_order()
    each = [network.posterior(x) if given.intervals else network.conditional(x) for x in names]
    if not given.node:
        outline = network.outline()
        print(f"{shown.summary()}\n" if outline is None else f"{shown}\n{outline}")
    for one in each:
        print(one, end="\n\n")


def _show_posterior(given: Given, post: Any) -> None:
    """The edges of a posterior over graphs, as `jensen posterior` shows them."""
    if given.svg is not None:
        outputs.write_text(post.to_svg(), given.svg)
    elif given.as_json:
        outputs.print_json(describe_posterior.summary(post, LIKELY, None, None))
    else:
        describe_posterior.show(post, LIKELY)


KINDS = options.CATEGORICAL, options.CONTINUOUS, options.WEIGHTS, options.DISCRETIZE
NETWORK = {"model": ("network",)}
COMMAND = Command(
    name="show",
    run=run,
    group="Ask",
    options=(
        options.MODEL_FILE,
        Option(
            "node",
            "Only the table of this variable (in a picture: marked); repeatable.",
            QUESTION,
            many=True,
            metavar="NAME",
            belongs=NETWORK,
        ),
        Option(
            "intervals",
            "Show how sure the tables are (after vbem).",
            QUESTION,
            kind=bool,
            default=False,
            belongs=NETWORK,
        ),
        Option(
            "data",
            "Show standard errors of a network learned by em, from the rows that it was learned "
            "from: a CSV, TSV or Parquet file, also .gz; values may be missing.",
            QUESTION,
            flags=("--standard-errors",),
            metavar="DATA",
            belongs=NETWORK,
        ),
        *(option.but(needs="data") for option in (*options.READING, *KINDS)),
        options.GIVEN.but(needs="beliefs"),
        options.DO.but(needs="beliefs"),
        options.SVG.but(
            help="Draw the graph into this file instead; - prints the picture.",
            belongs={"model": ("network", "posterior")},
        ),
        Option(
            "beliefs",
            "Draw the probabilities of the states into the picture, also --given what is known.",
            OUTPUT,
            kind=bool,
            default=False,
            needs="svg",
            belongs=NETWORK,
        ),
        options.JSON,
    ),
    examples=(
        "jensen show net.json --node cancer",
        "jensen show net.json --svg net.svg --beliefs",
        "jensen show net.json --standard-errors patients.csv",
    ),
)
