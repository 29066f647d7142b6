"""Discrete Bayesian network: one Dirichlet per variable and parent configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import count_families
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.graphs.wiring import Wiring


class Tables(NamedTuple):
    """All conditional tables end to end: variable by variable, its own states fastest."""

    tables: NDArray[np.float64] | None  # (P,); None: the flat prior


class TablesFamily(NamedTuple):
    """The family of each field of `Tables`."""

    tables: SegmentedDirichlet


@dataclass(frozen=True)
class DiscreteNetwork:
    """A directed graph of discrete variables as flat arrays, and the prior of its tables."""

    wiring: Wiring
    prior: Tables

    @property
    def families(self) -> TablesFamily:
        """One Dirichlet per row of every table."""
        return TablesFamily(SegmentedDirichlet(row_lengths(self.wiring)))


def row_lengths(wiring: Wiring) -> NDArray[np.int64]:
    """Length of every row of every table, in the order in which they stand."""
    n_rows = np.diff(wiring.fam_at) // np.maximum(wiring.cards, 1)
    return np.repeat(wiring.cards, n_rows)


def complete_stats(table: Table, names: Sequence[str], wiring: Wiring) -> Tables:
    """Counts of every family, flat; the rows must be complete."""
    families = [
        [names[v] for v in wiring.fam_vars[a:b]]
        for a, b in zip(wiring.fam_ptr[:-1], wiring.fam_ptr[1:], strict=True)
    ]
    counts = count_families(table, families)
    return Tables(np.concatenate([np.empty(0), *(part.ravel() for part in counts)]))
