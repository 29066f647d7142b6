"""`jensen predict`: the most probable state of one variable in every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from jensen.cli import options
from jensen.cli.rows import read_written, write_rows
from jensen.text import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "predict"
EPILOG = "Example: jensen predict net.json patients.csv --target cancer -o predicted.csv"

Target = Annotated[
    str,
    typer.Option(
        "--target", metavar="NAME", help="The variable to predict; its own column is not used."
    ),
]
Probabilities = Annotated[
    bool,
    typer.Option("--probabilities", help="Also a column for each state, named P(NAME=STATE)."),
]


def command(
    net: options.Net,
    data: options.Data,
    target: Target,
    probabilities: Probabilities = False,
    output: options.Rows = "-",
    missing: options.Missing = None,
    impossible: options.OnImpossible = options.Impossible.RAISE,
    unknown: options.OnUnknown = options.Unknown.RAISE,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Predict a variable in every row from the rest of the row.

    The rows are written as they were, with one more column, predicted_NAME; values may be missing
    anywhere.
    """
    import pyarrow as pa

    options.set_threads(threads)
    options.refuse_two_inputs(net, data)
    options.check_table_path(output, net, data)
    asked = options.read_net(net)
    states = asked.require_network().cpt(target).variable.states
    rows = read_written(data, missing, asked, skip=target)
    values = asked.predict_proba(
        rows.table, target, impossible=impossible.value, unknown=unknown.value
    )
    best = _best(values, states)
    rows.add(f"predicted_{target}", pa.array(best, pa.string()))
    if probabilities:
        for k, state in enumerate(states):
            rows.add(f"P({target}={state})", pa.array(values[:, k], from_pandas=True))
    if output != "-" or not as_json:
        write_rows(rows.columns, output)
    if as_json and output == "-":
        options.print_json(_answers(best, values, states, probabilities))
    elif as_json:
        options.print_json({"rows": rows.n_rows, "target": target, "output": output})
    elif output != "-":
        options.tell(f"{plural(rows.n_rows, 'row')} written to {output}")


def _best(values: NDArray[np.float64], states: tuple[str, ...]) -> list[str | None]:
    """The most probable state of every row; None where the row is impossible."""
    import numpy as np

    lost = np.isnan(values[:, 0])  # the whole row is
    return [None if gone else states[k] for k, gone in zip(values.argmax(1), lost, strict=True)]


def _answers(
    best: list[str | None],
    values: NDArray[np.float64],
    states: tuple[str, ...],
    probabilities: bool,
) -> list[dict[str, Any]]:
    if not probabilities:
        return [{"predicted": state} for state in best]
    return [
        {"predicted": state, "probabilities": dict(zip(states, row, strict=True))}
        for state, row in zip(best, values.tolist(), strict=True)
    ]
