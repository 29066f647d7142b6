"""Options that several commands share, and reading what their arguments name."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from jensen.exceptions import JensenError
from jensen.text import some

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.graphs import DAG

log = logging.getLogger("jensen")

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A table: CSV, TSV or Parquet, also .gz; - is CSV on standard input."
    ),
]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A file of a model; - is standard input.")
]
Net = Annotated[str, typer.Argument(metavar="NET", help="A network file; - is standard input.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="LABEL",
        help="A label that means missing, as in --missing '?'; repeatable.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical", metavar="COLUMN", help="A column of numbers to read as states; repeatable."
    ),
]
Continuous = Annotated[
    list[str] | None,
    typer.Option(
        "--continuous",
        metavar="COLUMN",
        help="A column of whole numbers to read as measurements; repeatable.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights", metavar="COLUMN", help="The column that says how often each row counts."
    ),
]
CompleteRows = Annotated[
    bool, typer.Option("--complete-rows", help="Leave out rows in which a value is missing.")
]
States = Annotated[
    list[str] | None,
    typer.Option(
        "--states",
        metavar="COLUMN=A,B",
        help="All states of a column in their order, also those that never occur; repeatable.",
    ),
]
Sequences = Annotated[
    str | None,
    typer.Option(
        "--sequences",
        metavar="COLUMN",
        help="Of an hmm: the column that tells sequences apart. Rows of one sequence have the same "
        "value, stand together, and keep their order; all rows are one sequence unless given.",
    ),
]
SampleSize = Annotated[
    float | None,
    typer.Option(
        "--equivalent-sample-size",
        metavar="SIZE",
        help="Of bdeu and bds, as score and as prior, and of score bde; 1 unless given.",
    ),
]
PriorNetwork = Annotated[
    str | None,
    typer.Option(
        "--prior-network", metavar="NET", help="Of bde: a network that spreads the prior sample."
    ),
]
AvailableCase = Annotated[
    bool,
    typer.Option(
        "--available-case",
        help="Where values are missing: average over the rows known to each family (score loglik, "
        "aic or bic).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for programs.")]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="How many threads; all unless given."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, help="The same seed gives the same answer."),
]
Given = Annotated[
    list[str] | None,
    typer.Option("--given", metavar="NAME=STATE", help="What is known of a variable; repeatable."),
]
Do = Annotated[
    list[str] | None,
    typer.Option(
        "--do",
        metavar="NAME=STATE",
        help="The state that a variable is set to, its causes cut off; repeatable.",
    ),
]
Rows = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="A CSV, TSV or Parquet file, also .gz; - prints CSV.",
    ),
]


class Impossible(StrEnum):
    """What to do with rows of probability 0."""

    RAISE = "raise"
    NAN = "nan"


class Unknown(StrEnum):
    """What to do with labels that the network does not know."""

    RAISE = "raise"
    MISSING = "missing"


OnImpossible = Annotated[
    Impossible,
    typer.Option(
        "--impossible", help="Rows of probability 0: an error, or left without an answer."
    ),
]
OnUnknown = Annotated[
    Unknown,
    typer.Option(
        "--unknown", help="Labels that the network does not know: an error, or taken as missing."
    ),
]


def read_data(
    data: str,
    missing: list[str] | None = None,
    categorical: list[str] | None = None,
    weights: str | None = None,
    states: list[str] | None = None,
    continuous: list[str] | None = None,
) -> Table:
    """The table that a DATA argument names."""
    from jensen.data import read_table

    return read_table(
        data,
        missing=missing or [],
        categorical=categorical or [],
        continuous=continuous or [],
        weights=weights,
        states=dict(map(_one_states, states or [])),
    )


def _one_states(text: str) -> tuple[str, list[str]]:
    name, equals, labels = text.partition("=")
    if not equals:
        raise JensenError(f"--states {text}: write the column, =, and its states: --states x=a,b,c")
    return name, labels.split(",")


def choose_columns(
    table: Table, named: list[str] | None, left_out: list[str] | None, beside: str | None = None
) -> Table:
    """The columns that --column names, or all; without those of --without; one more in any case."""
    dropped = set(left_out or [])
    for name in sorted(dropped):
        table.column(name)  # refused if there is none
        if name in (named or []):
            raise JensenError(f"--column and --without both name {name}: choose one")
    chosen = [name for name in named or table.names if name not in dropped]
    return table.select(dict.fromkeys(chosen if beside is None else [*chosen, beside]))


def read_findings(option: str, texts: list[str] | None, net: BayesianNetwork) -> dict[str, str]:
    """What --given or --do say, by variable."""
    found: dict[str, str] = {}
    for text in texts or []:
        if "=" not in text:
            raise JensenError(
                f"{option} {text}: write the variable, =, and its state: {option} {text}=yes"
            )
        name, state = _split_finding(text, net)
        if name in found:
            raise JensenError(f"{option} names {name!r} twice: a variable has one state")
        found[name] = state
    return found


def _split_finding(text: str, net: BayesianNetwork) -> tuple[str, str]:
    """At the first =, unless a name or a state holds one and only a later one makes sense."""
    from jensen.data.variable import match_labels

    cuts = [k for k, letter in enumerate(text) if letter == "="]
    ways = [(text[:k], text[k + 1 :]) for k in cuts]
    known = [way for way in ways if way[0] in net.graph]
    fitting = [way for way in known if match_labels([way[1]], net.states[way[0]])[0] >= 0]
    return (fitting or known or ways)[0]


def check_columns(net: BayesianNetwork, names: Iterable[str], skip: str | None = None) -> None:
    """Refuse a table without any column of the network, and tell which variables have none."""
    known, hidden = list(names), net.hidden or {}
    nodes = [name for name in net.graph.nodes if name != skip]
    absent = [name for name in nodes if name not in known and name not in hidden]
    if nodes and not set(known).intersection(nodes):
        raise JensenError(
            f"no column of the table ({some(known)}) is a variable of the network ({some(nodes)}): "
            f"rename the columns"
        )
    if absent:
        log.warning("the table has no column for %s: taken as missing", some(absent))


def read_as(table: Table, net: BayesianNetwork) -> Table:
    """The table with the states of a known network, so that none is lost that never occurs."""
    rows, unknown = table.read_as([v for v in net.variables if v.name in table])
    if unknown.any():
        row = int(unknown.argmax())
        raise JensenError(
            f"row {row + 1} (and {int(unknown.sum()) - 1} more) holds a state that the network "
            f"does not know: give the graph as text to learn the states from the data"
        )
    return rows


def refuse_together(given: dict[str, object]) -> None:
    """Refuse options of which all but the first would be ignored."""
    chosen = [name for name, value in given.items() if value]
    if len(chosen) > 1:
        raise JensenError(f"{chosen[0]} and {chosen[1]} do not go together: choose one")


def read_net(net: str) -> BayesianNetwork:
    """The network that a NET argument names; another model is refused."""
    found = read_model(net)
    if not is_network(found):
        raise JensenError(
            f"{_file(net)} holds a {type(found).__name__}, but a network is needed here"
        )
    return cast("BayesianNetwork", found)


def read_states(file: str) -> Any:
    """The mixture or hidden Markov model in a file; a network is refused."""
    found = read_model(file)
    if is_network(found):
        raise JensenError(
            f"{_file(file)} holds a network, but a mixture or hidden Markov model is needed here"
        )
    return found


def read_model(file: str) -> Any:
    """Whatever model a file holds; a posterior over graphs is none."""
    found = read_file(file)
    if is_posterior(found):
        raise JensenError(
            f"{_file(file)} holds a posterior over graphs: look at it with jensen show, and ask it "
            f"more with jn.load in Python"
        )
    return found


def read_file(file: str) -> Any:
    """Whatever a file holds."""
    from jensen import io

    if file == "-":
        return io.from_bytes(sys.stdin.buffer.read(), "standard input")
    return io.load(file)


def is_posterior(found: Any) -> bool:
    """Whether it is a posterior over graphs."""
    return hasattr(found, "edge_matrix")


def is_network(model: Any) -> bool:
    """Whether a model is a Bayesian network."""
    return hasattr(model, "require_network")


def _file(name: str) -> str:
    return "standard input" if name == "-" else name


def refuse_for_states(model: Any, given: Mapping[str, object]) -> None:
    """Refuse options of networks for another model; none is ignored in silence."""
    for name, is_given in given.items():
        if is_given:
            raise JensenError(f"{name} belongs to networks, not to a {type(model).__name__}")


def refuse_for_networks(given: Mapping[str, object]) -> None:
    """Refuse options of other models for a network."""
    for name, is_given in given.items():
        if is_given:
            raise JensenError(f"{name} does not belong to networks")


def read_graph(graph: str) -> DAG:
    """The graph of a network file, or the graph that a text spells."""
    from jensen.exceptions import GraphError
    from jensen.graphs import DAG

    dag = read_net(graph).graph if names_net(graph) else DAG(graph)
    if not dag.nodes:
        raise GraphError("the graph is empty: name its variables, as in 'A -> B; C'")
    return dag


def names_net(text: str) -> bool:
    """Whether an argument is a network file rather than the text of a graph."""
    from jensen.io import find_format

    if text == "-" or os.path.isfile(text):
        return True
    is_graph = any(mark in text for mark in ("->", "<-", "[", ";"))
    return find_format(text) is not None and not is_graph


def set_threads(threads: int | None) -> None:
    """Apply --threads."""
    if threads is not None:
        from jensen.data import set_threads

        set_threads(threads)


def print_json(answer: Any) -> None:
    """Print an answer for programs; every number in full, and null for what is not finite."""
    import json

    print_bytes(f"{json.dumps(_finite(answer), ensure_ascii=False)}\n".encode())


def _finite(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: _finite(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return list(map(_finite, answer))
    return None if isinstance(answer, float) and not math.isfinite(answer) else answer


def print_bytes(content: bytes) -> None:
    """Print what is UTF-8 whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)


