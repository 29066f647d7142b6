"""Rows that miss labels and numbers, as groups of numbers and problems of labels; and solved."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.q_hidden.mixed.shapes import NOTHING_ASKED, Asked, Shape, Shapes, Terms
from jensen.q_hidden.trees import run
from jensen.support.cell_records import CellGroups, GroupKinds, make_group_workspace
from jensen.support.machine import check_memory
from jensen.support.tree_records import Problems

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Item = TypeVar("Item")
ReadWord = Literal["sum", "max", "draw"]

UNIT_ROWS = 1 << 13
"""Rows of one unit of work; fixed, so that sums never depend on threads."""


class MixedRows(NamedTuple):
    """Rows of labels and numbers, as they are read from a table."""

    codes: Codes  # (N, labels): -1 is missing
    values: Array  # (N, numbers): NaN is missing
    weight: Array  # (N,)

    def take(self, rows: Ints) -> "MixedRows":
        """Some of the rows."""
        return MixedRows(self.codes[rows], self.values[rows], self.weight[rows])


class CellUnit(NamedTuple):
    """Some rows with gaps, those with the same gaps side by side."""

    shapes: Shapes
    values: Array  # (N, numbers): NaN is missing
    groups: CellGroups
    group_weight: Array  # (G,): of the row
    problems: Problems
    free: NDArray[np.bool_]  # (G,): groups around which no label is missing
    n_entries: int  # of all tables of groups, which stand behind those of the labels
    row: Ints  # (N,): which row of the source it is
    problem_row: Ints  # (K,): the row of each problem, as rows are counted here


class MixedCells(NamedTuple):
    """Potentials of rows with gaps: tables of labels, forms of regressions; and the rows."""

    log_tables: Array  # (P,)
    forms: Array
    kinds: GroupKinds
    unit: CellUnit


class MixedMoments(NamedTuple):
    """Counts of the tables of labels, and moments in the layout of forms."""

    counts: Array
    moments: Array


class _Builder:
    """Collects groups and problems, those of some rows at a time."""

    def __init__(self, shapes: Shapes, n_tables: int) -> None:
        self.shapes, self.n_tables, self.next = shapes, n_tables, n_tables
        self.kinds, self.sets = list(shapes.group_kinds), list(shapes.label_sets)
        self.groups: list[tuple[Ints, ...]] = []  # kind, row, n bases, bases, table_at
        self.problems: list[tuple[Ints, ...]] = []  # set, row, n bases, bases
        self.is_free: list[NDArray[np.bool_]] = []
        self.n_rows = 0

    def add(self, shape: Shape, codes: Codes) -> None:
        """Add rows of one shape."""
        n, rows, at = len(codes), np.arange(self.n_rows, self.n_rows + len(codes)), []
        self.n_rows += n
        self.kinds = _grown(self.kinds, self.shapes.group_kinds)
        self.sets = _grown(self.sets, self.shapes.label_sets)
        for number in shape.groups:
            kind = self.kinds[number]
            size = self.shapes.n_configs(kind.scope)
            at.append(self.next + size * np.arange(n))
            self.next += size * n
            bases = _select([(0, terms) for terms in self.shapes.known_terms(kind)], codes)
            self.groups.append((*_numbered(number, rows, bases), at[-1]))
            self.is_free.append(np.full(n, not kind.scope))
        for number, groups in shape.sets:
            own = _select(self.shapes.table_terms(self.sets[number]), codes)
            bases = np.column_stack([own, *(at[g] for g in groups)])
            self.problems.append(_numbered(number, rows, bases))

    def unit(self, values: Array, weight: Array, row: Ints) -> CellUnit:
        """All that was added; values and weights of its rows, in their order."""
        kind, of_row, n_bases, base, table_at = _joined(self.groups, 5)
        groups = CellGroups(kind, of_row, np.cumsum(n_bases) - n_bases, base, table_at)
        set_of, problem_row, n_bases, bases = _joined(self.problems, 4)
        problems = Problems(set_of, np.cumsum(n_bases) - n_bases, bases, weight[problem_row])
        free = np.concatenate([np.empty(0, bool), *self.is_free])
        return CellUnit(
            self.shapes, np.ascontiguousarray(values), groups, weight[of_row], problems, free,
            self.next - self.n_tables, row, problem_row,
        )  # fmt: skip


def _numbered(number: int, rows: Ints, bases: Ints) -> tuple[Ints, ...]:
    """For every row: the number, the row, how many bases; and all bases."""
    n = len(rows)
    return np.full(n, number), rows, np.full(n, bases.shape[1]), bases.ravel()


def _grown(known: list[Item], numbered: Mapping[Item, int]) -> list[Item]:
    """The list of what is numbered, made again if there is more."""
    return known if len(known) == len(numbered) else list(numbered)


def _select(tables: Sequence[tuple[int, Terms]], codes: Codes) -> Ints:
    """(rows, tables): the position in each table that the known labels select."""
    found = np.empty((len(codes), len(tables)), np.int64)
    for k, (begin, terms) in enumerate(tables):
        found[:, k] = begin
        for label, step in terms:
            found[:, k] += step * codes[:, label]
    return found


def _joined(parts: list[tuple[Ints, ...]], n: int) -> list[Ints]:
    columns = zip(*parts, strict=True) if parts else [()] * n
    return [np.concatenate([np.empty(0, np.int64), *column]) for column in columns]


def encode_rows(
    shapes: Shapes,
    rows: MixedRows,
    was_set: Iterable[int] = (),
    asked: Asked = NOTHING_ASKED,
) -> Iterator[CellUnit]:
    """Rows with gaps in units; rows in which nothing has to be summed out are left out.

    Parameters
    ----------
    was_set
        Nodes that were set from outside in all of these rows.
    asked
        What is asked for: it is summed out even where nothing below it is known. Each scope of
        labels asked for together, which must all be missing, is the last of the groups of a row.
    """
    if not len(rows.weight):
        return
    layout, done = shapes.layout, frozenset(was_set)
    missing = np.zeros((len(rows.weight), len(layout.cards)), bool)
    missing[:, layout.labels] = rows.codes < 0
    missing[:, layout.numbers] = np.isnan(rows.values)
    order, starts = by_pattern(missing)
    n_tables = int(layout.wiring.fam_at[-1])
    builder, chosen = _Builder(shapes, n_tables), list[Ints]()
    for begin, end in zip(starts, [*starts[1:], len(order)], strict=True):
        shape = shapes.shape_of(missing[order[begin]], done, asked)
        if not shape.groups and not shape.sets:
            continue
        for start in range(begin, end, UNIT_ROWS):
            own = order[start : min(start + UNIT_ROWS, end)]
            builder.add(shape, rows.codes[own])
            chosen.append(own)
            if builder.n_rows >= UNIT_ROWS:
                row = np.concatenate(chosen)
                yield builder.unit(rows.values[row], rows.weight[row], row)
                builder, chosen = _Builder(shapes, n_tables), []
    if chosen:
        row = np.concatenate(chosen)
        yield builder.unit(rows.values[row], rows.weight[row], row)


def by_pattern(missing: NDArray[np.bool_]) -> tuple[Ints, list[int]]:
    """Rows, those with the same gaps side by side, and where each pattern begins."""
    packed = np.ascontiguousarray(np.packbits(missing, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, number = np.unique(keys, return_inverse=True)
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[order], prepend=-1))
    return order, starts.tolist()


# --- solved ---


class FilledTables(NamedTuple):
    """The tables of labels with those of the groups behind them, and what these were scaled by."""

    log_tables: Array
    shift: Array  # (G,)


def fill_tables(cells: MixedCells) -> FilledTables:
    """Integrate out the missing numbers, for every configuration of the missing labels."""
    from jensen.kernels.cell_groups import fill_tables as fill

    unit, n_tables = cells.unit, len(cells.log_tables)
    check_memory(
        32.0 * (n_tables + unit.n_entries), "the tables of missing labels", "take fewer rows"
    )
    log_tables, shift = np.empty(n_tables + unit.n_entries), np.empty(len(unit.groups.kind))
    log_tables[:n_tables] = cells.log_tables
    work = make_group_workspace(cells.kinds)
    fill(cells.kinds, unit.groups, unit.values, cells.forms, work, log_tables, shift)
    if np.isnan(shift).any():
        raise FloatingPointError("a precision of missing numbers is not positive definite")
    return FilledTables(log_tables, shift)


def solve(
    cells: MixedCells, rng: np.random.Generator | None, word: ReadWord
) -> tuple[Array, MixedMoments]:
    """Values times weight, of every problem and every group, and moments.

    Labels are summed over, at their maximum, or drawn; numbers are integrated out given the labels,
    and drawn where labels are.
    """
    from jensen.kernels.cell_groups import add_groups, draw_groups

    unit, n_tables = cells.unit, len(cells.log_tables)
    log_tables, shift = fill_tables(cells)
    program, problems = unit.shapes.program, unit.problems
    if word == "draw":
        assert rng is not None, "draws need random numbers"
        value, counts = run.drawn_counts(log_tables, program, problems, rng)
    else:
        solved = run.expected_counts if word == "sum" else run.best_counts
        value, counts = solved(log_tables, program, problems)
    counts[unit.groups.table_at[unit.free]] = unit.group_weight[unit.free]
    values = np.concatenate([problems.weight * value, unit.group_weight * shift])
    moments, work = np.zeros_like(cells.forms), make_group_workspace(cells.kinds)
    data = (cells.kinds, unit.groups, unit.values, cells.forms, counts)
    if rng is not None and word == "draw":
        normals = rng.standard_normal(_n_normals(cells, counts))
        values[-1:] += draw_groups(*data, normals, work, moments)
    else:
        add_groups(*data, work, moments)
    return values, MixedMoments(counts[:n_tables], moments)


def _n_normals(cells: MixedCells, counts: Array) -> int:
    """How many numbers are drawn, if each entry of a table is drawn so often."""
    groups, kinds = cells.unit.groups, cells.kinds
    n, m = kinds.n_configs[groups.kind], kinds.n_missing[groups.kind]
    at = np.repeat(groups.table_at - np.cumsum(n) + n, n) + np.arange(n.sum())
    return int((np.ceil(counts[at]) * np.repeat(m, n)).sum())
