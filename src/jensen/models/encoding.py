"""A table as a discrete network learns from it: counts once, sub-problems in every sweep."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.cluster_trees.plans import plans_of
from jensen.cluster_trees.problems import Split, cut, split_table
from jensen.data import Table
from jensen.data.units import Units
from jensen.graphs.wiring import Wiring
from jensen.models.discrete_network import Complete, Incomplete, complete_counts


class Encoded(NamedTuple):
    """Units for the loop, and the way back from sub-problems to rows."""

    units: Units
    counts: NDArray[np.float64]  # (P,): of complete families
    split: Split | None  # None: nothing is missing

    @property
    def touched(self) -> NDArray[np.int64]:
        """The families of which a member is missing somewhere."""
        if self.split is None:
            return np.empty(0, np.int64)
        sets = self.split.sets
        parts = [sets.families_of(p) for p in np.unique(self.split.problems.set_of)]
        return np.unique(np.concatenate([np.empty(0, np.int64), *parts]))


def encode(table: Table, names: Sequence[str], wiring: Wiring) -> Encoded:
    """Encode a table; names without a column are hidden in every row."""
    counts = complete_counts(table, names, wiring)
    columns = [name for name in names if name in table]
    if len(columns) == len(names) and not table.n_missing(columns):
        units = Units((Complete(counts),), table.total_weight, is_complete=True)
        return Encoded(units, counts, None)
    split = split_table(plans_of(wiring, names), table, names)
    parts = [Incomplete(split.sets.program, some) for some in cut(split)]
    units = Units((Complete(counts), *parts), table.total_weight, is_complete=False)
    return Encoded(units, counts, split)
