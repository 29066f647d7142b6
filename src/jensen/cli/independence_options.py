"""The options of `jensen learn` that say how tests of independence are made."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class IndependenceTest(StrEnum):
    """Which test is made."""

    G2 = "g2"
    X2 = "x2"
    MUTUAL_INFORMATION = "mutual-information"
    FISHER_Z = "fisher-z"
    CONDITIONAL_GAUSSIAN = "conditional-gaussian"


class CorrectionFor(StrEnum):
    """What many tests are corrected for."""

    BONFERRONI = "bonferroni"
    FDR = "fdr"


Test = Annotated[
    IndependenceTest | None,
    typer.Option(
        "--test",
        help="Of pc and mmhc: the test of independence; of columns of labels g2, x2 or "
        "mutual-information, of columns of numbers fisher-z, conditional-gaussian of either; g2 or "
        "fisher-z unless given.",
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        metavar="P",
        help="Of pc and mmhc: the p-value below which two variables are dependent; 0.05 unless "
        "given.",
    ),
]
MaxGiven = Annotated[
    int | None,
    typer.Option(
        "--max-given",
        metavar="N",
        min=0,
        help="Of pc and mmhc: the most variables that a test is given; as many as there are "
        "neighbours unless given.",
    ),
]
Correction = Annotated[
    CorrectionFor | None,
    typer.Option(
        "--correction",
        help="Of pc, for its many tests; bonferroni: no edge is wrong, with probability 1 - alpha; "
        "fdr: about a share alpha of the edges is.",
    ),
]
Permutations = Annotated[
    int | None,
    typer.Option(
        "--permutations",
        metavar="N",
        min=0,
        help="Of pc and mmhc, for columns of labels: p-values by shuffling the rows so often "
        "(--seed); by the chi-squared distribution unless given.",
    ),
]

BELONG_TO = {
    "--test": "pc or mmhc, which make tests",
    "--alpha": "pc or mmhc, which make tests",
    "--max-given": "pc or mmhc, which make tests",
    "--permutations": "pc or mmhc, which make tests",
    "--correction": "pc, which finds all edges by tests",
}
"""The structures that have an option, and why."""
