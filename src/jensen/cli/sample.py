"""`jensen sample`: rows drawn from a network."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from jensen.cli import options
from jensen.text import plural

NAME = "sample"
EPILOG = "Example: jensen sample net.json -n 1000 --seed 0 -o rows.csv"

Rows = Annotated[int, typer.Option("-n", metavar="N", help="How many rows.")]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="A CSV, TSV or Parquet file, also .gz; - prints CSV.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, help="The same seed gives the same rows."),
]


def command(
    net: options.Net,
    n: Rows = 1000,
    output: Output = "-",
    seed: Seed = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Draw rows from a network."""
    options.set_threads(threads)
    if output != "-":
        _check_path(output)
    table = options.read_net(net).sample(n, random_state=seed, progress=sys.stderr.isatty())
    if output != "-":
        table.write(output)
    if as_json:
        answer = {"rows": n, "output": output}
        options.print_json(table.to_arrow().to_pylist() if output == "-" else answer)
    elif output == "-":
        table.write_csv(sys.stdout.buffer)
    else:
        print(f"{plural(n, 'row')} written to {output}", file=sys.stderr)


def _check_path(output: str) -> None:
    """Refuse a path that cannot be written, before rows are drawn."""
    from jensen.atomic import check_target
    from jensen.data.files import table_suffix

    table_suffix(Path(output))
    check_target(output)
