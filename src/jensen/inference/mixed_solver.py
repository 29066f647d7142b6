"""Rows of labels and numbers, solved under one set of parameters of a mixed network.

What rows miss is split and solved by `jensen.q_hidden.mixed`; families that miss nothing are looked
up here. Numbers are kept relative to a centre near their means, so that columns far from 0 keep
their digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from jensen.families.gamma import NEVER
from jensen.inference.mixed_parameters import AnyParameters, CountParameters, Parameters
from jensen.q_hidden.gaussian_cells import LOG_2PI
from jensen.q_hidden.mixed.cells import (
    CellUnit,
    FilledTables,
    MixedCells,
    MixedRows,
    encode_rows,
    fill_tables,
)
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.q_hidden.mixed.shapes import NOTHING_ASKED, Asked, GroupKind, Shapes
from jensen.q_hidden.trees import run
from jensen.support.cell_records import CellGroups, make_group_workspace
from jensen.support.machine import ordered_map

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


# --- questions ---


@dataclass(frozen=True, eq=False)
class MixedQuestion:
    """Rows, what was set in all of them, and what is asked; split into units of work.

    Parameters
    ----------
    rows
        Numbers are relative to the network's centre; all weights are 1.
    was_set
        Nodes that were set from outside in all rows.
    soft
        Label → likelihood of its states, in all rows; these labels are missing and asked for.
    """

    network: MixedNetwork
    rows: MixedRows
    was_set: frozenset[int]
    asked: Asked
    shapes: Shapes
    units: list[CellUnit]
    soft: Mapping[int, Array] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.rows.weight)

    def with_soft(self, parameters: Parameters) -> Parameters:
        """Multiply the tables of labels by their likelihoods."""
        if not self.soft:
            return parameters
        log_tables, at = parameters.log_tables.copy(), self.network.layout.wiring.fam_at
        for u, likelihood in self.soft.items():
            block = log_tables[at[u] : at[u + 1]].reshape(-1, len(likelihood))
            with np.errstate(divide="ignore"):
                block += np.log(likelihood / likelihood.max())
        return parameters._replace(log_tables=log_tables)

    @property
    def log_scale(self) -> float:
        """The log of what the likelihoods were divided by."""
        return float(sum(np.log(part.max()) for part in self.soft.values()))


def make_question(
    network: MixedNetwork,
    rows: MixedRows,
    was_set: Iterable[int] = (),
    asked: Asked = NOTHING_ASKED,
    soft: Mapping[int, Array] | None = None,
) -> MixedQuestion:
    """A question about rows; numbers are relative to the network's centre."""
    likelihoods, layout = soft or {}, network.layout
    if likelihoods:
        asked = asked._replace(nodes=asked.nodes.union(layout.labels[u] for u in likelihoods))
    done = frozenset(was_set)
    if len(rows.weight) == 1:
        pattern = np.concatenate([rows.codes[0] < 0, np.isnan(rows.values[0])]).tobytes()
        shapes = network.known_shapes(pattern, done, asked)
    else:
        shapes = Shapes(layout, network.graph.nodes)
    units = list(encode_rows(shapes, rows, done, asked))
    return MixedQuestion(network, rows, done, asked, shapes, units, likelihoods)


def log_known(question: MixedQuestion, parameters: Parameters) -> Array:
    """(N,): Σ log p over the families of which nothing is missing."""
    layout, rows = question.network.layout, question.rows
    total, wiring = np.full(question.n_rows, question.log_scale), layout.wiring
    seen = rows.codes >= 0
    for u, node in enumerate(layout.labels):
        if node in question.was_set:
            continue
        members, at = wiring.members(u), slice(wiring.fam_ptr[u], wiring.fam_ptr[u + 1])
        known = seen[:, members].all(1)
        entry = rows.codes[:, members] @ wiring.fam_stride[at] + wiring.fam_at[u]
        total += np.where(known, parameters.log_tables[np.where(known, entry, 0)], 0.0)
    if layout.counts:
        total += layout.log_bases(rows.values, question.was_set)
    for v, node in enumerate(layout.numbers):
        if node in question.was_set:
            continue
        labels = list(layout.label_parents[v])
        config = layout.configs_of(v, rows.codes) if labels else np.zeros(1, np.int64)
        if labels:
            config = np.where(seen[:, labels].all(1), config, 0)
        log_density = _log_density(parameters.numbers[v], config, rows.values, v, layout)
        if labels:
            log_density[~seen[:, labels].all(1)] = np.nan
        total += np.where(np.isnan(log_density), 0.0, log_density)
    return total


def _log_density(
    own: AnyParameters, config: Ints, values: Array, v: int, layout: MixedLayout
) -> Array:
    """(N,): the log potential of number v in these configurations; NaN if a member is missing."""
    if isinstance(own, CountParameters):
        rates = own.rates[config]
        return np.asarray(xlogy(values[:, v], rates) - rates)
    noise = values[:, v] - own.intercepts[config]
    for k, parent in enumerate(layout.number_parents[v]):
        noise -= own.slopes[config, k] * values[:, parent]
    variance = own.variances[config]
    return np.asarray(-0.5 * (LOG_2PI + np.log(own.variances)[config] + noise * noise / variance))


def take_rows(rows: MixedRows, which: Ints) -> MixedRows:
    """Some of the rows."""
    return MixedRows(rows.codes[which], rows.values[which], rows.weight[which])


# --- sums ---


class SolvedUnit(NamedTuple):
    """What is expected in some rows."""

    unit: CellUnit
    log_density: Array  # (rows of the unit,): of the parts with gaps
    shares: Array  # at groups.table_at: the posterior of the configurations of every group
    at: Ints  # (problems,): where the marginals of its labels begin
    marginals: Array


