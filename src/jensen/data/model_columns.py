"""A new table beside a fitted model: columns that it lacks, and labels that the model lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data.table import Table
from jensen.data.variable import Variable, label_text
from jensen.exceptions import DataError, JensenError, warn
from jensen.support.text import option, plural, some

MissingColumns = Literal["warn", "ignore"]


def check_own_columns(
    variables: Iterable[str],
    columns: Iterable[str],
    *,
    hidden: Collection[str] = (),
    skip: Collection[str] = (),
    missing_columns: MissingColumns = "warn",
) -> None:
    """Warn of variables without a column; refuse a table that has none of them.

    Parameters
    ----------
    variables
        All variables of the model, by name.
    columns
        All columns of the table.
    hidden
        Variables that never have a column.
    skip
        Variables whose columns are not looked at.
    missing_columns
        "warn", or "ignore" where the caller knows that columns are missing.
    """
    if missing_columns not in get_args(MissingColumns):
        raise JensenError(f"missing_columns must be 'warn' or 'ignore', not {missing_columns!r}")
    nodes, there = list(variables), list(columns)
    wanted = [name for name in nodes if name not in skip]
    absent = [name for name in wanted if name not in there]
    if any(name not in hidden for name in wanted) and not set(nodes).intersection(there):
        raise DataError(
            f"no column of the table ({some(there)}) is a variable of the network "
            f"({some(wanted)}): rename the columns{_spellings(absent, there)}"
        )
    absent = [name for name in absent if name not in hidden]
    if absent and missing_columns == "warn":
        others = [name for name in there if name not in nodes]
        warn(
            f"the table has no column for {plural(len(absent), 'variable')} of the network, "
            f"{some(map(repr, absent))}: taken as missing in every row"
            f"{_spellings(absent, others)}; rename the columns, or say "
            f"{option('missing_columns', 'ignore')} if they are missing indeed"
        )


def warn_of_misspelt(variables: Sequence[str], columns: Sequence[str]) -> None:
    """Warn of columns of evidence, which may be few, that are spelt nearly as a variable is."""
    absent = [name for name in variables if name not in columns]
    others = [name for name in columns if name not in variables]
    found = {name: nearest(name, absent, cutoff=ALIKE) for name in others}
    near = {name: other for name, other in found.items() if other is not None}
    if near:
        shown = some(f"{name!r} (is it {other!r}?)" for name, other in near.items())
        warn(
            f"columns of the evidence are no variables of the network, and are left out: {shown}; "
            f"rename or drop them"
        )


ALIKE = 0.75
"""Names of which so much is alike are probably meant to be the same."""


def _spellings(absent: Sequence[str], columns: Sequence[str]) -> str:
    """A remark in brackets about columns whose names are spelt alike."""
    found = {name: nearest(name, columns) for name in absent}
    meant = [f"{other!r} for {name!r}" for name, other in found.items() if other is not None]
    return f" (is it {some(meant)}?)" if meant else ""


def nearest(name: str, columns: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The column whose name is spelled most alike, whatever its case; None if none is near.

    >>> nearest("Smoker", ["age", "smokr"]), nearest("Smoker", ["age"])
    ('smokr', None)
    """
    by_text = {column.strip().casefold(): column for column in columns}
    close = get_close_matches(name.strip().casefold(), list(by_text), n=1, cutoff=cutoff)
    return by_text[close[0]] if close else None


class UnknownLabels(NamedTuple):
    """Labels of a table that a fitted model does not know."""

    rows: NDArray[np.bool_]  # (n,): which rows hold one
    column: str  # of the first one
    label: str


def read_known(table: Table, variables: Iterable[Variable]) -> tuple[Table, UnknownLabels | None]:
    """The table encoded as the model's variables, and its unknown labels (coded as missing)."""
    wanted = list(variables)
    rows, strange = table.read_as(wanted)
    if not strange.any():
        return rows, None
    first = table.take(np.flatnonzero(strange)[:1])
    name = next(v.name for v in wanted if first.read_as([v])[1].any())
    return rows, UnknownLabels(strange, name, _text_of(first, name))


def refuse_unknown(found: UnknownLabels | None, unknown: str) -> None:
    """Refuse unknown labels unless `unknown` is "missing"."""
    if unknown not in ("raise", "missing"):
        raise JensenError(f"unknown must be 'raise' or 'missing', not {unknown!r}")
    if found is not None and unknown == "raise":
        raise DataError(f"{_describe(found)}: correct them, or pass {option('unknown', 'missing')}")


def warn_of_unknown(found: UnknownLabels) -> None:
    """Warn that rows with unknown labels have the log-likelihood -inf."""
    warn(
        f"{_describe(found)}: the log-likelihood there is -inf. Correct them, make them missing, "
        f"or learn with them among the states"
    )


def _describe(found: UnknownLabels) -> str:
    rows = np.flatnonzero(found.rows)
    return (
        f"labels that this model does not know stand in {plural(len(rows), 'row')} "
        f"({some(rows + 1)}), the first one is {found.label!r} in column {found.column!r}"
    )


def _text_of(row: Table, name: str) -> str:
    """The label of a column in a table of one row."""
    column = row.column(name)
    value = column.data[0]
    is_label = column.variable.kind == "categorical"
    return column.variable.states[int(value)] if is_label else label_text(float(value))
