"""`jensen sample`: rows drawn from a model."""

import sys
from typing import Annotated, Any

import typer

from jensen.cli import inputs, options, outputs
from jensen.cli.rows import write_rows
from jensen.cli.sample_states import sample_states
from jensen.support.text import plural

NAME = "sample"
EPILOG = (
    "Example: jensen sample net.json -n 1000 --given smoker=yes --seed 0 -o rows.csv; "
    "jensen sample hmm.json -n 100 --n-sequences 5 --with-states"
)

Rows = Annotated[
    int, typer.Option("-n", metavar="N", help="How many rows; of an hmm the steps of a sequence.")
]
Many = Annotated[
    int | None,
    typer.Option(
        "--n-sequences",
        metavar="N",
        min=1,
        help="Of an hmm: how many sequences, told apart by a column sequence; one without that "
        "column unless given.",
    ),
]
WithStates = Annotated[
    bool,
    typer.Option("--with-states", help="Also a column with the component, class or state."),
]


def command(
    net: options.Model,
    n: Rows = 1000,
    n_sequences: Many = None,
    with_states: WithStates = False,
    given: options.Given = None,
    do: options.Do = None,
    output: options.Rows = "-",
    seed: options.Seed = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Draw rows from a model; from a network also given what is known of some variables."""
    options.set_threads(threads)
    outputs.check_table_path(output, net)
    asked = inputs.read_model(net)
    if not inputs.is_network(asked):
        options.refuse_for_states(asked, {"--given": given, "--do": do})
        columns = sample_states(asked, n, n_sequences, with_states, seed)
        _write(columns, output, as_json)
        return
    options.refuse_for_networks({"--n-sequences": n_sequences, "--with-states": with_states})
    table = asked.sample(
        n,
        given=inputs.read_findings("--given", given, asked),
        do=inputs.read_findings("--do", do, asked),
        random_state=seed,
        progress=sys.stderr.isatty(),
    )
    if output != "-":
        table.write(output)
    if as_json:
        answer = {"rows": n, "output": output}
        outputs.print_json(table.to_arrow().to_pylist() if output == "-" else answer)
    elif output == "-":
        table.write_csv(sys.stdout.buffer)
    else:
        outputs.tell(f"{plural(n, 'row')} written to {output}")


def _write(columns: dict[str, Any], output: str, as_json: bool) -> None:
    import pyarrow as pa

    n_rows = len(next(iter(columns.values())))
    if output != "-" or not as_json:
        write_rows(columns, output)
    if as_json:
        answer = {"rows": n_rows, "output": output}
        outputs.print_json(pa.table(columns).to_pylist() if output == "-" else answer)
    elif output != "-":
        outputs.tell(f"{plural(n_rows, 'row')} written to {output}")
