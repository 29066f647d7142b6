"""How graphs are scored: what options say of priors, scales and rows, as the library takes it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.exceptions import FileError, JensenError
from jensen.scores.registry import AVAILABLE, WITH_JOINT_PRIOR, WITH_NETWORK
from jensen.support.text import either, some

# --- rows, and the network that spreads a prior sample ---


def check_score(given: Given) -> None:
    """Refuse a score without what it needs, before anything is read."""
    if (given.score in WITH_NETWORK) != (given.prior_network is not None):
        raise JensenError(
            f"--score {either(WITH_NETWORK)} and --prior-network go together: give both, or neither"
        )
    if given.available_case and given.score not in AVAILABLE:
        raise JensenError(f"--available-case belongs to --score {either(AVAILABLE)}: add one")


def row_choices(given: Given, is_numbers: bool) -> dict[str, Any]:
    """How a score treats the rows, and the network that it begins with."""
    found: dict[str, Any] = given.chosen("interventions")
    if given.available_case:
        if is_numbers:
            raise JensenError(
                "--available-case belongs to columns of labels, and these hold numbers"
            )
        found["missing"] = "available-case"
    if given.prior_network is not None:
        found["prior_network"] = inputs.read_net(given.prior_network)
    return found


# --- priors of graphs ---


def read_summed_prior(texts: list[str]) -> Any:
    """A prior of graphs that can be added to scores of families, as the library takes it."""
    if "order" in texts:
        raise JensenError(
            "--graph-prior order counts a graph once for every order that it allows, which is no "
            "sum over families, so no graph is scored or searched by it: it is for jensen "
            "posterior; take uniform, fair, or probabilities of edges"
        )
    return read_graph_prior(texts, "--graph-prior")


def name_score(score: str, prior: Any) -> str:
    """The name of a score to which the log prior of the graph is added."""
    return score if prior is None else f"{score} + log prior"


def read_graph_prior(texts: list[str], option: str = "--prior") -> Any:
    """The prior, as the library takes it; `option` is what it was given by."""
    words = [text for text in texts if "->" not in text and "<-" not in text]
    edges = dict(_edge(text, option) for text in texts if text not in words)
    kinds: list[Any] = [word for word in words if word != "order"] + ([edges] if edges else [])
    for word in words:
        if word not in ("uniform", "fair", "order"):
            raise JensenError(
                f"there is no {option} {word}: choose uniform, fair, order, or an edge with its "
                f"probability, 'A -> B=0.9'"
            )
    if len(kinds) > 1:
        raise JensenError(f"{option}: choose one of uniform, fair, and probabilities of edges")
    inner = kinds[0] if kinds else None
    if "order" not in words:
        return inner
    return "order" if inner is None else ("order", inner)


def _edge(text: str, option: str) -> tuple[tuple[str, str], float]:
    from jensen.graphs import DAG

    graph, _, number = text.rpartition("=")
    edges = DAG(graph).edges if graph else []
    try:
        (edge,), p = edges, float(number)
    except ValueError:
        raise JensenError(
            f"{option} {text}: write one edge and its probability: {option} 'A -> B=0.9'"
        ) from None
    return edge, p


# --- the scale matrix of the prior of columns of numbers ---


def read_scale(text: str, names: Sequence[str]) -> Any:
    """As the library takes it: "unit", a number, or a matrix of the columns sorted by name."""
    if text == "unit":
        return text
    try:
        return float(text)
    except ValueError:
        pass
    if not Path(text).is_file():
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


def check_scaled(score: str) -> None:
    """Refuse a scale for a score that has no such prior."""
    if score not in WITH_JOINT_PRIOR:
        owners = either(WITH_JOINT_PRIOR)
        raise JensenError(f"--scale belongs to --score {owners}, not to {score}")


def refuse_scale() -> None:
    """Refuse a scale where nothing has such a prior."""
    raise JensenError(
        "--scale belongs to the prior of columns of numbers: use it with --score bge, --prior bge "
        "or --method vbem"
    )
