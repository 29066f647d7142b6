"""Many rows, each with its own missing cells: likelihoods and posteriors.

Equal sub-problems of different rows are solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, Table
from jensen.data.counting import plane_plan
from jensen.graphs.indexed_graph import wire_families
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.plans import plans_of
from jensen.q_hidden.trees.problems import SplitProblems, code_rows, cut, split_rows
from jensen.support.machine import ordered_map
from jensen.support.tree_records import Problems, Program, Wiring

if TYPE_CHECKING:
    from jensen.inference.table_network import TableNetwork

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class SplitRows:
    """The rows of a table, split into sub-problems of a network.

    Parameters
    ----------
    network
        Its tables are not read here; each method takes log tables.
    table
        Read with the network's own variables; a node without a column is missing in every row.
    targets
        Variables that will be asked for: their columns are ignored.
    """

    def __init__(self, network: TableNetwork, table: Table, targets: Iterable[int] = ()) -> None:
        self.network, self.table = network, table
        self.ignored = set(targets)
        part = relevant_part(network, table, self.ignored, self.ignored)
        self.wiring: Wiring = wire_families(part.families, network.wiring.cards.tolist())
        self.entries = part.entries
        plans = plans_of(self.wiring, network.graph.nodes)
        self.split: SplitProblems = split_rows(plans, part.read, np.ones(table.n_rows))
        self.program: Program = self.split.sets.program

    @property
    def problems(self) -> Problems:
        """The distinct sub-problems; the weight of each is the number of rows that have it."""
        return self.split.problems

    @cached_property
    def row_of(self) -> Ints:
        """The row of every entry of `split.of_row`."""
        counts = np.diff(self.split.row_end, prepend=0)
        return np.repeat(np.arange(self.table.n_rows), counts)

    def log_likelihood_at(self, log_tables: Array) -> Array:
        """Log p(row) for every row."""
        tables = np.ascontiguousarray(log_tables[self.entries])
        parts = ordered_map(
            lambda some: run.log_partition(tables, self.program, some), self.units()
        )
        return self.log_likelihood(log_tables, np.concatenate([np.empty(0), *parts]))

    def log_likelihood(self, log_tables: Array, log_z: Array) -> Array:
        """Log p(row) for every row, from log Z of every sub-problem."""
        total = self._log_complete(log_tables)
        total += np.bincount(self.row_of, log_z[self.split.of_row], minlength=self.table.n_rows)
        return total

    def _log_complete(self, log_tables: Array) -> Array:
        """Σ log p over the families without a missing member, for every row."""
        from jensen.kernels.forward import add_log_probabilities

        total = np.zeros(self.table.n_rows)
        names = self.network.graph.nodes
        shown = {v for v, name in enumerate(names) if name in self.table} - self.ignored
        complete = [f for f, family in enumerate(self.wiring.scopes()) if shown.issuperset(family)]
        if not complete:
            return total
        scopes = [[names[v] for v in self.wiring.members(f)] for f in complete]
        planes = self.table.packed.planes({name for scope in scopes for name in scope})
        plan = plane_plan(self.table, scopes)
        padded = [self._padded(f, log_tables) for f in complete]
        flat = np.concatenate([part.ravel() for part in padded])

        def add(block: Block) -> int:
            add_log_probabilities(planes, *plan, flat, block.start, block.stop, total)
            return 0

        self.table.sum(add)
        return total

    def _padded(self, f: int, log_tables: Array) -> Array:
        """A log table, padded with 0 for missing members, which their sub-problem accounts for."""
        members = self.wiring.members(f)
        levels = [self.table.packed.levels[self.network.graph.nodes[v]].size for v in members]
        cards = self.wiring.cards[members]
        at = slice(self.wiring.fam_at[f], self.wiring.fam_at[f + 1])
        known = log_tables[self.entries[at]].reshape(cards)
        return np.pad(known, [(0, n - int(c)) for n, c in zip(levels, cards, strict=True)])

    def marginals(self, log_tables: Array) -> Posteriors:
        """Log Z of every sub-problem, and p(state | observed cells) of all its members."""
        tables = np.ascontiguousarray(log_tables[self.entries])
        parts = list(
            ordered_map(lambda some: run.marginals(tables, self.program, some), self.units())
        )
        sizes = [len(values) for _, _, values in parts]
        shifts = np.cumsum([0, *sizes])[: len(sizes)]
        return Posteriors(
            np.concatenate([np.empty(0), *(log_z for log_z, _, _ in parts)]),
            np.concatenate(
                [np.empty(0, np.int64), *(p[1] + s for p, s in zip(parts, shifts, strict=True))]
            ),
            np.concatenate([np.empty(0), *(values for _, _, values in parts)]),
        )

    def units(self) -> list[Problems]:
        """The sub-problems in units of about equal cost."""
        return cut(self.split)

    def places(self, v: int) -> tuple[Ints, Ints, Ints]:
        """The rows in which v is missing, the sub-problem of each, and v's position in it."""
        row, problem, position, ptr = self._cells
        mine = slice(ptr[v], ptr[v + 1])
        return row[mine], problem[mine], position[mine]

    @cached_property
    def _cells(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Every missing cell: its row, its sub-problem, its position there; by variable."""
        sets = self.problems.set_of[self.split.of_row]
        n = self.split.sets.n_members[sets]
        entry = np.repeat(np.arange(len(sets)), n)
        position = np.arange(len(entry)) - np.repeat(np.cumsum(n) - n, n)
        variable = self.split.sets.entries[self.split.sets.begin[sets[entry]] + position]
        order = np.argsort(variable, kind="stable")
        ptr = np.searchsorted(variable[order], np.arange(len(self.wiring.cards) + 1))
        entry = entry[order]
        return self.row_of[entry], self.split.of_row[entry], position[order], ptr

    def known(self, v: int) -> Array:
        """(N, K): 1 for the observed state; rows in which v is missing are not filled."""
        name, card = self.network.graph.nodes[v], int(self.wiring.cards[v])
        if name not in self.table or v in self.ignored:
            return np.empty((self.table.n_rows, card))
        return np.asarray(np.eye(card + 1)[:, :card][self.table.column(name).data])

    def state_offsets(self, problems: Ints, position: Ints) -> Ints:
        """Offset of a member's states among those of all members of its sub-problem."""
        first = self.split.sets.begin[self.problems.set_of[problems]]
        return np.asarray(self._states_before[first + position] - self._states_before[first])

    @cached_property
    def _states_before(self) -> Ints:
        """Running number of states before each member, over all sets end to end."""
        return np.concatenate([[0], np.cumsum(self.wiring.cards[self.split.sets.entries])])


class Posteriors(NamedTuple):
    """Posteriors of the missing cells of sub-problems."""

    log_z: Array  # (K,)
    at: Ints  # (K,): where the states of its members begin
    values: Array


def log_likelihood(network: TableNetwork, table: Table) -> Array:
    """Log p(row), what is missing summed out; after Gibbs the log of the mean over samples."""
    rows, total = SplitRows(network, table), np.full(table.n_rows, -np.inf)
    n = 0
    for log_tables in log_tables_of(network):
        total = np.logaddexp(total, rows.log_likelihood_at(log_tables))
        n += 1
    return total - network.log_normalizer if n == 1 else total - np.log(n)


def log_tables_of(network: TableNetwork) -> Iterator[Array]:
    """The log tables, or those of every sample, one after the other."""
    if network.samples is None:
        yield network.kernel_tables[1]
        return
    for tables in network.samples:
        with np.errstate(divide="ignore"):
            yield np.log(tables)


def all_posteriors(
    network: TableNetwork, table: Table, ignored: Sequence[int], wanted: Sequence[int]
) -> tuple[dict[int, Array], NDArray[np.bool_]]:
    """p(v | observed cells), (N, K), for some variables, and which rows are possible.

    Columns of ignored variables are not read. An observed state has probability 1; impossible rows
    are NaN. After Gibbs p(v | row) = Σ_s p_s(v, row) / Σ_s p_s(row), summed
    sample by sample, relative to the largest p_s(row) so far.
    """
    rows, best = SplitRows(network, table, ignored), np.full(table.n_rows, -np.inf)
    joint = {v: np.zeros((len(rows.places(v)[0]), network.variables[v].n_states)) for v in wanted}
    for log_tables in log_tables_of(network):
        found = rows.marginals(log_tables)
        log_row = rows.log_likelihood(log_tables, found.log_z)
        top = np.maximum(best, log_row)
        safe = np.where(top > -np.inf, top, 0.0)
        before, now = np.exp(best - safe), np.exp(log_row - safe)
        for v, p in joint.items():
            mine, problem, position = rows.places(v)
            at = found.at[problem] + rows.state_offsets(problem, position)
            p *= before[mine, None]
            p += now[mine, None] * found.values[at[:, None] + np.arange(p.shape[1])]
        best = top
    result = {}
    for v, p in joint.items():
        result[v] = rows.known(v)
        with np.errstate(invalid="ignore"):  # 0 / 0 where a row is impossible
            result[v][rows.places(v)[0]] = p / p.sum(1, keepdims=True)
        result[v][best == -np.inf] = np.nan
    return result, best > -np.inf


# --- the relevant part of a network ---


class RelevantPart(NamedTuple):
    """The variables that rows tell of or ask for, and their tables."""

    variables: list[int]
    families: list[tuple[int, ...]]
    entries: NDArray[np.int64]  # of the network's flat tables
    read: Callable[[int, int], NDArray[np.int32]]  # codes of some rows; -1 is missing


def relevant_part(
    network: TableNetwork, table: Table, asked: Collection[int], ignored: Collection[int] = ()
) -> RelevantPart:
    """The part of a network that is relevant for rows; ignored columns are not read."""
    names, w = network.graph.nodes, network.wiring
    shown = [name if v not in ignored else "" for v, name in enumerate(names)]
    known = {v for v, name in enumerate(shown) if name in table}
    variables, inside = network.relevant(known.union(asked))
    at = [np.arange(w.fam_at[f], w.fam_at[f + 1]) for f in inside]
    irrelevant = np.ones(len(names), bool)
    irrelevant[variables] = False

    def read(start: int, stop: int) -> NDArray[np.int32]:
        rows = code_rows(Block(table, start, stop), shown)
        rows[:, irrelevant] = 0  # irrelevant cells do not count as missing
        return rows

    families = [tuple(w.members(f).tolist()) for f in inside]
    return RelevantPart(variables, families, np.concatenate([np.empty(0, np.int64), *at]), read)
