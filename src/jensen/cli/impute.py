"""`jensen impute`: missing values filled in."""

from enum import StrEnum
from typing import Annotated

import typer

from jensen.cli import inputs, options, outputs
from jensen.cli.rows import read_written, write_rows
from jensen.support.text import plural

NAME = "impute"
EPILOG = "Example: jensen impute net.json patients.csv -o filled.csv --method draw --seed 0"


class Method(StrEnum):
    """How a missing value is chosen."""

    MODE = "mode"
    MARGINAL = "marginal"
    DRAW = "draw"


How = Annotated[
    Method,
    typer.Option(
        "--method",
        help="The most probable completion of the row, of each cell alone, or a random draw.",
    ),
]


def command(
    net: options.Net,
    data: options.Data,
    method: How = Method.MODE,
    seed: options.Seed = None,
    output: options.Rows = "-",
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    missing_columns: options.OnMissingColumns = options.MissingColumns.WARN,
    impossible: options.OnImpossible = options.Impossible.RAISE,
    unknown: options.OnUnknown = options.Unknown.RAISE,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Fill in the missing values of a table; all else stays as it is written."""
    import pyarrow as pa

    from jensen.data.fill_missing import fill_arrow

    options.set_threads(threads)
    options.refuse_two_inputs(net, data)
    outputs.check_table_path(output, net, data)
    asked = inputs.read_net(net)
    reading = inputs.Reading(missing, separator, decimal)
    rows = read_written(data, reading, asked, missing_columns=missing_columns.value)
    filled = asked.filled_cells(
        rows.table,
        method.value,
        random_state=seed,
        impossible=impossible.value,
        unknown=unknown.value,
        missing_columns="ignore",
    )
    n_filled = 0
    for name, cells in filled.items():
        rows.columns[name] = fill_arrow(rows.columns[name], cells)
        n_filled += int(cells.where().sum())
    answer = {"rows": rows.n_rows, "filled": n_filled, "output": output}
    if output != "-" or not as_json:
        write_rows(rows.columns, output)
    if as_json:
        listed = pa.table(rows.columns).to_pylist() if output == "-" else answer
        outputs.print_json(listed)
    elif output != "-":
        values = plural(n_filled, "value")
        outputs.tell(f"{values} filled in, {plural(rows.n_rows, 'row')} written to {output}")
