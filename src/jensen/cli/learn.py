"""`jensen learn`: tables of a given graph."""

from typing import Annotated, Any

import typer

from jensen.checks import WITH_SAMPLE_SIZE
from jensen.cli import options
from jensen.exceptions import JensenError

NAME = "learn"
EPILOG = "Example: jensen learn patients.csv --graph 'smoker -> cancer' --prior bdeu -o net.json"

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
        help="bdeu, bds, k2, or the Dirichlet concentration of every cell; flat unless given.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method", metavar="METHOD", help="em or vbem; em without a prior, vbem with one."
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
    output: Output = None,
    missing: options.Missing = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    states: options.States = None,
    complete_rows: options.CompleteRows = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Learn the tables of a network from complete data."""
    from jensen import io
    from jensen.estimators import BayesianNetwork

    options.set_threads(threads)
    options.refuse_two_inputs(data, graph)
    if output not in (None, "-"):
        io.check_path(output)
    options.refuse_together({"-o -": output == "-", "--json": as_json})
    if equivalent_sample_size is not None and prior not in WITH_SAMPLE_SIZE:
        raise JensenError("--equivalent-sample-size belongs to --prior bdeu or --prior bds")
    known = options.read_net(graph) if options.names_net(graph) else None
    net = BayesianNetwork(
        options.read_graph(graph) if known is None else known.graph,
        prior=_prior(prior),
        equivalent_sample_size=1.0 if equivalent_sample_size is None else equivalent_sample_size,
        method=method,
    )
    table = options.read_data(data, missing, categorical, weights, states)
    if known is not None:
        table = options.read_as(table, known)
    if complete_rows:
        table = table.complete_rows(net.graph.nodes)
    net.fit(table)
    if output == "-":
        options.print_bytes(io.to_bytes(net))
    elif output is not None:
        net.save(output)
    if as_json:
        options.print_json(_summary(net, table.total_weight, output))
    elif output != "-":
        _tell(net, table.total_weight, output)


def _prior(text: str | None) -> Any:
    """A number if it is one, else the name of a prior."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _summary(net: Any, rows: float, output: str | None) -> dict[str, Any]:
    return {
        "nodes": list(net.graph.nodes),
        "edges": [list(edge) for edge in net.graph.edges],
        "rows": rows,
        "free_parameters": net.parameters_count,
        "free_energy": net.free_energy_,
        "is_bound": net.is_bound_,
        "output": output,
    }


def _tell(net: Any, rows: float, output: str | None) -> None:
    meaning = "log evidence" if net.is_bound_ else "log-likelihood + log prior"
    if net.prior is None:
        meaning = "log-likelihood"
    noun = "row" if rows == 1 else "rows"
    learned_from = f"learned from {options.show_number(rows)} {noun}"
    print(f"{net}, {learned_from}; {meaning} {net.free_energy_:.6f}")
    if output is None:
        print()
        for name in net.graph.topological_order():
            print(net.cpt(name), end="\n\n")
        print("Nothing was written: -o net.json keeps the network.")
    else:
        print(f"written to {output}")
