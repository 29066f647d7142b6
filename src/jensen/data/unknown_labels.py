"""Labels of a new table that a fitted model does not know: refused, told, or taken as missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.table import Table
from jensen.data.variable import Variable, label_text
from jensen.exceptions import DataError, JensenError, warn
from jensen.support.text import plural, some


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


def refuse_unknown(found: UnknownLabels | None, unknown: str) -> None:
    """Unless they may be taken as missing."""
    if unknown not in ("raise", "missing"):
        raise JensenError(f"unknown must be 'raise' or 'missing', not {unknown!r}")
    if found is not None and unknown == "raise":
        raise DataError(
            f"{_told(found)}: correct them, or pass unknown='missing' (--unknown missing)"
        )


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


def _text_of(row: Table, name: str) -> str:
    """The label that a table of one row holds."""
    column = row.column(name)
    value = column.data[0]
    is_label = column.variable.kind == "categorical"
    return column.variable.states[int(value)] if is_label else label_text(float(value))
