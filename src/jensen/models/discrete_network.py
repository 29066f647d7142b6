"""Discrete Bayesian network: one Dirichlet per variable and parent configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.cluster_trees.records import Problems, Program
from jensen.data import Table
from jensen.data.counting import count_families
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.graphs.wiring import Wiring
from jensen.q_hidden import FamilyTables, Hidden, Known


class Tables(NamedTuple):
    """All conditional tables end to end: variable by variable, its own states fastest."""

    tables: NDArray[np.float64] | None  # (P,); None: the flat prior


class TablesFamily(NamedTuple):
    """The family of each field of `Tables`."""

    tables: SegmentedDirichlet


class Complete(NamedTuple):
    """A unit: the counts of all families of all rows that miss none of their members."""

    counts: NDArray[np.float64]  # (P,)
    weight: NDArray[np.float64] = np.ones(1)


class Incomplete(NamedTuple):
    """A unit: some sub-problems of the other families, of rows in which the same was set."""

    program: Program
    problems: Problems
    was_set: int = -1  # -1: none was

    @property
    def weight(self) -> NDArray[np.float64]:
        """How many rows have each sub-problem."""
        return self.problems.weight


@dataclass(frozen=True)
class DiscreteNetwork:
    """A directed graph of discrete variables as flat arrays, and the prior of its tables."""

    wiring: Wiring
    prior: Tables

    @cached_property
    def families(self) -> TablesFamily:
        """One Dirichlet per row of every table."""
        return TablesFamily(SegmentedDirichlet(row_lengths(self.wiring)))

    @property
    def blank(self) -> Tables:
        """Zeros."""
        return Tables(np.zeros(self.wiring.fam_at[-1]))

    def potentials(self, t: Tables, unit: Complete | Incomplete) -> Known | FamilyTables:
        """The log tables, and what a unit hides."""
        assert t.tables is not None
        if isinstance(unit, Complete):
            return Known(t.tables, unit.counts)
        return FamilyTables(self._without(t.tables, unit), unit.program, unit.problems)

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


def row_lengths(wiring: Wiring) -> NDArray[np.int64]:
    """Length of every row of every table, in the order in which they stand."""
    n_rows = np.diff(wiring.fam_at) // np.maximum(wiring.cards, 1)
    return np.repeat(wiring.cards, n_rows)


def complete_counts(table: Table, names: Sequence[str], wiring: Wiring) -> NDArray[np.float64]:
    """Counts of every family over the rows that miss none of its members, flat."""
    families = [[names[v] for v in scope] for scope in wiring.scopes()]
    known = [f for f, family in enumerate(families) if all(name in table for name in family)]
    counts = np.zeros(wiring.fam_at[-1])
    for f, part in zip(known, count_families(table, [families[f] for f in known]), strict=True):
        counts[wiring.fam_at[f] : wiring.fam_at[f + 1]] = part.ravel()
    return counts
