"""Networks as plain data, and back; docs/json-format.md describes the formats."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.linear_regression import RegressionParameters
from jensen.graphs import DAG
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import (
    GaussianNetwork,
    RegressionPosteriors,
    network_from_regressions,
    point_network,
)
from jensen.inference.network import TOLERANCE, Network, assemble
from jensen.inference.regression import LinearRegression
from jensen.support.json_values import Checked, at_once, plain_array, read_array

MEAN_TOLERANCE = 1e-9


def plain_network(network: Network) -> dict[str, Any]:
    """The network as a file holds it."""
    entries = [table_entry(network, name) for name in network.graph.nodes]
    return {"properties": dict(network.properties), "variables": entries}


def table_entry(network: Network, name: str) -> dict[str, Any]:
    """One variable with its table, as a file holds it."""
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


def read_network(value: Checked) -> Network:
    """A network from the values of a file; faults are refused with their path."""
    members = value.fields({"variables"}, {"properties"})
    optional = {"cuts", "samples", "properties"}
    entries = read_entries(members["variables"], {"states", "table"}, optional)
    variables = {name: read_variable(name, own) for name, own in entries.members.items()}
    axes = {name: [variables[p] for p in above] for name, above in entries.parents.items()}
    graph = entries.graph()
    tables, posteriors = (
        {name: read_table(part, axes[name], variables[name]) for name, part in found.items()}
        for found in (entries.each("table"), entries.posteriors())
    )
    own = {name: _read_properties(part) for name, part in entries.members.items()}
    kept = {name: texts for name, texts in own.items() if texts}
    network = assemble(
        graph, variables, tables, posteriors or None, _read_properties(members), kept
    )
    samples = entries.each("samples")
    if not samples:
        return network
    if posteriors or len(samples) < len(tables):
        entries.value.fail("must have samples each, or none; and no posterior beside them")
    return replace(network, samples=_read_samples(network, samples, axes))


def read_variable(name: str, members: Mapping[str, Checked]) -> Variable:
    """A label with its states."""
    cuts = tuple(map(float, members["cuts"].numbers())) if "cuts" in members else None
    states = tuple(members["states"].texts())
    if not states:
        members["states"].fail("must name one state at least")
    return Variable(name, "categorical", states, cuts)


def _read_properties(members: Mapping[str, Checked]) -> dict[str, str]:
    if "properties" not in members:
        return {}
    return {name: value.text() for name, value in members["properties"].members().items()}


def _read_samples(
    network: Network, given: Mapping[str, Checked], axes: Mapping[str, list[Variable]]
) -> NDArray[np.float64]:
    """Tables drawn from the posterior (S, P), the mean of which is the table."""
    parts: list[NDArray[np.float64]] = []
    for variable in network.variables:
        value = given[variable.name]
        n_samples = len(list(value.items()))
        part = read_table(value, axes[variable.name], variable, n_samples)
        if len(part) == 0 or (parts and len(part) != len(parts[0])):
            value.fail("must hold one sample at least, and as many as those of other variables")
        if np.any(np.abs(part.sum(-1) - 1) > TOLERANCE):
            value.fail("holds a row that does not sum to 1")
        table = network.part(variable.name, network.tables)
        if not np.allclose(part.mean(0), table, rtol=0.0, atol=MEAN_TOLERANCE):
            value.fail("must have the table as its mean")
        parts.append(part.reshape(len(part), -1))
    return np.concatenate(parts, axis=1)


def read_table(
    value: Checked, parents: list[Variable], variable: Variable, n_samples: int | None = None
) -> NDArray[np.float64]:
    """A table from nested lists; its axes are sorted by the names of the parents.

    With samples there is one more axis, the first.
    """
    shape = [v.n_states for v in (*parents, variable)]
    by_name = sorted(range(len(parents)), key=lambda k: parents[k].name)
    axes = [*by_name, len(parents)]
    if n_samples is None:
        array = _table_at_once(value.value, shape)
        if array is None:
            array = _nested_table(value, shape)  # which knows what is wrong, and where
        return array.transpose(axes)
    array = _table_at_once(value.value, [n_samples, *shape])
    if array is None:
        array = np.array([_nested_table(item, shape) for item in value.items()])
    return array.transpose([0, *(1 + k for k in axes)]) if n_samples else array


def _table_at_once(value: Any, shape: list[int]) -> NDArray[np.float64] | None:
    """Nested lists of this shape with only finite floats, none negative, as an array; else None."""
    array = at_once(value, tuple(shape))
    return array if array is not None and np.all(array >= 0.0) else None


def _nested_table(value: Checked, shape: list[int]) -> NDArray[np.float64]:
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
    return np.stack([_nested_table(item, shape[1:]) for item in items])


# --- networks of regressions ---

POSTERIOR = frozenset({"centre", "coefficients", "strength", "degrees_of_freedom", "scale"})
PRIOR = frozenset({"mean", "mean_strength", "degrees_of_freedom", "scale"})


def plain_gaussian_network(network: GaussianNetwork) -> dict[str, Any]:
    """The network as a file holds it."""
    found: dict[str, Any] = {}
    if network.prior is not None:
        found["prior"] = plain_prior(network.prior)
    if network.constants:
        found["constants"] = dict(network.constants)
    return {**found, "variables": [regression_entry(network, name) for name in network.graph.nodes]}


def regression_entry(network: GaussianNetwork, name: str) -> dict[str, Any]:
    """One variable with its regression."""
    v = network.index(name)
    own = network.regressions[v]
    entry: dict[str, Any] = {
        "name": own.name,
        "parents": list(own.coefficients),
        "intercept": own.intercept,
        "coefficients": list(own.coefficients.values()),
        "variance": own.variance,
    }
    if network.regression_posteriors is not None:
        words = network.regression_posteriors.parameters[v]
        entry["posterior"] = {
            "centre": float(network.regression_posteriors.centre[v]),
            **{name: part[0].tolist() for name, part in words._asdict().items()},
        }
    return entry


def read_gaussian_network(value: Checked) -> GaussianNetwork:
    """A network from the values of a file; faults are refused with their path."""
    members = value.fields({"variables"}, {"prior", "constants"})
    required = {"intercept", "coefficients", "variance"}
    entries = read_entries(members["variables"], required, frozenset())
    regressions = {name: _read_regression(own) for name, own in entries.members.items()}
    network = network_from_regressions(entries.graph(), regressions)
    posteriors = entries.posteriors()
    if posteriors:
        network = _with_posterior(network, posteriors, entries.parents)
    if "prior" in members:
        network = replace(network, prior=read_prior(members["prior"], len(network.graph.nodes)))
    if "constants" in members:
        network = replace(network, constants=read_constants(members["constants"], network))
    return network


def read_constants(value: Checked, network: FittedNetwork) -> dict[str, float]:
    """Columns that did not vary in the data, and their value."""
    found = {name: part.number() for name, part in value.members().items()}
    for name in found:
        if name in network.graph:
            value.fail(f"names {name!r}, which is a variable of the network")
    return found


def _read_regression(members: Mapping[str, Checked]) -> dict[str, Any]:
    parents, slopes = members["parents"].texts(), members["coefficients"].numbers()
    if len(slopes) != len(parents):
        members["coefficients"].fail(f"has {len(slopes)} numbers for {len(parents)} parents")
    return {
        "intercept": members["intercept"].number(),
        "coefficients": dict(zip(parents, map(float, slopes), strict=True)),
        "variance": members["variance"].number(),
    }


def _with_posterior(
    network: GaussianNetwork, posteriors: Mapping[str, Checked], parents: Mapping[str, list[str]]
) -> GaussianNetwork:
    words, centre = [], []
    for name in network.graph.nodes:
        parts = posteriors[name].fields(POSTERIOR)
        centre.append(parts["centre"].number())
        order = [0, *(1 + k for k in np.argsort(parents[name]))]
        words.append(_read_posterior(posteriors[name], parts, order))
    found = point_network(network.graph, RegressionPosteriors(np.array(centre), tuple(words)))
    for one, other in zip(network.regressions, found.regressions, strict=True):
        if not np.allclose(_numbers_of(one), _numbers_of(other), rtol=1e-6, atol=1e-9):
            posteriors[one.name].fail("must have the regression as its mean")
    return found


def _numbers_of(one: LinearRegression) -> list[float]:
    return [one.intercept, *one.coefficients.values(), one.variance]


def _read_posterior(
    value: Checked, parts: Mapping[str, Checked], order: list[int]
) -> RegressionParameters:
    """The posterior of one regression, its parents in the order of their names."""
    slopes = parts["coefficients"].numbers()
    strength = np.array([row.numbers() for row in parts["strength"].items()], object)
    degrees, scale = parts["degrees_of_freedom"].number(), parts["scale"].number()
    if len(slopes) != len(order) or any(len(row) != len(order) for row in strength):
        value.fail(f"must have {len(order)} coefficients, and a strength of that many rows each")
    matrix = np.array(strength.tolist(), np.float64).reshape(-1, len(order))
    if len(matrix) != len(order) or not is_positive_definite(matrix):
        value.fail("must have a strength that is symmetric and positive definite")
    if degrees <= 0.0 or scale <= 0.0:
        value.fail("must have degrees_of_freedom and a scale above 0")
    return RegressionParameters(
        slopes[order][None],
        matrix[np.ix_(order, order)][None],
        np.array([degrees]),
        np.array([scale]),
    )


def is_positive_definite(matrix: Any) -> bool:
    """Whether a matrix, or each of several, is symmetric and positive definite."""
    return bool(
        np.allclose(matrix, np.swapaxes(matrix, -1, -2)) and np.linalg.eigvalsh(matrix).min() > 0.0
    )


def plain_prior(prior: NormalWishartPrior | None) -> dict[str, Any] | None:
    """The prior as a file holds it, by sorted name; a diagonal scale is written as its diagonal."""
    if prior is None:
        return None
    scale, diagonal = prior.scale, np.diagonal(prior.scale)
    return {
        "mean": plain_array(prior.mean),
        "mean_strength": float(prior.mean_strength),
        "degrees_of_freedom": float(prior.degrees_of_freedom),
        "scale": plain_array(diagonal if np.array_equal(scale, np.diag(diagonal)) else scale),
    }


def read_prior(value: Checked, n: int) -> NormalWishartPrior | None:
    """The prior of n columns."""
    if value.is_null():
        return None
    parts = value.fields(PRIOR)
    strength, degrees = (parts[name].number() for name in ("mean_strength", "degrees_of_freedom"))
    mean, rows = read_array(parts["mean"], (n,)), list(parts["scale"].items())
    if rows and isinstance(rows[0].value, list):
        scale = read_array(parts["scale"], (n, n))
    else:
        scale = np.diag(read_array(parts["scale"], (n,)))
    if strength <= 0.0 or degrees <= n - 1:
        value.fail(f"must have a mean_strength above 0, and degrees_of_freedom above {n - 1}")
    if not np.allclose(scale, scale.T) or (n and np.linalg.eigvalsh(scale).min() <= 0.0):
        parts["scale"].fail("must be positive; a matrix symmetric and positive definite")
    return NormalWishartPrior(mean, strength, degrees, scale)


# --- the variables of a file, whatever is known of each ---


class Entries(NamedTuple):
    """The variables of a network file by name, in the order of the file."""

    value: Checked
    members: dict[str, dict[str, Checked]]  # variable → its members
    parents: dict[str, list[str]]  # in the order of its numbers

    def graph(self) -> DAG:
        """The graph that the parents make."""
        return DAG.from_parents(self.parents)

    def each(self, name: str) -> dict[str, Checked]:
        """One member of every variable that has it."""
        return {x: own[name] for x, own in self.members.items() if name in own}

    def posteriors(self) -> dict[str, Checked]:
        """The posterior of all variables, or of none."""
        found = self.each("posterior")
        if found and len(found) < len(self.members):
            self.value.fail("must have a posterior each, or none")
        return found


def read_entries(value: Checked, required: Set[str], optional: Set[str]) -> Entries:
    """Read the list of variables: each has a name, parents and members of its kind."""
    members: dict[str, dict[str, Checked]] = {}
    for item in value.items():
        own = item.fields({"name", "parents", *required}, {"posterior", *optional})
        name = own["name"].text()
        if name in members:
            own["name"].fail(f"repeats the variable {name!r}")
        members[name] = own
    parents = {name: own["parents"].texts() for name, own in members.items()}
    for name, above in parents.items():
        for parent in above:
            if parent not in members:
                members[name]["parents"].fail(
                    f"names {parent!r}, which is no variable of this file"
                )
    return Entries(value, members, parents)
