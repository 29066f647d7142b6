"""`jensen forecast`: what comes after the sequences of a hidden Markov model, or of numbers."""

from __future__ import annotations

from typing import Any

from jensen.cli import inputs, options, outputs
from jensen.cli.command import QUESTION, SAMPLING, Command, Given, Option
from jensen.cli.table_rows import read_state_rows
from jensen.exceptions import JensenError
from jensen.support.text import plural


def run(given: Given) -> None:
    """Tell the steps that come after each sequence: states, expected values, intervals.

    A table is printed; -o writes a row for each step of each sequence, or with --draws one for
    each step of each future that was drawn. Of labels there is a probability for each, in place of
    an expected value and an interval. Of a linear dynamical system there are outputs alone.
    """
    inputs.set_threads(given.threads)
    given.refuse_two_inputs("file", "data")
    if given.draws is not None and given.output is None and not given.as_json:
        raise JensenError("--draws: name the file for the futures with -o, or add --json")
    if given.output is not None:
        given.refuse_together(("--draws", given.draws), ("--interval", given.interval))
    if given.output is not None:
        outputs.check_table_path(given.output, given.file, given.data)
    model = inputs.read_model(given.file)
    given.check(model=inputs.kind_of(model))
    found = _ask(given, model)
    if given.output is not None:
        _write(given, found)
    elif given.as_json:
        outputs.print_json(_plain(found))
    else:
        print(found)


def _ask(given: Given, model: Any) -> Any:
    """The forecast, whose sequences are named as in the table."""
    from dataclasses import replace

    rows = read_state_rows(given, model)
    more = {} if given.future is None else {"inputs": _read_future(given, model)}
    found = model.forecast(
        rows.inputs,
        given.steps,
        lengths=rows.sequences.lengths,
        interval=given.interval,
        draws=given.draws,
        random_state=given.seed,
        **more,
    )
    names = rows.sequences.names
    return replace(found, sequences=names) if names else found


def _read_future(given: Given, model: Any) -> Any:
    """The inputs of the steps ahead."""
    from jensen.data import Table
    from jensen.estimators.arrays import names_of

    table = Table(given.future)
    names = names_of(model, model.n_features_in_)
    wanted = [names[i] for i in model.input_columns_]
    for name in wanted:
        if name not in table:
            raise JensenError(f"--future {given.future} has no column {name!r}, which is an input")
    return table.select(wanted).to_pandas().to_numpy(float)


def _write(given: Given, found: Any) -> None:
    import pyarrow as pa

    columns = found.columns() if given.draws is None else found.drawn_columns()
    arrays = {name: pa.chunked_array([pa.array(x.tolist())]) for name, x in columns.items()}
    n_rows = len(arrays["step"])
    outputs.write_answer(
        arrays,
        given,
        in_json=lambda: _plain(found),
        notes={"rows": n_rows},
        done=plural(n_rows, "row"),
    )


def _plain(found: Any) -> dict[str, Any]:
    """A forecast for programs."""
    answer = {"forecast": _records(found.columns())}
    if found.draws is not None:
        answer["draws"] = _records(found.drawn_columns())
    return answer


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    values = zip(*(x.tolist() for x in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


SERIES = {"model": ("hmm", "lds")}
COMMAND = Command(
    name="forecast",
    run=run,
    group="Ask",
    options=(
        options.MODEL_FILE.but(
            help="The file of an hmm or lds; - reads it from standard input.", belongs=SERIES
        ),
        options.TABLE,
        Option(
            "steps",
            "How many steps ahead.",
            QUESTION,
            kind=int,
            metavar="N",
            default=1,
            at_least=1,
        ),
        Option(
            "interval",
            "The probability of an interval around each number: 0.9 for 90 %.",
            QUESTION,
            kind=float,
            metavar="LEVEL",
        ),
        Option(
            "draws",
            "Draw so many futures of each sequence; -o then writes these, and --json both.",
            SAMPLING,
            kind=int,
            metavar="N",
            at_least=1,
        ),
        options.SEED.but(needs="draws"),
        Option(
            "future",
            "A table with the inputs of an lds in the steps ahead, a row for each.",
            QUESTION,
            metavar="FILE",
            belongs={"model": ("lds",)},
        ),
        options.SEQUENCES,
        *options.READING,
        options.ROWS_FILE.but(
            help="The file for the rows: CSV, TSV or Parquet, also .gz; - prints CSV (default: a "
            "table for people is printed).",
            default=None,
        ),
        options.JSON,
        options.THREADS,
    ),
    examples=(
        "jensen forecast hmm.json walks.csv --sequences walk --steps 5 --interval 0.9",
        "jensen forecast hmm.json walks.csv --steps 20 --draws 100 --seed 0 -o futures.csv",
    ),
)
