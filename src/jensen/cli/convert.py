"""`jensen convert`: a model from one file format to another."""

from typing import Annotated

import typer

from jensen.cli import inputs, options

NAME = "convert"
EPILOG = "Example: jensen convert alarm.bif alarm.json"

Target = Annotated[
    str, typer.Argument(metavar="OUT", help="The file to write; the suffix tells the format.")
]


def command(net: options.Model, out: Target) -> None:
    """Read a network in one format and write it in another; other models are kept in JSON."""
    from jensen import io

    io.check_path(out)
    io.save(inputs.read_model(net), out)
