"""`jensen convert`: a model from one file format to another."""

from jensen.cli import inputs, options
from jensen.cli.command import Command, Given, Option


def run(given: Given) -> None:
    """Read a network in one format and write it in another; other models are kept in JSON."""
    from jensen import io

    io.check_path(given.out)
    io.save(inputs.read_model(given.file), given.out)


OUT = Option("out", "The file to write; its suffix tells the format.", metavar="OUT")
COMMAND = Command(
    name="convert",
    run=run,
    group="Tools",
    options=(options.MODEL_FILE, OUT),
    examples=("jensen convert alarm.bif alarm.json",),
)
