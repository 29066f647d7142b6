"""Reading what arguments and options name: tables, models, graphs, evidence."""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from jensen.cli.command import Given
from jensen.exceptions import FileError, JensenError
from jensen.support.text import some

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.graphs import DAG


NAMING = (
    *("required", "forbidden", "tier", "start_graph", "graph_prior", "target", "interventions"),
    *("known_order", "candidates"),
)
"""Options that name columns of the graph."""


def text_choices(given: Given) -> dict[str, str | None]:
    """What options say of a text file, as `read_table` takes it."""
    is_tab = given.separator in ("tab", "\\t")
    return {"separator": "\t" if is_tab else given.separator, "decimal": given.decimal}


def read_columns(given: Given) -> list[Any]:
    """All columns of the DATA argument as they are written; labels for missing are kept."""
    from jensen.data.dialect import TextChoices
    from jensen.data.files import read_columns

    text = TextChoices(**text_choices(given))
    return read_columns(given.data, given.missing, text, keep_missing=True)


def read_table(given: Given, states: list[str], missing: list[str] | None = None) -> Table:
    """The table that the DATA argument names; `states` declares those of some columns.

    `missing` are labels that mean missing, where these are not all that --missing says.
    """
    from jensen.data import discretize, read_table, scan_table

    labels = given.missing if missing is None else missing
    bins = dict(map(_one_bins, given.discretize)) if "discretize" in given.table else {}
    kinds = [x for x in ("categorical", "continuous", "counts", "weights") if x in given.table]
    scans = "scan" in given.table and given.scan
    if scans and bins:
        raise JensenError("--scan and --discretize do not go together: discretize the files before")
    read = cast("Callable[..., Table]", scan_table if scans else read_table)
    chosen = given.chosen(*kinds)
    if chosen.get("continuous") == ["all"]:
        chosen["continuous"] = "all"
    table = read(
        given.data,
        **text_choices(given),
        missing=labels or None,
        states=dict(map(_one_states, states)),
        **chosen,
    )
    return discretize(table, bins=bins, columns=list(bins)) if bins else table


def _one_bins(text: str) -> tuple[str, int]:
    """NAME=4; a name may hold =, so the last one counts."""
    name, equals, size = text.rpartition("=")
    if not equals or not size.strip().isdecimal():
        raise JensenError(
            f"--discretize {text}: write the column, =, and how many intervals it is cut into: "
            f"--discretize {name or text}=4"
        )
    return name, int(size)


def _one_states(text: str) -> tuple[str, list[str]]:
    name, equals, labels = text.partition("=")
    if not equals:
        raise JensenError(f"--states {text}: write the column, =, and its states: --states x=a,b,c")
    return name, labels.split(",")


def choose_columns(
    table: Table, named: list[str], left_out: list[str], beside: str | None = None
) -> Table:
    """The columns that --column names, or all, without those of --without; and `beside`."""
    for name in sorted(left_out):
        table.variable(name)  # refused if there is none
        if name in named:
            raise JensenError(f"--column and --without both name {name}: choose one")
    chosen = [name for name in named or table.names if name not in left_out]
    return table.select(dict.fromkeys(chosen if beside is None else [*chosen, beside]))


def without_row_names(table: Table, given: Given) -> Table:
    """The table without columns that name rows, but those that an option names."""
    from jensen.q_graph.learned_columns import learned_columns

    said = "\n".join(text for name in NAMING if name in given.table for text in _texts(given, name))
    named = [x for x in table.names if re.search(rf"(?<!\w){re.escape(x)}(?!\w)", said)]
    return learned_columns(table, {"named": named})[0]


def _texts(given: Given, name: str) -> list[str]:
    """The texts of an option, which may be repeated."""
    value = getattr(given, name)
    return value if isinstance(value, list) else [value or ""]


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


