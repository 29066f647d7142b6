"""`jensen sample`: rows drawn from a network."""

import sys
from typing import Annotated

import typer

from jensen.cli import options
from jensen.text import plural

NAME = "sample"
EPILOG = "Example: jensen sample net.json -n 1000 --given smoker=yes --seed 0 -o rows.csv"

Rows = Annotated[int, typer.Option("-n", metavar="N", help="How many rows.")]


def command(
    net: options.Net,
    n: Rows = 1000,
    given: options.Given = None,
    do: options.Do = None,
    output: options.Rows = "-",
    seed: options.Seed = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Draw rows from a network, also given what is known of some variables."""
    options.set_threads(threads)
    options.check_table_path(output, net)
    asked = options.read_net(net)
    table = asked.sample(
        n,
        given=options.read_findings("--given", given, asked),
        do=options.read_findings("--do", do, asked),
        random_state=seed,
        progress=sys.stderr.isatty(),
    )
    if output != "-":
        table.write(output)
    if as_json:
        answer = {"rows": n, "output": output}
        options.print_json(table.to_arrow().to_pylist() if output == "-" else answer)
    elif output == "-":
        table.write_csv(sys.stdout.buffer)
    else:
        options.tell(f"{plural(n, 'row')} written to {output}")
