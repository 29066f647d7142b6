"""The formats of network files: how each kind of network is written and read.

`network_files` has networks of tables and of regressions, and this module those of labels and
numbers together. docs/json-format.md describes the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Kind, Variable
from jensen.families.linear_regression import RegressionParameters
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.mixed_parameters import (
    AnyParameters,
    CountParameters,
    MixedPosterior,
    NumberParameters,
    RatePosterior,
)
from jensen.inference.network import TOLERANCE, Network, assemble
from jensen.inference.network_files import (
    MEAN_TOLERANCE,
    POSTERIOR,
    Entries,
    is_positive_definite,
    plain_gaussian_network,
    plain_network,
    read_constants,
    read_entries,
    read_gaussian_network,
    read_network,
    read_table,
    read_variable,
    regression_entry,
    table_entry,
)
from jensen.scores.mixed_class import outside_class
from jensen.support.json_values import Checked, plain_array, read_array

Array = NDArray[np.float64]

LABEL = frozenset({"states", "table"})
NUMBER = frozenset({"intercept", "coefficients", "variance"})
COUNT = frozenset({"rate"})


def plain_mixed_network(network: MixedNetwork) -> dict[str, Any]:
    """The network as a file holds it."""
    found: dict[str, Any] = {"constants": dict(network.constants)} if network.constants else {}
    if network.strength is not None:
        found["strength"] = network.strength
    return {**found, "variables": [mixed_entry(network, name) for name in network.graph.nodes]}


def mixed_entry(network: MixedNetwork, name: str) -> dict[str, Any]:
    """One variable: a label with its table, a number with regressions, a count with rates."""
    if network.is_label(name):
        return table_entry(network.label_network, name)
    v = network.layout.place[network.index(name)]
    cards, own = _cards(network, v), network.numbers[v]
    entry: dict[str, Any] = {"name": name, "parents": list(network.graph.parents(name))}
    if isinstance(own, CountParameters):
        entry["rate"] = plain_array(own.rates.reshape(cards))
    else:
        entry["intercept"] = plain_array(own.intercepts.reshape(cards))
        entry["coefficients"] = plain_array(own.slopes.reshape(*cards, -1))
        entry["variance"] = plain_array(own.variances.reshape(cards))
    if network.posteriors is not None:
        parts = network.posteriors.regressions[v]._asdict()
        is_count = network.layout.is_count[v]
        entry["posterior"] = {} if is_count else {"centre": float(network.posteriors.centre[v])}
        for x, part in parts.items():
            entry["posterior"][x] = plain_array(part.reshape((*cards, *part.shape[1:])))
    if network.samples is not None:
        start, stop = _place(network, v)
        drawn = network.samples[:, start:stop]
        width = network.layout.n_free[v]
        entry["samples"] = plain_array(drawn.reshape(len(drawn), *cards, width))
    return entry


def _cards(network: MixedNetwork, v: int) -> tuple[int, ...]:
    return tuple(int(network.layout.wiring.cards[u]) for u in network.layout.label_parents[v])


def _place(network: MixedNetwork, v: int) -> tuple[int, int]:
    """Where the regressions of number v begin and end in a sample."""
    sizes = network.layout.n_kept
    start = len(network.tables) + sum(sizes[:v])
    return start, start + sizes[v]


# --- reading ---


def read_mixed_network(value: Checked) -> MixedNetwork:
    """A network from the values of a file; faults are refused with their path."""
    members = value.fields({"variables"}, {"constants", "strength"})
    optional = LABEL | NUMBER | COUNT | {"cuts", "samples", "properties"}
    entries = read_entries(members["variables"], frozenset(), optional)
    labels: dict[str, Variable] = {}
    for name, own in entries.members.items():
        wanted = LABEL if "states" in own else COUNT if "rate" in own else NUMBER
        item = Checked({x: part.value for x, part in own.items()}, value.file, _path(own))
        item.fields({"name", "parents", *wanted}, {"posterior", "cuts", "samples"})
        if wanted is LABEL:
            labels[name] = read_variable(name, own)
    reader = _Reader(entries, labels)
    network = reader.network()
    if "constants" in members:
        network = replace(network, constants=read_constants(members["constants"], network))
    if "strength" in members:
        network = replace(network, strength=members["strength"].number())
        if not members["strength"].number() > 0.0:
            members["strength"].fail("must be above 0")
    return network


def _path(own: Mapping[str, Checked]) -> str:
    return own["name"].path.removesuffix(".name")


class _Reader:
    """Reads the parts of one file."""

    def __init__(self, entries: Entries, labels: Mapping[str, Variable]) -> None:
        self.entries, self.labels = entries, labels
        self.above: dict[str, list[str]] = {}  # the label parents, in the order of the file
        self.inner: dict[str, list[str]] = {}  # the number parents
        for name, parents in entries.parents.items():
            self.above[name] = [p for p in parents if p in labels]
            self.inner[name] = [p for p in parents if p not in labels]
            for parent in parents:
                self._check_edge(parent, name)

    def _variable(self, name: str) -> Variable:
        kind: Kind = "count" if "rate" in self.entries.members[name] else "continuous"
        return self.labels.get(name) or Variable(name, kind)

    def _check_edge(self, parent: str, name: str) -> None:
        """Refuse a number above a label, and a count above anything."""
        child, above = self._variable(name), self._variable(parent)
        what = {"categorical": "label", "count": "count", "continuous": "number"}
        if outside_class(above, child):
            self.entries.members[name]["parents"].fail(
                f"names the {what[above.kind]} {parent!r}, but {name!r} is a {what[child.kind]}"
            )

    def network(self) -> MixedNetwork:
        """The whole network."""
        graph, labels = self.entries.graph(), self.labels
        tables = {x: self._table(self.entries.members[x]["table"], x) for x in labels}
        posteriors = self.entries.posteriors()
        concentration = {x: self._table(posteriors[x], x) for x in labels if posteriors}
        part = assemble(graph.subgraph(list(labels)), labels, tables, concentration or None)
        numbers = [name for name in graph.nodes if name not in labels]
        variables = tuple(map(self._variable, graph.nodes))
        network = MixedNetwork(
            graph, variables, part.tables, tuple(self._regressions(x) for x in numbers)
        )
        if posteriors and part.concentration is not None:
            network = self._with_posterior(network, part.concentration, numbers, posteriors)
        return self._with_samples(network)

    def _table(self, value: Checked, name: str, n_samples: int | None = None) -> Array:
        axes = [self.labels[p] for p in self.above[name]]
        return read_table(value, axes, self.labels[name], n_samples)

    def _array(self, value: Checked, name: str, *last: int, first: tuple[int, ...] = ()) -> Array:
        """(first..., K, last...): an axis per label parent in the file, here one for them all."""
        cards = [self.labels[p].n_states for p in self.above[name]]
        array = read_array(value, (*first, *cards, *last))
        order = [len(first) + int(k) for k in np.argsort(self.above[name])]
        axes = [*range(len(first)), *order, *range(len(first) + len(cards), array.ndim)]
        return array.transpose(axes).reshape(*first, int(np.prod(cards, dtype=int)), *last)

    def _sorted(self, name: str, before: int = 0, after: int = 0) -> list[int]:
        """Positions of the number parents by name, between so many other members."""
        order = [before + int(k) for k in np.argsort(self.inner[name])]
        return [*range(before), *order, *(before + len(order) + k for k in range(after))]

    def _regressions(self, name: str) -> AnyParameters:
        own, p = self.entries.members[name], len(self.inner[name])
        if "rate" in own:
            rates = CountParameters(self._array(own["rate"], name))
            if np.any(rates.rates < 0.0):
                own["rate"].fail("must not be below 0")
            return rates
        found = NumberParameters(
            self._array(own["intercept"], name),
            self._array(own["coefficients"], name, p)[:, self._sorted(name)],
            self._array(own["variance"], name),
        )
        if np.any(found.variances <= 0.0):
            own["variance"].fail("must be above 0")
        return found

    def _with_posterior(
        self,
        network: MixedNetwork,
        concentration: Array,
        numbers: list[str],
        posteriors: Mapping[str, Checked],
    ) -> MixedNetwork:
        parts = [self._posterior(x, posteriors[x]) for x in numbers]
        centre = np.array([value for value, _ in parts])
        posterior = MixedPosterior(concentration, centre, tuple(own for _, own in parts))
        points = posterior.point(network.layout)
        for name, one, other in zip(numbers, network.numbers, points, strict=True):
            if not np.allclose(one.flat(), other.flat(), rtol=1e-6, atol=1e-9):
                posteriors[name].fail("must have the regressions as its mean")
        return replace(network, posteriors=posterior, numbers=points)

    def _posterior(
        self, name: str, value: Checked
    ) -> tuple[float, RegressionParameters | RatePosterior]:
        if "rate" in self.entries.members[name]:
            words = value.fields({"shape", "rate"})
            gammas = RatePosterior(*(self._array(words[x], name) for x in ("shape", "rate")))
            if np.any(gammas.shape <= 0.0) or np.any(gammas.rate <= 0.0):
                value.fail("must have shapes and rates above 0")
            return 0.0, gammas
        parts, d = value.fields(POSTERIOR), 1 + len(self.inner[name])
        order = self._sorted(name, before=1)
        found = RegressionParameters(
            self._array(parts["coefficients"], name, d)[:, order],
            self._array(parts["strength"], name, d, d)[:, order][:, :, order],
            self._array(parts["degrees_of_freedom"], name),
            self._array(parts["scale"], name),
        )
        if not is_positive_definite(found.strength):
            parts["strength"].fail("must be symmetric and positive definite")
        if np.any(found.degrees_of_freedom <= 0.0) or np.any(found.scale <= 0.0):
            value.fail("must have degrees_of_freedom and a scale above 0")
        return parts["centre"].number(), found

    def _with_samples(self, network: MixedNetwork) -> MixedNetwork:
        given = self.entries.each("samples")
        if not given:
            return network
        if network.posteriors is not None or len(given) < len(self.entries.members):
            self.entries.value.fail("must have samples each, or none; and no posterior beside them")
        n = len(list(next(iter(given.values())).items()))
        parts = []
        by_kind = [*network.layout.labels, *network.layout.numbers]
        for name in (network.graph.nodes[v] for v in by_kind):
            value = given[name]
            if n == 0 or len(list(value.items())) != n:
                value.fail("must hold one sample at least, and as many as those of other variables")
            parts.append(self._samples(network, name, value, n))
        return replace(network, samples=np.concatenate(parts, axis=1))

    def _samples(self, network: MixedNetwork, name: str, value: Checked, n: int) -> Array:
        if name in self.labels:
            table = self._table(value, name, n)
            if np.any(np.abs(table.sum(-1) - 1.0) > TOLERANCE):
                value.fail("holds a row that does not sum to 1")
            point = network.label_network.part(name, network.tables).ravel()
            drawn = table.reshape(n, -1)
        else:
            is_count = "rate" in self.entries.members[name]
            order = [0] if is_count else self._sorted(name, before=1, after=1)
            own = self._array(value, name, len(order), first=(n,))[..., order]
            if is_count and np.any(own < 0.0):
                value.fail("holds a rate below 0")
            if not is_count and np.any(own[..., -1] <= 0.0):
                value.fail("holds a variance that is not above 0")
            drawn = own.reshape(n, -1)
            point = network.numbers[network.layout.place[network.index(name)]].flat()
        if not np.allclose(drawn.mean(0), point, rtol=1e-6, atol=MEAN_TOLERANCE):
            value.fail("must have the parameters of the network as its mean")
        return drawn


class NetworkFile(NamedTuple):
    """How one kind of network is written and read."""

    entry: Callable[[Any, str], dict[str, Any]]  # one variable
    plain: Callable[[Any], dict[str, Any]]  # the whole network
    read: Callable[[Checked], FittedNetwork]


FILES = {
    Network.format: NetworkFile(table_entry, plain_network, read_network),
    GaussianNetwork.format: NetworkFile(
        regression_entry, plain_gaussian_network, read_gaussian_network
    ),
    MixedNetwork.format: NetworkFile(mixed_entry, plain_mixed_network, read_mixed_network),
}
"""Format → how networks of that kind are written and read."""
