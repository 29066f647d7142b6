"""`jensen update`: a network learns from more rows."""

from __future__ import annotations

from jensen.cli import inputs, options, outputs
from jensen.cli.command import OUTPUT, PARAMETERS, Command, Given, Option
from jensen.exceptions import JensenError
from jensen.support.text import plural


def run(given: Given) -> None:
    """Update a network of labels with more rows; the earlier rows are not needed.

    The network was learned with --prior or --method vbem, so that its file holds a posterior, which
    is the prior of the new rows. Where no row misses anything the result is that of all rows at
    once. Else what earlier rows miss is not filled in again (streaming variational Bayes). With
    --n-total each table stands for so many rows (stochastic variational Bayes).
    """
    from jensen import io
    from jensen.cli.describe_model import save_model

    inputs.set_threads(given.threads)
    given.check()
    given.refuse_two_inputs("file", "data")
    if given.output is None:
        raise JensenError("say where the updated network is written: -o FILE, maybe the same file")
    if given.output != "-":
        io.check_path(given.output, holds="BayesianNetwork")
    given.refuse_together(("-o -", given.output == "-"), ("--json", given.as_json))
    net = inputs.read_net(given.file)
    table = inputs.read_table(given, [])
    net.update(table, n_total=given.n_total, step=given.step)
    save_model(net, given.output)
    notes = {"rows": table.total_weight, "update": net.update_, "output": given.output}
    if given.as_json:
        outputs.print_json(notes)
    elif given.output != "-":
        n = plural(int(table.total_weight), "row")
        outputs.report(f"{n} learned from ({net.update_}); written to {given.output}")


COMMAND = Command(
    name="update",
    run=run,
    group="Learn",
    options=(
        options.NETWORK_FILE,
        options.TABLE,
        *options.READING,
        options.WEIGHTS,
        options.SCAN,
        Option(
            "n_total",
            "How many rows there are in all, of which DATA is a sample: a stochastic update.",
            PARAMETERS,
            kind=float,
            metavar="N",
        ),
        Option(
            "step",
            "How far a stochastic update moves, above 0 and at most 1 (default: slower with each).",
            PARAMETERS,
            kind=float,
            metavar="SHARE",
            needs="n_total",
        ),
        Option(
            "output",
            "The file for the updated network, which may be the same; - prints it.",
            OUTPUT,
            flags=("-o", "--output"),
            metavar="FILE",
        ),
        options.JSON,
        options.THREADS,
    ),
    examples=("jensen update net.json today.csv -o net.json",),
)
