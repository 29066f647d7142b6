"""Jensen's own lossless format: JSON that holds all that was learned, exact to the bit.

docs/json-format.md describes it for other programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import FileError, JensenError
from jensen.graphs import DAG
from jensen.inference import Network
from jensen.inference.network import assemble
from jensen.io.checked import Checked, parse_json
from jensen.models.priors import make_prior

if TYPE_CHECKING:
    from jensen.estimators import BayesianNetwork

FORMAT = "jensen-network"
VERSION = 1
LEARNED = ("free_energy", "is_bound", "trace", "n_sweeps", "converged")


def looks_like(text: str) -> bool:
    """Whether a text begins as a JSON object does."""
    return text.startswith("{")


def dumps(net: BayesianNetwork) -> str:
    """The network as JSON text."""
    network = net.require_network()
    _check_choices(net)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "properties": dict(network.properties),
        "choices": {
            "method": net.method,
            "prior": _plain_prior(net.prior),
            "equivalent_sample_size": float(net.equivalent_sample_size),
        },
        "learned": _learned(net),
    }
    lines = [f"{json.dumps(name)}: {_dump(value)}" for name, value in head.items()]
    entries = ",\n".join(_dump(entry(network, v.name)) for v in network.variables)
    lines.append(f'"variables": [\n{entries}\n]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from JSON text; `file` is for messages."""
    from jensen.estimators import BayesianNetwork

    head = parse_json(text, file)
    _check_version(head)
    document = head.fields({"format", "version", "choices", "learned", "variables"}, {"properties"})
    choices = document["choices"].fields({"method", "prior", "equivalent_sample_size"})
    with _refusing(file):
        network = _network(document["variables"], _properties(document))
    net = BayesianNetwork(
        network.graph,
        prior=_read_prior(choices["prior"]),
        equivalent_sample_size=choices["equivalent_sample_size"].number(),
        method=None if choices["method"].is_null() else choices["method"].text(),
    )
    net.network_ = network
    with _refusing(f"{file}: choices"):
        _check_choices(net)
    _read_learned(net, document["learned"])
    return net


@contextmanager
def _refusing(where: str) -> Iterator[None]:
    """What makes no sense is a fault of the file, and the message says of which part."""
    try:
        yield
    except FileError:
        raise
    except JensenError as error:
        raise FileError(f"{where}: {error}") from None


def _check_choices(net: BayesianNetwork) -> None:
    """Refuse choices that `fit` would refuse whatever the data: no file holds such."""
    from jensen.estimators.choices import Choices

    network = net.require_network()
    Choices(net.prior, net.equivalent_sample_size, net.method).check()
    make_prior(
        net.prior,
        net.equivalent_sample_size,
        network.graph.nodes,
        network.wiring,
        np.zeros(len(network.tables)),
    )


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _learned(net: BayesianNetwork) -> dict[str, Any] | None:
    if not hasattr(net, "free_energy_"):
        return None
    return {name: _plain(getattr(net, f"{name}_")) for name in LEARNED}


def _plain_prior(prior: Any) -> Any:
    """Concentrations as floats, so that a file is the same when it is written again."""
    if isinstance(prior, Mapping):
        return {name: _plain_prior(part) for name, part in prior.items()}
    return prior if prior is None or isinstance(prior, str) else np.asarray(prior, float).tolist()


def _plain(value: Any) -> Any:
    """Numbers and arrays of any kind as JSON knows them; Python prints a float exactly."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int):
        return value
    return np.asarray(value, np.float64).tolist()


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
    if network.variable_properties.get(name):
        members["properties"] = dict(network.variable_properties[name])
    return members


def _check_version(head: Checked) -> None:
    members = head.members()
    if "format" not in members or members["format"].value != FORMAT:
        head.fail(f'is no Jensen network: it must begin with "format": "{FORMAT}"')
    if "version" not in members:
        head.fail("lacks 'version'")
    version = members["version"].whole()
    if version != VERSION:
        members["version"].fail(f"is {version}, but this Jensen reads version {VERSION}: update it")


def _properties(document: Mapping[str, Checked]) -> dict[str, str]:
    if "properties" not in document:
        return {}
    return {name: value.text() for name, value in document["properties"].members().items()}


def _network(entries: Checked, properties: Mapping[str, str]) -> Network:
    variables: dict[str, Variable] = {}
    fields = []
    for item in entries.items():
        members = item.fields(
            {"name", "states", "parents", "table"}, {"cuts", "posterior", "properties"}
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
    return assemble(graph, variables, tables, posteriors or None, properties, kept)


def _parents(members: Mapping[str, Checked], variables: Mapping[str, Variable]) -> list[str]:
    parents = members["parents"].texts()
    for parent in parents:
        if parent not in variables:
            members["parents"].fail(f"names {parent!r}, which is no variable of this file")
    return parents


def _array(value: Checked, parents: list[Variable], variable: Variable) -> NDArray[np.float64]:
    """Nested lists, an axis per parent as listed; the axes come back sorted by name."""
    shape = [v.n_states for v in (*parents, variable)]
    array = _at_once(value.value, shape)
    if array is None:
        array = _nested(value, shape)  # which knows what is wrong, and where
    by_name = sorted(range(len(parents)), key=lambda k: parents[k].name)
    return array.transpose([*by_name, len(parents)])


def _at_once(value: Any, shape: list[int]) -> NDArray[np.float64] | None:
    """Nested lists of that shape that hold nothing but floats, finite and not negative, or None."""
    level = [value]
    for size in shape:
        if set(map(type, level)) != {list} or set(map(len, level)) != {size}:
            return None
        level = list(chain.from_iterable(level))
    if set(map(type, level)) != {float}:
        return None
    array = np.array(level, np.float64)
    return array.reshape(shape) if np.all((array >= 0) & (array < np.inf)) else None


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


def _read_prior(value: Checked) -> Any:
    if value.is_null():
        return None
    if isinstance(value.value, str):
        return value.text()
    if isinstance(value.value, dict):
        return {name: _concentrations(part) for name, part in value.members().items()}
    return value.number()


def _concentrations(value: Checked) -> Any:
    """A number, or nested lists of numbers that are all equally long."""
    if not isinstance(value.value, list):
        return value.number()
    try:
        array = np.array(value.value, np.float64)
    except (TypeError, ValueError, OverflowError):
        value.fail("must be a number, or nested lists of numbers shaped as the table")
    return array


def _read_learned(net: BayesianNetwork, value: Checked) -> None:
    if value.is_null():
        return
    members = value.fields(set(LEARNED))
    net.free_energy_ = members["free_energy"].number()
    net.is_bound_ = members["is_bound"].flag()
    net.trace_ = members["trace"].numbers()
    net.n_sweeps_ = members["n_sweeps"].whole()
    net.converged_ = members["converged"].flag()
    if net.n_sweeps_ < 0:
        members["n_sweeps"].fail("must not be negative")
    if len(net.trace_) == 0 or net.trace_[-1] != net.free_energy_:
        members["trace"].fail("must end in free_energy")
    if net.is_bound_ != (net.network_.concentration is not None):
        members["is_bound"].fail("must be true if there is a posterior, and false if there is none")
