"""`jensen learn`: tables of a given graph, from rows with values missing anywhere."""

import sys
from typing import Annotated, Any

import typer

from jensen.checks import WITH_SAMPLE_SIZE
from jensen.cli import options
from jensen.cli.learned import summary, tell, was_stopped
from jensen.exceptions import JensenError

NAME = "learn"
EPILOG = (
    "Example: jensen learn patients.csv --graph 'smoker -> cancer' --prior bdeu -o net.json; "
    "jensen learn answers.csv --graph 'kind -> a; kind -> b' --hidden kind=3 --n-init 10 --seed 0"
)
INTERRUPTED = 130

Graph = Annotated[
    str,
    typer.Option(
        "--graph",
        metavar="GRAPH",
        help="'A -> B <- C; B -> D', '[A][C][B|A:C][D|B]', or a network file.",
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help="bdeu, bds, k2, or the Dirichlet concentration of every cell; flat unless given (bdeu "
        "for vbem, me and gibbs).",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="em (most likely tables), vbem (their posterior), viterbi and me (the same with the "
        "most probable completion of the rows), stochastic-em and gibbs (with drawn ones); em "
        "without a prior, vbem with one.",
    ),
]
Hidden = Annotated[
    list[str] | None,
    typer.Option(
        "--hidden",
        metavar="NAME=N",
        help="A node without a column and its number of states, or NAME=A,B,C; repeatable.",
    ),
]
Starts = Annotated[
    int | None,
    typer.Option("--n-init", metavar="N", help="Random starts, the best is kept; 1 unless given."),
]
MaxIter = Annotated[
    int | None,
    typer.Option("--max-iter", metavar="N", help="Sweeps at most; 1000 unless given."),
]
Tol = Annotated[
    float | None,
    typer.Option(
        "--tol", metavar="T", help="The relative gain at which sweeps end; 1e-8 unless given."
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        "--n-samples", metavar="N", help="Of each chain of gibbs, stochastic-em; 1000 unless given."
    ),
]
BurnIn = Annotated[
    int | None,
    typer.Option("--burn-in", metavar="N", help="Sweeps before the samples; 1000 unless given."),
]
Thin = Annotated[
    int | None,
    typer.Option("--thin", metavar="N", help="Sweeps from sample to sample; 1 unless given."),
]
Chains = Annotated[
    int | None, typer.Option("--n-chains", metavar="N", help="How many chains; 4 unless given.")
]
Start = Annotated[
    str | None,
    typer.Option("--start", metavar="NET", help="A network file whose tables are the start."),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Where a run that is killed leaves its state: the same command goes on from there.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write the network; - prints it."),
]


def command(
    data: options.Data,
    graph: Graph,
    prior: Prior = None,
    equivalent_sample_size: options.SampleSize = None,
    method: Method = None,
    hidden: Hidden = None,
    n_init: Starts = None,
    max_iter: MaxIter = None,
    tol: Tol = None,
    n_samples: Samples = None,
    burn_in: BurnIn = None,
    thin: Thin = None,
    n_chains: Chains = None,
    seed: options.Seed = None,
    start: Start = None,
    checkpoint: Checkpoint = None,
    output: Output = None,
    missing: options.Missing = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    states: options.States = None,
    complete_rows: options.CompleteRows = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Learn the tables of a network; values may be missing anywhere, and whole variables too."""
    from jensen import io
    from jensen.estimators import BayesianNetwork

    options.set_threads(threads)
    options.refuse_two_inputs(data, graph, start)
    _check_files(output, checkpoint)
    options.refuse_together({"-o -": output == "-", "--json": as_json})
    if equivalent_sample_size is not None and prior not in WITH_SAMPLE_SIZE:
        raise JensenError("--equivalent-sample-size belongs to --prior bdeu or --prior bds")
    known = options.read_net(graph) if options.names_net(graph) else None
    chosen: dict[str, Any] = {
        "method": method,
        "equivalent_sample_size": equivalent_sample_size,
        "n_init": n_init,
        "max_iter": max_iter,
        "tol": tol,
        "n_samples": n_samples,
        "burn_in": burn_in,
        "thin": thin,
        "n_chains": n_chains,
        "random_state": seed,
        "start": None if start is None else options.read_net(start),
    }
    net = BayesianNetwork(
        options.read_graph(graph) if known is None else known.graph,
        prior=_prior(prior),
        hidden=dict(map(_one_hidden, hidden or [])) or None,
        progress=sys.stderr.isatty(),
        **{name: value for name, value in chosen.items() if value is not None},
    )
    table = options.read_data(data, missing, categorical, weights, states)
    if known is not None:
        table = options.read_as(table, known)
    if complete_rows:
        seen = [x for x in net.graph.nodes if x in table and x not in (net.hidden or {})]
        table = table.complete_rows(seen)
    net.fit(table, checkpoint=checkpoint)
    if output == "-":
        options.print_bytes(io.to_bytes(net))
    elif output is not None:
        net.save(output)
    if as_json:
        options.print_json(summary(net, table, output))
    elif output != "-":
        tell(net, table, output)
    if was_stopped(net):
        raise typer.Exit(INTERRUPTED)


def _check_files(output: str | None, checkpoint: str | None) -> None:
    """Refuse files that cannot be written, before anything is read."""
    from jensen import io

    if output not in (None, "-"):
        io.check_path(output)
    if checkpoint is not None:
        options.check_text_path(checkpoint)
        if checkpoint == output:
            raise JensenError(f"-o and --checkpoint both name {output}: name two files")


def _prior(text: str | None) -> Any:
    """A number if it is one, else the name of a prior."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _one_hidden(text: str) -> tuple[str, int | list[str]]:
    """NAME=3 or NAME=a,b,c; a name may hold =, so the last one counts."""
    name, equals, states = text.rpartition("=")
    if not equals:
        raise JensenError(
            f"--hidden {text}: write the node, =, and its number of states or their labels: "
            f"--hidden {text}=2"
        )
    return name, int(states) if states.strip().isdecimal() else states.split(",")
