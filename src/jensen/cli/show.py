"""`jensen show`: a network in the terminal."""

from typing import Annotated

import typer

from jensen.cli import options
from jensen.text import plural

NAME = "show"
EPILOG = "Example: jensen show net.json --node cancer; jensen show net.json --svg net.svg"

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


def command(
    net: options.Net,
    node: Nodes = None,
    intervals: Intervals = False,
    svg: Svg = None,
    as_json: options.Json = False,
) -> None:
    """Show the graph and the tables of a network, or draw its graph."""
    from jensen import io

    options.refuse_together({"--svg": svg, "--json": as_json, "--intervals": intervals})
    shown = options.read_net(net)
    if svg is not None:
        options.write_text(shown.to_svg(highlight=node or ()), svg)
        return
    if as_json and node:
        network = shown.require_network()
        options.print_json([io.json_format.entry(network, name) for name in node])
        return
    if as_json:
        options.print_bytes(io.to_bytes(shown))
        return
    if not node:
        print(shown)
        for name, text in shown.require_network().properties.items():
            print(f"{name}: {text}")
        print()
        for name in shown.graph.topological_order():
            parents = ", ".join(shown.graph.parents(name))
            states = plural(len(shown.states[name]), "state")
            print(f"  {parents + ' -> ' if parents else ''}{name}  ({states})")
        print()
    for name in node or shown.graph.topological_order():
        print(shown.posterior(name) if intervals else shown.cpt(name), end="\n\n")
