"""Options that several commands share, and reading what their arguments name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators import BayesianNetwork
    from jensen.graphs import DAG

Data = Annotated[
    str, typer.Argument(help="A table: CSV, TSV or Parquet, also .gz; - is CSV on standard input.")
]
Net = Annotated[str, typer.Argument(help="A network file; - is JSON on standard input.")]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="A label that means missing, as in --missing '?'; repeatable."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option("--categorical", help="A column of numbers to read as states; repeatable."),
]
Weights = Annotated[
    str | None, typer.Option("--weights", help="The column that says how often each row counts.")
]
SampleSize = Annotated[
    float | None,
    typer.Option("--equivalent-sample-size", help="Of bdeu and bds; 1 unless given."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for programs.")]
Threads = Annotated[
    int | None, typer.Option("--threads", help="How many threads; all unless given.")
]


def read_data(
    data: str,
    missing: list[str] | None = None,
    categorical: list[str] | None = None,
    weights: str | None = None,
) -> Table:
    """The table that a DATA argument names."""
    from jensen.data import read_table

    return read_table(data, missing=missing or [], categorical=categorical or [], weights=weights)


def read_net(net: str) -> BayesianNetwork:
    """The network that a NET argument names."""
    from jensen import io
    from jensen.io import json_format

    if net == "-":
        return json_format.loads(sys.stdin.read(), "standard input")
    return io.load(net)


def read_graph(graph: str) -> DAG:
    """The graph of a network file, or the graph that a text spells."""
    from jensen.graphs import DAG

    return read_net(graph).graph if names_net(graph) else DAG(graph)


def names_net(text: str) -> bool:
    """Whether an argument is a network file rather than the text of a graph."""
    from jensen.io import FORMATS

    return text == "-" or Path(text).suffix.lower() in FORMATS or Path(text).is_file()


def set_threads(threads: int | None) -> None:
    """Apply --threads."""
    if threads is not None:
        from jensen.data import set_threads

        set_threads(threads)


def print_json(answer: Any) -> None:
    """Print an answer for programs; every number in full."""
    import json

    print(json.dumps(answer, ensure_ascii=False))
