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
    tables = {name: _by_parents(table, graph.parents(name)) for name, table in tables.items()}
    variables = {name: _variable(name, tables[name], states.get(name)) for name in graph.nodes}
    arrays = {
        name: _array(variables[name], [variables[p] for p in graph.parents(name)], tables[name])
        for name in graph.nodes
    }
    return assemble(graph, variables, arrays)


def replace_table(network: Network, name: str, table: Any) -> Network:
    """The same network with another table of one variable; a posterior is not kept."""
    variable, parents = network.variables[network.index(name)], network.parents(name)
    values = _array(variable, parents, _by_parents(table, [p.name for p in parents]))
    tables = {v.name: network.part(v.name, network.tables) for v in network.variables}
    return assemble(
        network.graph,
        {v.name: v for v in network.variables},
        {**tables, name: values},
        properties=network.properties,
        variable_properties=network.variable_properties,
    )


def _check_names(graph: DAG, tables: Mapping[str, Any], states: Mapping[str, Any]) -> None:
    absent = [name for name in graph.nodes if name not in tables]
    if absent:
        raise JensenError(f"there is no table of {absent[0]!r}: every node needs one")
    for name in [*tables, *states]:
        if name not in graph:
            raise JensenError(f"{name!r} is no node of the graph")


def _variable(name: str, table: Any, states: Sequence[object] | None) -> Variable:
    if isinstance(states, str):
        raise JensenError(f"the states of {name!r} must be a list, not the text {states!r}")
    if states is None:
        row = next(iter(table.values()), ()) if isinstance(table, Mapping) else table
        states = list(row) if isinstance(row, Mapping) else range(_numbers(name, row).shape[-1])
    if len(states) == 0:
        raise JensenError(f"{name!r} needs one state at least")
    return Variable(name, "categorical", tuple(map(label_text, states)))


def _array(variable: Variable, parents: Sequence[Variable], table: Any) -> NDArray[np.float64]:
    if not isinstance(table, Mapping):
        return _numbers(variable.name, table)
    rows = {_key(labels): _row(variable, row) for labels, row in table.items()}
    wanted = dict.fromkeys(product(*(p.states for p in parents)))
    unknown = [labels for labels in rows if labels not in wanted]
    absent = [labels for labels in wanted if labels not in rows]
    if unknown or absent:
        names = ", ".join(p.name for p in parents)
        raise JensenError(
            f"the table of {variable.name!r} needs one row for every ({names}); "
            f"unknown: {unknown[:3]}, absent: {absent[:3]}"
        )
    stacked = [rows[labels] for labels in wanted]
    if len({row.shape for row in stacked}) > 1:
        raise JensenError(f"the rows of the table of {variable.name!r} differ in length")
    return np.reshape(stacked, [*(p.n_states for p in parents), -1])


def _by_parents(table: Any, parents: Sequence[str]) -> Any:
    """A root may give its one row as a dict from states to probabilities."""
    return {(): table} if isinstance(table, Mapping) and not parents and () not in table else table


def _row(variable: Variable, row: Any) -> NDArray[np.float64]:
    """Probabilities in the order of the states, or a dict from each state to its own."""
    if not isinstance(row, Mapping):
        return _numbers(variable.name, row)
    found = {label_text(label): p for label, p in row.items()}
    if set(found) != set(variable.states):
        raise JensenError(
            f"a row of the table of {variable.name!r} names the states {list(found)}, "
            f"but they are {list(variable.states)}"
        )
    return _numbers(variable.name, [found[state] for state in variable.states])


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty(())
    if array.ndim == 0:
        raise JensenError(
            f"the table of {name!r} must be an array of probabilities, or a dict from the labels "
            f"of its parents to such rows"
        )
    return array


def _key(labels: Any) -> tuple[str, ...]:
    return tuple(map(label_text, labels if isinstance(labels, tuple) else (labels,)))
