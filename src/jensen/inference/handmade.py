"""Networks built by hand from tables of probabilities."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable, label_text
from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.inference.network import Network, assemble


def network_from_tables(
    graph: DAG, tables: Mapping[str, Any], states: Mapping[str, Sequence[object]]
) -> Network:
    """A network from arrays, or from dicts keyed by the labels of the parents."""
    _check_names(graph, tables, states)
    variables = {name: _variable(name, tables[name], states.get(name)) for name in graph.nodes}
    arrays = {
        name: _array(variables[name], [variables[p] for p in graph.parents(name)], tables[name])
        for name in graph.nodes
    }
    return assemble(graph, variables, arrays)


def _check_names(graph: DAG, tables: Mapping[str, Any], states: Mapping[str, Any]) -> None:
    absent = [name for name in graph.nodes if name not in tables]
    if absent:
        raise JensenError(f"there is no table of {absent[0]!r}: every node needs one")
    for name in [*tables, *states]:
        if name not in graph:
            raise JensenError(f"{name!r} is no node of the graph")


def _variable(name: str, table: Any, states: Sequence[object] | None) -> Variable:
    if states is None:
        row = next(iter(table.values()), ()) if isinstance(table, Mapping) else table
        states = range(np.shape(row)[-1])
    return Variable(name, "categorical", tuple(map(label_text, states)))


def _array(variable: Variable, parents: Sequence[Variable], table: Any) -> NDArray[np.float64]:
    if not isinstance(table, Mapping):
        try:
            return np.asarray(table, np.float64)
        except (TypeError, ValueError):
            raise JensenError(f"the table of {variable.name!r} is no array of numbers") from None
    rows = {_key(labels): row for labels, row in table.items()}
    wanted = list(product(*(p.states for p in parents)))
    unknown = [labels for labels in rows if labels not in wanted]
    absent = [labels for labels in wanted if labels not in rows]
    if unknown or absent:
        names = ", ".join(p.name for p in parents)
        raise JensenError(
            f"the table of {variable.name!r} needs one row for every ({names}); "
            f"unknown: {unknown[:3]}, absent: {absent[:3]}"
        )
    shape = [p.n_states for p in parents]
    stacked = [np.asarray(rows[labels], np.float64) for labels in wanted]
    if len({row.shape for row in stacked}) > 1:
        raise JensenError(f"the rows of the table of {variable.name!r} differ in length")
    return np.reshape(stacked, [*shape, -1])


def _key(labels: Any) -> tuple[str, ...]:
    return tuple(map(label_text, labels if isinstance(labels, tuple) else (labels,)))
