"""All completions of rows of labels and numbers, at one θ: what expected scores are made of.

A row is repeated for every completion of its missing labels, weighted by its probability; what is
missing of its numbers stands at its conditional mean, with a covariance beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families.wishart import cholesky
from jensen.inference.completions import N_DRAWS, Completion
from jensen.inference.mixed_completions import put_labels
from jensen.q_hidden.mixed.cells import (
    CellUnit,
    MixedCells,
    MixedMoments,
    MixedRows,
    encode_rows,
    fill_tables,
)
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.q_hidden.mixed.shapes import Asked, GroupKind, Shapes
from jensen.q_hidden.trees import run
from jensen.support.cell_records import CellGroups, make_group_workspace

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

MOST = 1024
"""Rows with more completions of their labels are drawn."""

DRAWS = 32
"""Draws of such a row."""

LEAST = 1e-7
"""Less probable completions are left out."""


class Spread(NamedTuple):
    """The covariances of numbers that are missing together."""

    places: Ints  # (m,): which numbers
    rows: Ints  # (R,)
    covariances: Array  # (R, m, m)


class CompletedCells(NamedTuple):
    """Rows without gaps, as many as there are completions; implements `Completed`."""

    codes: Codes  # (R, labels)
    values: Array  # (R, numbers): means where numbers were missing
    weight: Array  # (R,)
    origin: Ints  # (R,): the row that was completed
    spreads: tuple[Spread, ...]
    is_exact: bool
    lost: float  # the largest probability of the completions of a row that are left out

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())


class CellParameters(NamedTuple):
    """θ as the E-step sees it."""

    log_tables: Array
    forms: Array

    def where_set(self, layout: MixedLayout, was_set: Sequence[int]) -> CellParameters:
        """θ in rows in which some nodes were set: their own tables have no say there."""
        tables = self.log_tables.copy()
        for v in was_set:
            if layout.cards[v]:
                at = layout.wiring.fam_at[layout.place[v] :]
                tables[at[0] : at[1]] = 0.0
        return CellParameters(tables, self.forms)


def complete_cells(
    layout: MixedLayout,
    names: tuple[str, ...],
    theta: CellParameters,
    rows: MixedRows,
    was_set: tuple[int, ...],
    rng: np.random.Generator,
    completion: Completion = "exact",
) -> CompletedCells:
    """Complete rows, in all of which the same nodes were set.

    By draws and modes missing numbers have values too, given the labels of the row, and no
    covariance; the mode of the labels is that with these numbers integrated out.
    """
    parts = list(_complete_labels(layout, names, theta, rows, was_set, rng, completion))
    labels = np.concatenate([rows.codes[:0], *(part.codes for part in parts)])
    origin = np.concatenate([np.empty(0, np.int64), *(part.origin for part in parts)])
    weight = np.concatenate([np.empty(0), *(part.weight for part in parts)])
    full = MixedRows(labels, rows.values[origin], weight)
    values, spreads = _complete_numbers(layout, names, theta, full, was_set, rng, completion)
    lost = max((part.lost for part in parts), default=0.0)
    is_exact = all(part.is_exact for part in parts)
    return CompletedCells(labels, values, weight, origin, spreads, is_exact, lost)


def drawn_cells(
    layout: MixedLayout,
    names: tuple[str, ...],
    theta: CellParameters,
    rows: MixedRows,
    was_set: tuple[int, ...],
    rng: np.random.Generator,
) -> MixedRows:
    """Draw what is missing once in every row, jointly; missing counts stay missing."""
    gaps = (rows.codes < 0).any(1) | np.isnan(rows.values).any(1)
    own = np.flatnonzero(gaps)
    part = _chosen(Shapes(layout, names), theta, rows.take(own), own, was_set, 1, rng)
    codes, values = rows.codes.copy(), rows.values.copy()
    codes[part.origin] = part.codes
    full = MixedRows(codes[own], values[own], rows.weight[own])
    values[own], _ = _complete_numbers(layout, names, theta, full, was_set, rng, "draw")
    return MixedRows(codes, values, rows.weight)


def joined(parts: list[CompletedCells], offsets: list[Ints]) -> CompletedCells:
    """The completions of several sets of rows; offsets say which rows of all these were."""
    begin = np.cumsum([0, *(len(part.weight) for part in parts)])
    spreads = tuple(
        spread._replace(rows=spread.rows + at)
        for part, at in zip(parts, begin[:-1].tolist(), strict=True)
        for spread in part.spreads
    )
    origin = [rows[part.origin] for part, rows in zip(parts, offsets, strict=True)]
    return CompletedCells(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate(origin),
        spreads,
        all(part.is_exact for part in parts),
        max(part.lost for part in parts),
    )


class _CompletedPart(NamedTuple):
    """Some rows with their labels completed."""

    codes: Codes
    origin: Ints
    weight: Array
    is_exact: bool = True
    lost: float = 0.0


def _complete_labels(
    layout: MixedLayout,
    names: tuple[str, ...],
    theta: CellParameters,
    rows: MixedRows,
    was_set: tuple[int, ...],
    rng: np.random.Generator,
    completion: Completion,
) -> Iterator[_CompletedPart]:
    """Rows that miss the same labels at a time; by draws those apart that miss numbers."""
    gaps = rows.codes < 0
    if completion == "draw":
        gaps = np.column_stack([gaps, np.isnan(rows.values).any(axis=1)])
    patterns, number = np.unique(gaps, axis=0, return_inverse=True)
    everything = frozenset(range(len(layout.cards)))
    for k, pattern in enumerate(patterns):
        own = np.flatnonzero(number.ravel() == k)
        here = rows.take(own)
        if not pattern.any():
            yield _CompletedPart(here.codes, own, here.weight)
            continue
        scope = tuple(np.flatnonzero(pattern[: rows.codes.shape[1]]).tolist())
        shapes = Shapes(layout, names)
        if completion == "mode":
            yield _chosen(shapes, theta, here, own, was_set, 1, None)
            continue
        if completion == "draw" or shapes.n_configs(scope) > MOST:
            n = N_DRAWS if completion == "draw" else DRAWS
            yield _chosen(shapes, theta, here, own, was_set, n, rng)
            continue
        asked = Asked(everything, (scope,))
        for unit in encode_rows(shapes, here, was_set, asked):
            yield _listed(shapes, theta, here, own, unit, scope)


def _listed(
    shapes: Shapes,
    theta: CellParameters,
    rows: MixedRows,
    own: Ints,
    unit: CellUnit,
    scope: tuple[int, ...],
) -> _CompletedPart:
    """All completions of the labels of some rows, with their probabilities."""
    log_tables, _ = fill_tables(MixedCells(*theta, shapes.kinds, unit))
    once = unit.problems._replace(weight=np.ones(len(unit.problems.weight)))
    _, counts = run.expected_counts(log_tables, shapes.program, once)
    number = shapes.group_kinds[GroupKind((), (), scope)]
    which = unit.groups.kind == number
    at, row = unit.groups.table_at[which], unit.row[unit.groups.row[which]]
    n = shapes.n_configs(scope)
    share = counts[at[:, None] + np.arange(n)]
    share /= share.sum(1, keepdims=True)
    kept = share >= LEAST
    lost = float(1.0 - np.where(kept, share, 0.0).sum(1).min(initial=1.0))
    share = np.where(kept, share, 0.0)
    share /= share.sum(1, keepdims=True)
    k, config = np.nonzero(kept)
    codes = rows.codes[row[k]]
    for u in reversed(scope):
        card = int(shapes.layout.wiring.cards[u])
        codes[:, u] = config % card
        config = config // card
    weight = rows.weight[row[k]] * share[kept]
    return _CompletedPart(codes, own[row[k]], weight, lost=max(lost, 0.0))


def _chosen(
    shapes: Shapes,
    theta: CellParameters,
    rows: MixedRows,
    own: Ints,
    was_set: tuple[int, ...],
    n: int,
    rng: np.random.Generator | None,
) -> _CompletedPart:
    """The labels of some rows: n draws each, or without random numbers the most probable ones."""
    again = np.repeat(np.arange(len(own)), n)
    many = rows.take(again)
    codes = many.codes.copy()
    for unit in encode_rows(shapes, many, was_set, Asked(frozenset(range(len(shapes.names))))):
        log_tables, _ = fill_tables(MixedCells(*theta, shapes.kinds, unit))
        once = np.ones(len(unit.problems.set_of), np.int64)
        problems = shapes.program, unit.problems
        if rng is None:
            _, at, states = run.best_states(log_tables, *problems)
        else:
            _, at, states = run.drawn_states(log_tables, *problems, once, rng)
        put_labels(unit, at, states, codes)
    return _CompletedPart(codes, own[again], many.weight / n, is_exact=False)


def _complete_numbers(
    layout: MixedLayout,
    names: tuple[str, ...],
    theta: CellParameters,
    rows: MixedRows,
    was_set: tuple[int, ...],
    rng: np.random.Generator,
    completion: Completion,
) -> tuple[Array, tuple[Spread, ...]]:
    """Means of the missing numbers of rows without missing labels, and their covariances.

    Or draws of them, or their means as if they were known; both without covariances.
    """
    from jensen.kernels.cell_groups import describe_groups

    shapes, values, spreads = Shapes(layout, names), rows.values.copy(), list[Spread]()
    for unit in encode_rows(shapes, rows, was_set, Asked(frozenset(range(len(names))))):
        kinds, work = shapes.kinds, make_group_workspace(shapes.kinds)
        for number, kind in enumerate(shapes.group_kinds):
            which = np.flatnonzero(unit.groups.kind == number)
            if not kind.missing or not len(which):
                continue
            groups = CellGroups(
                unit.groups.kind[which], unit.groups.row[which], unit.groups.base_at[which],
                unit.groups.base, unit.groups.table_at[which],
            )  # fmt: skip
            n, m = len(which), len(kind.missing)
            means, covariances = np.empty((n, 1, m)), np.empty((n, 1, m, m))
            describe_groups(kinds, groups, unit.values, theta.forms, work, means, covariances)
            row, places = unit.row[groups.row], np.array(kind.missing, np.int64)
            if completion == "draw":
                normals = rng.standard_normal((n, 1, m, 1))
                means += (cholesky(covariances) @ normals)[..., 0]
            values[row[:, None], places] = means[:, 0]
            if completion == "exact":
                spreads.append(Spread(places, row, covariances[:, 0]))
    return values, tuple(spreads)


def expected_moments(layout: MixedLayout, rows: CompletedCells, was_set: Ints) -> MixedMoments:
    """Counts of all tables and moments of all regressions, by completed rows."""
    wiring, counts = layout.wiring, np.zeros(int(layout.wiring.fam_at[-1]))
    for u, v in enumerate(layout.labels):
        at = slice(int(wiring.fam_ptr[u]), int(wiring.fam_ptr[u + 1]))
        place = wiring.fam_at[u] + rows.codes[:, wiring.fam_vars[at]] @ wiring.fam_stride[at]
        own = was_set != v
        counts += np.bincount(place[own], rows.weight[own], len(counts))
    moments = np.zeros(layout.form_at[-1])
    for k, v in enumerate(layout.numbers):
        own = was_set != v
        _add_regression(layout, k, rows, own, moments)
    return MixedMoments(counts, moments)


def _add_regression(
    layout: MixedLayout, v: int, rows: CompletedCells, own: NDArray[np.bool_], moments: Array
) -> None:
    """Add the moments of one regression over some of the rows."""
    members, n = [*layout.number_parents[v], v], layout.n_members[v]
    own = own & ~np.isnan(rows.values[:, v])  # a missing count sums to one
    config, weight = layout.configs_of(v, rows.codes), np.where(own, rows.weight, 0.0)
    z = np.column_stack([np.ones(len(weight)), np.nan_to_num(rows.values[:, members])])
    found = moments[layout.form_at[v] : layout.form_at[v + 1]].reshape(layout.n_configs[v], -1)
    square = found[:, 1:].reshape(-1, n, n)
    found[:, 0] += np.bincount(config, weight, layout.n_configs[v])
    for a in range(n):
        for b in range(n):
            square[:, a, b] += np.bincount(config, weight * z[:, a] * z[:, b], len(square))
    for places, at, covariances in rows.spreads:
        mine = [(k + 1, places.tolist().index(u)) for k, u in enumerate(members) if u in places]
        for a, i in mine:
            for b, j in mine:
                added = weight[at] * covariances[:, i, j]
                square[:, a, b] += np.bincount(config[at], added, len(square))
