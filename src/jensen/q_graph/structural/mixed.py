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
from jensen.data.variable import Kind
from jensen.exceptions import DataError
from jensen.families.gamma import weak_prior
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
from jensen.q_graph.structural.tables import concentrations, constant_price, scorer_of_labels
from jensen.q_hidden.mixed.cells import MixedMoments, MixedRows
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.scores.conditional_counts import ConditionalCounts, WithCounts, check_range
from jensen.scores.conditional_gaussian import ConditionalGaussian
from jensen.scores.gaussian import make_bge
from jensen.scores.graph_priors import with_prior
from jensen.scores.mixed_scorer import MixedScorer
from jensen.scores.registry import DEFAULTS, SPECS, UNPENALISED
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

    may_draw: ClassVar[bool] = False  # a climb by draws takes as long

    @classmethod
    def of(
        cls,
        table: Table,
        variables: tuple[Variable, ...],
        targets: Ints | None,
        prior_parts: Sequence[Any],
    ) -> IncompleteMixed:
        """Put the numbers into coordinates; all graphs read the same rows."""
        numbers = [v.name for v in variables if v.kind == "continuous"]
        counts = [v.name for v in variables if v.kind == "count"]
        for name in [*numbers, *counts]:
            if not table.n_seen(name):
                raise DataError(f"column {name!r} has no value at all: leave it out")
        for name in counts:
            check_range(name, table.range_of(name).most)
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
        both = sorted([*numbers, *counts])
        summary = summarise(NumberRows.scanned(rows, both))
        own = [both.index(name) for name in numbers]
        means = here.origin + here.unit * summary.mean[own]
        variances = np.square(here.unit) * summary.variance[own]
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

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What the variables are, which decides about edges between them."""
        return tuple(variable.kind for variable in self.variables)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that vary, and are no counts."""
        return tuple(v for v in self.varying if self.kinds[v] == "continuous")

    @cached_property
    def values(self) -> tuple[int, ...]:
        """The numbers that vary, and the counts: the columns of values."""
        return tuple(v for v in self.varying if self.kinds[v] != "categorical")

    @property
    def shift(self) -> Array:
        """What is taken off the columns of values: their means, and of counts nothing."""
        is_number = [self.kinds[v] == "continuous" for v in self.values]
        return np.where(is_number, self.summary.mean, 0.0)

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
        found = objective.fit(model, units, eta, max_iter=max_iter, tol=tol)
        trace = found.trace + objective.of_graph(joined, _n_parameters(model.layout))
        return FittedGraph(joined, model, units, found.state, trace.tolist())

    def restore(
        self, objective: Objective, joined: Flags, state: free_energy.AnyState, trace: list[float]
    ) -> FittedGraph:
        """A fit of which a file held the state and J by sweep."""
        return FittedGraph(joined, *self._model(objective, joined), state, trace)

    def _model(self, objective: Objective, joined: Flags) -> tuple[MixedRegressionNetwork, Units]:
        """The model of the variables that vary, and the rows as it reads them."""
        model, own = self.model(objective, joined), list(self.varying)
        targets = None if self.targets is None else self._places(own)[self.targets]
        names = model.graph.nodes
        found = encode(self.table, model.layout, names, self.shift, targets, keep_all=True)
        units = Units((found[0], *found[1]), self.total_weight, is_complete=not found[1])
        return model, units

    def model(self, objective: Objective, joined: Flags) -> MixedRegressionNetwork:
        """The model of the variables that vary."""
        own = list(self.varying)
        variables = tuple(self.variables[v] for v in own)
        names = tuple(v.name for v in variables)
        graph = DAG.from_adjacency(joined[np.ix_(own, own)], names)
        layout = MixedLayout.of(graph.parent_indices, variables)
        shift, prior = self.shift, MixedParameters(None, None)
        if not objective.is_likelihood:
            tables = concentrations(_of_labels(objective), layout.wiring) - 1.0
            prior = MixedParameters(
                tables, prior_of_regressions(layout, self.prior, shift, self.summary.mean)
            )
        hidden = tuple(layout.place[own.index(v)] for v in self.hidden)
        return MixedRegressionNetwork(layout, prior, graph, variables, shift, hidden)

    def _starts(self, model: MixedRegressionNetwork) -> MixedStarts:
        """Random statistics, as fits of a known graph begin with."""
        rows = NumberRows.scanned(self.table, [self.names[v] for v in self.values])
        gaps = {model.graph.index[x] for x in self.table.n_missing() if x in model.graph.index}
        gaps |= {model.layout.labels[u] for u in model.hidden}
        return MixedStarts.of(
            model.layout, model.hidden, gaps, self.summary, self.shift, self.total_weight,
            rows.values(),
        )  # fmt: skip

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
        assert completion != "map", "at the mean rows are completed in all ways"
        model, t = fitted.model, fitted.state.t
        theta = CellParameters(t.tables, model.layout.forms_of(t.regressions))
        names, parts, offsets = model.graph.nodes, [], []
        for was_set, own, rows in self.groups(self.read(model)):
            here = theta.where_set(model.layout, was_set)
            parts.append(complete_cells(model.layout, names, here, rows, was_set, rng, completion))
            offsets.append(own)
        return joined(parts, offsets)

    def read(self, model: MixedRegressionNetwork) -> MixedRows:
        """The rows as models read them: codes, and numbers relative to the shift."""
        block = Block(self.table, 0, self.n_rows)
        return read_block(block, model.layout, model.graph.nodes, self.shift)

    def groups(self, rows: MixedRows) -> Iterator[tuple[tuple[int, ...], Ints, MixedRows]]:
        """Rows in which the same was set: which node, which rows, and these."""
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
        layout = MixedLayout.of(parents, [self.variables[v] for v in own])
        return expected_moments(layout, completed, self._node_set(completed))

    def _node_set(self, completed: CompletedCells) -> Ints:
        """(R,): of every completed row the node that was set, -1 if none was."""
        if self.targets is None:
            return np.full(len(completed.weight), -1)
        return self._places(self.varying)[self.targets][completed.origin]

    def _places(self, chosen: Sequence[int]) -> Ints:
        """Of every variable its place among some, -1 of others, and last of none."""
        return np.array([*(_place(chosen, v) for v in range(len(self.names))), -1], np.int64)

    def scorer(self, objective: Objective, completed: CompletedCells) -> Scorer:
        """Scores of families by completed rows, with the prior of graphs."""
        targets = None if self.targets is None else self.targets[completed.origin]
        states = scorer_of_labels(
            [self.variables[v] for v in self.labels], completed.codes, completed.weight,
            _of_labels(objective),
            None if targets is None else self._places(self.labels)[targets],
        )  # fmt: skip
        spec, price = SPECS[objective.score], None
        if objective.is_likelihood:  # a parameter costs the same, whatever was set in some rows
            formula = SPECS[UNPENALISED].load("continuous")
            price = constant_price(objective.amount)
        else:
            assert spec.parts is not None
            formula = SPECS[spec.parts[1]].load("continuous")(self.prior)
        codes = [column.astype(np.int64) for column in completed.codes.T]
        cards = [self.variables[v].n_states for v in self.labels]
        own = [self.values.index(v) for v in self.numbers]
        values = np.ascontiguousarray((completed.values + self.shift)[:, own])
        given = ConditionalGaussian(
            values, completed.weight, codes, cards, formula, price,
            [one._replace(places=np.searchsorted(own, one.places)) for one in completed.spreads],
        )  # fmt: skip
        parts = {-1: given}
        was_set = {} if targets is None else {int(v): targets == v for v in np.unique(targets)}
        for v in [v for v in self.numbers if v in was_set]:
            parts[v] = given.without(was_set[v], self.names[v])
        variables = tuple(v for v in self.variables if v.kind != "count")
        place = [v.name for v in variables]
        plain: Scorer = MixedScorer(
            variables, states, parts, self.coordinates, self.prior, objective.score,
            frozenset(place.index(self.names[v]) for v in self.isolated), has_units=False,
        )  # fmt: skip
        if len(variables) < len(self.variables):
            counts = [v for v in self.values if v not in self.numbers]
            at = [self.values.index(v) for v in counts]
            priors = None if objective.is_likelihood else weak_prior(self.summary.mean[at])
            rows = ConditionalCounts(
                completed.values[:, at], completed.weight, codes, cards, priors, price
            )
            each = {v: rows.without(was_set[v], self.names[v]) for v in counts if v in was_set}
            plain = WithCounts(self.names, self.kinds, plain, {-1: rows, **each}, objective.score)
        return plain if objective.prior is None else with_prior(plain, objective.prior)

    def average_scorer(self, penalty: float) -> Scorer:
        """Node-average likelihoods: a family reads the rows in which it is known.

        Counts are numbers there, which is good enough for graphs to begin with.
        """
        block = Block(self.table, 0, self.n_rows)
        names = [x for x in (self.names[v] for v in self.varying) if x in self.table]
        columns = dict(zip(names, numbers_of(block, names).T, strict=True))
        log_unit = float(np.log(self.coordinates.unit).sum())
        own = self.variables, columns, block.weights, self.targets
        return NodeAverages.of(*own, penalty, log_unit)


def _of_labels(objective: Objective) -> Objective:
    """What is climbed in the tables of labels."""
    parts = SPECS[objective.score].parts
    is_made = parts is not None and not objective.is_likelihood
    return objective._replace(score=parts[0]) if is_made and parts else objective


def _n_parameters(layout: MixedLayout) -> float:
    cards = layout.wiring.cards
    tables = float(np.sum(np.diff(layout.wiring.fam_at) * (1.0 - 1.0 / np.maximum(cards, 1))))
    return tables + float(sum(layout.n_kept))


def _place(places: Sequence[int], v: int) -> int:
    return list(places).index(v) if v in places else -1


def _coordinates(table: Table, names: Sequence[str]) -> Coordinates:
    """Columns that begin at 0, in powers of two near their ranges."""
    ranges = [table.range_of(name) for name in names]
    exponents = np.frexp([each.most - each.least for each in ranges])[1]
    origin = np.array([each.least for each in ranges], np.float64)
    return Coordinates(origin, np.ldexp(1.0, np.clip(exponents, -1000, 1000)))
