"""Which columns of a table a graph is learned of.

A column that names or numbers the rows (an identifier, a date, free text) tells nothing of other
rows, and no row to come has its values. But scores join it with other columns: an identifier
determines them all, and the number of a row those by which rows were sorted. So graphs are learned
without such columns, unless the caller declares their kind, or names them in another choice.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from jensen.data import RowSource
from jensen.data.column_warnings import row_names, tell_row_names
from jensen.exceptions import GraphError
from jensen.graphs import formats
from jensen.q_graph.constraints import as_lists
from jensen.support.text import of_frame

Rows = TypeVar("Rows", bound=RowSource)


def learned_columns(table: Rows, choices: Mapping[str, Any]) -> tuple[Rows, dict[str, Any]]:
    """The table without columns that name rows, and the choices; a warning names such columns once.

    Columns that a choice names stay. A choice that can be read only once is returned as a list.
    """
    found, chosen = row_names(table, table.names), dict(choices)
    if not found:
        return table, chosen
    chosen = as_lists(chosen)
    rowwise = not isinstance(chosen.get("interventions"), str)  # names no column then
    named = _names_in([x for key, x in chosen.items() if not (rowwise and key == "interventions")])
    out = [name for name in found if name not in named]
    kinds: dict[str, list[str]] = {}
    for name in out:
        is_label = table.variable(name).kind == "categorical"
        kinds.setdefault("categorical" if is_label else "continuous", []).append(name)
    it_is, it = ("It is", "it") if len(out) == 1 else ("They are", "them")
    tell_row_names(table, out, f"{it_is} left out of the graph: keep {it} by {of_frame(**kinds)}")
    return table.select([name for name in table.names if name not in out]), chosen


def _names_in(choice: Any) -> set[str]:
    """Names of columns in a choice: texts and graphs, and what holds them."""
    if isinstance(choice, str):
        try:
            draft = formats.parse(choice)
            return {choice, *draft.nodes, *(x for a, _, b in draft.edges for x in (a, b))}
        except GraphError:
            return {choice}
    nodes = getattr(getattr(choice, "graph", choice), "nodes", None)  # networks have a graph
    if nodes is not None:
        return {str(name) for name in nodes}
    if isinstance(choice, Mapping):
        return _names_in(choice.keys()) | _names_in(choice.values())
    return set().union(*map(_names_in, choice)) if isinstance(choice, Iterable) else set()