def write_text(text: str, path: str) -> None:
    """Write a text file, whole or not at all; - prints it."""
    from jensen.atomic import write_whole

    if path == "-":
        print_bytes(text.encode())
        return
    with write_whole(path) as file:
        file.write(text.encode())


def check_table_path(path: str, *inputs: str) -> None:
    """Refuse a table file that cannot be written, or that is read, before there are rows."""
    from jensen.atomic import check_target
    from jensen.data.files import table_suffix

    if path != "-":
        table_suffix(Path(path))
        check_target(path)
        for name in inputs:
            if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
                raise JensenError(
                    f"-o {path} would overwrite {name}, which is read: name another file"
                )


def check_text_path(path: str) -> None:
    """Refuse a file that cannot be written, before there is anything to write."""
    from jensen.atomic import check_target

    if path != "-":
        check_target(path)


def refuse_two_inputs(*inputs: str | None) -> None:
    """Standard input can be read once."""
    if inputs.count("-") > 1:
        raise JensenError("- stands twice, but standard input can be read once: name a file")


def tell(text: str) -> None:
    """What was done, beside the results."""
    print(text, file=sys.stderr)


def show_number(value: float) -> str:
    """Whole numbers in full, others with six digits after the point."""
    return f"{value:.0f}" if math.isfinite(value) and value == int(value) else f"{value:.6f}"
