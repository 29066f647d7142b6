"""`jensen impute`: missing values filled in."""

from __future__ import annotations

from typing import Any

from jensen.cli import inputs, options, outputs, scanned_rows
from jensen.cli.command import QUESTION, Command, Given, Option
from jensen.cli.table_rows import read_network_rows, read_state_rows
from jensen.exceptions import JensenError
from jensen.support.text import plural


def run(given: Given) -> None:
    """Fill in the missing values of a table; all else stays as it is written.

    By a network, or by a model of factors or a linear dynamical system, which fill in what they
    expect. With --scan the rows may be more than memory holds; numbers and labels are then written
    as they were read.
    """
    import pyarrow as pa

    from jensen.data.fill_missing import fill_arrow

    inputs.set_threads(given.threads)
    given.refuse_two_inputs("file", "data")
    outputs.check_table_path(given.output, given.file, given.data)
    model = inputs.read_model(given.file)
    kind = inputs.kind_of(model)
    if kind in (*inputs.FACTORS, *inputs.MANY_PARTS, "lds"):
        given.check(model=kind)
        if given.scan and kind == "lds":
            raise JensenError(
                "--scan answers row by row, and an lds looks at whole sequences: leave it out"
            )
        if given.scan:
            scanned_rows.impute_numbers(given, model)
            return
        _impute_numbers(given, model)
        return
    net = inputs.as_net(model, given.file)
    given.check(model=kind)
    if given.scan:
        scanned_rows.impute_variables(given, net)
        return
    rows = read_network_rows(given, net)
    if given.draws is not None and DRAW in rows.columns:
        raise JensenError(f"the column {DRAW!r} tells completed tables apart: rename that of DATA")
    choices = {
        "random_state": given.seed,
        "impossible": given.impossible,
        "unknown": given.unknown,
        "missing_columns": "ignore",
    }
    if given.draws is None:
        tables = [net.filled_cells(rows.table, given.method, **choices)]
    else:
        tables = net.drawn_cells(rows.table, given.draws, given.method, **choices)
    n_filled, parts = 0, []
    for number, filled in enumerate(tables, 1):
        columns = dict(rows.columns)
        for name, cells in filled.items():
            columns[name] = fill_arrow(columns[name], cells)
            n_filled += int(cells.where().sum())
        if given.draws is not None:
            columns = {DRAW: pa.array([number] * rows.n_rows), **columns}
        parts.append(pa.table(columns))
    whole = pa.concat_tables(parts)
    outputs.write_answer(
        dict(zip(whole.column_names, whole.columns, strict=True)),
        given,
        in_json=lambda: whole.to_pylist(),
        notes={"rows": rows.n_rows, "filled": n_filled},
        done=f"{plural(n_filled, 'value')} filled in, {plural(rows.n_rows, 'row')}",
    )


def _impute_numbers(given: Given, model: Any) -> None:
    """Fill in what a model of factors expects."""
    import numpy as np
    import pyarrow as pa

    rows = read_state_rows(given, model)
    written, values = rows.written, rows.inputs
    if hasattr(values, "to_pandas"):
        values = np.asarray(values.to_pandas(), float)
    lengths = {"lengths": rows.sequences.lengths} if model.noun == "dimension" else {}
    filled, gaps = model.impute(rows.inputs, **lengths), np.isnan(values)
    for i, name in enumerate(written.table.names):
        if gaps[:, i].any():
            written.columns[name] = pa.chunked_array([pa.array(filled[:, i])])
    outputs.write_answer(
        written.columns,
        given,
        in_json=lambda: pa.table(written.columns).to_pylist(),
        notes={"rows": written.n_rows, "filled": int(gaps.sum())},
        done=f"{plural(int(gaps.sum()), 'value')} filled in, {plural(written.n_rows, 'row')}",
    )


DRAW = "draw"
"""The column that tells completed tables apart."""


NETWORK = {"model": ("network",)}
METHOD = Option(
    "method",
    "The most probable completion of the row (mode), of each cell alone (marginal), or a random "
    "draw (draw).",
    QUESTION,
    values=("mode", "marginal", "draw"),
    default="mode",
    belongs=NETWORK,
)
DRAWS = Option(
    "draws",
    "The number of completed tables, one below the other with their number in the column draw "
    "(multiple imputation): for each, parameters are drawn from their posterior, and then the "
    "cells. The network must be learned by vbem or gibbs.",
    QUESTION,
    kind=int,
    metavar="N",
    at_least=1,
    belongs={**NETWORK, "method": ("draw",)},
)
COMMAND = Command(
    name="impute",
    run=run,
    group="Ask",
    options=(
        options.MODEL_FILE,
        options.TABLE,
        METHOD,
        DRAWS,
        options.IMPOSSIBLE.but(belongs=NETWORK),
        options.SEQUENCES.but(
            help="For an lds: the column that tells sequences apart.", belongs={"model": ("lds",)}
        ),
        options.SCAN,
        *options.READING,
        options.UNKNOWN.but(belongs=NETWORK),
        options.MISSING_COLUMNS,
        options.SEED.but(belongs=NETWORK),
        options.ROWS_FILE,
        options.JSON,
        options.THREADS,
    ),
    examples=(
        "jensen impute net.json patients.csv -o filled.csv --method draw --seed 0",
        "jensen impute net.json patients.csv -o ten.csv --method draw --draws 10 --seed 0",
    ),
)
