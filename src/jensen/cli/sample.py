"""`jensen sample`: rows drawn from a model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from jensen.cli import inputs, options, outputs
from jensen.cli.command import HIDDEN_STATES, SAMPLING, Command, Given, Option
from jensen.exceptions import JensenError
from jensen.support.text import plural

if TYPE_CHECKING:
    import pyarrow as pa


def run(given: Given) -> None:
    """Draw rows from a model; from a network also given what is known of some variables."""
    inputs.set_threads(given.threads)
    outputs.check_table_path(given.output, given.file)
    model = inputs.read_model(given.file)
    kind = inputs.kind_of(model)
    given.check(model=kind)
    if kind == "network":
        _sample_network(given, model)
        return
    import pyarrow as pa

    columns = _sample_states(given, model)
    n_rows = len(next(iter(columns.values())))
    outputs.write_answer(
        columns,
        given,
        in_json=lambda: pa.table(columns).to_pylist(),
        notes={"rows": n_rows},
        done=plural(n_rows, "row"),
    )


def _sample_network(given: Given, net: Any) -> None:
    evidence = inputs.read_evidence(given, net)
    table = net.sample(given.n, **evidence, random_state=given.seed, progress=sys.stderr.isatty())
    if given.output != "-":
        table.write(given.output)
    if given.as_json:
        answer = {"rows": given.n, "output": given.output}
        outputs.print_json(table.to_arrow().to_pylist() if given.output == "-" else answer)
    elif given.output == "-":
        table.write_csv(sys.stdout.buffer)
    else:
        outputs.report(f"{plural(given.n, 'row')} written to {given.output}")


def _sample_states(given: Given, model: Any) -> dict[str, pa.ChunkedArray]:
    """Columns of drawn rows."""
    import numpy as np

    if given.n < 1:
        raise JensenError(f"-n {given.n}: draw one row at least")
    columns: dict[str, Any] = {}
    if inputs.kind_of(model) == "rbm":
        rows, states = model.sample(given.n, random_state=given.seed).astype("int64"), None
    elif model.noun not in ("state", "dimension"):
        rows, states = model.sample(given.n, random_state=given.seed)
    else:
        drawn, paths = model.sample(given.n, given.n_sequences or 1, random_state=given.seed)
        rows, states = np.concatenate(drawn), np.concatenate(paths)
        if given.n_sequences is not None:
            columns["sequence"] = np.repeat(np.arange(len(paths)), list(map(len, paths)))
    named = {model.noun: states} if given.with_states else {}
    for name, values in {**_by_column(model, rows), **named}.items():
        if name in columns:
            raise JensenError(f"the model has a column {name!r} already: rename it there")
        columns[name] = values
    return {name: _chunked(values) for name, values in columns.items()}


def _by_column(model: Any, rows: Any) -> dict[str, Any]:
    """Drawn rows column by column; counts as whole numbers."""
    from jensen.estimators.states_summary import column_names
    from jensen.models.emissions.registry import EMISSIONS

    if hasattr(rows, "columns"):  # a dataframe
        kinds = {variable.name: variable.kind for variable in model.variables_}
        return {
            name: rows[name].astype("int64" if kinds[name] == "count" else rows[name].dtype)
            for name in rows.columns
        }
    record = EMISSIONS.get(getattr(model, "emission", None) or "")
    is_count = record is not None and record.column in ("count", "binary")
    columns = rows.astype("int64") if is_count else rows
    names = model.outputs_ if model.noun == "dimension" else column_names(model)
    return {name: columns[:, i] for i, name in enumerate(names)}


def _chunked(values: Any) -> pa.ChunkedArray:
    import pyarrow as pa

    array = pa.array(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return pa.chunked_array([array])


STATE_MODELS = ("mixture", "latent-class", "trees", "hmm")
SEQUENCES = {"model": ("hmm", "lds")}
COMMAND = Command(
    name="sample",
    run=run,
    group="Ask",
    options=(
        options.MODEL_FILE,
        options.GIVEN,
        options.DO,
        Option(
            "with_states",
            "Add a column with the component, class, tree or state too.",
            HIDDEN_STATES,
            kind=bool,
            default=False,
            belongs={"model": STATE_MODELS},
        ),
        Option(
            "n",
            "The number of rows; for an hmm or lds the length of a sequence.",
            SAMPLING,
            kind=int,
            flags=("-n",),
            metavar="N",
            default=1000,
        ),
        options.SEED,
        Option(
            "n_sequences",
            "For an hmm or lds: the number of sequences, told apart by a column named sequence "
            "(default: one, without that column).",
            SAMPLING,
            kind=int,
            metavar="N",
            at_least=1,
            belongs=SEQUENCES,
        ),
        options.ROWS_FILE,
        options.JSON,
        options.THREADS,
    ),
    examples=(
        "jensen sample net.json -n 1000 --given smoker=yes --seed 0 -o rows.csv",
        "jensen sample hmm.json -n 100 --n-sequences 5 --with-states",
    ),
)
