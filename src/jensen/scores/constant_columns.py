"""Columns of numbers that do not vary: no score can tell what depends on them.

The residual of a constant is 0 whatever its parents are, so a likelihood has no bound, and BGe is
left with its prior alone, by which it even joins two constants. Such columns are left out of the
score, and stand alone in every graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.exceptions import DataError, warn
from jensen.text import some

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""A column whose range is a smaller share of its largest value is constant but for rounding."""

_met: ContextVar[set[str] | None] = ContextVar("met", default=None)


def constant_columns(table: Table, names: Sequence[str]) -> tuple[int, ...]:
    """The places of the complete columns that are constant, as far as their digits tell."""
    if not table.n_rows:
        return ()
    return tuple(v for v, name in enumerate(names) if is_constant(table.column(name).data))


def is_constant(values: NDArray[Any]) -> bool:
    """Whether known values do not vary, as far as their digits tell."""
    least, most = float(values.min()), float(values.max())
    return most - least <= ROUNDING * max(abs(least), abs(most))


def warn_of_constants(names: Sequence[str]) -> None:
    """Tell which columns are left out; where tables are drawn again, note them for later."""
    noted = _met.get()
    if noted is not None:
        noted.update(names)
    elif names:
        one = len(names) == 1
        warn(
            f"{_are(names)} constant, so the data say nothing of edges there: "
            f"{'it is' if one else 'they are'} left out of the score, and "
            f"{'stands' if one else 'each stands'} alone in the graph. Leave "
            f"{'the column' if one else 'the columns'} out of the table (--without on the command "
            f"line) to silence this"
        )


def warn_of_drawn_constants(n_tables: Mapping[str, int], n: int) -> None:
    """The same of columns that are constant in some of n tables that were drawn from one."""
    if n_tables:
        most = max(n_tables.values())
        warn(
            f"{_are(sorted(n_tables))} constant in up to {most:,} of the {n:,} tables that were "
            f"drawn, so the graphs learned from these have no edges there"
        )


@contextmanager
def noting() -> Iterator[set[str]]:
    """Collect the names of constant columns in this thread, in place of warnings."""
    found: set[str] = set()
    token = _met.set(found)
    try:
        yield found
    finally:
        _met.reset(token)


def is_noting() -> bool:
    """Whether a table is one of many that were drawn, so that it is no fault of the caller's."""
    return _met.get() is not None


def refuse_edges(
    names: Sequence[str], parents: Sequence[Sequence[int]], constant: Set[int]
) -> None:
    """Refuse a graph with an edge at one of the constant columns."""
    for v, above in enumerate(parents):
        for u in above:
            if u in constant or v in constant:
                raise DataError(no_edge(names[u], names[v], names[u if u in constant else v]))


def no_edge(a: str, b: str, constant: str) -> str:
    """Why there is no such edge."""
    return (
        f"the edge {a} -> {b} cannot be scored: column {constant!r} is constant, so the data say "
        f"nothing of it; leave out the edge, or the column"
    )


def _are(names: Sequence[str]) -> str:
    shown = some(map(repr, names), most=20)
    return f"column {shown} is" if len(names) == 1 else f"columns {shown} are"
