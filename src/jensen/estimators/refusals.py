"""Rows that a model cannot answer for: unknown labels, and what cannot occur."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable
from jensen.data.variable import label_text
from jensen.exceptions import DataError, ImpossibleError, JensenError, warn
from jensen.text import plural, some


class UnknownLabels(NamedTuple):
    """Labels that were not there when a model was fitted."""

    rows: NDArray[np.bool_]  # (n,): which rows hold one
    column: str  # of the first one
    label: str


def read_known(table: Table, variables: Iterable[Variable]) -> tuple[Table, UnknownLabels | None]:
    """The table as a model knows it, unknown labels taken as missing; and what these are."""
    wanted = list(variables)
    rows, strange = table.read_as(wanted)
    if not strange.any():
        return rows, None
    first = table.take(np.flatnonzero(strange)[:1])
    name = next(v.name for v in wanted if first.read_as([v])[1].any())
    return rows, UnknownLabels(strange, name, _text_of(first, name))


def _text_of(row: Table, name: str) -> str:
    """The label that a table of one row holds."""
    column = row.column(name)
    value = column.data[0]
    is_label = column.variable.kind == "categorical"
    return column.variable.states[int(value)] if is_label else label_text(float(value))


def refuse_unknown(found: UnknownLabels | None, unknown: str) -> None:
    """Unless they may be taken as missing."""
    _check_choice("unknown", unknown, "missing")
    if found is None or unknown == "missing":
        return
    raise DataError(f"{_told(found)}: correct them, or pass unknown='missing' (--unknown missing)")


def warn_of_unknown(found: UnknownLabels) -> None:
    """Say why rows, or their sequences, have the log-likelihood -inf."""
    warn(
        f"{_told(found)}: the log-likelihood there is -inf. Correct them, make them missing, or "
        f"learn with them among the states"
    )


def _told(found: UnknownLabels) -> str:
    rows = np.flatnonzero(found.rows)
    return (
        f"labels that this model does not know stand in {plural(len(rows), 'row')} "
        f"({some(rows + 1)}), the first one is {found.label!r} in column {found.column!r}"
    )


def refuse_impossible(lost: NDArray[np.bool_], impossible: str, noun: str = "row") -> None:
    """Unless rows, or sequences, of probability 0 may go without an answer."""
    check_impossible(impossible)
    if impossible == "nan" or not lost.any():
        return
    numbers = np.flatnonzero(lost) + 1
    raise ImpossibleError(
        f"{plural(len(numbers), noun)} cannot occur ({some(numbers)}), having probability 0 under "
        f"this model: correct the data, learn with a prior, which leaves nothing impossible, or "
        f"pass impossible='nan' (--impossible nan)"
    )


def check_impossible(impossible: str) -> None:
    """Refuse what is no choice, also where nothing is impossible."""
    _check_choice("impossible", impossible, "nan")


def _check_choice(name: str, value: str, other: str) -> None:
    if value not in ("raise", other):
        raise JensenError(f"{name} must be 'raise' or {other!r}, not {value!r}")
