"""Discrete Bayesian network: one Dirichlet per variable and parent configuration.

A table is encoded once: families without a missing member are counted, and the rows that miss
something become sub-problems, which every sweep solves again. While the graph is fixed, missing
cells below which nothing was seen are left out of h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, TableScan, Variable
from jensen.data.blocks import Units
from jensen.data.counting import count_families
from jensen.data.statistics import CountStatistics
from jensen.exceptions import JensenError, warn_of_empty_rows
from jensen.families.dirichlet import HeldTables, SegmentedDirichlet, SoftmaxDirichlet
from jensen.graphs import DAG
from jensen.inference.impossible import explain_row
from jensen.inference.network import Network
from jensen.inference.network_rows import sample
from jensen.models.protocol import Conjugate, Data
from jensen.q_hidden import FamilyTables, Hidden, NothingHidden
from jensen.q_hidden.trees.plans import plans_of
from jensen.q_hidden.trees.problems import HiddenRows, split_table, without_barren
from jensen.support.fields import add, record
from jensen.support.tree_records import Wiring

if TYPE_CHECKING:
    from jensen.free_energy import State

Array = NDArray[np.float64]


@record
class Tables(NamedTuple):
    """All conditional tables end to end: variable by variable, its own states fastest."""

    tables: Any  # (P,); None: the flat prior


PROBABILITIES, SOFTMAX = "probabilities", "softmax"
COORDINATES = {PROBABILITIES: SegmentedDirichlet, SOFTMAX: SoftmaxDirichlet}
"""Coordinates in which the density of a table has its mode."""


class TableKind(NamedTuple):
    """What q(θ) of the tables is made of, besides their sizes."""

    coordinates: str = PROBABILITIES  # of the density whose mode is sought
    known: NDArray[np.float64] | None = None  # (P,): tables that are held, NaN in the others

    @property
    def content(self) -> tuple[object, ...]:
        """What a checkpoint depends on; nothing where all tables are learned as usual."""
        is_usual = self.coordinates == PROBABILITIES and self.known is None
        return () if is_usual else tuple(self)

    def family(self, wiring: Wiring) -> SegmentedDirichlet:
        """One Dirichlet per row of every table, end to end; a point where one is held."""
        free = COORDINATES[self.coordinates](wiring.row_lengths())
        return free if self.known is None else HeldTables(free.lengths, free, self.known)


LEARNED = TableKind()
"""All tables are learned, in their probabilities."""


class Complete(NamedTuple):
    """A unit: the counts of all families of all rows that miss none of their members."""

    counts: NDArray[np.float64]  # (P,)
    weight: NDArray[np.float64] = np.ones(1)


class Incomplete(NamedTuple):
    """A unit: some sub-problems of the other families, of rows in which the same was set."""

    rows: HiddenRows
    part: slice
    target: int = -1  # -1: none was

    @property
    def weight(self) -> NDArray[np.float64]:
        """How many rows have each sub-problem."""
        return self.rows.weight[self.part]


@dataclass(frozen=True)
class DiscreteNetwork(Conjugate[Tables]):
    """A directed graph of discrete variables as flat arrays, and the prior of its tables."""

    wiring: Wiring
    prior: Tables
    graph: DAG = field(default_factory=DAG)
    variables: tuple[Variable, ...] = ()
    hidden: tuple[int, ...] = ()  # nodes without values
    may_relabel: bool = False  # whether the states of these have no meaning of their own
    kind: TableKind = LEARNED
    blocks: tuple[tuple[int, ...], ...] = ()  # variables that mean field keeps together

    @cached_property
    def families(self) -> Tables:
        """One Dirichlet per row of every table."""
        return Tables(self.kind.family(self.wiring))

    @property
    def blank(self) -> Tables:
        """Zeros."""
        return Tables(np.zeros(self.wiring.fam_at[-1]))

    def potentials(
        self, t: Tables
    ) -> Callable[[Complete | Incomplete], NothingHidden | FamilyTables]:
        """The log tables, and what a unit hides; families that are left out read zeros behind."""
        widest = int(np.diff(self.wiring.fam_at).max(initial=0))
        padded = np.append(t.tables, np.zeros(widest))

        def of_unit(unit: Complete | Incomplete) -> NothingHidden | FamilyTables:
            if isinstance(unit, Complete):
                return NothingHidden(t.tables, unit.counts)
            return FamilyTables(self._without(padded, unit), unit.rows, unit.part, self.blocks)

        return of_unit

    def expected_stats(self, unit: Complete | Incomplete, hidden: Hidden) -> Tables:
        """Counts of every family."""
        return Tables(self._without(hidden.moments[: self.wiring.fam_at[-1]], unit))

    def _without(
        self, flat: NDArray[np.float64], unit: Complete | Incomplete
    ) -> NDArray[np.float64]:
        """Zero the block of the intervened variable; its table does not contribute."""
        if isinstance(unit, Complete) or unit.target < 0:
            return flat
        flat = flat.copy()
        flat[self.wiring.fam_at[unit.target] : self.wiring.fam_at[unit.target + 1]] = 0.0
        return flat

    def point(self, eta: Tables) -> Tables:
        """Read t at the mean of θ."""
        return Tables(np.log(self.families.tables.mean(eta.tables)))

    # --- from rows to a network ---

    def start(self, data: Data[NetworkRows], k: int, rng: np.random.Generator) -> Tables:
        """Prior plus what was counted, and random counts where something is missing."""
        counts = random_counts(self.wiring, data.rows.encoded, self.hidden, rng)
        return Tables(*add(self.prior, Tables(counts)))

    def start_from(self, statistics: CountStatistics) -> Tables:
        """Prior plus counts of the families of this graph, which another model may expect."""
        names = self.graph.nodes
        families = [(x, self.graph.parents(x)) for x in names]
        counts = self.blank.tables
        for v, found in enumerate(statistics.counts(families)):
            if found.configs is None:
                raise JensenError(
                    f"start= counts too many configurations of the parents of {names[v]!r}"
                )
            at = slice(self.wiring.fam_at[v], self.wiring.fam_at[v + 1])
            counts[at].reshape(-1, found.n_states)[found.configs] = found.table
        return Tables(*add(self.prior, Tables(counts)))

    def explain(self, data: Data[NetworkRows], t: Tables) -> Exception:
        """Which row is impossible, and what contradicts in it."""
        return explain_row(self._network(t), data.rows.table, "under the tables of start=")

    def simulate(self, t: Tables, n: int, rng: np.random.Generator) -> Table:
        """Rows of the variables that are not hidden."""
        seen = [x for v, x in enumerate(self.graph.nodes) if v not in self.hidden]
        return sample(self._network(t), n, rng).select(seen)

    def _network(self, t: Tables) -> Network:
        return Network(self.graph, self.variables, np.exp(t.tables))

    def finish(self, state: State[Tables, Tables], *, is_posterior: bool) -> Network:
        """The network at the end of an ascent, hidden states in a stable order."""
        family, eta = self.families.tables, self._in_order(state.stats, state.eta.tables)
        weight, tables, concentration = eta, family.mode(eta), None
        if is_posterior:
            told = family.describe(eta)
            tables, weight = told["mean"], told["concentration"]
            concentration = weight
        network = Network(self.graph, self.variables, tables, concentration)
        if self.kind.known is not None:
            weight = np.where(np.isnan(self.kind.known), weight, 1.0)
        if (empty := family.totals(weight) <= 0.0).any():
            warn_of_empty_rows(network, empty)
        return network

    def keep(self, state: State[Tables, Tables], *, is_mode: bool) -> NDArray[np.float64]:
        """The tables, hidden states in a stable order."""
        return self._in_order(state.stats, np.exp(state.t.tables))

    @property
    def kept_width(self) -> int:
        """Entries of all tables."""
        return int(self.wiring.fam_at[-1])

    def average(self, draws: NDArray[np.float64]) -> Tables:
        """Mean tables."""
        return Tables(self.families.tables.share(draws.mean(0)))

    def finish_draws(self, draws: NDArray[np.float64], best: int) -> Network:
        """A network with all samples."""
        return Network(self.graph, self.variables, self.average(draws).tables, samples=draws)

    def _in_order(self, stats: Tables, flat: NDArray[np.float64]) -> NDArray[np.float64]:
        """Tables with the states of hidden variables by falling count."""
        if not (self.hidden and self.may_relabel):
            return flat
        orders = by_falling_count(self.wiring, self.hidden, stats.tables)
        return permute(self.wiring, orders, flat)


def complete_counts(table: RowSource, names: Sequence[str], wiring: Wiring) -> NDArray[np.float64]:
    """Counts of every family over the rows that miss none of its members, flat."""
    families = [[names[v] for v in scope] for scope in wiring.scopes()]
    known = [f for f, family in enumerate(families) if all(name in table for name in family)]
    counts = np.zeros(wiring.fam_at[-1])
    for f, part in zip(known, count_families(table, [families[f] for f in known]), strict=True):
        counts[wiring.fam_at[f] : wiring.fam_at[f + 1]] = part.ravel()
    return counts


def by_falling_count(
    wiring: Wiring, hidden: Iterable[int], stats: Array
) -> dict[int, NDArray[np.intp]]:
    """For each hidden variable its states, the most frequent first."""
    orders = {}
    for v in hidden:
        counts = stats[wiring.fam_at[v] : wiring.fam_at[v + 1]].reshape(-1, wiring.cards[v]).sum(0)
        orders[v] = np.argsort(-counts, kind="stable")
    return orders


def permute(wiring: Wiring, orders: dict[int, NDArray[np.intp]], flat: Array) -> Array:
    """Tables, flat, with the states of some variables in another order."""
    result = flat.copy()
    for f in range(wiring.n_families):
        members = wiring.members(f)
        here = slice(wiring.fam_at[f], wiring.fam_at[f + 1])
        for axis, v in enumerate(members):
            if int(v) in orders:
                table = result[here].reshape(wiring.cards[members])
                result[here] = np.take(table, orders[int(v)], axis=axis).ravel()
    return result


class CountedRows(NamedTuple):
    """The rows that have a weight, as they came."""

    rows: RowSource
    targets: NDArray[np.int64] | None  # the variable that was set in each, -1 where none was


class NetworkRows(NamedTuple):
    """What a discrete network begins from, and names an impossible row by."""

    encoded: Encoded
    table: RowSource  # as the caller gave it, also rows without weight
    source: CountedRows


class Encoded(NamedTuple):
    """Units for the loop, and the way back from sub-problems to rows."""

    units: Units
    counts: NDArray[np.float64]  # (P,): of complete families
    hidden: tuple[HiddenRows, ...]  # none, if nothing is missing

    @property
    def touched(self) -> NDArray[np.int64]:
        """The families of which a member is missing somewhere."""
        found = [np.empty(0, np.int64)]
        for rows in self.hidden:
            w = rows.plans.wiring
            found += [w.touch[w.touch_ptr[v] : w.touch_ptr[v + 1]] for v in rows.members]
        return np.unique(np.concatenate(found))

    @property
    def n_single(self) -> int:
        """The most variables of a row that are drawn one at a time because memory is short."""
        sites = [rows.drawing.sites for rows in self.hidden]
        return max((int(np.diff(found.ptr).max()) for found in sites if found), default=0)


def encode(
    table: RowSource,
    names: Sequence[str],
    wiring: Wiring,
    targets: NDArray[np.int64] | None = None,
    *,
    all_cells: bool = False,
) -> Encoded:
    """Encode a table; names without a column are hidden in every row.

    Parameters
    ----------
    targets
        (rows,): the variable that was set from outside, -1 where none was; None: nowhere. The
        table of that variable has no say in the row.
    all_cells
        Whether missing cells below which nothing was seen are kept in h: the expected counts of
        other graphs need them. Else no family counts them, and no bound pays for them.
    """
    groups = [(-1, table)]
    if targets is not None:
        groups = [(v, table.take(targets == v)) for v in np.unique(targets).tolist()]
    counts = np.zeros(wiring.fam_at[-1])
    units: list[Incomplete] = []
    hidden: list[HiddenRows] = []
    columns = [name for name in names if name in table]
    for v, rows in groups:
        counted = complete_counts(rows, names, wiring)
        if v >= 0:
            counted[wiring.fam_at[v] : wiring.fam_at[v + 1]] = 0.0
        counts += counted
        if len(columns) < len(names) or rows.n_missing(columns):
            with_rows = not isinstance(rows, TableScan)  # of more rows than memory it is too much
            mark = None if all_cells else without_barren(wiring, v)
            found = split_table(plans_of(wiring, names), rows, names, mark, with_rows=with_rows)
            if not len(found.end):
                continue
            units.extend(Incomplete(found, part, v) for part in found.cut())
            hidden.append(found)
    known = Units((Complete(counts), *units), table.total_weight, is_complete=not hidden)
    return Encoded(known, counts, tuple(hidden))


def random_counts(
    wiring: Wiring, data: Encoded, hidden: Iterable[int], rng: np.random.Generator
) -> Array:
    """Statistics to begin with, for encoded rows."""
    total_weight = data.units.total_weight
    return fill_counts(wiring, data.counts, data.touched, total_weight, hidden, rng)


def fill_counts(
    wiring: Wiring,
    counts: Array,
    touched: NDArray[np.int64],
    total_weight: float,
    hidden: Iterable[int],
    rng: np.random.Generator,
) -> Array:
    """Statistics to begin with: what was counted, and random ones in tables that are `touched`.

    Tables in which nothing is ever missing stay as counted: they are the answer already. In the
    others every cell is possible. Those of hidden variables and of their children get random rows
    as heavy as the data, because equal rows would stay equal for ever.
    """
    family = SegmentedDirichlet(wiring.row_lengths())
    lengths = np.diff(wiring.fam_at)
    noise = family.share(rng.standard_gamma(1.0, int(wiring.fam_at[-1])) * _own(wiring, counts))
    is_hidden = np.zeros(len(wiring.cards), bool)
    is_hidden[list(hidden)] = True
    weight = np.zeros(wiring.n_families)
    for f in touched:
        n_rows = lengths[f] // wiring.cards[f]
        heavy = is_hidden[wiring.members(f)].any()
        weight[f] = max(total_weight / n_rows, 1.0) if heavy else 1.0
    return counts + noise * np.repeat(weight, lengths)


def _own(wiring: Wiring, counts: Array) -> Array:
    """How often each state of the variable of a table was counted, plus one, in every row."""
    parts = []
    for f, card in enumerate(wiring.cards):
        table = counts[wiring.fam_at[f] : wiring.fam_at[f + 1]].reshape(-1, card)
        parts.append(np.broadcast_to(table.sum(0) + 1.0, table.shape).ravel())
    return np.concatenate([np.empty(0), *parts])
