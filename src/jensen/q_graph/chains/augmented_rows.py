"""Rows with holes as chains over graphs need them: parameters drawn from them, and what is missing.

Missing is ignorable: that a value is missing tells nothing which the known values do not tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen import q_theta
from jensen.data import Table, Variable
from jensen.data.encode import Column, smallest_code_type
from jensen.exceptions import DataError, JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import wire
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.network import Network
from jensen.inference.regression import LinearRegression
from jensen.models.discrete_network import complete_counts
from jensen.models.gaussian_network import RegressionNetwork, Regressions
from jensen.q_graph.chains.augmented_mixed import AugmentedMixed
from jensen.q_graph.structural.mixed import IncompleteMixed
from jensen.q_graph.structural.numbers import ExpectedSquares, IncompleteNumbers
from jensen.q_graph.structural.objective import Flags, Objective
from jensen.q_graph.structural.reading import (
    NO_MEANING,
    all_variables,
    are_mixed,
    are_numbers,
    counted_rows,
)
from jensen.q_graph.structural.tables import concentrations
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.plans import plans_of
from jensen.q_hidden.trees.problems import HiddenRows
from jensen.scores.conditional_counts import refuse_orphans
from jensen.scores.gaussian import read_strength
from jensen.scores.interventions import WasSet
from jensen.scores.make_scorer import scorer_of
from jensen.scores.registry import (
    DEFAULTS,
    PARTS,
    SPECS,
    check_gaussian_score,
    check_mixed_score,
    make_score,
)
from jensen.scores.scorer import Scorer
from jensen.support.arguments import check_sample_size
from jensen.support.fields import add
from jensen.support.machine import check_memory
from jensen.support.text import either, for_reader, keyword, option
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]
Codes = NDArray[np.int32]


class AugmentedRows(Protocol):
    """Incomplete rows of one kind; what is missing is known by an array."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The same with their kinds and states."""

    @property
    def width(self) -> int:
        """How many numbers tell what is missing."""

    @property
    def hidden(self) -> tuple[int, ...]:
        """The variables without a column."""

    @property
    def is_quick(self) -> bool:
        """Whether the scores of all parent sets of few variables are computed at once."""

    def begin(self, rng: np.random.Generator) -> Array:
        """Missing values that fit every graph."""

    def scorer(self, missing: Array) -> Scorer:
        """Log p(rows | G), family by family, of the completed rows."""

    def draw(self, joined: Flags, missing: Array, rng: np.random.Generator) -> Array:
        """Draw θ | G and the completed rows, then what is missing | θ, G, jointly in every row."""

    def network(self, joined: Flags, missing: Array, rng: np.random.Generator) -> FittedNetwork:
        """A network of G with parameters that are drawn given the completed rows."""


def read_rows(
    table: Table,
    score: str | None = None,
    equivalent_sample_size: float | None = None,
    interventions: Any = None,
    hidden: Mapping[str, Any] | None = None,
    **numbers: Any,
) -> AugmentedRows:
    """Rows with holes; choices that they have no use for are refused."""
    rows, targets = counted_rows(table, interventions)
    rows, targets = _single(rows, targets)
    size = 1.0 if equivalent_sample_size is None else float(equivalent_sample_size)
    if hidden and any(variable.kind != "categorical" for variable in rows.variables):
        raise DataError(
            "the posterior over graphs draws hidden variables beside labels only: learn one graph "
            f"with {for_reader('jn.learn_structure', 'jensen learn')}, or make states of the "
            f"numbers ({for_reader('jn.discretize', '--discretize')})"
        )
    if are_mixed(rows, None):
        return _mixed(rows, targets, score or DEFAULTS["mixed"], size, numbers)
    if are_numbers(rows):
        refuse_orphans([v.name for v in rows.variables if v.is_declared], [])
        chosen = read_strength(numbers)
        check_gaussian_score(score or DEFAULTS["continuous"])
        _require_prior(score or DEFAULTS["continuous"])
        data = IncompleteNumbers.of(rows, targets, [chosen.get(part) for part in PARTS])
        return AugmentedNumbers(data, Objective(DEFAULTS["continuous"], 1.0))
    for name in numbers:
        raise DataError(NO_MEANING.format(keyword(name), "labels"))
    chosen_score = score or DEFAULTS["categorical"]
    make_score(chosen_score, equivalent_sample_size)  # refuses what it does not take
    _require_prior(chosen_score)
    return AugmentedTables(rows, targets, Objective(chosen_score, size), hidden)


