"""A table in words: how large it is, and a line per column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jensen.support.text import grid, plural

if TYPE_CHECKING:
    from jensen.data.table import Table

MOST_COLUMNS = 20
MOST_STATES = 6
WIDEST = 60


def describe(table: Table) -> str:
    """What a table prints as."""
    lost = sum(table.n_missing().values())
    head = f"Table: {plural(table.n_rows, 'row')}, {plural(len(table.names), 'column')}"
    head += f", {plural(lost, 'value')} missing" if lost else ""
    head += f", total weight {table.total_weight:g}" if table.weights is not None else ""
    return "\n".join([head, *_columns(table)])


def _columns(table: Table) -> list[str]:
    shown, lost = table.variables[:MOST_COLUMNS], table.n_missing(table.names[:MOST_COLUMNS])
    rows = []
    for v in shown:
        more = f", ... ({v.n_states})" if v.n_states > MOST_STATES else ""
        states = ", ".join(v.states[:MOST_STATES]) + more
        absent = f"{lost[v.name]:,} missing" if v.name in lost else ""
        short = states if len(states) <= WIDEST else f"{states[: WIDEST - 3]}..."
        rows.append([v.name, v.kind, short, absent])
    lines = [f"  {line}" for line in grid(rows, left=4).splitlines()]
    rest = len(table.names) - len(shown)
    return [*lines, f"  ... and {plural(rest, 'column')} more"] if rest else lines
