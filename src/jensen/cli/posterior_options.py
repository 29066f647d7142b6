"""The options of `jensen posterior`, and how they are read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from jensen.exceptions import JensenError


class Method(StrEnum):
    """How the posterior is found."""

    PARTITION = "partition"
    ORDER = "order"
    STRUCTURE = "structure"
    EXACT = "exact"


How = Annotated[
    Method,
    typer.Option(
        "--method",
        help="partition: chains over layers of graphs; structure: over graphs, edge by edge; "
        "order: over orders (see --prior); exact: all graphs summed, of about 16 variables at most "
        "(20 with --prior order).",
    ),
]
Prior = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        "--graph-prior",
        metavar="PRIOR",
        help="Of graphs: uniform; fair (every number of parents alike); or edges with their "
        "probabilities, as in 'A -> B=0.9', repeatable. order, alone or beside these: each graph "
        "counts once for every order that it allows. uniform unless given; order for --method "
        "order.",
    ),
]
Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidates",
        metavar="N",
        help="How many candidate parents a variable has, of which all subsets are weighed; or "
        "A=B,C: those of A, repeatable. All up to 14 variables, else 12, unless given.",
    ),
]
Outside = Annotated[
    int | None,
    typer.Option(
        "--outside",
        metavar="N",
        min=0,
        max=2,
        help="Up to so many parents that are no candidates stay possible; 2 unless given (1 beyond "
        "150 variables).",
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        "--samples", "--n-samples", metavar="N", min=1, help="Of each chain; 1000 unless given."
    ),
]
Chains = Annotated[
    int | None,
    typer.Option(
        "--chains", "--n-chains", metavar="N", min=1, help="How many chains; 4 unless given."
    ),
]
BurnIn = Annotated[
    int | None,
    typer.Option(
        "--burn-in",
        metavar="N",
        min=0,
        help="Proposals before the first sample; half as many as follow unless given.",
    ),
]
Thin = Annotated[
    int | None,
    typer.Option(
        "--thin",
        metavar="N",
        min=1,
        help="Proposals from sample to sample; 400 unless given (10100 for structure).",
    ),
]
Temperatures = Annotated[
    int | None,
    typer.Option(
        "--temperatures",
        metavar="N",
        min=1,
        help="Copies of each chain, from cold to hot, that exchange places; 1 unless given.",
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="NAME", help="A column of the graphs, all unless given; repeatable."
    ),
]
Threshold = Annotated[
    float,
    typer.Option(
        "--threshold",
        metavar="P",
        min=0.0,
        max=1.0,
        help="Edges more probable than this are listed, and drawn by --svg.",
    ),
]
Svg = Annotated[
    str | None,
    typer.Option(
        "--svg",
        metavar="FILE",
        help="Draw the edges, each as dark as it is probable, into this file; - prints it.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write it (.json); - prints it."),
]
Progress = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="Show how far it is; in a terminal by default."),
]


def refuse_chains(method: Method, given: dict[str, Any]) -> None:
    """Refuse what sums over all graphs have no use for."""
    for name, value in given.items():
        if method is Method.EXACT and value is not None:
            raise JensenError(
                f"--method exact and {_option(name)} do not go together: {_option(name)} belongs "
                f"to chains, and all graphs are summed"
            )


def _option(name: str) -> str:
    return f"--{name.removeprefix('n_').replace('_', '-')}"


def read_candidates(texts: list[str] | None) -> int | dict[str, list[str]] | None:
    """One number, or the candidates of some variables."""
    if not texts:
        return None
    if len(texts) == 1 and texts[0].isdecimal():
        return int(texts[0])
    found: dict[str, list[str]] = {}
    for text in texts:
        child, equals, parents = text.partition("=")
        if not equals or child in found:
            raise JensenError(
                f"--candidates {text}: write one number, or once for a variable its candidates: "
                f"--candidates A=B,C"
            )
        found[child] = [name.strip() for name in parents.split(",") if name.strip()]
    return found
