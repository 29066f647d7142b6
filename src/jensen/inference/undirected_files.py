"""Markov networks as plain data, and back; docs/json-format.md describes the format."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from jensen.data.variable import Variable
from jensen.families.effects import Scope
from jensen.graphs import UndirectedGraph
from jensen.inference.network_files import read_variable
from jensen.inference.undirected_network import UndirectedNetwork
from jensen.support.json_values import Checked, plain_array, read_array


def plain_undirected(network: UndirectedNetwork) -> dict[str, Any]:
    """The network as a file holds it."""
    found: dict[str, Any] = {}
    if network.properties:
        found["properties"] = dict(network.properties)
    if network.n_free is not None:
        found["degrees_of_freedom"] = network.n_free
    found["edges"] = [list(edge) for edge in network.graph.edges]
    found["variables"] = [_entry(variable) for variable in network.variables]
    found["potentials"] = [
        {"variables": list(factor.variables), "log_table": plain_array(factor.log_table)}
        for factor in network.factors
    ]
    return found


def _entry(variable: Variable) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": variable.name, "states": list(variable.states)}
    if variable.cuts is not None:
        entry["cuts"] = list(variable.cuts)
    return entry


def read_undirected(value: Checked) -> UndirectedNetwork:
    """A network from the values of a file; faults are refused with their path."""
    members = value.fields(
        {"variables", "potentials", "edges"}, {"properties", "degrees_of_freedom"}
    )
    variables = _read_variables(members["variables"])
    names = [v.name for v in variables]
    graph = _read_graph(members["edges"], names)
    scopes: list[Scope] = []
    parts = []
    for item in members["potentials"].items():
        own = item.fields({"variables", "log_table"})
        scope = _read_scope(own["variables"], graph)
        if scope in scopes:
            own["variables"].fail("stand in another potential already")
        scopes.append(scope)
        shape = tuple(variables[v].n_states for v in scope)
        parts.append(read_array(own["log_table"], shape, logs=True).ravel())
    if {v for scope in scopes for v in scope} != set(range(len(names))):
        members["potentials"].fail("must hold every variable in one potential at least")
    free = None
    if "degrees_of_freedom" in members:
        free = members["degrees_of_freedom"].whole()
        if not 0 <= free < prod(float(v.n_states) for v in variables):
            members["degrees_of_freedom"].fail("cannot be of these states")
    properties = {}
    if "properties" in members:
        properties = {x: one.text() for x, one in members["properties"].members().items()}
    flat = np.concatenate([np.empty(0), *parts])
    return UndirectedNetwork(graph, tuple(variables), tuple(scopes), flat, free, properties)


def _read_variables(value: Checked) -> list[Variable]:
    found = []
    for item in value.items():
        own = item.fields({"name", "states"}, {"cuts"})
        found.append(read_variable(own["name"].text(), own))
    names = [v.name for v in found]
    if names != sorted(set(names)):
        value.fail("must have different names, in their order")
    return found


def _read_graph(value: Checked, names: list[str]) -> UndirectedGraph:
    edges = []
    for item in value.items():
        pair = item.texts()
        if len(pair) != 2 or not set(pair) <= set(names):
            item.fail("must be two names of variables")
        edges.append((pair[0], pair[1]))
    return UndirectedGraph(edges, names)


def _read_scope(value: Checked, graph: UndirectedGraph) -> Scope:
    names = value.texts()
    if not names or not set(names) <= set(graph.nodes):
        value.fail("must be names of variables")
    scope = tuple(graph.index[x] for x in names)
    if list(scope) != sorted(set(scope)):
        value.fail("must be different, in the order of the variables")
    for k, x in enumerate(names):
        for y in names[:k]:
            if y not in graph.neighbours(x):
                value.fail(f"hold {y!r} and {x!r}, which no edge joins")
    return scope