def check_columns(
    net: BayesianNetwork,
    names: Iterable[str],
    skip: str | None = None,
    missing_columns: Any = "warn",
) -> None:
    """Refuse a table without any column of the network, and tell which variables have none."""
    from jensen.data.model_columns import check_own_columns

    check_own_columns(
        net.graph.nodes,
        names,
        hidden=net.hidden or {},
        skip=() if skip is None else (skip,),
        missing_columns=missing_columns,
    )


def read_evidence(given: Given, net: BayesianNetwork) -> dict[str, dict[str, str]]:
    """What --given and --do say, by variable."""
    return {
        name: _evidence(given.table[name].flag, getattr(given, name), net)
        for name in ("given", "do")
    }


def _evidence(option: str, texts: list[str], net: BayesianNetwork) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        if "=" not in text:
            raise JensenError(
                f"{option} {text}: write the variable, =, and its state: {option} {text}=yes"
            )
        name, state = _split_evidence(text, net)
        if name in found:
            raise JensenError(f"{option} names {name!r} twice: a variable has one state")
        found[name] = state
    return found


def _split_evidence(text: str, net: BayesianNetwork) -> tuple[str, str]:
    """At the first =, unless a name or a state holds one and only a later one makes sense."""
    from jensen.data.variable import find_state

    cuts = [k for k, letter in enumerate(text) if letter == "="]
    ways = [(text[:k], text[k + 1 :]) for k in cuts]
    known = [way for way in ways if way[0] in net.graph]
    own = {variable.name: variable for variable in net.variables}
    fitting = [way for way in known if find_state(own[way[0]], way[1]) >= 0]
    return (fitting or known or ways)[0]


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


def read_net(net: str) -> BayesianNetwork:
    """The network with arrows that a NET argument names; another model is refused."""
    found = as_net(read_model(net), net)
    require_arrows(found, net)
    return found


def as_net(found: Any, file: str) -> BayesianNetwork:
    """A model that a file holds, as a network, with arrows or without; another is refused."""
    if kind_of(found) != "network":
        raise JensenError(
            f"{_file(file)} holds a {type(found).__name__}, but a network is needed here"
        )
    return cast("BayesianNetwork", found)


def has_arrows(found: Any) -> bool:
    """Whether a network is a Bayesian one."""
    return hasattr(found, "require_network")


def require_arrows(found: Any, file: str) -> None:
    """Refuse a Markov network."""
    if not has_arrows(found):
        raise JensenError(
            f"{_file(file)} holds a Markov network, and a network with arrows is needed here"
        )


def read_factors(file: str) -> Any:
    """The factors in a file; other models are refused."""
    found = read_model(file)
    if kind_of(found) not in FACTORS:
        raise JensenError(
            f"{_file(file)} holds a {type(found).__name__}, but factors are needed here"
        )
    return found


def read_dynamics(file: str) -> Any:
    """The linear dynamical system in a file; other models are refused."""
    found = read_model(file)
    if kind_of(found) != "lds":
        raise JensenError(
            f"{_file(file)} holds a {type(found).__name__}, but a linear dynamical system is "
            f"needed here"
        )
    return found


def read_states(file: str) -> Any:
    """The mixture or hidden Markov model in a file; other models are refused."""
    found = read_model(file)
    if kind_of(found) in (*FACTORS, "lds"):
        raise JensenError(
            f"{_file(file)} holds a {type(found).__name__}, but a mixture or hidden Markov model "
            f"is needed here"
        )
    if kind_of(found) == "network":
        raise JensenError(
            f"{_file(file)} holds a network, but a mixture or hidden Markov model is needed here"
        )
    return found


def read_model(file: str) -> Any:
    """Whatever model a file holds; a posterior over graphs is none."""
    found = read_file(file)
    if kind_of(found) == "posterior":
        raise JensenError(
            f"{_file(file)} holds a posterior over graphs: look at it with jensen show, and ask it "
            f"more with jn.load in Python"
        )
    if kind_of(found) == "factorial-hmm":
        raise JensenError(
            f"{_file(file)} holds a factorial hidden Markov model: look at it with jensen show, "
            f"and ask it with jn.load in Python"
        )
    return found


