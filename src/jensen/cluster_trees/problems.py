"""Rows split into sub-problems, equal ones kept once."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.cluster_trees.lists import Lists
from jensen.cluster_trees.plans import Plans
from jensen.cluster_trees.records import Problems, Sets
from jensen.data.table import Table
from jensen.data.threads import ordered_map
from jensen.graphs.wiring import Wiring

Ints = NDArray[np.int64]
Words = NDArray[np.int32]

BLOCK_ROWS = 1 << 15
"""Rows that are split at a time."""


UNIT_COST = 1 << 20
"""Entries of cluster tables that one unit fills."""


class Split(NamedTuple):
    """The sub-problems of all rows, those of the same set side by side."""

    problems: Problems
    sets: Sets
    row_end: Ints  # (N,): the sub-problems of row i end before of_row[row_end[i]]
    of_row: Ints


class _Part(NamedTuple):
    """The sub-problems of a block of rows."""

    row_end: Ints
    numbers: Ints
    lists: Lists


def split_table(plans: Plans, table: Table, names: Sequence[str]) -> Split:
    """The sub-problems of the rows of a table; `names` are those of the variables of the wiring."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return split_rows(plans, lambda start, stop: code_rows(table, names, start, stop), weights)


def code_rows(table: Table, names: Sequence[str], start: int, stop: int) -> Words:
    """Codes of some rows, a column per name; -1 is missing, or has no column at all."""
    rows = np.full((stop - start, len(names)), -1, np.int32)
    for v, name in enumerate(names):
        if name in table:
            column = table.column(name)
            codes = column.data[start:stop].astype(np.int32)
            codes[codes == column.variable.n_states] = -1
            rows[:, v] = codes
    return rows


def split_rows(
    plans: Plans, read: Callable[[int, int], Words], weights: NDArray[np.float64]
) -> Split:
    """The sub-problems of coded rows (-1 is missing); `read(start, stop)` gives some of them."""
    n = len(weights)
    starts = range(0, n, BLOCK_ROWS)
    parts = list(
        ordered_map(lambda s: _split(read(s, min(s + BLOCK_ROWS, n)), plans.wiring), starts)
    )
    lists, numbers = Lists(), []
    for part in parts:  # in order, so that numbers never depend on threads
        known = lists.number(part.lists.words, part.lists.begin, part.lists.end)
        numbers.append(known[part.numbers])
    of_row = np.concatenate([np.empty(0, np.int64), *numbers])
    row_end = _chain([part.row_end for part in parts])
    rows = np.repeat(np.arange(len(row_end)), np.diff(row_end, prepend=0))
    weight = np.bincount(of_row, weights[rows], minlength=len(lists)).astype(np.float64)
    begin, words = lists.begin, lists.words
    n_members = words[begin].astype(np.int64)
    set_of, sets = plans.number(words, begin + 1, begin + 1 + n_members)
    # Equal programs run one after the other; sets as they come in these rows, because their numbers
    # depend on what was fitted before, and draws depend on the order.
    _, first, which = np.unique(set_of, return_index=True, return_inverse=True)
    order = np.argsort(first[which], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    state_at = (begin + 1 + n_members)[order]
    problems = _with_bases(sets, set_of[order], words, state_at, weight[order])
    return Split(problems, sets, row_end, place[of_row])


def hidden_sets(wiring: Wiring, hidden: Sequence[int]) -> tuple[Words, Ints, Ints]:
    """The connected sets of these variables if all others are known: members, begin and end."""
    row = np.zeros((1, len(wiring.cards)), np.int32)
    row[0, list(hidden)] = -1
    _, words, begin, _ = _write_problems(row, wiring)
    return words, begin + 1, begin + 1 + words[begin]


def _split(rows: Words, wiring: Wiring) -> _Part:
    row_end, words, begin, end = _write_problems(rows, wiring)
    lists = Lists()
    return _Part(row_end, lists.number(words, begin, end), lists)


def _write_problems(rows: Words, wiring: Wiring) -> tuple[Ints, Words, Ints, Ints]:
    """Where the sub-problems of each row end, their words, where each begins and ends."""
    from jensen.kernels.hidden_sets import find_hidden

    missing = (rows < 0).sum(0)
    room = int(missing @ (2 + _n_around(wiring)))  # what each missing cell can write at most
    row_end, end = np.empty(len(rows), np.int64), np.empty(int(missing.sum()), np.int64)
    words = np.empty(room, np.int32)
    n = find_hidden(rows, wiring, row_end, end, words)
    begin = np.concatenate([[0], end[: max(n - 1, 0)]])[:n]
    return row_end, words, begin, end[:n]


def _n_around(wiring: Wiring) -> Ints:
    """At most how many variables stand around each variable."""
    sizes = np.append(0, np.cumsum(np.diff(wiring.fam_ptr)[wiring.touch]))
    around = sizes[wiring.touch_ptr[1:]] - sizes[wiring.touch_ptr[:-1]]
    return np.asarray(np.minimum(around, len(wiring.cards)))


def _with_bases(
    sets: Sets, set_of: Ints, words: Words, state_at: Ints, weight: NDArray[np.float64]
) -> Problems:
    from jensen.kernels.hidden_sets import find_bases

    n = sets.n_families[set_of]
    base_ptr = np.cumsum(n) - n
    bases = np.empty(int(n.sum()), np.int64)
    find_bases(set_of, words, state_at, sets.families, base_ptr, bases)
    return Problems(set_of, base_ptr, bases, weight)


def _chain(ends: Sequence[Ints]) -> Ints:
    """Ends within blocks as ends within all of them."""
    shifts = np.cumsum([0, *(end[-1] if len(end) else 0 for end in ends)])
    return np.concatenate(
        [np.empty(0, np.int64), *(e + s for e, s in zip(ends, shifts, strict=False))]
    )


def cut(split: Split, unit_cost: int | None = None) -> list[Problems]:
    """The problems in units of about equal cost, whatever the number of threads."""
    problems, unit_cost = split.problems, unit_cost or UNIT_COST
    total = np.cumsum(split.sets.cost[problems.set_of])
    if not len(total):
        return []
    marks = np.arange(unit_cost, total[-1], unit_cost)
    edges = np.unique([0, *np.searchsorted(total, marks), len(total)])
    return [pick(problems, slice(a, b)) for a, b in pairwise(edges)]


def pick(problems: Problems, which: slice | Ints) -> Problems:
    """Some of the problems; they share their bases."""
    return problems._replace(
        set_of=problems.set_of[which],
        base_ptr=problems.base_ptr[which],
        weight=problems.weight[which],
    )