def filled_tables(question: MixedQuestion, parameters: Parameters, unit: CellUnit) -> FilledTables:
    """Tables of labels, and behind them those of the groups of a unit."""
    kinds = question.shapes.kinds
    return fill_tables(MixedCells(parameters.log_tables, parameters.forms, kinds, unit))


def _by_row(unit: CellUnit, shift: Array, log_z: Array) -> Array:
    n = len(unit.row)
    each = np.bincount(unit.groups.row, shift, n), np.bincount(unit.problem_row, log_z, n)
    total = each[0] + each[1]
    return np.where(total < 0.5 * NEVER, -np.inf, total)


def solved(question: MixedQuestion, parameters: Parameters) -> Iterator[SolvedUnit]:
    """The units of a question, solved."""
    parameters = question.with_soft(parameters)
    program = question.shapes.program

    def solve(unit: CellUnit) -> SolvedUnit:
        log_tables, shift = filled_tables(question, parameters, unit)
        found = run.counts_and_marginals(log_tables, program, unit.problems)
        log_z, shares, at, marginals = found
        shares[unit.groups.table_at[unit.free]] = 1.0
        return SolvedUnit(unit, _by_row(unit, shift, log_z), shares, at, marginals)

    return iter(ordered_map(solve, question.units))


def log_density(question: MixedQuestion, parameters: Parameters) -> Array:
    """(N,): the log density of every row, what is missing summed out; -inf if it is impossible."""
    parameters = question.with_soft(parameters)
    program = question.shapes.program

    def solve(unit: CellUnit) -> Array:
        log_tables, shift = filled_tables(question, parameters, unit)
        return _by_row(unit, shift, run.log_partition(log_tables, program, unit.problems))

    found = log_known(question, parameters)
    for unit, part in zip(question.units, ordered_map(solve, question.units), strict=True):
        found[unit.row] += part
    return found


# --- labels ---


def label_places(shapes: Shapes, u: int) -> Ints:
    """(sets,): how many states of other labels stand before those of label u; -1 without it."""
    cards = shapes.layout.wiring.cards
    found = np.full(len(shapes.label_sets), -1, np.int64)
    for k, of_set in enumerate(shapes.label_sets):
        if u in of_set.members:
            before = of_set.members[: of_set.members.index(u)]
            found[k] = sum(int(cards[w]) for w in before)
    return found


def label_positions(shapes: Shapes, u: int) -> Ints:
    """(sets,): the position of label u among the members; -1 where it is not."""
    members = (of_set.members for of_set in shapes.label_sets)
    return np.array([own.index(u) if u in own else -1 for own in members], np.int64)


def read_marginal(found: SolvedUnit, places: Ints, card: int) -> tuple[Ints, Array]:
    """The rows of the question in which a label was missing, and its distribution there."""
    unit = found.unit
    place = places[unit.problems.set_of]
    mine = np.flatnonzero(place >= 0)
    at = (found.at[mine] + place[mine])[:, None] + np.arange(card)
    return unit.row[unit.problem_row[mine]], found.marginals[at]


# --- groups of numbers ---


def groups_of(unit: CellUnit, number: int) -> tuple[Ints, CellGroups]:
    """Which groups are of one kind, and these groups."""
    groups = unit.groups
    which = np.flatnonzero(groups.kind == number)
    kind, row, base_at, base, table_at = groups
    picked = CellGroups(kind[which], row[which], base_at[which], base, table_at[which])
    return which, picked


def kinds_in(unit: CellUnit) -> list[tuple[int, GroupKind]]:
    """The kinds of the groups of a unit, by number."""
    kinds = list(unit.shapes.group_kinds)
    return [(int(k), kinds[k]) for k in np.unique(unit.groups.kind)]


class GroupMoments(NamedTuple):
    """The missing numbers of groups of one kind, in every configuration of the labels around."""

    row: Ints  # (G,): rows of the question
    shares: Array  # (G, C): posterior of the configurations
    means: Array  # (G, C, m)
    covariances: Array  # (G, C, m, m), or empty


def group_moments(
    found: SolvedUnit, forms: Array, number: int, *, with_covariances: bool
) -> GroupMoments:
    """Moments of all groups of one kind in a unit."""
    from jensen.kernels.cell_groups import describe_groups

    unit = found.unit
    kinds = unit.shapes.kinds
    _, groups = groups_of(unit, number)
    n, c, m = len(groups.kind), int(kinds.n_configs[number]), int(kinds.n_missing[number])
    means = np.empty((n, c, m))
    covariances = np.empty((n, c, m, m) if with_covariances else (0, 0, 0, 0))
    work = make_group_workspace(kinds)
    describe_groups(kinds, groups, unit.values, forms, work, means, covariances)
    shares = found.shares[groups.table_at[:, None] + np.arange(c)]
    return GroupMoments(unit.row[groups.row], shares, means, covariances)


# --- averages over samples ---


class Weighing:
    """Running weights p_s(row) of samples of the parameters."""

    def __init__(self, n_rows: int) -> None:
        self.log_total, self.n = np.full(n_rows, -np.inf), 0

    def add(self, log_p: Array) -> Array:
        """(N,): the share of this sample among all so far; 0 where all are impossible."""
        self.n += 1
        self.log_total = np.logaddexp(self.log_total, log_p)
        safe = np.where(self.log_total > -np.inf, self.log_total, 0.0)
        return np.exp(log_p - safe)

    @property
    def log_mean(self) -> Array:
        """(N,): the log of the mean of p_s(row)."""
        return self.log_total if self.n == 1 else self.log_total - np.log(self.n)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """(N,): rows that some sample allows."""
        return np.asarray(self.log_total > -np.inf)
