"""Rows of labels and numbers with holes for structural EM: networks fitted, rows completed.

Numbers are read as y = (x - origin) / unit, whatever their units are; what the units add to J is
the same for all graphs (`log_jacobian`). Constant columns are no part of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jensen import free_energy
from jensen.data import Table, Variable
from jensen.data.blocks import Block, Units
from jensen.data.encode import Column
from jensen.data.number_rows import ColumnSummary, NumberRows, numbers_of, summarise
from jensen.data.statistics import Coordinates
from jensen.exceptions import DataError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.graphs import DAG
from jensen.inference.completed_cells import (
    CellParameters,
    CompletedCells,
    complete_cells,
    expected_moments,
    joined,
)
from jensen.models.mixed_network import (
    MixedParameters,
    MixedRegressionNetwork,
    moments_of,
    prior_of_regressions,
)
from jensen.models.mixed_rows import encode, read_block
from jensen.models.mixed_starts import MixedStarts
from jensen.q_graph.method_choices import Completion
from jensen.q_graph.structural.node_averages import NodeAverages
from jensen.q_graph.structural.objective import FittedGraph, Flags, Objective
from jensen.q_graph.structural.tables import concentrations
from jensen.q_hidden.mixed.cells import MixedMoments, MixedRows
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.scores.categorical import PenalisedLikelihood
from jensen.scores.categorical_scorer import CategoricalScorer
from jensen.scores.conditional_gaussian import ConditionalGaussian
from jensen.scores.gaussian import make_bge
from jensen.scores.graph_priors import with_prior
from jensen.scores.interventions import PerChild
from jensen.scores.mixed_scorer import MixedScorer
from jensen.scores.registry import DEFAULTS, SPECS, UNPENALISED, make_score
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.scorer import Scorer
from jensen.scores.table_checks import constant_columns, refuse_narrow, require_finite
from jensen.support.fields import add

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IncompleteMixed:
    """Rows of labels and numbers; implements `StructuralRows`. Statistics are `MixedMoments`.

    Parameters
    ----------
    table
        The columns, numbers in the coordinates.
    variables
        Of all names, sorted; hidden labels have no column.
    varying
        The variables that are part of the model: all but constant columns of numbers.
    coordinates
        Of the numbers that vary.
    prior
        Of these, in the coordinates.
    targets
        (rows,): the variable that was set, -1 for none.
    """

    table: Table
    variables: tuple[Variable, ...]
    varying: tuple[int, ...]
    coordinates: Coordinates
    prior: NormalWishartPrior
    summary: ColumnSummary
    targets: Ints | None = None

    may_draw: ClassVar[bool] = False  # completions are listed, or drawn where they are too many

    @classmethod
    def of(
        cls,
        table: Table,
        variables: tuple[Variable, ...],
        targets: Ints | None,
        prior_parts: Sequence[Any],
    ) -> IncompleteMixed:
        """Put the numbers into coordinates; all graphs read the same rows."""
        numbers = [v.name for v in variables if v.kind != "categorical"]
        for name in numbers:
            if not table.n_seen(name):
                raise DataError(f"column {name!r} has no value at all: leave it out")
        require_finite(table, numbers)
        refuse_narrow(table, numbers)
        constant = {numbers[k] for k in constant_columns(table, numbers)}
        numbers = [name for name in numbers if name not in constant]
        here = _coordinates(table, numbers)
        columns = []
        for name in table.names:
            column = table.column(name)
            if name in numbers:
                k = numbers.index(name)
                data = (column.data - here.origin[k]) / here.unit[k]
                column = Column(column.variable, np.ascontiguousarray(data))
            columns.append(column)
        rows = Table.from_columns(columns, table.weights)
        summary = summarise(NumberRows.scanned(rows, numbers))
        means = here.origin + here.unit * summary.mean
        variances = np.square(here.unit) * summary.variance
        prior = make_bge(numbers, means, variances, *prior_parts).within(*here)
        varying = tuple(k for k, v in enumerate(variables) if v.name not in constant)
        return cls(rows, variables, varying, here, prior, summary, targets)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(variable.name for variable in self.variables)

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

    def sample(self, n: int, rng: np.random.Generator) -> IncompleteMixed:
        """Some of the rows, in the same coordinates and under the same prior."""
        chosen = np.sort(rng.choice(self.n_rows, n, replace=False))
        targets = None if self.targets is None else self.targets[chosen]
        return replace(self, table=self.table.take(chosen), targets=targets)

    @property
    def isolated(self) -> frozenset[int]:
        """The constant columns of numbers."""
        return frozenset(range(len(self.names))) - frozenset(self.varying)

    @property
    def labels(self) -> tuple[int, ...]:
        """The variables that are labels, which have no numbers among their parents."""
        return tuple(v for v, each in enumerate(self.variables) if each.kind == "categorical")

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that vary."""
        return tuple(v for v in self.varying if v not in self.labels)

    @property
    def log_jacobian(self) -> float:
        """What J in the units of the columns has more: a density of every cell that is explained.

        A cell that was set from outside is known, and not explained.
        """
        rows, total = NumberRows.scanned(self.table, [self.names[v] for v in self.numbers]), 0.0
        weights = rows.weights()
        for v, column, unit in zip(
            self.numbers, rows.values().T, self.coordinates.unit, strict=True
        ):
            explained = ~np.isnan(column)
            if self.targets is not None:
                explained &= self.targets != v
            total -= float(weights[explained].sum() * np.log(unit))
        return total

    @property
    def first(self) -> Objective:
        """The bound of VB under the default prior of labels and numbers."""
        return Objective(DEFAULTS["mixed"], 1.0)

    # --- a graph, fitted ---

    def fit(
        self, objective: Objective, joined: Flags, start: Any, *, max_iter: int, tol: float
    ) -> FittedGraph:
        """Fit tables and regressions of a graph, from statistics or from random ones."""
        model, units = self._model(objective, joined)
        if isinstance(start, np.random.Generator):
            start = self._starts(model).statistics(next(iter(units.each())).stats, start)
        eta = MixedParameters(*add(model.prior, model.stats_of(start)))
        algorithm = objective.algorithm
        state = free_energy.state_at(model, units, algorithm, eta)
        found = free_energy.fit(model, units, algorithm, state, max_iter=max_iter, tol=tol)
        trace = found.trace + objective.of_graph(joined, _n_parameters(model.layout))
        return FittedGraph(joined, model, units, found.state, trace.tolist())

    def restore(
        self, objective: Objective, joined: Flags, state: free_energy.AnyState, trace: list[float]
    ) -> FittedGraph:
        """A fit of which a file held the state and J by sweep."""
        return FittedGraph(joined, *self._model(objective, joined), state, trace)

    def _model(self, objective: Objective, joined: Flags) -> tuple[MixedRegressionNetwork, Units]:
        """The model of the variables that vary, and the rows as it reads them."""
        own = list(self.varying)
        variables = tuple(self.variables[v] for v in own)
        names = tuple(v.name for v in variables)
        graph = DAG.from_adjacency(joined[np.ix_(own, own)], names)
        cards = tuple(v.n_states if v.kind == "categorical" else 0 for v in variables)
        layout = MixedLayout(graph.parent_indices, cards)
        shift, prior = self.summary.mean, MixedParameters(None, None)
        if not objective.is_likelihood:
            tables = concentrations(_of_labels(objective), layout.wiring) - 1.0
            prior = MixedParameters(tables, prior_of_regressions(layout, self.prior, shift))
        hidden = tuple(layout.place[own.index(v)] for v in self.hidden)
        model = MixedRegressionNetwork(layout, prior, graph, variables, shift, hidden)
        targets = None
        if self.targets is not None:
            place = np.array([*(_place(own, v) for v in range(len(self.names))), -1])
            targets = place[self.targets]
        found = encode(self.table, layout, names, shift, targets, keep_all=True)
        units = Units((found[0], *found[1]), self.total_weight, is_complete=not found[1])
        return model, units

    def _starts(self, model: MixedRegressionNetwork) -> MixedStarts:
        """Random statistics, as fits of a known graph begin with."""
        rows = NumberRows.scanned(self.table, [self.names[v] for v in self.numbers])
        gaps = {model.graph.index[x] for x in self.table.n_missing() if x in model.graph.index}
        gaps |= {model.layout.labels[u] for u in model.hidden}
        return MixedStarts.of(
            model.layout, model.hidden, gaps, self.summary, self.total_weight, rows.values()
        )

    def smoothed(self, fitted: FittedGraph) -> MixedMoments:
        """Expected statistics, and those of the prior of labels, so that no count is 0."""
        layout, stats = fitted.model.layout, fitted.state.stats
        counts = stats.tables + concentrations(_of_labels(self.first), layout.wiring)
        moments = moments_of(layout, stats.regressions)
        return MixedMoments(counts, moments + self._starts(fitted.model).light(layout))

    # --- rows, completed ---

    def complete(
        self, fitted: FittedGraph, completion: Completion, rng: np.random.Generator
    ) -> CompletedCells:
        """The completions of all rows at the parameters of a graph."""
        assert completion == "exact", "completions of labels and numbers are listed"
        model, t = fitted.model, fitted.state.t
        names, parts, offsets = model.graph.nodes, [], []
        for was_set, own, rows in self._rows(model.layout, names):
            tables = t.tables.copy()
            for v in was_set:  # its own table has no say where it was set
                if model.layout.cards[v]:
                    at = model.layout.wiring.fam_at[model.layout.place[v] :]
                    tables[at[0] : at[1]] = 0.0
            theta = CellParameters(tables, model.layout.forms_of(t.regressions))
            parts.append(complete_cells(model.layout, names, theta, rows, was_set, rng))
            offsets.append(own)
        return joined(parts, offsets)

    def _rows(
        self, layout: MixedLayout, names: Sequence[str]
    ) -> Iterator[tuple[tuple[int, ...], Ints, MixedRows]]:
        """Rows in which the same was set: which node, which rows, and these."""
        block = Block(self.table, 0, self.n_rows)
        rows = read_block(block, layout, names, self.summary.mean)
        targets = np.full(self.n_rows, -1) if self.targets is None else self.targets
        for v in np.unique(targets).tolist():
            own = np.flatnonzero(targets == v)
            node = _place(self.varying, v)
            some = rows.take(own)
            yield (node,) if node >= 0 else (), own, some

    def statistics(self, completed: CompletedCells, joined: Flags) -> MixedMoments:
        """The expected statistics of another graph."""
        own = list(self.varying)
        columns = joined[np.ix_(own, own)].T
        parents = tuple(tuple(np.flatnonzero(column).tolist()) for column in columns)
        cards = tuple(self.variables[v].n_states if v in self.labels else 0 for v in own)
        return expected_moments(MixedLayout(parents, cards), completed, self._node_set(completed))

    def _node_set(self, completed: CompletedCells) -> Ints:
        """(R,): of every completed row the node that was set, -1 if none was."""
        if self.targets is None:
            return np.full(len(completed.weight), -1)
        place = np.array([*(_place(self.varying, v) for v in range(len(self.names))), -1])
        return np.asarray(place[self.targets][completed.origin])

    def scorer(self, objective: Objective, completed: CompletedCells) -> Scorer:
        """Scores of families by completed rows, with the prior of graphs."""
        targets = None if self.targets is None else self.targets[completed.origin]
        states = self._states(objective, completed, targets)
        spec, price = SPECS[objective.score], None
        if objective.is_likelihood:  # a parameter costs the same, whatever was set in some rows
            formula = SPECS[UNPENALISED].load("continuous")
            price = _constant(objective.amount)
        else:
            assert spec.parts is not None
            formula = SPECS[spec.parts[1]].load("continuous")(self.prior)
        given = ConditionalGaussian(
            completed.values + self.summary.mean,
            completed.weight,
            [column.astype(np.int64) for column in completed.codes.T],
            [self.variables[v].n_states for v in self.labels],
            formula,
            price,
            completed.spreads,
        )
        parts = {-1: given}
        for v in [] if targets is None else sorted(set(targets.tolist()) & set(self.numbers)):
            parts[v] = given.without(targets == v, self.names[v])
        plain = MixedScorer(
            self.variables, states, parts, self.coordinates, self.prior, objective.score,
            self.isolated, has_units=False,
        )  # fmt: skip
        return plain if objective.prior is None else with_prior(plain, objective.prior)

    def _states(
        self, objective: Objective, completed: CompletedCells, targets: Ints | None
    ) -> Scorer:
        """Scores of the labels alone."""
        variables = [self.variables[v] for v in self.labels]
        table = Table.from_columns(
            [
                Column(variable, np.ascontiguousarray(codes))
                for variable, codes in zip(variables, completed.codes.T, strict=True)
            ],
            completed.weight,
        )
        name = _of_labels(objective).score
        score: Any = PenalisedLikelihood(_constant(objective.amount))
        if not objective.is_likelihood:
            score = make_score("bdeu", objective.amount, "refuse", None)

        def make(rows: Table) -> Scorer:
            return CategoricalScorer(RowStatistics(rows), score, name)

        if targets is None:
            return make(table)
        place = np.array([*(_place(self.labels, v) for v in range(len(self.names))), -1])
        return PerChild.of(table, place[targets], make)

    def average_scorer(self, penalty: float) -> Scorer:
        """Node-average likelihoods: a family reads the rows in which it is known."""
        block = Block(self.table, 0, self.n_rows)
        names = [x for x in (self.names[v] for v in self.varying) if x in self.table]
        columns = dict(zip(names, numbers_of(block, names).T, strict=True))
        log_unit = float(np.log(self.coordinates.unit).sum())
        return NodeAverages.of(
            self.variables, columns, block.weights, self.targets, penalty, log_unit
        )


def _of_labels(objective: Objective) -> Objective:
    """What is climbed in the tables of labels."""
    parts = SPECS[objective.score].parts
    is_made = parts is not None and not objective.is_likelihood
    return objective._replace(score=parts[0]) if is_made and parts else objective


def _n_parameters(layout: MixedLayout) -> float:
    cards = layout.wiring.cards
    tables = float(np.sum(np.diff(layout.wiring.fam_at) * (1.0 - 1.0 / np.maximum(cards, 1))))
    pairs = zip(layout.n_configs, layout.n_members, strict=True)
    return tables + float(sum(k * n for k, n in pairs))


def _place(places: Sequence[int], v: int) -> int:
    return list(places).index(v) if v in places else -1


def _coordinates(table: Table, names: Sequence[str]) -> Coordinates:
    """Columns that begin at 0, in powers of two near their ranges."""
    ranges = [table.range_of(name) for name in names]
    exponents = np.frexp([each.most - each.least for each in ranges])[1]
    origin = np.array([each.least for each in ranges], np.float64)
    return Coordinates(origin, np.ldexp(1.0, np.clip(exponents, -1000, 1000)))


def _constant(amount: float) -> Any:
    return lambda weight: amount
