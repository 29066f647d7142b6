"""Rows of labels with holes for structural EM: fitted networks, expected counts, their scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable
from jensen.data.encode import Column
from jensen.free_energy import State
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import wire
from jensen.inference.completions import (
    MOST_CELLS,
    CodedRows,
    Completions,
    code_table,
    complete_rows,
    known_cells,
    numbers_of_states,
)
from jensen.models.discrete_network import (
    DiscreteNetwork,
    Encoded,
    Tables,
    encode,
    random_counts,
)
from jensen.q_graph.method_choices import Completion
from jensen.q_graph.structural.objective import FittedGraph, Flags, Objective
from jensen.scores.categorical import PenalisedLikelihood
from jensen.scores.categorical_scorer import CategoricalScorer
from jensen.scores.graph_priors import with_prior
from jensen.scores.interventions import PerChild
from jensen.scores.registry import DEFAULTS, SPECS, make_score
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.scorer import Scorer
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Family = tuple[int, tuple[int, ...]]


class IncompleteTables(NamedTuple):
    """Rows of labels; implements `StructuralRows`. Statistics are flat counts of all families."""

    table: Table
    variables: tuple[Variable, ...]
    coded: tuple[CodedRows, ...]
    targets: Ints | None = None

    @classmethod
    def of(
        cls, table: Table, variables: tuple[Variable, ...], targets: Ints | None = None
    ) -> "IncompleteTables":
        """Code the rows once; all graphs read the same codes."""
        names = [variable.name for variable in variables]
        return cls(table, variables, code_table(table, names, targets), targets)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(variable.name for variable in self.variables)

    @property
    def cards(self) -> Ints:
        """(n,): the numbers of states."""
        return numbers_of_states(self.variables)

    @property
    def hidden(self) -> tuple[int, ...]:
        """The variables without a column."""
        return tuple(v for v, name in enumerate(self.names) if name not in self.table)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows

    @property
    def total_weight(self) -> float:
        """Their weight."""
        return self.table.total_weight

    def sample(self, n: int, rng: np.random.Generator) -> "IncompleteTables":
        """Some of the rows."""
        chosen = np.sort(rng.choice(self.n_rows, n, replace=False))
        targets = None if self.targets is None else self.targets[chosen]
        return IncompleteTables.of(self.table.take(chosen), self.variables, targets)

    @property
    def isolated(self) -> frozenset[int]:
        """None: edges at columns of one label are a matter of the prior."""
        return frozenset()

    @property
    def log_jacobian(self) -> float:
        """Labels have no units."""
        return 0.0

    @property
    def may_draw(self) -> bool:
        """Draws lead to graphs that other starts miss."""
        return True

    @property
    def first(self) -> Objective:
        """The bound of VB under a uniform prior of joint distributions."""
        return Objective(DEFAULTS["categorical"], 1.0)

    def fit(
        self, objective: Objective, joined: Flags, start: Any, *, max_iter: int, tol: float
    ) -> FittedGraph:
        """Fit the tables of a graph, from flat counts or from random ones."""
        model, encoded = self._model(objective, joined)
        counts, prior, units = start, model.prior.tables, encoded.units
        if isinstance(start, np.random.Generator):
            counts = random_counts(model.wiring, encoded, self.hidden, start)
        eta = Tables(counts if prior is None else prior + counts)
        found = objective.fit(model, units, eta, max_iter=max_iter, tol=tol)
        n_parameters = np.sum(np.diff(model.wiring.fam_at) * (1.0 - 1.0 / self.cards))
        trace = found.trace + objective.of_graph(joined, float(n_parameters))
        return FittedGraph(joined, model, encoded.hidden, found.state, trace.tolist())

    def restore(
        self, objective: Objective, joined: Flags, state: State[Tables, Tables], trace: list[float]
    ) -> FittedGraph:
        """A fit of which a file held the state and J by sweep."""
        model, encoded = self._model(objective, joined)
        return FittedGraph(joined, model, encoded.hidden, state, trace)

    def _model(self, objective: Objective, joined: Flags) -> tuple[DiscreteNetwork, Encoded]:
        """The model of a graph, and the rows as it reads them."""
        parents = [tuple(np.flatnonzero(column).tolist()) for column in joined.T]
        wiring = wire(parents, self.cards.tolist())
        prior = Tables(None)
        if not objective.is_likelihood:
            prior = Tables(concentrations(objective, wiring) - 1.0)
        graph = DAG.from_adjacency(joined, self.names)
        model = DiscreteNetwork(wiring, prior, graph, self.variables, self.hidden)
        return model, encode(self.table, self.names, wiring, self.targets, all_cells=True)

    def smoothed(self, fitted: FittedGraph) -> Array:
        """Expected counts, and those of the prior of `first`."""
        own = concentrations(self.first, fitted.model.wiring)
        return np.asarray(fitted.state.stats.tables + own)

    def complete(
        self, fitted: FittedGraph, completion: Completion, rng: np.random.Generator
    ) -> Completions:
        """The completions of all rows at the tables of a graph."""
        tables, at, log_tables = fitted.state.t.tables, fitted.model.wiring.fam_at, []
        for group in self.coded:
            here = tables
            if group.target >= 0:  # its own table has no say where it was set
                here = tables.copy()
                here[at[group.target] : at[group.target + 1]] = 0.0
            log_tables.append(here)
        assert completion != "map", "at the mean rows are completed in all ways"
        return complete_rows(self.variables, self.coded, fitted.data, log_tables, completion, rng)

    def statistics(self, completed: Completions, joined: Flags) -> Array:
        """(P,): expected counts of the families of another graph."""
        parts = [np.empty(0)]
        for v, column in enumerate(joined.T):
            scope = (*np.flatnonzero(column).tolist(), v)
            parts.append(completed.count(scope, v).ravel())
        return np.concatenate(parts)

    def scorer(self, objective: Objective, completed: Completions) -> Scorer:
        """Scores of families by expected counts, with the prior of graphs."""
        plain = CompletedScorer(completed, objective.score, objective.amount)
        return plain if objective.prior is None else with_prior(plain, objective.prior)

    def average_scorer(self, penalty: float) -> Scorer:
        """Node-average likelihoods: a family counts the rows in which it is known."""
        rows = known_cells(self.variables, self.coded)
        return CompletedScorer(rows, "bic", penalty, is_average=True)


def concentrations(objective: Objective, wiring: Wiring) -> Array:
    """(P,): the concentrations of the Dirichlet prior of every cell."""
    sizes = np.diff(wiring.fam_at)
    spread = SPECS[objective.score].has_sample_size
    return np.repeat(objective.amount / sizes if spread else np.ones(len(sizes)), sizes)


# --- scores of expected counts ---


@dataclass(frozen=True, eq=False)
class CompletedScorer:
    """Scores by expected counts; implements `Scorer`.

    Parameters
    ----------
    completions
        Rows with the completions of what they miss.
    score_name
        A score that a kernel knows: a penalised likelihood, "bdeu" or "k2".
    amount
        The penalty of one free parameter, or the equivalent sample size.
    is_average
        Whether a likelihood is that of all rows, in proportion, where a family counts only some:
        the node-average likelihood.
    """

    completions: Completions
    score_name: str
    amount: float
    is_average: bool = False
    _counted: dict[Family, Array] = field(default_factory=dict)  # the family that was counted last

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(variable.name for variable in self.completions.variables)

    @property
    def cards(self) -> NDArray[np.int64]:
        """(n,): the numbers of states."""
        return self.completions.cards

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.completions.total_weight

    @property
    def is_set_function(self) -> bool:
        """As the score is, if all families are counted in the same rows."""
        is_shared = all(group.target < 0 for group in self.completions.groups)
        return SPECS[self.score_name].is_set_function and is_shared and not self.is_average

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        table = self._table(child, parents)
        if self.is_average and not parents and not table.any():
            return 0.0  # a hidden variable, which says nothing of any graph
        return self._score(table)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        if self.is_average:  # every family has rows of its own
            return np.array([self.family(child, [p for p in parents if p != x]) for x in parents])
        table = self._table(child, parents)
        return np.array([self._score(table.sum(axis=k + 1)) for k in range(len(parents))])

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent; -inf if that is too large.

        Tables of more than `MOST_CELLS` cells together are not counted. Entries for the child and
        its parents are undefined.
        """
        from jensen.kernels.completed_counts import score_completed

        scope, scores = (child, *parents), np.full(len(self.cards), -np.inf)
        slots = self.completions.slots
        if float(np.prod(self.cards[list(scope)], dtype=float)) * slots[-1] > MOST_CELLS:
            return scores
        own, tables = self.completions.count_with_each(scope, child)
        self._remember(child, parents, own)
        r = int(self.cards[child])
        score_completed(
            tables.ravel(), slots, r, own.size // r, self._kind, self.amount, self._scale, scores
        )
        return scores

    @property
    def _kind(self) -> int:
        found = SPECS[self.score_name].kernel_kind(self.total_weight, self.amount)
        assert found is not None, f"no kernel scores {self.score_name}"
        return found[0]

    @property
    def _scale(self) -> float:
        return self.total_weight if self.is_average else 0.0

    def _score(self, table: Array) -> float:
        """The score of a table whose first axis is the child."""
        from jensen.kernels.completed_counts import score_completed

        r, score = table.shape[0], np.empty(1)
        score_completed(
            np.ascontiguousarray(table).ravel(), np.arange(2), r, table.size // r, self._kind,
            self.amount, self._scale, score,
        )  # fmt: skip
        return float(score[0])

    def _table(self, child: int, parents: Sequence[int]) -> Array:
        """Expected counts of a family, an axis per member: the child, then its parents."""
        key = child, tuple(parents)
        if key not in self._counted:
            self._remember(child, parents, self.completions.count((child, *parents), child))
        return self._counted[key]

    def _remember(self, child: int, parents: Sequence[int], own: Array) -> None:
        self._counted.clear()
        self._counted[child, tuple(parents)] = own


def scorer_of_labels(
    variables: Sequence[Variable],
    codes: NDArray[np.int32],
    weight: Array,
    objective: Objective,
    targets: NDArray[np.int64] | None,
) -> Scorer:
    """Scores of labels by completed rows, beside which there are numbers; targets among them."""
    pairs = zip(variables, codes.T, strict=True)
    columns = [Column(variable, np.ascontiguousarray(own)) for variable, own in pairs]
    score: Any = PenalisedLikelihood(constant_price(objective.amount))
    if not objective.is_likelihood:
        score = make_score("bdeu", objective.amount, "refuse", None)

    def make(rows: Table) -> Scorer:
        return CategoricalScorer(RowStatistics(rows), score, objective.score)

    table = Table.from_columns(columns, weight)
    return make(table) if targets is None else PerChild.of(table, targets, make)


def constant_price(amount: float) -> Callable[[float], float]:
    """A penalty that is the same for any weight of rows."""
    return lambda weight: amount
