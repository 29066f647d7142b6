"""A discrete network: graph, variables, tables and, after VB or Gibbs, their posterior."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.fill_missing import Filled
from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import reach, wire
from jensen.inference import network_queries, network_rows
from jensen.inference.cpt import CPT, TablePosterior
from jensen.inference.distribution import Distribution, Distributions
from jensen.inference.findings import read_findings
from jensen.inference.fitted import DEFAULTS, FittedNetwork, Given, Method, Names, RowChoices
from jensen.inference.marginals import Marginals
from jensen.inference.most_probable import Assignment, most_probable
from jensen.inference.table_network import RelevantTables
from jensen.support.text import grid, plural, some
from jensen.support.tree_records import Wiring

TOLERANCE = 1e-4
"""Rows whose sum differs from 1 by at most this are kept as written, and normalised when used."""


@dataclass(frozen=True, eq=False)
class Network(FittedNetwork):
    """Conditional probability tables of all variables, flat, in the order of the graph's nodes."""

    format = "jensen-network"
    holds = "BayesianNetwork"
    lacks = (
        "the variables of this network have states, so it has tables and no regressions: "
        "see cpt(name)"
    )
    constants = MappingProxyType[str, float]({})
    sums_to_one: ClassVar[bool] = True
    log_z: ClassVar[float] = 0.0

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
        """`probabilities` and their logs as writable arrays, which kernels need."""
        with np.errstate(divide="ignore"):
            return np.array(self.probabilities), np.log(self.probabilities)

    @property
    def log_tables(self) -> NDArray[np.float64]:
        """The logs of the tables, flat."""
        return self.kernel_tables[1]

    @property
    def log_normalizer(self) -> float:
        """Every row of a table sums to one, and so does their product."""
        return 0.0

    def relevant(self, wanted: Collection[int], set_ones: Collection[int] = ()) -> RelevantTables:
        """Variables with a descendant that is wanted, and their tables; those of others sum to 1.

        The arrows into variables that are set from outside are cut, and their tables left out.
        """
        parents = [() if v in set_ones else up for v, up in enumerate(self.graph.parent_indices)]
        variables = sorted(reach(parents, wanted))
        return RelevantTables(variables, [v for v in variables if v not in set_ones])

    @cached_property
    def questions(self) -> dict[Any, Any]:
        """Cache of compiled questions by their form; see `find_question`."""
        return {}

    @property
    def n_parameters(self) -> int:
        """Free parameters: the entries of every row but one."""
        return int(len(self.tables) - len(self.wiring.row_lengths()))

    @property
    def has_posterior(self) -> bool:
        """Whether the Dirichlet posterior of the tables is known, as after VB."""
        return self.concentration is not None

    @property
    def n_samples(self) -> int | None:
        """How many samples of the tables there are, as after Gibbs; else None."""
        return None if self.samples is None else len(self.samples)

    @cached_property
    def variables_by_name(self) -> dict[str, Variable]:
        """The variables by name."""
        return {v.name: v for v in self.variables}

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

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Same graph, same variables, and tables (posteriors, samples) equal within `tolerance`."""
        if not isinstance(other, Network):
            return False
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
        """The entries of a flat array that belong to `name`: an axis per parent, then its own."""
        v, at = self.index(name), self.wiring.fam_at
        shape = [p.n_states for p in (*self.parents(name), self.variables[v])]
        return flat[at[v] : at[v + 1]].reshape(shape)

    # --- questions ---

    def query(
        self,
        targets: Names,
        given: Any,
        do: Given,
        *,
        interval: float | None = None,
        rng: np.random.Generator | None = None,
        hidden: Collection[str] = (),
    ) -> Distribution | Distributions:
        """P(targets | do, given); `given` may be many rows, then there are as many answers."""
        if given is None or isinstance(given, Mapping):
            return network_queries.query(self, targets, given, do, interval, rng)
        if interval is not None:
            raise JensenError("intervals are for one question: give a dict, not many rows")
        return network_rows.query_rows(self, targets, given, do, hidden)

    def marginals(self, given: Given, do: Given) -> Marginals:
        """P(X | do, given) of every variable that is not known."""
        return network_queries.marginals(self, given, do)

    def log_probability(self, given: Given, do: Given) -> float:
        """Log P(given | do); -inf if it is impossible."""
        return network_queries.log_probability(self, given, do)

    def most_probable(self, given: Given, do: Given, k: int) -> list[Assignment]:
        """The k most probable states of everything that is not known."""
        return most_probable(self, given, do, k)

    def entropy(self, targets: Names | None, given: Given) -> float:
        """Entropy of P(targets | given) in nats."""
        return network_queries.entropy(self, targets, given)

    def mutual_information(self, a: Names, b: Names, given: Given | Sequence[str]) -> float:
        """I(a; b): under evidence, or averaged over the states of variables."""
        return network_queries.mutual_information(self, a, b, given)

    def sample(
        self, n: int, given: Given, do: Given, rng: np.random.Generator, *, progress: bool = False
    ) -> Table:
        """Draw n rows, exactly given what is known."""
        if not given and not do and self.samples is None:
            return network_rows.sample(self, n, rng, progress=progress)
        return network_rows.sample_given(self, n, given, do, rng)

    def log_likelihood(self, table: Table, rows: RowChoices = DEFAULTS) -> NDArray[np.float64]:
        """Log p(row), what is missing summed out; -inf if impossible or of an unknown state."""
        return network_rows.log_likelihood(self, table, rows)

    def predict(
        self, table: Table, target: str, *, hidden: Collection[str] = (), **choices: Any
    ) -> NDArray[Any]:
        """The most probable state of every row; "" where it is impossible, if it may be."""
        values = self.predict_proba(table, target, RowChoices(hidden=hidden, **choices))
        return network_rows.best_states(self._variable(target), values)

    def predict_proba(self, table: Table, target: str | None, rows: RowChoices = DEFAULTS) -> Any:
        """P(target | the rest of the row), (N, K); without a target of every variable, by name."""
        return network_rows.posteriors(self, table, target, rows)

    def fill(
        self, data: Table, method: Method, rng: np.random.Generator, rows: RowChoices = DEFAULTS
    ) -> dict[str, Filled]:
        """Columns as the network's own variables, before and after gaps were filled."""
        return network_rows.fill(self, data, method, rng, rows)

    def expected_counts(
        self, table: Table, families: Sequence[Sequence[str]], rows: RowChoices = DEFAULTS
    ) -> list[NDArray[np.float64]]:
        """Σ over rows of p(family | what the row knows), an axis per member."""
        from jensen.inference.expected import expected_counts  # which knows networks

        reader = network_rows.RowReader(self, rows.hidden)
        known = reader.read(table, rows.unknown, rows.missing_columns)
        return expected_counts(self, known, families)

    # --- how it is shown and kept ---

    def conditional(self, name: str) -> CPT:
        """P(name | parents), labelled."""
        return self.cpt(name)

    def require_tables(self) -> Network:
        """The network itself."""
        return self

    def listing(self) -> str:
        """All variables with their states and parents."""
        rows = [["variable", "states", "parents", "free parameters"]]
        for variable in self.variables:
            parents = self.parents(variable.name)
            configs = int(np.prod([p.n_states for p in parents]))
            rows.append(
                [
                    variable.name,
                    some(variable.states, most=4),
                    some((p.name for p in parents), most=4) or "-",
                    f"{configs * (variable.n_states - 1):,}",
                ]
            )
        return grid(rows, left=3, rule=True)

    def outline(self) -> str:
        """Properties, and every variable after its parents."""
        lines = [f"{name}: {text}" for name, text in self.properties.items()]
        lines.append("")
        for name in self.graph.topological_order():
            parents = ", ".join(self.graph.parents(name))
            states = plural(self._variable(name).n_states, "state")
            lines.append(f"  {parents + ' -> ' if parents else ''}{name}  ({states})")
        return "".join(f"{line}\n" for line in lines)

    def html(self) -> str:
        """The graph, with a list of the variables under it."""
        from jensen.plots.html import network_html

        return network_html(self)

    def beliefs(self, given: Given, do: Given) -> dict[str, Any]:
        """The distribution of every variable; what is known is certain."""
        findings, certain = read_findings(self, given, do), {}
        for v, k in {**findings.hard, **findings.do}.items():
            variable = self.variables[v]
            certain[variable.name] = {x: float(i == k) for i, x in enumerate(variable.states)}
        return {**self.marginals(given, do), **certain}

    def check_belief(self, name: str, belief: object) -> None:
        """Refuse a distribution over states that the variable does not have."""
        states = self._variable(name).states
        if not isinstance(belief, Mapping | Distribution) or set(belief) != set(states):
            raise JensenError(
                f"a belief about {name!r} gives each of its states {list(states)} a probability, "
                f"not {belief!r:.80}"
            )


def assemble(
    graph: DAG,
    variables: Mapping[str, Variable],
    tables: Mapping[str, NDArray[np.float64]],
    concentration: Mapping[str, NDArray[np.float64]] | None = None,
    properties: Mapping[str, str] | None = None,
    variable_properties: Mapping[str, Mapping[str, str]] | None = None,
) -> Network:
    """A network from one array per variable, axes as in `CPT`; inconsistent tables are refused."""
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
