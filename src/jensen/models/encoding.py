"""A table as a discrete network learns from it: counts once, sub-problems in every sweep."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, TableScan
from jensen.data.units import Units
from jensen.graphs.wiring import Wiring
from jensen.models.discrete_network import Complete, Incomplete, complete_counts
from jensen.q_hidden.trees.plans import plans_of
from jensen.q_hidden.trees.problems import HiddenRows, split_table


class NetworkRows(NamedTuple):
    """What a discrete network begins from, and names an impossible row by."""

    encoded: "Encoded"
    table: RowSource  # as the caller gave it, also rows without weight


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


def encode(
    table: RowSource, names: Sequence[str], wiring: Wiring, was_set: NDArray[np.int64] | None = None
) -> Encoded:
    """Encode a table; names without a column are hidden in every row.

    Parameters
    ----------
    was_set
        (rows,): the variable that was set from outside, -1 where none was; None: nowhere. The
        table of that variable has no say in the row.
    """
    groups = [(-1, table)]
    if was_set is not None:
        groups = [(v, table.take(was_set == v)) for v in np.unique(was_set).tolist()]
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
            found = split_table(plans_of(wiring, names), rows, names, with_rows=with_rows)
            units.extend(Incomplete(found, part, v) for part in found.cut())
            hidden.append(found)
    known = Units((Complete(counts), *units), table.total_weight, is_complete=not hidden)
    return Encoded(known, counts, tuple(hidden))
