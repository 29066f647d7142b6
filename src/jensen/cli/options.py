"""Options that several commands share, and those that do not go together."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from jensen.exceptions import JensenError
from jensen.scores.registry import AVAILABLE, SAMPLE_SIZED, SPREAD_PRIORS, WITH_NETWORK
from jensen.support.text import either

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
        help="A label that means missing, as in --missing '?'; repeatable. --missing '' says that "
        "only empty fields are missing, and labels like NA are labels.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHAR",
        help="What stands between the fields of a text file: , ; | or tab, or any other character; "
        "found from the first lines unless given.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="CHAR",
        help="What stands before the decimals of numbers in a text file, . or ,; found column by "
        "column unless given.",
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
Counts = Annotated[
    list[str] | None,
    typer.Option(
        "--counts",
        metavar="COLUMN",
        help="A column of whole numbers to read as counts, not as states; repeatable.",
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
        help=f"Of the scores {either(SAMPLE_SIZED, 'and')}, and of the priors "
        f"{either(SPREAD_PRIORS, 'and')}; 1 unless given.",
    ),
]
PriorNetwork = Annotated[
    str | None,
    typer.Option(
        "--prior-network",
        metavar="NET",
        help=f"Of {either(WITH_NETWORK)}: a network that spreads the prior sample.",
    ),
]
AvailableCase = Annotated[
    bool,
    typer.Option(
        "--available-case",
        help="Where values are missing: average over the rows known to each family (score "
        f"{either(AVAILABLE[::-1])}). Graphs learned so have false edges, unless hardly any are "
        "missing.",
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


class MissingColumns(StrEnum):
    """What to do with variables of the network that have no column."""

    WARN = "warn"
    IGNORE = "ignore"


OnMissingColumns = Annotated[
    MissingColumns,
    typer.Option(
        "--missing-columns",
        help="Variables of the network without a column are missing in every row: warn, or not.",
    ),
]
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


def set_threads(threads: int | None) -> None:
    """Apply --threads."""
    if threads is not None:
        from jensen.data import set_threads

        set_threads(threads)


def refuse_together(given: dict[str, object]) -> None:
    """Refuse options of which all but the first would be ignored."""
    chosen = [name for name, value in given.items() if value]
    if len(chosen) > 1:
        raise JensenError(f"{chosen[0]} and {chosen[1]} do not go together: choose one")


def refuse_two_inputs(*inputs: str | None) -> None:
    """Standard input can be read once."""
    if inputs.count("-") > 1:
        raise JensenError("- stands twice, but standard input can be read once: name a file")


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
