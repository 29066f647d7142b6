"""Incomplete rows with the completions of what they miss: any family can be counted in one pass.

The missing cells of a row fall into sub-problems that share no family of the network, so that their
completions are independent given the known cells. The completions of each sub-problem are listed
once, with their probabilities; `jensen.inference.expected` computes the same counts from cluster
trees, for few families.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Variable
from jensen.data.blocks import TreeSum
from jensen.exceptions import ImpossibleError
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.problems import HiddenRows, SplitProblems, code_rows
from jensen.q_hidden.trees.run import pick
from jensen.support.machine import ordered_map
from jensen.support.tree_records import (
    CompletedRows,
    CompletionLists,
    Problems,
    make_solver_workspace,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

Completion = Literal["exact", "draw", "mode"]

LEAST = 1e-6
"""Completions of a sub-problem that are less probable are left out; the others share their mass."""

MOST = 1 << 11
"""The most completions of a sub-problem that are listed; a sub-problem with more is drawn."""

N_DRAWS = 10
"""How often a sub-problem is drawn for every row that has it."""

MOST_DRAWS = 1 << 9
"""The most draws of one sub-problem, however many rows have it."""

ROWS = 1 << 14
"""Rows that a thread counts at a time."""

MOST_CELLS = 1 << 23
"""The most cells that the tables of a family with each further parent may have together."""


class CodedRows(NamedTuple):
    """The rows in which the same variable was set from outside, as codes."""

    target: int  # -1: none was
    codes: NDArray[np.int32]  # (N, n); -1 is missing
    weights: Array  # (N,)


def code_table(
    table: RowSource, names: Sequence[str], targets: Ints | None = None
) -> tuple[CodedRows, ...]:
    """All rows as codes, a column per name, grouped by what was set in them."""
    parts = [(code_rows(block, names), block.weights) for block in table.blocks()]
    codes = np.concatenate([np.empty((0, len(names)), np.int32), *(part for part, _ in parts)])
    weights = np.concatenate([np.empty(0), *(part for _, part in parts)])
    if targets is None:
        return (CodedRows(-1, codes, weights),)
    groups = ((v, targets == v) for v in np.unique(targets).tolist())
    return tuple(CodedRows(v, codes[which], weights[which]) for v, which in groups)


@lru_cache(maxsize=8)
def numbers_of_states(variables: tuple[Variable, ...]) -> Ints:
    """(n,): the numbers of states."""
    return np.array([variable.n_states for variable in variables], np.int64)


class CompletedGroup(NamedTuple):
    """Rows, and the completions of what they miss."""

    target: int
    rows: CompletedRows
    lists: CompletionLists


@dataclass(frozen=True, eq=False)
class Completions:
    """q(h) of all rows, factored: expected counts of any family are a pass over the rows.

    Parameters
    ----------
    variables
        Sorted by name; scopes are positions among them.
    groups
        The rows, by what was set in them from outside.
    is_exact
        Whether all completions above `LEAST` are listed; else some were drawn.
    lost
        The largest probability of what a sub-problem leaves out.
    """

    variables: tuple[Variable, ...]
    groups: tuple[CompletedGroup, ...]
    is_exact: bool = True
    lost: float = 0.0

    @property
    def cards(self) -> Ints:
        """(n,): the numbers of states."""
        return numbers_of_states(self.variables)

    @cached_property
    def slots(self) -> Ints:
        """(n + 1,): where the states of each variable begin among those of all."""
        return np.concatenate([[0], np.cumsum(self.cards)])

    @cached_property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return sum(float(group.rows.weights.sum()) for group in self.groups)

    def count(self, scope: Sequence[int], child: int = -1) -> Array:
        """Expected counts of some variables, an axis each.

        Rows in which `child` was set from outside are left out.
        """
        return self._count(scope, child, 0)[0]

    def count_with_each(self, scope: Sequence[int], child: int = -1) -> tuple[Array, Array]:
        """The same, and (cells, S): with each other variable, the states of all side by side.

        `slots` says where those of a variable begin; those of members of the scope are undefined.
        """
        return self._count(scope, child, int(self.slots[-1]))

    def _count(self, scope: Sequence[int], child: int, width: int) -> tuple[Array, Array]:
        shape, slots = self.cards[list(scope)], self.slots
        n_cells = int(np.prod(shape))
        stride = np.append(np.cumprod(shape[:0:-1])[::-1], 1).astype(np.int64)

        def visit(job: tuple[CompletedGroup, int, int]) -> Array:
            from jensen.kernels.completed_counts import count_completed

            group, first, last = job
            found = np.zeros(n_cells * (1 + width))
            count_completed(
                group.rows, group.lists, slots, np.array(scope, np.int64), stride, first, last,
                np.empty(n_cells), np.empty(n_cells, np.int64), np.empty(n_cells),
                np.empty(2 * len(scope) + 1, np.int64), found[:n_cells], found[n_cells:],
            )  # fmt: skip
            return found

        jobs = [
            (group, first, min(first + ROWS, len(group.rows.weights)))
            for group in self.groups
            if group.target < 0 or group.target != child
            for first in range(0, len(group.rows.weights), ROWS)
        ]
        tree = TreeSum()
        each = ordered_map(visit, jobs) if len(jobs) > 1 else map(visit, jobs)
        for number, found in enumerate(each):
            tree.put(number, found)
        counts = tree.total() if jobs else np.zeros(n_cells * (1 + width))
        return counts[:n_cells].reshape(shape), counts[n_cells:].reshape(n_cells, width)


def known_cells(variables: tuple[Variable, ...], coded: Sequence[CodedRows]) -> Completions:
    """No completions at all: a family counts the rows in which all of its cells are known."""
    return Completions(variables, tuple(_without_completions(variables, group) for group in coded))


def _without_completions(variables: tuple[Variable, ...], group: CodedRows) -> CompletedGroup:
    """Rows whose missing cells are sub-problems by themselves, without a completion."""
    width = numbers_of_states(variables)
    n, none = len(width), np.zeros(len(width), np.int64)
    each = CompletionLists(
        np.arange(n, dtype=np.int32), np.arange(n), np.arange(1, n + 1), np.zeros(n + 1, np.int64),
        np.empty(0), none, np.empty(0, np.int32), none, width, np.cumsum(width**2) - width**2,
        np.zeros(int(np.sum(width**2))),
    )  # fmt: skip
    is_missing = group.codes < 0
    of_row = np.nonzero(is_missing)[1].astype(np.int64)
    rows = CompletedRows(group.codes, group.weights, np.cumsum(is_missing.sum(1)), of_row)
    return CompletedGroup(group.target, rows, each)


def complete_rows(
    variables: tuple[Variable, ...],
    coded: Sequence[CodedRows],
    hidden: Sequence[HiddenRows],
    log_tables: Sequence[Array],
    completion: Completion = "exact",
    rng: np.random.Generator | None = None,
) -> Completions:
    """The completions of coded rows at some log tables.

    Parameters
    ----------
    hidden
        The sub-problems of each group of rows that misses anything.
    log_tables
        The log potentials of all families in each group of rows.
    completion
        "exact": all completions above `LEAST`; "draw": `N_DRAWS` for every row that has a
        sub-problem; "mode": the most probable one.
    rng
        For draws.
    """
    cards = numbers_of_states(variables)
    groups, is_exact, lost = [], True, 0.0
    left = iter(hidden)
    for group, tables in zip(coded, log_tables, strict=True):
        if not (group.codes < 0).any():
            groups.append(_without_completions(variables, group))
            continue
        rows = next(left)
        found = _Listed.of(rows.split, tables, completion, rng or np.random.default_rng(0))
        is_exact, lost = is_exact and found.is_exact, max(lost, found.lost)
        completed = CompletedRows(group.codes, group.weights, rows.row_end, rows.of_row)
        lists = found.as_lists(rows, cards)
        groups.append(CompletedGroup(group.target, completed, lists))
    return Completions(variables, tuple(groups), is_exact, lost)


class _Listed(NamedTuple):
    """Completions of the sub-problems of a group, end to end."""

    n: Ints  # (K,): how many each sub-problem has
    mass: Array
    states: NDArray[np.int32]
    is_exact: bool
    lost: float

    @classmethod
    def of(
        cls, split: SplitProblems, log_tables: Array, completion: Completion,
        rng: np.random.Generator,
    ) -> _Listed:  # fmt: skip
        """List them, or draw them where they are too many, or where that is asked for."""
        if completion == "mode":
            value, _, states = run.best_states(log_tables, split.sets.program, split.problems)
            _refuse_impossible(value)
            n = np.ones(len(value), np.int64)
            return cls(n, np.ones(len(value)), states, is_exact=False, lost=0.0)
        if completion == "draw":
            return _draw(split, log_tables, np.arange(len(split.problems.set_of)), rng)
        listed = _list(split, log_tables)
        many = np.flatnonzero(listed.n == 0)
        if not len(many):
            return listed
        return _merge(split, listed, many, _draw(split, log_tables, many, rng))

    def as_lists(self, rows: HiddenRows, cards: Ints) -> CompletionLists:
        """The lists as kernels read them."""
        from jensen.kernels.completions import add_pairs

        n_members = rows.end - rows.begin
        n_states, width = self.n * n_members, np.zeros(len(self.n), np.int64)
        offset = np.zeros(len(rows.entries), np.int64)
        for k in range(int(n_members.max(initial=0))):
            there = np.flatnonzero(k < n_members)
            at = rows.begin[there] + k
            offset[at] = width[there]
            width[there] += cards[rows.entries[at]]
        lists = CompletionLists(
            rows.entries, rows.begin, rows.end, np.append(0, np.cumsum(self.n)), self.mass,
            np.cumsum(n_states) - n_states, self.states, offset, width,
            np.cumsum(width**2) - width**2, np.zeros(int(np.sum(width**2))),
        )  # fmt: skip
        add_pairs(lists)
        return lists


def _list(split: SplitProblems, log_tables: Array) -> _Listed:
    """All completions above `LEAST`; of sub-problems with more than `MOST` none."""
    from jensen.kernels.completions import list_completions

    problems, program = split.problems, split.sets.program
    n = len(problems.set_of)
    work, tables = make_solver_workspace(program, problems.set_of), np.exp(log_tables)
    most_members = int(split.sets.n_members.max(initial=1))
    entry = np.empty(most_members + 1, np.int64)
    lost, n_listed, n_states = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
    room, done, masses, states = max(4 * n, 2 * MOST), 0, [np.empty(0)], [np.empty(0, np.int32)]
    while done < n:
        mass, found = np.empty(room), np.empty(room * most_members, np.int32)
        before, done = done, list_completions(
            program, problems, tables, log_tables, LEAST, MOST, work, done, entry, mass, found,
            lost, n_listed, n_states,
        )  # fmt: skip
        masses.append(mass[: n_listed[before:done].sum()].copy())
        states.append(found[: n_states[before:done].sum()].copy())
    return _Listed(
        n_listed, np.concatenate(masses), np.concatenate(states), True,
        float(lost.max(initial=0.0)),
    )  # fmt: skip


def _draw(
    split: SplitProblems, log_tables: Array, which: Ints, rng: np.random.Generator
) -> _Listed:
    """Draws of some sub-problems, each equally probable."""
    problems: Problems = pick(split.problems, which)
    times = np.minimum(N_DRAWS * run.draws_of(problems), MOST_DRAWS)
    value, _, states = run.drawn_states(log_tables, split.sets.program, problems, times, rng)
    _refuse_impossible(value)
    return _Listed(times, np.repeat(1.0 / times, times), states, is_exact=False, lost=0.0)


def _merge(split: SplitProblems, listed: _Listed, many: Ints, drawn: _Listed) -> _Listed:
    """Lists with the draws of those sub-problems that have no list."""
    n_members = split.sets.n_members[split.problems.set_of]
    n = listed.n.copy()
    n[many] = drawn.n
    owner = np.concatenate([np.repeat(np.arange(len(n)), listed.n), np.repeat(many, drawn.n)])
    mass = np.concatenate([listed.mass, drawn.mass])[np.argsort(owner, kind="stable")]
    each = np.concatenate(
        [
            np.repeat(np.arange(len(n)), listed.n * n_members),
            np.repeat(many, drawn.n * n_members[many]),
        ]
    )
    states = np.concatenate([listed.states, drawn.states])[np.argsort(each, kind="stable")]
    return _Listed(n, mass, states, is_exact=False, lost=listed.lost)


def _refuse_impossible(value: Array) -> None:
    if np.any(value == -np.inf):
        raise ImpossibleError("a row is impossible under these tables")
