"""A Markov network as a frozen result: graph, variables and the log potentials of its tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.fill_missing import Filled
from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.families.effects import Effects, Scope, effects_of
from jensen.graphs.indexed_graph import wire_families
from jensen.inference import network_queries, network_rows
from jensen.inference.cpt import CPT
from jensen.inference.distribution import Distribution, Distributions
from jensen.inference.expected import expected_counts
from jensen.inference.findings import read_findings
from jensen.inference.fitted import DEFAULTS, FittedNetwork, Given, Method, Names, RowChoices
from jensen.inference.marginals import Marginals
from jensen.inference.most_probable import Assignment, most_probable
from jensen.inference.table_network import RelevantTables
from jensen.q_hidden.trees.partition import Partition, shift_tables
from jensen.support.machine import check_memory
from jensen.support.text import grid, option, plural, some
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]


class Factor(NamedTuple):
    """One potential: the variables of its axes, and its logs."""

    variables: tuple[str, ...]
    log_table: Array


@dataclass(frozen=True, eq=False)
class UndirectedNetwork(FittedNetwork):
    """p(x) = exp(Σ log potentials) / Z over labels.

    Parameters
    ----------
    graph
        An `UndirectedGraph`; two variables of one table are joined.
    variables
        By name.
    scopes
        The variables of each table, ascending, by number; each variable stands in one at least.
    log_potentials
        (P,): the tables end to end, the last variable of each running fastest; -inf is impossible.
    n_free
        How many free parameters were learned; None: as many as effects of these tables.
    """

    graph: Any  # an UndirectedGraph, while the graphs of other networks have arrows
    variables: tuple[Variable, ...]
    scopes: tuple[Scope, ...]
    log_potentials: Array
    n_free: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    format: ClassVar[str] = "jensen-markov-network"
    holds: ClassVar[str] = "MarkovNetwork"
    lacks: ClassVar[str] = (
        "a Markov network has potentials, not tables of conditional probabilities: ask for "
        "query(name, given=...), or for its factors"
    )
    constants: ClassVar[Mapping[str, float]] = MappingProxyType({})
    samples: ClassVar[None] = None
    concentration: ClassVar[None] = None

    def __post_init__(self) -> None:
        self.log_potentials.setflags(write=False)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # nothing that was compiled

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @cached_property
    def wiring(self) -> Wiring:
        """The tables as flat arrays."""
        return wire_families(self.scopes, [v.n_states for v in self.variables])

    @cached_property
    def effects(self) -> Effects:
        """The effects of these tables."""
        return effects_of(self.scopes, tuple(v.n_states for v in self.variables))

    @property
    def factors(self) -> Iterator[Factor]:
        """Every table by the names of its variables, for other ways of inference."""
        names, at = self.graph.nodes, self.wiring.fam_at
        for f, scope in enumerate(self.scopes):
            shape = [self.variables[v].n_states for v in scope]
            table = self.log_potentials[at[f] : at[f + 1]].reshape(shape)
            yield Factor(tuple(names[v] for v in scope), table)

    @property
    def log_tables(self) -> Array:
        """The log potentials."""
        return self.log_potentials

    sums_to_one: ClassVar[bool] = False

    @cached_property
    def _shifted(self) -> tuple[Array, float]:
        """Tables without large numbers, and what was taken off the log of their product."""
        return shift_tables(np.array(self.log_potentials), self.wiring)

    @cached_property
    def kernel_tables(self) -> tuple[Array, Array]:
        """Tables and their logs as writable arrays, the largest entry of each being 1."""
        log_tables = self._shifted[0]
        return np.exp(log_tables), log_tables

    @cached_property
    def log_normalizer(self) -> float:
        """The log of the sum of the product of `kernel_tables` over all states."""
        found, _ = Partition(self.wiring, self.graph.nodes)(self._shifted[0])
        if found == -np.inf:
            raise JensenError(
                "these potentials leave no state possible: in every joint state one of them is 0"
            )
        return found

    @property
    def log_z(self) -> float:
        """The log of the sum of the product of all potentials over all states."""
        return self.log_normalizer + self._shifted[1]

    @cached_property
    def questions(self) -> dict[Any, Any]:
        """Cache of compiled questions by their form."""
        return {}

    def relevant(self, wanted: Collection[int], set_ones: Collection[int] = ()) -> RelevantTables:
        """All of it: potentials of variables that nobody asks for do not sum to one."""
        assert not set_ones, "nothing is set from outside"
        return RelevantTables(list(range(len(self.variables))), list(range(len(self.scopes))))

    @property
    def n_parameters(self) -> int:
        """How many free parameters it has."""
        return self.effects.n_coefficients if self.n_free is None else self.n_free

    @property
    def has_posterior(self) -> bool:
        """False: there is no conjugate posterior of potentials."""
        return False

    @property
    def n_samples(self) -> None:
        """None: there are no samples of potentials."""
        return

    @property
    def tables(self) -> Array:
        """The potentials, flat."""
        return np.exp(self.log_potentials)

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Same graph, same variables, and log potentials equal within `tolerance`."""
        if not isinstance(other, UndirectedNetwork) or self.scopes != other.scopes:
            return False
        if (self.graph, self.variables) != (other.graph, other.variables):
            return False
        a, b = self.log_potentials, other.log_potentials
        return bool(np.allclose(a, b, rtol=0.0, atol=tolerance))

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
        """P(targets | given); `given` may be many rows, then there are as many answers."""
        refuse_do(do)
        if interval is not None:
            raise JensenError(
                f"{option('interval', interval)} needs a posterior of the parameters, and a Markov "
                "network has point estimates: see standard_errors"
            )
        if given is None or isinstance(given, Mapping):
            return network_queries.query(self, targets, given)
        return network_rows.query_rows(self, targets, given, None, hidden)

    def marginals(self, given: Given, do: Given) -> Marginals:
        """P(X | given) of every variable that is not known."""
        refuse_do(do)
        return network_queries.marginals(self, given, None)

    def log_probability(self, given: Given, do: Given) -> float:
        """Log P(given); -inf if it is impossible."""
        refuse_do(do)
        return network_queries.log_probability(self, given, None)

    def most_probable(self, given: Given, do: Given, k: int) -> list[Assignment]:
        """The k most probable states of everything that is not known."""
        refuse_do(do)
        return most_probable(self, given, None, k)

    def entropy(self, targets: Names | None, given: Given) -> float:
        """Entropy of P(targets | given) in nats."""
        return network_queries.entropy(self, targets, given)

    def mutual_information(self, a: Names, b: Names, given: Given | Sequence[str]) -> float:
        """I(a; b): under evidence, or averaged over the states of variables."""
        return network_queries.mutual_information(self, a, b, given)

    def sample(
        self, n: int, given: Given, do: Given, rng: np.random.Generator, *, progress: bool = False
    ) -> Table:
        """Draw n independent rows, exactly given what is known."""
        refuse_do(do)
        return network_rows.sample_given(self, n, given, None, rng)

    def log_likelihood(self, table: Table, rows: RowChoices = DEFAULTS) -> Array:
        """Log p(row), what is missing summed out; -inf if impossible or of an unknown state."""
        return network_rows.log_likelihood(self, table, rows)

    def predict(
        self, table: Table, target: str, *, hidden: Collection[str] = (), **choices: Any
    ) -> NDArray[Any]:
        """The most probable state of every row; "" where it is impossible, if it may be."""
        values = self.predict_proba(table, target, RowChoices(hidden=hidden, **choices))
        return network_rows.best_states(self.variables[self.index(target)], values)

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
    ) -> list[Array]:
        """Σ over rows of p(family | what the row knows), an axis per member."""
        reader = network_rows.RowReader(self, rows.hidden)
        known = reader.read(table, rows.unknown, rows.missing_columns)
        return expected_counts(self, known, families)

    # --- how it is shown and kept ---

    def conditional(self, name: str) -> CPT:
        """P(name | its neighbours), on which it depends directly."""
        v, names = self.index(name), self.graph.neighbours(name)
        near = [self.index(x) for x in names]
        shape = [self.variables[u].n_states for u in (*near, v)]
        check_memory(
            24.0 * float(np.prod(np.array(shape, float))),
            f"the distribution of {name!r} given its {plural(len(near), 'neighbour')}",
            "ask for query(name, given=...)",
        )
        total, axes = np.zeros(shape), {u: k for k, u in enumerate((*near, v))}
        for scope, factor in zip(self.scopes, self.factors, strict=True):
            if v in scope:
                order = np.argsort([axes[u] for u in scope])
                wide = [1] * len(shape)
                for u in scope:
                    wide[axes[u]] = self.variables[u].n_states
                total = total + factor.log_table.transpose(order).reshape(wide)
        most = total.max(-1, keepdims=True)
        weights = np.exp(total - np.where(np.isfinite(most), most, 0.0))
        sums = weights.sum(-1, keepdims=True)
        values = np.where(sums > 0.0, weights / np.where(sums > 0.0, sums, 1.0), 1.0 / shape[-1])
        return CPT(self.variables[v], tuple(self.variables[u] for u in near), values)

    def posterior(self, name: str) -> NoReturn:
        """Refused."""
        raise JensenError(self.lacks)

    def listing(self) -> str:
        """All variables with their states and neighbours."""
        rows = [["variable", "states", "neighbours"]]
        for v in self.variables:
            near = self.graph.neighbours(v.name)
            rows.append([v.name, some(v.states, most=4), some(near, most=6) if near else "-"])
        return grid(rows, left=3, rule=True)

    def to_dict(self) -> dict[str, Any]:
        """All that is known as plain data, as a file holds it."""
        from jensen.inference.undirected_files import plain_undirected

        return plain_undirected(self)

    @classmethod
    def from_dict(cls, value: Any) -> UndirectedNetwork:
        """The inverse of `to_dict`, also by way of JSON."""
        from jensen.inference.undirected_files import read_undirected
        from jensen.support.json_values import as_checked

        return read_undirected(as_checked(value))

    def beliefs(self, given: Given, do: Given) -> dict[str, Any]:
        """The distribution of every variable; what is known is certain."""
        refuse_do(do)
        findings, certain = read_findings(self, given), {}
        for v, k in findings.hard.items():
            variable = self.variables[v]
            certain[variable.name] = {x: float(i == k) for i, x in enumerate(variable.states)}
        return {**self.marginals(given, do), **certain}


def refuse_do(do: Given) -> None:
    """Potentials have no direction in which a cause works."""
    if do:
        raise JensenError(
            f"{option('do', some(do))}: a Markov network has no arrows, so it does not say what "
            f"happens when a variable is set from outside; condition on it with given="
        )
