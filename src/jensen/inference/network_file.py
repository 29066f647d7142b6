"""A network of tables as plain data, and back; docs/json-format.md describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.inference.file_entries import read_entries
from jensen.inference.network import TOLERANCE, assemble
from jensen.io.checked import Checked
from jensen.io.json_arrays import at_once

if TYPE_CHECKING:
    from jensen.inference.network import Network

MEAN_TOLERANCE = 1e-9


def plain(network: Network) -> dict[str, Any]:
    """The network as a file has it."""
    entries = [entry(network, name) for name in network.graph.nodes]
    return {"properties": dict(network.properties), "variables": entries}


def entry(network: Network, name: str) -> dict[str, Any]:
    """One variable with its table, as it stands in a file."""
    variable = network.variables[network.index(name)]
    members: dict[str, Any] = {"name": name, "states": list(variable.states)}
    if variable.cuts is not None:
        members["cuts"] = list(variable.cuts)
    members["parents"] = [parent.name for parent in network.parents(name)]
    members["table"] = network.part(name, network.tables).tolist()
    if network.concentration is not None:
        members["posterior"] = network.part(name, network.concentration).tolist()
    if network.samples is not None:
        drawn = [network.part(name, tables) for tables in network.samples]
        members["samples"] = np.array(drawn).tolist()
    if network.variable_properties.get(name):
        members["properties"] = dict(network.variable_properties[name])
    return members


def read(value: Checked) -> Network:
    """A network from its members."""
    members = value.fields({"variables"}, {"properties"})
    optional = {"cuts", "samples", "properties"}
    entries = read_entries(members["variables"], {"states", "table"}, optional)
    variables = {name: _variable(name, own) for name, own in entries.members.items()}
    axes = {name: [variables[p] for p in above] for name, above in entries.parents.items()}
    graph = entries.graph()
    tables, posteriors = (
        {name: _array(part, axes[name], variables[name]) for name, part in found.items()}
        for found in (entries.each("table"), entries.posteriors())
    )
    own = {name: _properties(part) for name, part in entries.members.items()}
    kept = {name: texts for name, texts in own.items() if texts}
    network = assemble(graph, variables, tables, posteriors or None, _properties(members), kept)
    samples = entries.each("samples")
    if not samples:
        return network
    if posteriors or len(samples) < len(tables):
        entries.value.fail("must have samples each, or none; and no posterior beside them")
    return replace(network, samples=_samples(network, samples, axes))


def _variable(name: str, members: Mapping[str, Checked]) -> Variable:
    cuts = tuple(map(float, members["cuts"].numbers())) if "cuts" in members else None
    states = tuple(members["states"].texts())
    if not states:
        members["states"].fail("must name one state at least")
    return Variable(name, "categorical", states, cuts)


def _properties(members: Mapping[str, Checked]) -> dict[str, str]:
    if "properties" not in members:
        return {}
    return {name: value.text() for name, value in members["properties"].members().items()}


def _samples(
    network: Network, given: Mapping[str, Checked], axes: Mapping[str, list[Variable]]
) -> NDArray[np.float64]:
    """Tables drawn from the posterior (S, P), the mean of which is the table."""
    parts: list[NDArray[np.float64]] = []
    for variable in network.variables:
        value = given[variable.name]
        n_samples = len(list(value.items()))
        part = _array(value, axes[variable.name], variable, n_samples)
        if len(part) == 0 or (parts and len(part) != len(parts[0])):
            value.fail("must hold one sample at least, and as many as those of other variables")
        if np.any(np.abs(part.sum(-1) - 1) > TOLERANCE):
            value.fail("holds a row that does not sum to 1")
        table = network.part(variable.name, network.tables)
        if not np.allclose(part.mean(0), table, rtol=0.0, atol=MEAN_TOLERANCE):
            value.fail("must have the table as its mean")
        parts.append(part.reshape(len(part), -1))
    return np.concatenate(parts, axis=1)


def _array(
    value: Checked, parents: list[Variable], variable: Variable, n_samples: int | None = None
) -> NDArray[np.float64]:
    """Nested lists, an axis per parent as listed; the axes come back sorted by name.

    With samples there is one more axis, the first.
    """
    shape = [v.n_states for v in (*parents, variable)]
    by_name = sorted(range(len(parents)), key=lambda k: parents[k].name)
    axes = [*by_name, len(parents)]
    if n_samples is None:
        array = _at_once(value.value, shape)
        if array is None:
            array = _nested(value, shape)  # which knows what is wrong, and where
        return array.transpose(axes)
    array = _at_once(value.value, [n_samples, *shape])
    if array is None:
        array = np.array([_nested(item, shape) for item in value.items()])
    return array.transpose([0, *(1 + k for k in axes)]) if n_samples else array


def _at_once(value: Any, shape: list[int]) -> NDArray[np.float64] | None:
    """Nested lists of that shape that hold nothing but floats, finite and not negative, or None."""
    array = at_once(value, tuple(shape))
    return array if array is not None and np.all(array >= 0.0) else None


def _nested(value: Checked, shape: list[int]) -> NDArray[np.float64]:
    if len(shape) == 1:
        numbers = value.numbers()
        if len(numbers) != shape[0]:
            value.fail(f"has {len(numbers)} numbers, but the variable has {shape[0]} states")
        if np.any(numbers < 0):
            value.fail("holds a negative number")
        return numbers
    items = list(value.items())
    if len(items) != shape[0]:
        value.fail(f"has {len(items)} parts, but that parent has {shape[0]} states")
    return np.stack([_nested(item, shape[1:]) for item in items])