def read_file(file: str) -> Any:
    """Whatever a file holds."""
    from jensen import io

    if file == "-":
        return io.from_bytes(sys.stdin.buffer.read(), "standard input")
    return io.load(file)


def kind_of(found: Any) -> str:
    """Which kind of model a file holds, as `--model` names it; or a posterior over graphs."""
    if hasattr(found, "edge_matrix"):
        return "posterior"
    if hasattr(found, "require_any"):
        return "network"
    return NOUNS[found.noun]


NOUNS = {
    "component": "mixture",
    "class": "latent-class",
    "tree": "trees",
    "state": "hmm",
    "dimension": "lds",
    "chain": "factorial-hmm",
    "factor": "factors",
    "hidden unit": "rbm",
    "unit": "rbm",
    "binary factor": "binary-factors",
    "analyzer": "factor-mixture",
}
"""What the hidden things of a model are called, and the model."""
FACTORS = ("factors", "binary-factors", "factor-mixture")
MANY_PARTS = ("factors", "binary-factors", "rbm")
"""Models of which several hidden parts make a row together, rather than one state."""


def _file(name: str) -> str:
    return "standard input" if name == "-" else name


def set_threads(threads: int | None) -> None:
    """Apply --threads."""
    if threads is not None:
        from jensen.data import set_threads

        set_threads(threads)


# --- the scale matrix of the prior of columns of numbers ---


def read_scale(text: str, names: Sequence[str]) -> Any:
    """What --scale says: "unit", a number, or a matrix of the columns sorted by name."""
    if text == "unit":
        return text
    try:
        return float(text)
    except ValueError:
        pass
    if not os.path.isfile(text):
        raise JensenError(f"--scale {text}: write unit, a number, or the name of a .csv file")
    return _read_matrix(text, sorted(names))


def _read_matrix(path: str, names: Sequence[str]) -> list[list[float]]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
            numbers = [[float(cell) for cell in row] for row in rows]
    except (OSError, ValueError, csv.Error):
        raise FileError(
            f"--scale {path}: the file must hold the names of the columns in its first line, and a "
            f"line of numbers for each of them, in the same order, with commas between them"
        ) from None
    if sorted(head) != list(names):
        raise FileError(f"--scale {path}: its first line must name each column once: {some(names)}")
    if len(numbers) != len(head) or any(len(row) != len(head) for row in numbers):
        raise FileError(
            f"--scale {path}: the matrix must have {len(head)} lines of {len(head)} numbers"
        )
    order = [head.index(name) for name in names]
    return [[numbers[i][j] for j in order] for i in order]


# --- what `learn` says of all models ---

LOOP = ("method", "n_init", "max_iter", "tol", "n_samples", "burn_in", "thin", "n_chains")
"""How parameters are learned, whatever the model is: keyword arguments of all estimators."""


def loop_choices(given: Given) -> dict[str, Any]:
    """How parameters are learned, as all estimators take it."""
    seed = {} if given.seed is None else {"random_state": given.seed}
    ahead = {"accelerate": True} if given.accelerate else {}
    return {**given.chosen(*LOOP), **ahead, **seed, "progress": sys.stderr.isatty()}


AUTO = "auto"
"""Of --states: as many as the rows ask for."""


def is_state_number(text: str) -> bool:
    """Whether --states says how many hidden states there are, rather than those of a column."""
    return text == AUTO or ("=" not in text and text.strip().lstrip("+-").isdecimal())


def refuse_state_numbers(given: Given) -> None:
    """Refuse --states K for a network."""
    if any(map(is_state_number, given.states)):
        raise JensenError(
            "--states K belongs to --model mixture, latent-class, trees or hmm; for a column of a "
            "network write its states: --states x=a,b,c"
        )