def _mixed(
    rows: Table, targets: WasSet, score: str, size: float, numbers: Mapping[str, Any]
) -> AugmentedMixed:
    """Rows of labels and numbers, with their own score."""
    kinds = {v.kind == "categorical": v.name for v in rows.variables}
    check_mixed_score(score, kinds[True], kinds[False])
    _require_prior(score)
    check_sample_size(size)
    chosen = read_strength(numbers)
    parts = [chosen.get(part) for part in PARTS]
    data = IncompleteMixed.of(rows, all_variables(rows, {}), targets, parts)
    return AugmentedMixed(data, Objective(score, size))


def _single(rows: Table, targets: WasSet) -> tuple[Table, WasSet]:
    """Rows that count once each."""
    if rows.weights is None:
        return rows, targets
    if (rows.weights % 1.0).any():
        raise DataError(
            "what is missing is drawn row by row, so weights must be whole numbers: leave them out"
        )
    times = rows.weights.astype(np.int64)
    check_memory(8.0 * times.sum() * len(rows.names), f"{times.sum():,} rows", "take fewer rows")
    again = np.repeat(np.arange(rows.n_rows), times)
    return rows.take(again).with_weights(None), None if targets is None else targets[again]


def _require_prior(score: str) -> None:
    """Refuse scores without a prior from which parameters could be drawn."""
    spec = SPECS.get(score)
    if spec is None or not (spec.prior in ("everywhere", "one each") or spec.has_joint_prior):
        known = [x for x, s in SPECS.items() if s.prior in ("everywhere", "one each")]
        raise JensenError(
            f"{option('score', score)}: where values are missing, parameters are drawn from their "
            f"posterior, and only {either(map(repr, (*known, DEFAULTS['continuous'])))} have a "
            f"prior to draw from; choose one of them, or learn one graph with learn_structure"
        )


