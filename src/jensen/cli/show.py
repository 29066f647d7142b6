"""`jensen show`: a network in the terminal."""

from typing import Annotated

import typer

from jensen.cli import options
from jensen.text import plural

NAME = "show"
EPILOG = "Example: jensen show net.json --node cancer"

Nodes = Annotated[
    list[str] | None, typer.Option("--node", help="Show only this variable's table; repeatable.")
]


def command(net: options.Net, node: Nodes = None, as_json: options.Json = False) -> None:
    """Show the graph and the tables of a network."""
    shown = options.read_net(net)
    if as_json:
        from jensen.io import json_format

        print(json_format.dumps(shown), end="")
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
        print(shown.cpt(name), end="\n\n")
