"""The option `--scale`: the scale matrix of the prior of columns of numbers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from jensen.exceptions import FileError, JensenError
from jensen.scores.registry import WITH_JOINT_PRIOR
from jensen.support.text import either, some

Scale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="Scale of the prior of columns of numbers, for the score and the prior bge. Unless "
        "given, it is made of the variances of the columns, so that units change nothing. unit: "
        "the published one, for columns in comparable units; a number: so many times the "
        "identity; or a .csv file with the matrix, under a line with the names of the columns.",
    ),
]


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
    """Refuse a scale of a score that has no such prior."""
    if score not in WITH_JOINT_PRIOR:
        owners = either(WITH_JOINT_PRIOR)
        raise JensenError(f"--scale belongs to --score {owners}, not to {score}")


def refuse_scale() -> None:
    """Refuse a scale where nothing has such a prior."""
    raise JensenError(
        "--scale belongs to the prior of columns of numbers: use it with --score bge, --prior bge "
        "or --method vbem"
    )