class AugmentedTables:
    """Rows of labels; implements `AugmentedRows`. What is missing is a code for every cell.

    Parameters
    ----------
    table
        Rows that count once each.
    was_set
        The variable that was set in each row, by its position among the names; -1: none.
    objective
        The score, which has a Dirichlet prior.
    hidden
        Variables without a column, and their numbers of states, or their labels. Under the priors
        here their states have no meaning of their own, so in every draw they are numbered by how
        many rows have them, most first.
    """

    is_quick = True

    def __init__(
        self,
        table: Table,
        was_set: WasSet,
        objective: Objective,
        hidden: Mapping[str, Any] | None = None,
    ) -> None:
        self.variables: tuple[Variable, ...] = all_variables(table, hidden or {})
        self.names = tuple(variable.name for variable in self.variables)
        self.cards = np.array([v.n_states for v in self.variables])
        self.hidden = tuple(v for v, name in enumerate(self.names) if name not in table)
        places = np.array([*map(self.names.index, sorted(table.names)), -1], np.int64)
        self._was_set, self._objective = None if was_set is None else places[was_set], objective
        self._codes = np.full((table.n_rows, len(self.names)), np.int32(-1))
        for v, (name, card) in enumerate(zip(self.names, self.cards.tolist(), strict=True)):
            if name in table:
                codes = table.column(name).data.astype(np.int32)
                self._codes[:, v] = np.where(codes == card, np.int32(-1), codes)
        self._holes = np.nonzero(self._codes < 0)
        self.width = len(self._holes[0])

    def begin(self, rng: np.random.Generator) -> Array:
        """Draw every cell by how often the states of its column are seen."""
        found = np.empty(self.width)
        for v, card in enumerate(self.cards.tolist()):
            column = self._codes[:, v]
            seen = np.bincount(column[column >= 0], minlength=card) + 1.0
            here = self._holes[1] == v
            found[here] = rng.choice(card, int(here.sum()), p=seen / seen.sum())
        return found

    def completed(self, missing: Array) -> Table:
        """The rows with these values in the place of the missing ones."""
        codes = self._codes.copy()
        codes[self._holes] = missing
        columns = zip(self.variables, codes.T, strict=True)
        return Table.from_columns(
            Column(v, codes.astype(smallest_code_type(v.n_states))) for v, codes in columns
        )

    def scorer(self, missing: Array) -> Scorer:
        """See `AugmentedRows`."""
        score = self._objective.score
        size = self._objective.amount if SPECS[score].has_sample_size else None
        rows = self.completed(missing)
        return scorer_of(rows, self._was_set, score, equivalent_sample_size=size)

    def draw(self, joined: Flags, missing: Array, rng: np.random.Generator) -> Array:
        """See `AugmentedRows`."""
        wiring, tables = self._parameters(joined, missing, rng)
        codes = self._codes.copy()
        for target, rows in self._groups:
            here = tables
            if target >= 0:  # its own table has no say where it was set
                here = tables.copy()
                here[wiring.fam_at[target] : wiring.fam_at[target + 1]] = 0.0
            codes[rows] = _fill(codes[rows], wiring, self.names, here, rng)
        for v in self.hidden:
            times = np.bincount(codes[:, v], minlength=self.cards[v])
            codes[:, v] = np.argsort(np.argsort(-times, kind="stable"))[codes[:, v]]
        return codes[self._holes].astype(np.float64)

    def network(self, joined: Flags, missing: Array, rng: np.random.Generator) -> Network:
        """See `AugmentedRows`."""
        _, tables = self._parameters(joined, missing, rng)
        return Network(DAG.from_adjacency(joined, self.names), self.variables, np.exp(tables))

    def _parameters(
        self, joined: Flags, missing: Array, rng: np.random.Generator
    ) -> tuple[Wiring, Array]:
        """Log tables that are drawn given the completed rows."""
        parents = [tuple(np.flatnonzero(column).tolist()) for column in joined.T]
        wiring = wire(parents, self.cards.tolist())
        table, counts = self.completed(missing), np.zeros(int(wiring.fam_at[-1]))
        for target, rows in self._all_groups:
            own = complete_counts(table.take(rows), self.names, wiring)
            if target >= 0:
                own[wiring.fam_at[target] : wiring.fam_at[target + 1]] = 0.0
            counts += own
        family = SegmentedDirichlet(wiring.row_lengths())
        eta = concentrations(self._objective, wiring) - 1.0 + counts
        return wiring, family.sample_stats(eta, rng)

    @cached_property
    def _all_groups(self) -> tuple[tuple[int, NDArray[np.intp]], ...]:
        """The variables that were set, and the rows in which they were."""
        if self._was_set is None:
            return ((-1, np.arange(len(self._codes))),)
        each = np.unique(self._was_set).tolist()
        return tuple((v, np.flatnonzero(self._was_set == v)) for v in each)

    @cached_property
    def _groups(self) -> tuple[tuple[int, NDArray[np.intp]], ...]:
        """The same for rows that miss something."""
        holes = np.any(self._codes < 0, axis=1)
        groups = ((v, rows[holes[rows]]) for v, rows in self._all_groups)
        return tuple((v, rows) for v, rows in groups if len(rows))


