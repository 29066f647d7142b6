"""A network of labels and numbers: tables of the labels, regressions of the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.families.linear_regression import RegressionParameters
from jensen.graphs import DAG
from jensen.inference.fitted import FittedNetwork
from jensen.inference.network import Network
from jensen.q_hidden.mixed.layout import MixedLayout

Array = NDArray[np.float64]


class NumberParameters(NamedTuple):
    """The regressions of a number, one for each configuration of its label parents."""

    intercepts: Array  # (K,)
    slopes: Array  # (K, p): in the order of the number parents
    variances: Array  # (K,): of the noise

    def flat(self) -> Array:
        """All of them end to end, configuration by configuration."""
        return np.column_stack([self.intercepts, self.slopes, self.variances]).ravel()

    @classmethod
    def from_flat(cls, flat: Array, n_configs: int) -> NumberParameters:
        """The inverse of `flat`."""
        table = flat.reshape(n_configs, -1)
        return cls(table[:, 0].copy(), table[:, 1:-1].copy(), table[:, -1].copy())


class MixedPosterior(NamedTuple):
    """The posterior of all tables and regressions; `centre` was subtracted from the numbers."""

    concentration: Array  # (P,): of the tables
    centre: Array  # of every number
    regressions: tuple[RegressionParameters, ...]  # of every number, a component per configuration

    def point(self, layout: MixedLayout) -> tuple[NumberParameters, ...]:
        """Posterior means; variances are the inverses of expected precisions."""
        found = []
        pairs = zip(self.regressions, layout.number_parents, strict=True)
        for v, (one, above) in enumerate(pairs):
            slopes = one.coefficients[:, 1:]
            intercepts = one.coefficients[:, 0] + self.centre[v] - slopes @ self.centre[list(above)]
            variances = 1.0 / (one.degrees_of_freedom * one.scale)
            found.append(NumberParameters(intercepts, slopes, variances))
        return tuple(found)


def config_text(layout: MixedLayout, variables: Sequence[Variable], v: int, config: int) -> str:
    """A configuration of the label parents of number v, as "sex=female, class=2"."""
    parts = []
    for label, stride in layout.strides[v].items():
        variable = variables[layout.labels[label]]
        parts.append(f"{variable.name}={variable.states[config // stride % variable.n_states]}")
    return ", ".join(reversed(parts))


@dataclass(frozen=True, eq=False)
class MixedNetwork(FittedNetwork):
    """Tables of all labels, end to end, and regressions of all numbers, in the order of the nodes.

    `constants` are columns of numbers that did not vary in the data, with their values; they are
    not variables of the network. After Gibbs sampling `samples` holds the draws of all parameters:
    tables, then the regressions of every number.
    """

    format = "jensen-mixed-network"
    holds = "network of labels and numbers"
    lacks = (
        "some variables of this network are numbers, so not everything has states and tables: "
        "see cpt(name) of a label, regression(name) of a number, query, predict"
    )

    graph: DAG
    variables: tuple[Variable, ...]
    tables: Array  # (P,)
    numbers: tuple[NumberParameters, ...]
    posteriors: MixedPosterior | None = None
    samples: Array | None = None  # (S, width)
    constants: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def layout(self) -> MixedLayout:
        """The graph as flat arrays."""
        cards = tuple(v.n_states if v.kind == "categorical" else 0 for v in self.variables)
        return MixedLayout(self.graph.parent_indices, cards)

    @cached_property
    def label_network(self) -> Network:
        """The labels alone."""
        names = [self.graph.nodes[v] for v in self.layout.labels]
        variables = tuple(self.variables[v] for v in self.layout.labels)
        concentration = None if self.posteriors is None else self.posteriors.concentration
        return Network(self.graph.subgraph(names), variables, self.tables, concentration)
