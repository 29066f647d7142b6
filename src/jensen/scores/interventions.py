"""Rows in which a variable was set from outside.

Such a row tells nothing about how the variable depends on its parents, so it is left out of the
family of that variable, and of no other.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table
from jensen.exceptions import DataError
from jensen.scores.parent_sets import SupersetBound, candidate_scores, fill_rows, superset_bound
from jensen.scores.scorer import HasCounts, Progress, Scorer, name_of, offered
from jensen.scores.set_functions import between
from jensen.support.text import bare, offer, option

if TYPE_CHECKING:
    from jensen.scores.categorical_scorer import CategoricalScorer

Array = NDArray[np.float64]
NONE = -1

WasSet: TypeAlias = NDArray[np.int64] | None
"""(N,): the variable that was set in each row, as a position among sorted names; -1: none."""


def split_interventions(
    table: RowSource, interventions: Any, nodes: Sequence[str] | None = None
) -> tuple[RowSource, WasSet]:
    """Separate the variables from what says which of them was set in each row.

    Parameters
    ----------
    interventions
        A column, which is then no variable, or one name per row; missing where nothing was set.
    nodes
        The columns that are variables; all others by default. A row in which another column was
        set is one in which none of them was.
    """
    if interventions is None:
        return table if nodes is None else table.select(nodes), None
    if isinstance(interventions, str) and interventions in (nodes or ()):
        raise DataError(
            f"{option('interventions', interventions)} tells what was set in each row, so it is no "
            f"variable of a graph: leave it out of the graph"
        )
    if isinstance(interventions, str):
        column = table.gather([interventions]).column(interventions)
        if column.variable.kind != "categorical":
            raise DataError(
                f"{option('interventions', interventions)}: the column must name the variable that "
                f"was set in each row, or be empty; it holds numbers"
            )
        states, codes = column.variable.states, np.asarray(column.data, np.int64)
        if "" in states:  # an empty text names nothing
            codes = np.where(codes == states.index(""), len(states), codes)
        rest = table.select([name for name in table.names if name != interventions])
    else:
        if not isinstance(interventions, Iterable):
            raise DataError(
                f"interventions must be a column, or one name per row, not {interventions!r}"
            )
        labels = [None if _is_nothing(x) else str(x) for x in interventions]
        if len(labels) != table.n_rows:
            raise DataError(f"interventions has {len(labels):,} entries for {table.n_rows:,} rows")
        states = tuple(sorted({x for x in labels if x is not None}))
        at = {label: code for code, label in enumerate(states)}
        codes = np.array([len(states) if x is None else at[x] for x in labels], np.int64)
        rest = table
    unknown = [label for label in states if label and label not in rest]
    if unknown:
        raise DataError(
            f"{bare('interventions')}: {unknown[0]!r} is no column; each row names the column "
            f"that was set in it (by its name, not by its number), or nothing; "
            f"{offer(unknown[0], rest.names, 'column')}"
        )
    if nodes is not None:
        rest = rest.select(nodes)
    position = {name: v for v, name in enumerate(sorted(rest.names))}
    return rest, np.array([*(position.get(s, NONE) for s in states), NONE], np.int64)[codes]


def _is_nothing(entry: Any) -> bool:
    """None, NaN, pandas' NA, or an empty text."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return bool(entry == "" or (isinstance(entry, (float, np.floating)) and np.isnan(entry)))


@dataclass(frozen=True, eq=False)
class PerChild:
    """A scorer of all rows, and one for each variable that was set in some rows, without these."""

    everywhere: Scorer
    where_not_set: dict[int, Scorer]

    @classmethod
    def of(
        cls, table: Table, was_set: NDArray[np.int64], make: Callable[[Table], Scorer]
    ) -> "PerChild":
        """Make scorers of tables without the rows in which the child was set."""
        targets = [int(v) for v in np.unique(was_set) if v != NONE]
        return cls(make(table), {v: make(table.take(was_set != v)) for v in targets})

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return self.everywhere.names

    @property
    def is_set_function(self) -> bool:
        """False with interventions: children with different rows have different functions L."""
        return not self.where_not_set and self.everywhere.is_set_function

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.everywhere.total_weight

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return self.of_child(child).family(child, parents)

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return self.of_child(child).without_each(child, parents)

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent."""
        return self.of_child(child).with_each(child, parents)

    def of_child(self, child: int) -> Scorer:
        """The scorer of one child."""
        return self.where_not_set.get(child, self.everywhere)

    # --- abilities of the scorers, child by child ---

    @property
    def score_name(self) -> str:
        """The name of the score."""
        return name_of(self.everywhere)

    def has_own_rows(self) -> bool:
        """Whether a variable was set in some rows."""
        return bool(self.where_not_set)

    def counted_for(self, child: int) -> "CategoricalScorer":
        """The statistics of the rows in which a child was not set, and the score."""
        able = offered(self.of_child(child), HasCounts)
        assert able is not None
        return able.counted_for(child)

    def fill_family_scores(self, out: Array, max_parents: int, progress: Progress) -> None:
        """Fill out (n, 2^(n-1)) with the scores of all families."""
        own = self.where_not_set
        shared = [v for v in range(len(out)) if v not in own]
        jobs = [(self.everywhere, shared), *((own[v], [v]) for v in sorted(own))]
        done = 0
        for part, children in jobs:
            share = between(progress, done / len(out), (done + len(children)) / len(out))
            fill_rows(part, out, children, max_parents, share)
            done += len(children)

    def subset_scores(self, child: int, candidates: Sequence[int], max_parents: int) -> Array:
        """(2^K,): the score of a child with every subset of its candidates."""
        return candidate_scores(self.of_child(child), child, candidates, max_parents)

    def superset_bound(self, child: int) -> SupersetBound | None:
        """A bound on the scores of larger sets of parents."""
        return superset_bound(self.of_child(child), child)
