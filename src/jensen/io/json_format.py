"""Jensen's own lossless format: JSON that holds all that was learned, exact to the bit.

docs/json-format.md describes it for other programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.graphs import DAG
from jensen.inference import Network
from jensen.inference.network import TOLERANCE, assemble
from jensen.io.checked import Checked, check_version, dump, parse_json, refusing
from jensen.io.json_arrays import at_once
from jensen.io.json_learning import (
    check_choices,
    plain_choices,
    plain_learned,
    read_choices,
    read_learned,
)

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

FORMAT = "jensen-network"
VERSION = 1
MEAN_TOLERANCE = 1e-9


def dumps(net: BayesianNetwork) -> str:
    """The network as JSON text."""
    network = net.require_network()
    check_choices(net)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "properties": dict(network.properties),
        "choices": plain_choices(net),
        "learned": plain_learned(net),
    }
    lines = [f"{dump(name)}: {dump(value)}" for name, value in head.items()]
    entries = ",\n".join(dump(entry(network, v.name)) for v in network.variables)
    lines.append(f'"variables": [\n{entries}\n]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from JSON text; `file` is for messages."""
    return read(parse_json(text, file))


def read(head: Checked) -> BayesianNetwork:
    """A network from a document."""
    from jensen.estimators.bayesian_network import BayesianNetwork

    check_version(head, FORMAT, VERSION)
    document = head.fields({"format", "version", "choices", "learned", "variables"}, {"properties"})
    choices = read_choices(document["choices"])
    with refusing(head.file):
        network = _network(document["variables"], _properties(document))
    net = BayesianNetwork(network.graph, **choices)
    net.network_ = network
    with refusing(f"{head.file}: choices"):
        check_choices(net)
    read_learned(
        net,
        document["learned"],
        has_posterior=network.concentration is not None,
        n_samples=None if network.samples is None else len(network.samples),
    )
    return net


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


def _properties(document: Mapping[str, Checked]) -> dict[str, str]:
    if "properties" not in document:
        return {}
    return {name: value.text() for name, value in document["properties"].members().items()}


def _network(entries: Checked, properties: Mapping[str, str]) -> Network:
    variables: dict[str, Variable] = {}
    fields = []
    for item in entries.items():
        members = item.fields(
            {"name", "states", "parents", "table"}, {"cuts", "posterior", "samples", "properties"}
        )
        name = members["name"].text()
        if name in variables:
            members["name"].fail(f"repeats the variable {name!r}")
        cuts = tuple(map(float, members["cuts"].numbers())) if "cuts" in members else None
        states = tuple(members["states"].texts())
        if not states:
            members["states"].fail("must name one state at least")
        variables[name] = Variable(name, "categorical", states, cuts)
        fields.append(members)
    parents = {name: _parents(m, variables) for name, m in zip(variables, fields, strict=True)}
    graph = DAG.from_parents(parents)
    tables, posteriors = {}, {}
    for name, members in zip(variables, fields, strict=True):
        axes = [variables[p] for p in parents[name]]
        tables[name] = _array(members["table"], axes, variables[name])
        if "posterior" in members:
            posteriors[name] = _array(members["posterior"], axes, variables[name])
    if posteriors and len(posteriors) < len(tables):
        entries.fail("must have a posterior each, or none")
    own = {name: _properties(m) for name, m in zip(variables, fields, strict=True)}
    kept = {name: texts for name, texts in own.items() if texts}
    network = assemble(graph, variables, tables, posteriors or None, properties, kept)
    given = {
        name: m["samples"] for name, m in zip(variables, fields, strict=True) if "samples" in m
    }
    if not given:
        return network
    if posteriors or len(given) < len(tables):
        entries.fail("must have samples each, or none; and no posterior beside them")
    return replace(network, samples=_samples(network, given, parents))


def _samples(
    network: Network, given: Mapping[str, Checked], parents: Mapping[str, list[str]]
) -> NDArray[np.float64]:
    """Tables drawn from the posterior (S, P), the mean of which is the table."""
    parts: list[NDArray[np.float64]] = []
    for variable in network.variables:
        value = given[variable.name]
        axes = [network.variables_by_name[p] for p in parents[variable.name]]
        part = _array(value, axes, variable, n_samples=len(list(value.items())))
        if len(part) == 0 or (parts and len(part) != len(parts[0])):
            value.fail("must hold one sample at least, and as many as those of other variables")
        if np.any(np.abs(part.sum(-1) - 1) > TOLERANCE):
            value.fail("holds a row that does not sum to 1")
        table = network.part(variable.name, network.tables)
        if not np.allclose(part.mean(0), table, rtol=0.0, atol=MEAN_TOLERANCE):
            value.fail("must have the table as its mean")
        parts.append(part.reshape(len(part), -1))
    return np.concatenate(parts, axis=1)


def _parents(members: Mapping[str, Checked], variables: Mapping[str, Variable]) -> list[str]:
    parents = members["parents"].texts()
    for parent in parents:
        if parent not in variables:
            members["parents"].fail(f"names {parent!r}, which is no variable of this file")
    return parents


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
