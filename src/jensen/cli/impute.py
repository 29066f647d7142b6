"""`jensen impute`: missing values filled in."""

from __future__ import annotations

from jensen.cli import inputs, options, outputs
from jensen.cli.command import QUESTION, Command, Given, Option
from jensen.cli.table_rows import read_network_rows
from jensen.support.text import plural


def run(given: Given) -> None:
    """Fill in the missing values of a table; all else stays as it is written."""
    import pyarrow as pa

    from jensen.data.fill_missing import fill_arrow

    inputs.set_threads(given.threads)
    given.refuse_two_inputs("file", "data")
    outputs.check_table_path(given.output, given.file, given.data)
    net = inputs.read_net(given.file)
    rows = read_network_rows(given, net)
    filled = net.filled_cells(
        rows.table,
        given.method,
        random_state=given.seed,
        impossible=given.impossible,
        unknown=given.unknown,
        missing_columns="ignore",
    )
    n_filled = 0
    for name, cells in filled.items():
        rows.columns[name] = fill_arrow(rows.columns[name], cells)
        n_filled += int(cells.where().sum())
    outputs.write_answer(
        rows.columns,
        given,
        in_json=lambda: pa.table(rows.columns).to_pylist(),
        notes={"rows": rows.n_rows, "filled": n_filled},
        done=f"{plural(n_filled, 'value')} filled in, {plural(rows.n_rows, 'row')}",
    )


METHOD = Option(
    "method",
    "The most probable completion of the row (mode), of each cell alone (marginal), or a random "
    "draw (draw).",
    QUESTION,
    values=("mode", "marginal", "draw"),
    default="mode",
)
COMMAND = Command(
    name="impute",
    run=run,
    group="Ask",
    options=(
        options.NETWORK_FILE,
        options.TABLE,
        METHOD,
        options.IMPOSSIBLE,
        *options.READING,
        options.UNKNOWN,
        options.MISSING_COLUMNS,
        options.SEED,
        options.ROWS_FILE,
        options.JSON,
        options.THREADS,
    ),
    examples=("jensen impute net.json patients.csv -o filled.csv --method draw --seed 0",),
)
