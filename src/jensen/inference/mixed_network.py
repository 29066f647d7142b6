"""A network of labels and numbers: tables of the labels, regressions and rates of the numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.fill_missing import Filled
from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.families.linear_regression import RegressionParameters
from jensen.graphs import DAG
from jensen.inference import (
    mixed_completions,
    mixed_draws,
    mixed_findings,
    mixed_queries,
    mixed_rows,
    network_queries,
)
from jensen.inference.cpt import CPT, TablePosterior
from jensen.inference.fitted import DEFAULTS, FittedNetwork, Given, Method, Names, RowChoices
from jensen.inference.mixed_parameters import (
    AnyParameters,
    CountParameters,
    MixedPosterior,
    NumberParameters,
    Parameters,
    RatePosterior,
    SampledParameters,
    centre_of,
    config_text,
    parameters_at,
)
from jensen.inference.most_probable import Assignment
from jensen.inference.network import Network
from jensen.inference.regression import (
    AnyPosterior,
    AnyRegression,
    ConditionalPosterior,
    ConditionalRegression,
    CountRates,
    LinearRegression,
    RatePosteriors,
    RegressionPosterior,
)
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.q_hidden.mixed.shapes import Asked, Shapes
from jensen.support.arguments import is_real
from jensen.support.fields import leaves
from jensen.support.text import grid, some

if TYPE_CHECKING:
    from jensen.inference.distribution import Distribution, Distributions
    from jensen.inference.number_mixture import MixtureDistributions, NumberAnswer

Array = NDArray[np.float64]

__all__ = ["MixedNetwork", "MixedPosterior", "NumberParameters", "config_text"]

MOST_SHAPES = 64
"""Questions whose trees are kept."""


@dataclass(frozen=True, eq=False)
class MixedNetwork(FittedNetwork):
    """Tables of all labels, end to end, and regressions of all numbers, in the order of the nodes.

    `constants` are columns of numbers that did not vary in the data, with their values; they are
    not variables of the network. After Gibbs sampling `samples` holds the draws of all parameters:
    tables, then the regressions of every number. `strength` is that of the prior of the numbers.
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
    numbers: tuple[AnyParameters, ...]
    posteriors: MixedPosterior | None = None
    samples: Array | None = None  # (S, width)
    constants: Mapping[str, float] = field(default_factory=dict)
    strength: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # nothing that was compiled

    @cached_property
    def layout(self) -> MixedLayout:
        """The graph as flat arrays."""
        return MixedLayout.of(self.graph.parent_indices, self.variables)

    @cached_property
    def label_network(self) -> Network:
        """The labels alone."""
        names = [self.graph.nodes[v] for v in self.layout.labels]
        variables = tuple(self.variables[v] for v in self.layout.labels)
        concentration = None if self.posteriors is None else self.posteriors.concentration
        samples = None if self.samples is None else self.samples[:, : len(self.tables)].copy()
        return Network(
            self.graph.subgraph(names),
            variables,
            self.tables.copy(),
            concentration,
            samples=samples,
        )

    def is_label(self, name: str) -> bool:
        """Whether a variable is a label."""
        return bool(self.layout.cards[self.index(name)])

    # --- parameters ---

    @property
    def n_parameters(self) -> int:
        """Free entries of tables; intercepts, slopes, variances, rates of all configurations."""
        return self.label_network.n_parameters + sum(self.layout.n_kept)

    @property
    def has_posterior(self) -> bool:
        """Whether the posterior of the parameters is known, as after VB."""
        return self.posteriors is not None

    @property
    def n_samples(self) -> int | None:
        """How many samples of the parameters there are, as after Gibbs; else None."""
        return None if self.samples is None else len(self.samples)

    @property
    def n_sets(self) -> int:
        """How many sets of parameters an answer is averaged over."""
        return 1 if self.samples is None else len(self.samples)

    @cached_property
    def centre(self) -> Array:
        """A point amid the means of every number: what questions are computed relative to."""
        return centre_of(self.layout, self.numbers)

    @cached_property
    def _point(self) -> Parameters:
        tables = self.label_network.probabilities
        return parameters_at(self.layout, tables, self.numbers, self.centre)

    @cached_property
    def _sampled(self) -> SampledParameters:
        assert self.samples is not None, "there are no samples"
        return SampledParameters(self.layout, self.samples, self.centre)

    def parameter_sets(self) -> Sequence[Parameters]:
        """The parameters, or those of every sample."""
        return [self._point] if self.samples is None else self._sampled

    @cached_property
    def _shapes(self) -> dict[Any, Shapes]:
        return {}

    def known_shapes(self, pattern: bytes, was_set: frozenset[int], asked: Asked) -> Shapes:
        """The shapes of one question, whose trees are compiled once."""
        key = pattern, was_set, asked
        found = self._shapes.get(key)
        if found is None:
            for old in list(self._shapes)[: len(self._shapes) - MOST_SHAPES + 1]:
                self._shapes.pop(old, None)
            found = self._shapes[key] = Shapes(self.layout, self.graph.nodes)
        return found

    # --- what is known ---

    def cpt(self, name: str) -> CPT:
        """P(name | parents) of a label."""
        self._require(name, label=True)
        return self.label_network.cpt(name)

    def regression(self, name: str) -> AnyRegression:
        """The regression of a number, one for each configuration of its label parents.

        Of a count its Poisson rates.
        """
        self._require(name, label=False)
        v = self.layout.place[self.index(name)]
        own = self.numbers[v]
        if isinstance(own, CountParameters):
            return CountRates(name, self._label_parents(v), tuple(map(float, own.rates)))
        parents = self._number_parents(v)
        each = tuple(
            LinearRegression(
                name, float(a), dict(zip(parents, map(float, b), strict=True)), float(s)
            )
            for a, b, s in zip(*own, strict=True)
        )
        labels = self._label_parents(v)
        return ConditionalRegression(name, labels, each) if labels else each[0]

    def conditional(self, name: str) -> CPT | AnyRegression:
        """A table of a label, a regression of a number, rates of a count."""
        return self.cpt(name) if self.is_label(name) else self.regression(name)

    def posterior(self, name: str) -> TablePosterior | AnyPosterior:
        """The posterior of a table, of regressions or of rates."""
        if self.samples is not None:
            raise JensenError(
                "the posterior of this network is known by samples: see table_samples of a label, "
                "and network_.samples"
            )
        if self.posteriors is None:
            raise JensenError(
                "this network has point estimates only: a posterior comes from method='vbem'"
            )
        if self.is_label(name):
            return self.label_network.posterior(name)
        v = self.layout.place[self.index(name)]
        labels, parents = self._label_parents(v), self._number_parents(v)
        centre = self.posteriors.centre[[v, *self.layout.number_parents[v]]]
        own = self.posteriors.regressions[v]
        if isinstance(own, RatePosterior):
            return RatePosteriors(name, labels, tuple(zip(*own, strict=True)))
        parts = (RegressionParameters(*(x[k : k + 1] for x in own)) for k in range(len(own[0])))
        each = tuple(RegressionPosterior(name, parents, part, centre) for part in parts)
        return ConditionalPosterior(name, labels, each) if labels else each[0]

    def table_samples(self, name: str) -> Array:
        """Samples of the table of a label."""
        self._require(name, label=True)
        return self.label_network.table_samples(name)

    def _require(self, name: str, *, label: bool) -> None:
        if self.is_label(name) != label:
            kind, ask = ("number", "regression") if label else ("label", "cpt")
            raise JensenError(f"{name!r} is a {kind}: see {ask}({name!r})")

    def _number_parents(self, v: int) -> tuple[str, ...]:
        return tuple(
            self.graph.nodes[self.layout.numbers[u]] for u in self.layout.number_parents[v]
        )

    def _label_parents(self, v: int) -> tuple[Variable, ...]:
        return tuple(self.variables[self.layout.labels[u]] for u in self.layout.label_parents[v])

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Same graph and variables; parameters, posteriors and samples equal within `tolerance`."""
        if not isinstance(other, MixedNetwork):
            return False
        if (self.graph, self.variables) != (other.graph, other.variables):
            return False
        mine, theirs = _arrays(self), _arrays(other)
        return len(mine) == len(theirs) and all(
            np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0.0, atol=tolerance)
            for a, b in zip(mine, theirs, strict=True)
        )

    # --- one question ---

    def query(
        self,
        targets: Names,
        given: Any,
        do: Given,
        *,
        interval: float | None = None,
        rng: np.random.Generator | None = None,
        hidden: Collection[str] = (),
    ) -> Distribution | Distributions | NumberAnswer | MixtureDistributions:
        """P(targets | do, given); `given` may be many rows, then there are as many answers."""
        if given is None or isinstance(given, Mapping):
            return mixed_queries.query(self, targets, given, do, interval, rng)
        if interval is not None:
            raise JensenError("intervals are for one question: give a dict, not many rows")
        return mixed_rows.query_many(self, targets, given, do, hidden)

    def marginals(self, given: Given, do: Given) -> mixed_queries.MixedMarginals:
        """P(X | do, given) of every variable that is not known."""
        return mixed_queries.marginals(self, given, do)

    def log_probability(self, given: Given, do: Given) -> float:
        """The log density of what is given; -inf if it is impossible."""
        return mixed_queries.log_probability(self, given, do)

    def probability(self, given: Given, do: Given) -> float:
        """P(given | do), of labels."""
        return mixed_queries.probability(self, given, do)

    def most_probable(self, given: Given, do: Given, k: int) -> list[Assignment]:
        """The k most probable states of the labels, with numbers integrated out.

        The numbers in an answer are their means given these labels and what is known.
        """
        return mixed_draws.most_probable(self, given, do, k)

    def entropy(self, targets: Names | None, given: Given) -> float:
        """Entropy of P(targets | given) in nats, of labels."""
        return mixed_queries.entropy(self, targets, given)

    def mutual_information(self, a: Names, b: Names, given: Given | Sequence[str]) -> float:
        """I(a; b | given) in nats, of labels."""
        over = [] if given is None or isinstance(given, Mapping) else given
        for names in (a, b, over):
            each = [names] if isinstance(names, str) else list(names)
            mixed_queries.refuse_numbers(self, each, "mutual information")
        return network_queries.mutual_information(self, a, b, given)

    def sample(
        self, n: int, given: Given, do: Given, rng: np.random.Generator, *, progress: bool = False
    ) -> Table:
        """Draw n rows, exactly given what is known."""
        return mixed_draws.sample(self, n, given, do, rng, progress=progress)

    # --- many rows ---

    def log_likelihood(self, table: Table, rows: RowChoices = DEFAULTS) -> Array:
        """Log p(row), what is missing summed out; -inf if impossible or of an unknown state."""
        return mixed_rows.log_likelihood(self, table, rows)

    def predict(
        self, table: Table, target: str, *, hidden: Collection[str] = (), **choices: Any
    ) -> NDArray[Any]:
        """The most probable state of a label, or the mean of a number, in every row."""
        return mixed_rows.predict(self, table, target, RowChoices(hidden=hidden, **choices))

    def predict_proba(self, table: Table, target: str | None, rows: RowChoices = DEFAULTS) -> Any:
        """P(target | the rest of the row), (N, K); without a target of every label, by name."""
        return mixed_rows.predict_proba(self, table, target, rows)

    def fill(
        self, data: Table, method: Method, rng: np.random.Generator, rows: RowChoices = DEFAULTS
    ) -> dict[str, Filled]:
        """Columns as the network's own variables, before and after gaps were filled."""
        return mixed_completions.fill(self, data, method, rng, rows)

    def expected_counts(
        self, table: Table, families: Sequence[Sequence[str]], rows: RowChoices = DEFAULTS
    ) -> list[Array]:
        """Σ over rows of p(family | what the row knows), of families of labels."""
        return mixed_rows.expected_counts(self, table, families, rows)

    # --- how it is kept and shown ---

    def listing(self) -> str:
        """All variables with their states and parents."""
        rows = [["variable", "states", "parents", "free parameters"]]
        for v, variable in enumerate(self.variables):
            place, parents = self.layout.place[v], self.graph.parents(variable.name)
            if self.layout.cards[v]:
                states = some(variable.states, most=4)
                n = int(np.prod([self.layout.cards[u] for u in self.layout.parents[v]]))
                n_free = n * (variable.n_states - 1)
            else:
                states = "count" if v in self.layout.counts else "number"
                n_free = self.layout.n_kept[place]
            rows.append([variable.name, states, some(parents, most=4) or "-", f"{n_free:,}"])
        return grid(rows, left=3, rule=True)

    def facts(self) -> dict[str, Any]:
        """Columns that did not vary and were left out, with their values; the prior's strength."""
        strength = {} if self.strength is None else {"strength": self.strength}
        return {"constants": dict(self.constants), **strength}

    def beliefs(self, given: Given, do: Given) -> dict[str, Any]:
        """The distribution of every variable; a known label is certain, a known number itself."""
        findings = mixed_findings.read_mixed(self, given, do)
        certain: dict[str, Any] = {}
        for u, k in {**findings.labels.hard, **findings.labels.do}.items():
            variable = self.variables[self.layout.labels[u]]
            certain[variable.name] = {x: float(i == k) for i, x in enumerate(variable.states)}
        for node, value in {**findings.numbers.given, **findings.numbers.do}.items():
            certain[self.graph.nodes[node]] = value
        return {**self.marginals(given, do), **certain}

    def check_belief(self, name: str, belief: object) -> None:
        """Refuse a belief that is not a distribution of this variable."""
        from jensen.inference.number_mixture import NumberAnswer

        if self.is_label(name):
            self.label_network.check_belief(name, belief)
        elif isinstance(belief, NumberAnswer) and belief.names == (name,):
            return
        elif not is_real(belief):
            raise JensenError(
                f"a belief about the number {name!r} is what query({name!r}) gives, or a number, "
                f"not {belief!r:.80}"
            )


def _arrays(network: MixedNetwork) -> list[Any]:
    found = [network.tables, *(part for one in network.numbers for part in one)]
    if network.posteriors is not None:
        found += leaves(network.posteriors)
    return found if network.samples is None else [*found, network.samples]
