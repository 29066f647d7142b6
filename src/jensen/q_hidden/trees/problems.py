"""Rows split into sub-problems, equal ones kept once, and the tables that are read on them."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Block, RowSource
from jensen.graphs.indexed_graph import topological_order
from jensen.q_hidden.trees.blocks import SetPlan, plan_of
from jensen.q_hidden.trees.plans import InternedLists, Plans, grown
from jensen.q_hidden.trees.run import Drawing, Sites, make_sites, pick, with_bases
from jensen.support.fields import add_at
from jensen.support.machine import ordered_map
from jensen.support.tree_records import (
    Problems,
    Program,
    Sets,
    Wiring,
)

Ints = NDArray[np.int64]
Entries = NDArray[np.int32]
Weights = NDArray[np.float64]

Item = TypeVar("Item")

BLOCK_ROWS = 1 << 15
"""Rows that are split at a time."""


UNIT_COST = 1 << 20
"""Entries of cluster tables that one unit fills."""

FEE = 8
"""What a sub-problem costs besides."""

LEFT_OUT = -2
"""The code of a missing cell that is not part of h; the kernels know it too."""


class SplitProblems(NamedTuple):
    """The sub-problems of all rows, those of the same set side by side."""

    problems: Problems
    sets: Sets
    row_end: Ints  # (N,): the sub-problems of row i end before of_row[row_end[i]]
    of_row: Ints


class _SplitRows(NamedTuple):
    """The sub-problems of a block of rows."""

    row_end: Ints
    numbers: Ints
    lists: InternedLists
    weight: Weights  # of the row of each of the numbers


def split_table(
    plans: Plans,
    table: RowSource,
    names: Sequence[str],
    mark: Callable[[Entries], Entries] | None = None,
    *,
    with_rows: bool = True,
) -> "HiddenRows":
    """The sub-problems of the rows of a table; `names` are those of the variables of the wiring.

    `mark` says which missing cells are left out of h; None: none are.
    """

    def read(block: Block) -> tuple[Entries, Weights]:
        rows = code_rows(block, names)
        return rows if mark is None else mark(rows), block.weights

    return HiddenRows(plans, table.blocks(BLOCK_ROWS), read, with_rows=with_rows)


def without_barren(wiring: Wiring, target: int = -1) -> Callable[[Entries], Entries]:
    """Mark missing cells below which nothing was seen as left out.

    They are summed out of p(x, h | θ) exactly, whatever θ is, because tables sum to one; kept in h
    they would lower the bound of VB. The variable that was set is nobody's child.
    """
    parents = [wiring.members(v)[:-1].tolist() for v in range(wiring.n_families)]
    order = topological_order(parents)[::-1]

    def mark(rows: Entries) -> Entries:
        matters = np.asfortranarray(rows >= 0)
        for v in order:
            for u in parents[v] if v != target else ():
                matters[:, u] |= matters[:, v]
        return np.where(matters, rows, np.int32(LEFT_OUT))

    return mark


def code_rows(block: Block, names: Sequence[str]) -> Entries:
    """Codes of some rows, a column per name; -1 is missing, or has no column at all."""
    rows = np.full((block.n_rows, len(names)), -1, np.int32)
    for v, name in enumerate(names):
        if name in block.table:
            codes = block.values(name).astype(np.int32)
            codes[codes == block.table.variable(name).n_states] = -1
            rows[:, v] = codes
    return rows


def split_rows(
    plans: Plans, read: Callable[[int, int], Entries], weights: Weights
) -> SplitProblems:
    """The sub-problems of coded rows (-1 is missing); `read(start, stop)` gives some of them."""

    def part(start: int) -> tuple[Entries, Weights]:
        stop = min(start + BLOCK_ROWS, len(weights))
        return read(start, stop), weights[start:stop]

    return HiddenRows(plans, range(0, len(weights), BLOCK_ROWS), part).split


class HiddenRows:
    """Rows as the sub-problems of what they miss, equal ones once, those of a set side by side.

    Trees are compiled when they are first asked for: rules that need none never pay for them, and
    are never refused for their size.

    Parameters
    ----------
    plans
        The trees of this network.
    blocks
        Some rows each.
    read
        Coded rows of a block, -1 where a value is missing, -2 where it is also left out of h, and
        their weights.
    with_rows
        Whether to keep which sub-problems each row has; learners need not know.
    """

    def __init__(
        self,
        plans: Plans,
        blocks: Iterable[Item],
        read: Callable[[Item], tuple[Entries, Weights]],
        *,
        with_rows: bool = True,
    ) -> None:
        lists, numbers, row_ends, weight, n = InternedLists(), [], [], np.empty(0), 0
        # in order, so that numbers never depend on threads
        for part in ordered_map(lambda block: _split(*read(block), plans.wiring), blocks):
            known = lists.number(part.lists.entries, part.lists.begin, part.lists.end)
            own = known[part.numbers]
            weight = grown(weight, len(lists))
            weight[n : len(lists)], n = 0.0, len(lists)
            add_at(weight, own, part.weight)  # row by row, so that blocks change no bit
            if with_rows:
                numbers.append(own)
                row_ends.append(part.row_end)
        of_row = np.concatenate([np.empty(0, np.int64), *numbers])
        self.plans, self.entries, weight = plans, lists.entries, weight[:n]
        self.row_end = _chain(row_ends)
        begin = lists.begin + 1
        end = begin + self.entries[lists.begin]
        # Equal programs run one after the other; sets as they come in these rows, because draws
        # depend on the order.
        order = np.argsort(InternedLists().number(self.entries, begin, end), kind="stable")
        self.begin, self.end, self.weight = begin[order], end[order], weight[order]
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self.of_row = place[of_row]
        self._lock = Lock()
        self._blocks: dict[tuple[tuple[int, ...], ...], tuple[Sites, tuple[SetPlan, ...]]] = {}

    @cached_property
    def members(self) -> Ints:
        """All variables that are missing somewhere."""
        n = self.end - self.begin
        at = np.repeat(self.begin - np.cumsum(n) + n, n) + np.arange(n.sum())
        return np.unique(self.entries[at]).astype(np.int64)

    @property
    def split(self) -> SplitProblems:
        """The sub-problems on trees, which are compiled once, by the first thread that asks."""
        with self._lock:
            return self._split

    @cached_property
    def _split(self) -> SplitProblems:
        set_of, sets = self.plans.number(self.entries, self.begin, self.end)
        wiring = self.plans.wiring
        problems = with_bases(wiring, sets.families, set_of, self.entries, self.end, self.weight)
        return SplitProblems(problems, sets, self.row_end, self.of_row)

    @property
    def drawing(self) -> Drawing:
        """How draws are made, jointly where the tree of a sub-problem fits in memory."""
        with self._lock:
            return self._drawing

    @cached_property
    def _drawing(self) -> Drawing:
        fits = self.plans.fits(self.entries, self.begin, self.end)
        if fits.all():
            return Drawing(fits, self._split.problems, self._split.sets.program)
        begin, end, weight = self.begin[fits], self.end[fits], self.weight[fits]
        set_of, sets = self.plans.number(self.entries, begin, end)
        wiring = self.plans.wiring
        problems = with_bases(wiring, sets.families, set_of, self.entries, end, weight)
        sites = make_sites(wiring, self.entries, self.begin, self.end, self.weight, ~fits)
        return Drawing(fits, problems, sets.program, sites)

    def blocks(self, joined: tuple[tuple[int, ...], ...]) -> tuple[Sites, tuple[SetPlan, ...]]:
        """The sub-problems for mean field, where some variables stand together; without trees."""
        with self._lock:
            if joined not in self._blocks:
                every = np.ones(len(self.end), bool)
                wiring = self.plans.wiring
                sites = make_sites(wiring, self.entries, self.begin, self.end, self.weight, every)
                plans = [plan_of(sites, p, joined) for p in range(len(sites.ptr) - 1)]
                self._blocks[joined] = sites, tuple(plans)
            return self._blocks[joined]

    def cut(self) -> list[slice]:
        """Sub-problems for units of about equal cost, as far as that is known without trees."""
        w = self.plans.wiring
        touched = np.append(0, np.cumsum(np.diff(w.fam_at)[w.touch]))
        beside = (touched[w.touch_ptr[1:]] - touched[w.touch_ptr[:-1]]).astype(np.float64)
        log_joint, tables = np.zeros(len(self.end)), np.zeros(len(self.end))
        for k in range(int((self.end - self.begin).max(initial=0))):
            there = np.flatnonzero(self.begin + k < self.end)
            member = self.entries[self.begin[there] + k]
            log_joint[there] += np.log(w.cards[member])
            tables[there] += beside[member]
        cost = np.minimum(np.exp(np.minimum(log_joint, 40.0)), tables) + FEE
        return _slices(cost)


def hidden_sets(wiring: Wiring, hidden: Sequence[int]) -> tuple[Entries, Ints, Ints]:
    """The connected sets of these variables if all others are known: members, begin and end."""
    row = np.zeros((1, len(wiring.cards)), np.int32)
    row[0, list(hidden)] = -1
    _, entries, begin, _ = _write_problems(row, wiring)
    return entries, begin + 1, begin + 1 + entries[begin]


def _split(rows: Entries, weights: Weights, wiring: Wiring) -> _SplitRows:
    row_end, entries, begin, end = _write_problems(rows, wiring)
    lists = InternedLists()
    numbers = lists.number(entries, begin, end)
    return _SplitRows(row_end, numbers, lists, np.repeat(weights, np.diff(row_end, prepend=0)))


def _write_problems(rows: Entries, wiring: Wiring) -> tuple[Ints, Entries, Ints, Ints]:
    """Where the sub-problems of each row end, their entries, where each begins and ends."""
    from jensen.kernels.hidden_sets import find_hidden

    missing = (rows < 0).sum(0)
    room = int(missing @ (2 + _n_around(wiring)))  # what each missing cell can write at most
    row_end, end = np.empty(len(rows), np.int64), np.empty(int(missing.sum()), np.int64)
    entries = np.empty(room, np.int32)
    n = find_hidden(rows, wiring, row_end, end, entries)
    begin = np.concatenate([[0], end[: max(n - 1, 0)]])[:n]
    return row_end, entries, begin, end[:n]


def _n_around(wiring: Wiring) -> Ints:
    """At most how many variables stand around each variable."""
    sizes = np.append(0, np.cumsum(np.diff(wiring.fam_ptr)[wiring.touch]))
    around = sizes[wiring.touch_ptr[1:]] - sizes[wiring.touch_ptr[:-1]]
    return np.asarray(np.minimum(around, len(wiring.cards)))


def _chain(ends: Sequence[Ints]) -> Ints:
    """Ends within blocks as ends within all of them."""
    shifts = np.cumsum([0, *(end[-1] if len(end) else 0 for end in ends)])
    return np.concatenate(
        [np.empty(0, np.int64), *(e + s for e, s in zip(ends, shifts, strict=False))]
    )


def cut(split: SplitProblems, unit_cost: int | None = None) -> list[Problems]:
    """The problems in units of about equal cost, whatever the number of threads."""
    cost = split.sets.cost[split.problems.set_of]
    return [pick(split.problems, some) for some in _slices(cost, unit_cost)]


def _slices(cost: NDArray[Any], unit_cost: int | None = None) -> list[slice]:
    total, unit_cost = np.cumsum(cost), unit_cost or UNIT_COST
    if not len(total):
        return []
    marks = np.arange(unit_cost, total[-1], unit_cost)
    edges = np.unique([0, *np.searchsorted(total, marks), len(total)])
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


class FamilyTables(NamedTuple):
    """Tables of families, and the sub-problems of some rows; tables need not sum to one."""

    log_tables: NDArray[np.float64]  # (P,), and zeros behind, which families that are left out read
    rows: HiddenRows
    part: slice  # of the sub-problems
    blocks: tuple[tuple[int, ...], ...] = ()  # variables that mean field keeps together

    @property
    def weight(self) -> NDArray[np.float64]:
        """How many rows have each sub-problem."""
        return self.rows.weight[self.part]

    @property
    def on_trees(self) -> tuple[NDArray[np.float64], Program, Problems]:
        """The tables, and the sub-problems on cluster trees; these may be refused as too large."""
        split = self.rows.split
        return self.log_tables, split.sets.program, pick(split.problems, self.part)
