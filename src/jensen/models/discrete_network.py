"""Discrete Bayesian network: one Dirichlet per variable and parent configuration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Variable
from jensen.data.counting import count_families
from jensen.data.statistics import CountStatistics
from jensen.estimators.estimate_warnings import warn_of_empty_rows
from jensen.exceptions import JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.free_energy import State
from jensen.graphs import DAG
from jensen.graphs.wiring import Wiring
from jensen.inference.impossible import explain_row
from jensen.inference.network import Network
from jensen.models.protocol import Conjugate, Data
from jensen.models.relabelling import by_falling_count, permute
from jensen.models.starts import random_counts
from jensen.q_hidden import FamilyTables, Hidden, Known
from jensen.q_hidden.trees.problems import HiddenRows
from jensen.support.fields import add, record


@record
class Tables(NamedTuple):
    """All conditional tables end to end: variable by variable, its own states fastest."""

    tables: Any  # (P,); None: the flat prior


class Complete(NamedTuple):
    """A unit: the counts of all families of all rows that miss none of their members."""

    counts: NDArray[np.float64]  # (P,)
    weight: NDArray[np.float64] = np.ones(1)


class Incomplete(NamedTuple):
    """A unit: some sub-problems of the other families, of rows in which the same was set."""

    rows: HiddenRows
    part: slice
    was_set: int = -1  # -1: none was

    @property
    def weight(self) -> NDArray[np.float64]:
        """How many rows have each sub-problem."""
        return self.rows.weight[self.part]


@dataclass(frozen=True)
class DiscreteNetwork(Conjugate):
    """A directed graph of discrete variables as flat arrays, and the prior of its tables."""

    wiring: Wiring
    prior: Tables
    graph: DAG = field(default_factory=DAG)
    variables: tuple[Variable, ...] = ()
    hidden: tuple[int, ...] = ()  # nodes without values
    may_relabel: bool = False  # whether the states of these have no meaning of their own

    @cached_property
    def families(self) -> Tables:
        """One Dirichlet per row of every table."""
        return Tables(SegmentedDirichlet(self.wiring.row_lengths()))

    @property
    def blank(self) -> Tables:
        """Zeros."""
        return Tables(np.zeros(self.wiring.fam_at[-1]))

    def potentials(self, t: Tables) -> Callable[[Complete | Incomplete], Known | FamilyTables]:
        """The log tables, and what a unit hides."""

        def of_unit(unit: Complete | Incomplete) -> Known | FamilyTables:
            if isinstance(unit, Complete):
                return Known(t.tables, unit.counts)
            return FamilyTables(self._without(t.tables, unit), unit.rows, unit.part)

        return of_unit

    def expected_stats(self, unit: Complete | Incomplete, hidden: Hidden) -> Tables:
        """Counts of every family."""
        return Tables(self._without(hidden.moments, unit))

    def _without(
        self, flat: NDArray[np.float64], unit: Complete | Incomplete
    ) -> NDArray[np.float64]:
        """Log tables or counts, 0 in that of a variable that was set: it had no say."""
        if isinstance(unit, Complete) or unit.was_set < 0:
            return flat
        flat = flat.copy()
        flat[self.wiring.fam_at[unit.was_set] : self.wiring.fam_at[unit.was_set + 1]] = 0.0
        return flat

    # --- from rows to a network ---

    def start(self, data: Data, k: int, rng: np.random.Generator) -> Tables:
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

    def explain(self, data: Data, t: Tables) -> Exception:
        """Which row is impossible, and what contradicts in it."""
        network = Network(self.graph, self.variables, np.exp(t.tables))
        return explain_row(network, data.rows.table, "under the tables of start=")

    def finish(self, state: State, *, is_posterior: bool) -> Network:
        """The network at the end of an ascent, hidden states in a stable order."""
        family, eta = self.families.tables, self._in_order(state.stats, state.eta.tables)
        weight, tables, concentration = eta, family.mode(eta), None
        if is_posterior:
            told = family.describe(eta)
            tables, weight = told["mean"], told["concentration"]
            concentration = weight
        network = Network(self.graph, self.variables, tables, concentration)
        warn_of_empty_rows(network, family.totals(weight) <= 0.0)
        return network

    def keep(self, state: State, *, is_mode: bool) -> NDArray[np.float64]:
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
