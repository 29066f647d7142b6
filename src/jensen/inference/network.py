"""A discrete network that is known: graph, variables, tables and, after VB, their posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.graphs import DAG
from jensen.graphs.wiring import Wiring, wire
from jensen.inference.cpt import CPT
from jensen.inference.posterior import TablePosterior
from jensen.text import offer

TOLERANCE = 1e-4
"""Rows that miss one by no more than this are kept as written, and normalised in use."""


@dataclass(frozen=True, eq=False)
class Network:
    """Tables of all variables, flat, in the order of the graph's nodes."""

    graph: DAG
    variables: tuple[Variable, ...]
    tables: NDArray[np.float64]  # (P,): as written or learned
    concentration: NDArray[np.float64] | None = None  # (P,): Dirichlet posterior, after VB
    properties: Mapping[str, str] = field(default_factory=dict)  # free text: source, title, ...
    variable_properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    samples: NDArray[np.float64] | None = None  # (S, P): tables drawn from the posterior, by Gibbs

    def __post_init__(self) -> None:
        for array in (self.tables, self.concentration, self.samples):
            if array is not None:
                array.setflags(write=False)  # labelled tables are views of these

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # nothing that was compiled

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a copy of an array can be written to, whatever the array was

    @cached_property
    def wiring(self) -> Wiring:
        """The graph as flat arrays."""
        return wire(self.graph.parent_indices, [v.n_states for v in self.variables])

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The tables, every row normalised."""
        shares = SegmentedDirichlet(self.wiring.row_lengths()).share(self.tables)
        shares.setflags(write=False)
        return shares

    @cached_property
    def kernel_tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`probabilities` and their logs as kernels read them, which know writable arrays only."""
        with np.errstate(divide="ignore"):
            return np.array(self.probabilities), np.log(self.probabilities)

    @cached_property
    def questions(self) -> dict[Any, Any]:
        """What was compiled for questions of the same form; see `find_question`."""
        return {}

    @property
    def n_parameters(self) -> int:
        """Free parameters: the entries of every row but one."""
        return int(len(self.tables) - len(self.wiring.row_lengths()))

    @cached_property
    def variables_by_name(self) -> dict[str, Variable]:
        """The variables by name."""
        return {v.name: v for v in self.variables}

    def index(self, name: str) -> int:
        """Position of a variable among the nodes."""
        if name not in self.graph.index:
            raise JensenError(
                f"the network has no variable {name!r}; {offer(name, self.graph.nodes)}"
            )
        return self.graph.index[name]

    def parents(self, name: str) -> tuple[Variable, ...]:
        """The variables that the table of `name` is conditioned on, in the order of its axes."""
        return tuple(self.variables[p] for p in self.graph.parent_indices[self.index(name)])

    def cpt(self, name: str) -> CPT:
        """P(name | parents), labelled."""
        return CPT(self._variable(name), self.parents(name), self.part(name, self.probabilities))

    def posterior(self, name: str) -> TablePosterior:
        """The Dirichlet posterior of the table of `name`."""
        if self.samples is not None:
            raise JensenError(
                "the posterior of this network is known by samples: see table_samples, or to_arviz"
            )
        if self.concentration is None:
            raise JensenError(
                "this network has point estimates only: a posterior comes from method='vbem'"
            )
        values = self.part(name, self.concentration)
        return TablePosterior(self._variable(name), self.parents(name), values)

    def table_samples(self, name: str) -> NDArray[np.float64]:
        """Samples of the table of `name`: an axis for the samples, then as in its CPT."""
        if self.samples is None:
            raise JensenError("this network has no samples: they come from method='gibbs'")
        v, at = self.index(name), self.wiring.fam_at
        shape = [p.n_states for p in (*self.parents(name), self.variables[v])]
        return self.samples[:, at[v] : at[v + 1]].reshape(-1, *shape)

    def check_belief(self, name: str, belief: object) -> None:
        """Refuse a distribution over states that the variable does not have."""
        from jensen.inference.distribution import Distribution

        states = self.variables[self.index(name)].states
        if not isinstance(belief, Mapping | Distribution) or set(belief) != set(states):
            raise JensenError(
                f"a belief about {name!r} gives each of its states {list(states)} a probability, "
                f"not {belief!r:.80}"
            )

    def equals(self, other: Network, tolerance: float = 0.0) -> bool:
        """Same graph, same variables, and tables (posteriors, samples) equal within `tolerance`."""
        if (self.graph, self.variables) != (other.graph, other.variables):
            return False
        return (
            _close(self.tables, other.tables, tolerance)
            and _close(self.concentration, other.concentration, tolerance)
            and _close(self.samples, other.samples, tolerance)
        )

    def _variable(self, name: str) -> Variable:
        return self.variables[self.index(name)]

    def part(self, name: str, flat: NDArray[np.float64]) -> NDArray[np.float64]:
        """The part of a flat array that belongs to `name`, an axis per parent, then its own."""
        v, at = self.index(name), self.wiring.fam_at
        shape = [p.n_states for p in (*self.parents(name), self.variables[v])]
        return flat[at[v] : at[v + 1]].reshape(shape)


def assemble(
    graph: DAG,
    variables: Mapping[str, Variable],
    tables: Mapping[str, NDArray[np.float64]],
    concentration: Mapping[str, NDArray[np.float64]] | None = None,
    properties: Mapping[str, str] | None = None,
    variable_properties: Mapping[str, Mapping[str, str]] | None = None,
) -> Network:
    """A network from one array per variable, axes as in `CPT`; refused unless it makes sense."""
    ordered = tuple(variables[name] for name in graph.nodes)
    families = [([variables[p] for p in graph.parents(v.name)], v) for v in ordered]
    flat = _flatten([_in_shape(parents, v, tables[v.name]) for parents, v in families])
    posterior = None
    if concentration is not None:
        posterior = _flatten([_in_shape(ps, v, concentration[v.name]) for ps, v in families])
    network = Network(graph, ordered, flat, posterior, properties or {}, variable_properties or {})
    for v in ordered:
        _check_rows(v, network.part(v.name, flat))
        if posterior is not None:
            _check_means(v, network)
    return network


def _check_rows(variable: Variable, values: NDArray[np.float64]) -> None:
    if not np.all((values >= 0) & (values <= 1 + TOLERANCE)):
        raise JensenError(f"the table of {variable.name!r} holds entries that are no probabilities")
    sums = values.reshape(-1, variable.n_states).sum(1)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > TOLERANCE:
        raise JensenError(
            f"row {worst + 1} of the table of {variable.name!r} sums to {sums[worst]:.6g}, not to 1"
        )


def _check_means(variable: Variable, network: Network) -> None:
    means = network.posterior(variable.name).mean
    if not np.allclose(network.part(variable.name, network.tables), means, rtol=0.0, atol=1e-9):
        raise JensenError(f"the table of {variable.name!r} is not the mean of its posterior")


def _in_shape(
    parents: Sequence[Variable], variable: Variable, table: NDArray[np.float64]
) -> NDArray[np.float64]:
    shape = tuple(v.n_states for v in (*parents, variable))
    values = np.asarray(table, np.float64)
    if values.shape != shape:
        axes = ", ".join(v.name for v in (*parents, variable))
        raise JensenError(
            f"the table of {variable.name!r} must have the shape {shape} ({axes}), "
            f"not {values.shape}"
        )
    return values


def _flatten(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([part.ravel() for part in parts]) if parts else np.empty(0)


def _close(a: NDArray[np.float64] | None, b: NDArray[np.float64] | None, tolerance: float) -> bool:
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=0.0, atol=tolerance))
