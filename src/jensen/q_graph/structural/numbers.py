"""Rows of numbers with holes for structural EM: regressions fitted to them, expected moments.

Columns are read as y = (x - least) / range, whatever their units are. What the units add to J is
the same for all graphs (`log_jacobian`), so searches and comparisons leave it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import free_energy
from jensen.data import Table, Variable
from jensen.data.blocks import Units
from jensen.data.number_rows import NumberRows, summarise
from jensen.data.statistics import Coordinates, Moments, spread
from jensen.exceptions import DataError, UnboundedError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.graphs import DAG
from jensen.inference.completions import N_DRAWS
from jensen.models.gaussian_network import (
    PatternUnit,
    RegressionNetwork,
    Regressions,
    encode,
    make_prior,
)
from jensen.q_graph.method_choices import Completion
from jensen.q_graph.structural.node_averages import NodeAverages
from jensen.q_graph.structural.objective import FittedGraph, Flags, Objective
from jensen.q_hidden import GaussianCells, draw, exact
from jensen.q_hidden.gaussian_cells import at_means
from jensen.scores.gaussian import PenalisedGaussian, make_bge
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.graph_priors import with_prior
from jensen.scores.registry import DEFAULTS
from jensen.scores.scorer import Scorer
from jensen.scores.table_checks import constant_columns, refuse_narrow, require_continuous
from jensen.support.fields import add

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class ExpectedSquares(NamedTuple):
    """Σ E[z zᵀ] of all rows under q(h), z = (1, y - shift); implements `Completed`."""

    squares: Array  # (sets, n + 1, n + 1): of the rows in which each variable was set, or none
    total_weight: float
    is_exact: bool = True
    lost: float = 0.0


@dataclass(frozen=True, eq=False)
class IncompleteNumbers:
    """Rows of numbers; implements `StructuralRows`. Statistics are Σ z zᵀ for each set of rows.

    Constant columns are no part of the model, and have no edges.
    """

    names: tuple[str, ...]
    varying: tuple[int, ...]  # the columns of the model, which are counted by themselves below
    coordinates: Coordinates  # of all columns
    prior: NormalWishartPrior  # of all columns, in their units
    rows: NumberRows  # in the coordinates
    shift: Array  # (n,): the means of what is known, which are the origin of z
    targets: Ints | None  # (rows,): what was set in them
    sets: tuple[int, ...]  # what was set anywhere; -1 is nothing
    units: Units

    hidden: ClassVar[tuple[int, ...]] = ()
    may_draw: ClassVar[bool] = False  # a climb by exact moments is as quick

    @classmethod
    def of(
        cls, table: Table, targets: Ints | None, prior_parts: Sequence[Any]
    ) -> IncompleteNumbers:
        """Encode the rows once; all graphs read the same units.

        Parameters
        ----------
        targets
            (rows,): the variable that was set, as a position among the sorted names; -1 for none.
        prior_parts
            Prior mean, its strength, degrees of freedom and scale of bge; None is the default, made
            of the known values once.
        """
        names = tuple(sorted(table.names))
        for name in names:
            if not table.n_seen(name):
                raise DataError(f"column {name!r} has no value at all: leave it out")
        require_continuous(table, names, "structural EM of numbers")
        refuse_narrow(table, names)
        constant = set(constant_columns(table, names))
        if table.n_rows == 1 and prior_parts[-1] is not None:
            constant = set()  # a single row varies in nothing, but has its density
        varying = tuple(v for v in range(len(names)) if v not in constant)
        here = _coordinates(table, names, constant)
        whole = NumberRows.scanned(table, names)
        rows = NumberRows.of(here.values(whole.values())[:, list(varying)], whole.weights())
        found = summarise(rows)
        means, variances = here.origin.copy(), np.ones(len(names))
        means[list(varying)] += here.unit[list(varying)] * found.mean
        variances[list(varying)] = np.square(here.unit[list(varying)]) * found.variance
        if targets is not None:  # constant columns are no part of the model
            targets = np.array([*(_place(varying, v) for v in range(len(names))), -1])[targets]
        sets = (-1,) if targets is None else tuple(np.unique(targets).tolist())
        return cls(
            names, varying, here, make_bge(names, means, variances, *prior_parts), rows,
            found.mean, targets, sets, encode(rows, found.mean, targets),
        )  # fmt: skip

    def sample(self, n: int, rng: np.random.Generator) -> IncompleteNumbers:
        """Some of the rows, in the same coordinates and under the same prior."""
        chosen = np.sort(rng.choice(self.n_rows, n, replace=False))
        rows = NumberRows.of(*self.rows.take(chosen))
        targets = None if self.targets is None else self.targets[chosen]
        return replace(self, rows=rows, targets=targets, units=encode(rows, self.shift, targets))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.rows.n_rows

    @property
    def total_weight(self) -> float:
        """Their weight."""
        return self.units.total_weight

    @property
    def log_jacobian(self) -> float:
        """What J in the units of the columns has more: a density of every cell that is explained.

        A cell that was set from outside is known, and not explained.
        """
        explained = self.rows.sketch.seen
        if self.targets is not None:
            was_set = self.targets >= 0
            weight = self.rows.weights()[was_set]
            explained = explained - np.bincount(self.targets[was_set], weight, len(self.varying))
        return -float(explained @ np.log(self.coordinates.unit[list(self.varying)]))

    @property
    def isolated(self) -> frozenset[int]:
        """The constant columns."""
        return frozenset(range(len(self.names))) - frozenset(self.varying)

    @property
    def first(self) -> Objective:
        """The bound of VB under the normal-Wishart prior."""
        return Objective(DEFAULTS["continuous"], 1.0)

    def fit(
        self, objective: Objective, joined: Flags, start: Any, *, max_iter: int, tol: float
    ) -> FittedGraph:
        """Fit the regressions of a graph, from statistics or from what the known cells suggest."""
        model = self.model(joined, has_prior=not objective.is_likelihood)
        squares = self.suggested() if isinstance(start, np.random.Generator) else start
        stats = model.blank
        for target, own in zip(self.sets, squares, strict=True):
            stats = add(stats, model.stats_of(own, (target,)))
        eta = Regressions(*add(model.prior, stats))
        if objective.is_likelihood and len(self.sets) == 1 and self.sets[0] >= 0:
            name = model.names[self.sets[0]]
            raise DataError(f"{name!r} was set in every row, so none is left to score it by")
        with _naming_collapse(model, is_possible=objective.is_likelihood) as watch:
            found = objective.fit(model, self.units, eta, max_iter=max_iter, tol=tol, watch=watch)
        n_parameters = float(joined.sum()) + 2.0 * len(self.varying)
        trace = found.trace + objective.of_graph(joined, n_parameters)
        return FittedGraph(joined, model, self.units, found.state, trace.tolist())

    def restore(
        self, objective: Objective, joined: Flags, state: free_energy.AnyState, trace: list[float]
    ) -> FittedGraph:
        """A fit of which a file held the state and J by sweep."""
        model = self.model(joined, has_prior=not objective.is_likelihood)
        return FittedGraph(joined, model, self.units, state, trace)

    def smoothed(self, fitted: FittedGraph) -> Array:
        """Expected statistics as they are: they have no zeros at which EM would stay."""
        return self._squares(fitted, lambda cells: exact(cells, None, None).moments)

    def _squares(self, fitted: FittedGraph, solve: Callable[[GaussianCells], Array]) -> Array:
        """What some solution of the missing cells says of each set of rows."""
        at = fitted.model.potentials(fitted.state.t)

        def visit(number: int, unit: PatternUnit, kept: None) -> tuple[Array, None]:
            return solve(at(unit)), None

        found = self._blank()
        for target, group in groupby(self.units.each(), key=lambda unit: unit.target):
            units = Units(tuple(group), self.total_weight, self.units.is_complete)
            found[self.sets.index(target)] = units.sum(visit)[0]
        return found

    def complete(
        self, fitted: FittedGraph, completion: Completion, rng: np.random.Generator
    ) -> ExpectedSquares:
        """Σ E[z zᵀ] at the regressions of a graph, exact unless draws or modes are asked for."""
        if completion == "draw":
            each = [self.drawn(fitted.model, fitted.state.t, rng) for _ in range(N_DRAWS)]
            return ExpectedSquares(np.mean(each, 0), self.total_weight, is_exact=False)
        if completion == "mode":
            return ExpectedSquares(self._squares(fitted, at_means), self.total_weight, False)
        return ExpectedSquares(self.smoothed(fitted), self.total_weight)

    def drawn(self, model: RegressionNetwork, t: Regressions, rng: np.random.Generator) -> Array:
        """Σ z zᵀ of each set of rows, with one draw of everything that is missing."""
        at, found = model.potentials(t), self._blank()
        for unit in self.units.each():
            found[self.sets.index(unit.target)] += draw(at(unit), None, rng).moments
        return found

    def _blank(self) -> Array:
        return np.zeros((len(self.sets), *2 * (len(self.varying) + 1,)))

    def statistics(self, completed: ExpectedSquares, joined: Flags) -> Array:
        """The expected statistics, in which every graph finds its own."""
        return completed.squares

    def scorer(self, objective: Objective, completed: ExpectedSquares) -> Scorer:
        """Scores of families by expected moments, with the prior of graphs."""
        groups = {
            target if target < 0 else self.varying[target]: self._moments(squares)
            for target, squares in zip(self.sets, completed.squares, strict=True)
        }
        plain = GaussianScorer.held(
            self.names, groups, self.coordinates, self.isolated, objective.score, self.prior
        ).unitless()
        if objective.is_likelihood:  # a parameter costs the same, whatever was set in some rows
            plain = replace(plain, formula=PenalisedGaussian(lambda weight: objective.amount))
        return plain if objective.prior is None else with_prior(plain, objective.prior)

    def average_scorer(self, penalty: float) -> Scorer:
        """Node-average likelihoods: a family reads the rows in which it is known."""
        variables = [Variable(name, "continuous") for name in self.names]
        own = [self.names[v] for v in self.varying]
        columns = dict(zip(own, self.rows.values().T, strict=True))
        targets = self.targets
        if targets is not None:  # as positions among all names
            targets = np.array([*self.varying, -1])[targets]
        log_unit = float(np.log(self.coordinates.unit[list(self.varying)]).sum())
        return NodeAverages.of(variables, columns, self.rows.weights(), targets, penalty, log_unit)

    def model(self, joined: Flags, *, has_prior: bool) -> RegressionNetwork:
        """The model of the columns that vary."""
        own, names = list(self.varying), tuple(self.names[v] for v in self.varying)
        graph = DAG.from_adjacency(joined[np.ix_(own, own)], names)
        prior, held = Regressions(None), None
        if has_prior:
            held = self.prior.within(*self.coordinates).of_columns(own)
            prior = make_prior(held, graph.parent_indices, self.shift)
        return RegressionNetwork(names, graph.parent_indices, prior, graph, self.shift, held)

    def suggested(self) -> Array:
        """Statistics as the known cells suggest them, the same in proportion for each set."""
        found, n = summarise(self.rows, covariance=True), len(self.varying)
        shape = np.zeros((n + 1, n + 1))
        shape[0] = np.append(1.0, found.mean - self.shift)
        shape[1:] = np.outer(shape[0, 1:], shape[0])
        shape[1:, 1:] += np.asarray(found.covariance)
        weights = [self.total_weight]
        if self.targets is not None:
            weights = [float(self.rows.weights()[self.targets == v].sum()) for v in self.sets]
        return np.asarray(weights)[:, None, None] * shape

    def _moments(self, squares: Array) -> Moments:
        """The moments of all columns; 0 where they are constant."""
        n, at = len(self.names), list(self.varying)
        weight = float(squares[0, 0])
        away = squares[0, 1:] / weight if weight else squares[0, 1:]
        mean, scatter = np.zeros(n), np.zeros((n, n))
        mean[at] = self.shift + away
        scatter[np.ix_(at, at)] = squares[1:, 1:] - weight * np.outer(away, away)
        return Moments(weight, mean, scatter)


COLLAPSED = 1e8
"""A precision above this, of columns of range 1, explains why F could not be computed."""


@contextmanager
def _naming_collapse(model: RegressionNetwork, *, is_possible: bool) -> Iterator[free_energy.Watch]:
    """Name the variable whose variance goes to 0 under a likelihood, where F has no bound."""
    precision = np.zeros(len(model.names))

    def watch(state: free_energy.AnyState, trace: list[float]) -> bool:
        precision[:] = [-2.0 * float(t.second[0]) for t in state.t.regressions]
        return False

    try:
        yield watch
    except (ArithmeticError, DataError) as error:
        if not is_possible or (isinstance(error, ArithmeticError) and precision.max() < COLLAPSED):
            raise
        raise UnboundedError(
            f"the likelihood of {model.names[int(precision.argmax())]!r} has no bound: in the rows "
            f"that show it with all of its parents it is a linear function of them, or these rows "
            f"are too few",
            "leave out a column",
        ) from None


def _coordinates(table: Table, names: Sequence[str], constant: set[int]) -> Coordinates:
    """Columns from 0 to 1; constant ones are moved alone."""
    origin = np.array([table.range_of(name).least for name in names], np.float64)
    width = [1.0 if v in constant else spread(table, name) for v, name in enumerate(names)]
    return Coordinates(origin, np.where(np.array(width) > 0.0, width, 1.0))


def _place(places: tuple[int, ...], v: int) -> int:
    return places.index(v) if v in places else -1
