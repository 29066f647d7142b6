"""The option of a prior of graphs, of the commands that learn or score a graph."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jensen.exceptions import JensenError

GraphPrior = Annotated[
    list[str] | None,
    typer.Option(
        "--graph-prior",
        metavar="PRIOR",
        help="Of graphs, its logarithm added to their score: uniform; fair (every number of "
        "parents alike); or edges with their probabilities, as in 'A -> B=0.9', repeatable. "
        "uniform unless given.",
    ),
]


def read_summed_prior(texts: list[str] | None) -> Any:
    """A prior that can be added to scores of families, as the library takes it."""
    if "order" in (texts or []):
        raise JensenError(
            "--graph-prior order counts a graph once for every order that it allows, which is no "
            "sum over families, so no graph is scored or searched by it: it is for jensen "
            "posterior; take uniform, fair, or probabilities of edges"
        )
    return read_graph_prior(texts, "--graph-prior")


def name_score(score: str, prior: Any) -> str:
    """What a score is called to which the log prior of the graph is added."""
    return score if prior is None else f"{score} + log prior"


def read_graph_prior(texts: list[str] | None, option: str = "--prior") -> Any:
    """The prior, as the library takes it; `option` is what it was given by."""
    words = [text for text in texts or [] if "->" not in text and "<-" not in text]
    edges = dict(_edge(text, option) for text in texts or [] if text not in words)
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
