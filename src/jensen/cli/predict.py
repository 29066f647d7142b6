"""`jensen predict`: one variable, or the hidden state, of every row from the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from jensen.cli import inputs, options, outputs
from jensen.cli.predict_states import predict_states
from jensen.cli.rows import Written, read_written, write_rows
from jensen.cli.state_rows import read_state_rows
from jensen.exceptions import JensenError
from jensen.support.text import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "predict"
EPILOG = (
    "Example: jensen predict net.json patients.csv --target cancer -o predicted.csv; "
    "jensen predict hmm.json walks.csv --sequences walk --path"
)

Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME",
        help="Of a network: the variable to predict; its own column is not used.",
    ),
]
Probabilities = Annotated[
    bool,
    typer.Option("--probabilities", help="Also a column for each state, named P(NAME=STATE)."),
]
Path = Annotated[
    bool,
    typer.Option("--path", help="Of an hmm: the most probable path, not state by state."),
]


def command(
    net: options.Model,
    data: options.Data,
    target: Target = None,
    sequences: options.Sequences = None,
    path: Path = False,
    probabilities: Probabilities = False,
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
    """Predict a variable in every row from the rest of the row, or the hidden state that made it.

    The rows are written as they were, with one more column, predicted_NAME (predicted_component,
    predicted_class, predicted_state): the most probable state, or of a continuous variable its
    mean. Values may be missing anywhere.
    """
    import pyarrow as pa

    options.set_threads(threads)
    options.refuse_two_inputs(net, data)
    outputs.check_table_path(output, net, data)
    asked, reading = inputs.read_model(net), inputs.Reading(missing, separator, decimal)
    if not inputs.is_network(asked):
        warns = missing_columns is options.MissingColumns.WARN
        options.refuse_for_states(asked, {"--target": target, "--missing-columns": not warns})
        of_states = read_state_rows(asked, data, reading, sequences)
        lenient = {"impossible": impossible.value, "unknown": unknown.value}
        predict_states(asked, of_states, path, probabilities, lenient, output, as_json)
        return
    options.refuse_for_networks({"--sequences": sequences, "--path": path})
    if target is None:
        raise JensenError("Missing option '--target'. (try jensen predict --help)")
    network = asked.require_any()
    states = network.variables[network.index(target)].states  # refused before any row is read
    rows = read_written(data, reading, asked, skip=target, missing_columns=missing_columns.value)
    if not states:
        if probabilities:
            raise JensenError(f"--probabilities belongs to states, and {target!r} is continuous")
        numbers = asked.predict(rows.table, target, missing_columns="ignore")
        rows.add(f"predicted_{target}", pa.array(numbers))
        _write(rows, target, [{"predicted": x} for x in numbers.tolist()], output, as_json)
        return
    values = asked.predict_proba(
        rows.table,
        target,
        impossible=impossible.value,
        unknown=unknown.value,
        missing_columns="ignore",
    )
    best = _best(values, states)
    rows.add(f"predicted_{target}", pa.array(best, pa.string()))
    if probabilities:
        for k, state in enumerate(states):
            rows.add(f"P({target}={state})", pa.array(values[:, k], from_pandas=True))
    _write(rows, target, _answers(best, values, states, probabilities), output, as_json)


def _write(
    rows: Written, target: str, answers: list[dict[str, Any]], output: str, as_json: bool
) -> None:
    if output != "-" or not as_json:
        write_rows(rows.columns, output)
    if as_json and output == "-":
        outputs.print_json(answers)
    elif as_json:
        outputs.print_json({"rows": rows.n_rows, "target": target, "output": output})
    elif output != "-":
        outputs.tell(f"{plural(rows.n_rows, 'row')} written to {output}")


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