def _fill(
    codes: Codes, wiring: Wiring, names: Sequence[str], log_tables: Array, rng: np.random.Generator
) -> Codes:
    """Draw the missing codes (-1) of every row, each row by itself and jointly."""

    def read(part: slice) -> tuple[Codes, Array]:
        return codes[part], np.ones(len(codes[part]))

    rows = HiddenRows(plans_of(wiring, names), [slice(None)], read)
    split = rows.split
    times = np.bincount(rows.of_row, minlength=len(rows.begin))  # a draw for every row
    _, at, states = run.drawn_states(log_tables, split.sets.program, split.problems, times, rng)
    found, row_of = codes.copy(), np.repeat(np.arange(len(codes)), np.diff(rows.row_end, prepend=0))
    order = np.argsort(rows.of_row, kind="stable")  # sub-problem by sub-problem
    problem = rows.of_row[order]
    first = np.cumsum(times) - times
    number = np.arange(len(order)) - first[problem]
    size = rows.end - rows.begin
    for k in range(int(size.max(initial=0))):
        there = k < size[problem]
        own = problem[there]
        members = rows.entries[rows.begin[own] + k]
        found[row_of[order[there]], members] = states[at[own] + number[there] * size[own] + k]
    return found


class AugmentedNumbers(NamedTuple):
    """Rows of numbers; implements `AugmentedRows`. What is missing is known by Σ z zᵀ of all rows.

    The rows enter scores and parameters by these sums alone, so no missing number need be kept.
    """

    data: IncompleteNumbers
    objective: Objective

    @property
    def variables(self) -> tuple[Variable, ...]:
        """See `AugmentedRows`."""
        return tuple(Variable(name, "continuous") for name in self.names)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Nothing: variables without a column are labels."""
        return ()

    @property
    def is_quick(self) -> bool:
        """See `AugmentedRows`."""
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return self.data.names

    @property
    def width(self) -> int:
        """The sums of every set of rows."""
        return len(self.data.sets) * (len(self.data.varying) + 1) ** 2

    def begin(self, rng: np.random.Generator) -> Array:
        """As the known cells suggest."""
        return self.data.suggested().ravel()

    def scorer(self, missing: Array) -> Scorer:
        """See `AugmentedRows`."""
        squares = ExpectedSquares(self._squares(missing), self.data.total_weight)
        return self.data.scorer(self.objective, squares)

    def draw(self, joined: Flags, missing: Array, rng: np.random.Generator) -> Array:
        """See `AugmentedRows`."""
        return self.data.drawn(*self._parameters(joined, missing, rng), rng).ravel()

    def network(self, joined: Flags, missing: Array, rng: np.random.Generator) -> GaussianNetwork:
        """See `AugmentedRows`; constant columns are left out."""
        model, t = self._parameters(joined, missing, rng)
        return GaussianNetwork(model.graph, tuple(self._as_written(model, t)))

    def _squares(self, missing: Array) -> Array:
        n = len(self.data.varying) + 1
        return missing.reshape(len(self.data.sets), n, n)

    def _parameters(
        self, joined: Flags, missing: Array, rng: np.random.Generator
    ) -> tuple[RegressionNetwork, Regressions]:
        """Regressions that are drawn given the completed rows."""
        model = self.data.model(joined, has_prior=True)
        eta = model.prior
        for target, own in zip(self.data.sets, self._squares(missing), strict=True):
            eta = Regressions(*add(eta, model.stats_of(own, (target,))))
        t, _ = q_theta.draw.read(model.families.regressions, eta.regressions, None, rng)
        return model, Regressions(t)

    def _as_written(self, model: RegressionNetwork, t: Regressions) -> Iterator[LinearRegression]:
        """The regressions in the units of the columns."""
        own = [self.names.index(name) for name in model.names]
        origin = dict(zip(model.names, self.data.coordinates.origin[own].tolist(), strict=True))
        unit = dict(zip(model.names, self.data.coordinates.unit[own].tolist(), strict=True))
        for one in model.network(t).regressions:
            name = one.name
            slopes = {p: b * unit[name] / unit[p] for p, b in one.coefficients.items()}
            moved = sum(b * origin[p] for p, b in slopes.items())
            intercept = origin[name] + unit[name] * one.intercept - moved
            yield LinearRegression(name, intercept, slopes, unit[name] ** 2 * one.variance)
