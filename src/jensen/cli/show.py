"""`jensen show`: a model in the terminal."""

from typing import Annotated, Any

import typer

from jensen.cli import inputs, options, outputs
from jensen.exceptions import JensenError

NAME = "show"
EPILOG = "Example: jensen show net.json --node cancer; jensen show net.json --svg net.svg --beliefs"

Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="NAME",
        help="Only this variable's table (in a picture: marked); repeatable.",
    ),
]
Svg = Annotated[
    str | None,
    typer.Option(
        "--svg", metavar="FILE", help="Draw the graph into this file instead; - prints it."
    ),
]
Intervals = Annotated[
    bool, typer.Option("--intervals", help="Show how sure the tables are (after vbem).")
]
Beliefs = Annotated[
    bool,
    typer.Option(
        "--beliefs",
        help="Draw the probabilities of the states into the picture, also --given what is known.",
    ),
]


def command(
    net: options.Model,
    node: Nodes = None,
    intervals: Intervals = False,
    svg: Svg = None,
    beliefs: Beliefs = False,
    given: options.Given = None,
    do: options.Do = None,
    as_json: options.Json = False,
) -> None:
    """Show the graph and the tables of a network, or draw its graph; the parameters of others.

    Of a posterior over graphs: the edges and how probable they are.
    """
    options.refuse_together({"--svg": svg, "--json": as_json, "--intervals": intervals})
    _refuse_lonely({"--beliefs": beliefs}, "--svg", svg is not None)
    _refuse_lonely({"--given": given, "--do": do}, "--beliefs", beliefs)
    if svg is not None:
        outputs.check_svg_path(svg)
    shown = inputs.read_file(net)
    if inputs.is_posterior(shown):
        options.refuse_for_states(
            shown, {"--node": node, "--intervals": intervals, "--beliefs": beliefs}
        )
        _show_posterior(shown, svg, as_json)
        return
    if not inputs.is_network(shown):
        options.refuse_for_states(
            shown, {"--node": node, "--intervals": intervals, "--svg": svg is not None}
        )
        _show_states(shown, as_json)
        return
    if svg is not None:
        known = {
            "given": inputs.read_findings("--given", given, shown),
            "do": inputs.read_findings("--do", do, shown),
        }
        drawn = shown.to_svg(beliefs=beliefs or None, highlight=node or (), **known)
        outputs.write_text(drawn, svg)
        return
    _show_network(shown, node, intervals, as_json)


def _show_network(shown: Any, node: list[str] | None, intervals: bool, as_json: bool) -> None:
    """The variables of a network, and what is known of each given its parents."""
    from jensen import io

    network = shown.require_any()
    if as_json and node:
        outputs.print_json([network.entry(name) for name in node])
        return
    if as_json:
        outputs.print_bytes(io.to_bytes(shown))
        return
    names = node or shown.graph.topological_order()
    each = [network.posterior(x) if intervals else network.conditional(x) for x in names]
    if not node:
        outline = network.outline()
        print(f"{shown.summary()}\n" if outline is None else f"{shown}\n{outline}")
    for one in each:
        print(one, end="\n\n")


def _show_states(shown: Any, as_json: bool) -> None:
    """A mixture or hidden Markov model."""
    from jensen.cli.learned_states import description

    if as_json:
        outputs.print_json(description(shown))
    else:
        print(shown.summary())


def _refuse_lonely(given: dict[str, object], needed: str, is_there: bool) -> None:
    """Say which option another one needs; none is ignored in silence."""
    for name, value in given.items():
        if value and not is_there:
            raise JensenError(f"{name} belongs to {needed}, which is not there: add it")


def _show_posterior(post: Any, svg: str | None, as_json: bool) -> None:
    """The edges of a posterior over graphs, as `jensen posterior` tells them."""
    from jensen.cli.posterior_told import THRESHOLD, summary, tell

    if svg is not None:
        outputs.write_text(post.to_svg(THRESHOLD), svg)
    elif as_json:
        outputs.print_json(summary(post, THRESHOLD, None, None))
    else:
        tell(post, THRESHOLD)
