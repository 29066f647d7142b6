"""Tests of categorical columns that are not in memory.

Rows are counted, many tests in one pass, and each test then sees its cells as rows with weights.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from jensen.data import RowSource, Table
from jensen.data.counting import count_families
from jensen.data.encode import Column, smallest_code_type
from jensen.independence.categorical import MOST_AT_ONCE, CategoricalTests, Statistic
from jensen.independence.testing import Around, Array, Ends, Question, Verdict, subsets

SETS_AT_ONCE = 8
"""Sets that are tried of each pair in one pass over the rows."""


def state_tests(
    table: RowSource, statistic: Statistic = "g2", permutations: int = 0, seed: int = 0
) -> CategoricalTests:
    """Tests of categorical columns, in memory or not."""
    kind = CategoricalTests if isinstance(table, Table) else CountedTests
    return kind(table, statistic, permutations, seed)


class CountedTests(CategoricalTests):
    """The same tests of rows that are not in memory, which are read once for many tests."""

    def search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float
    ) -> list[Verdict]:
        """Look for sets of this size that separate pairs, some of every pair in each pass."""
        found = [Verdict((), -np.inf, 0) for _ in pairs]
        left = {i: subsets(ends, around, size) for i, ends in enumerate(pairs)}
        while left:
            asked = [(i, given) for i in left for given in islice(left[i], SETS_AT_ONCE)]
            log_p = self.log_p_values([(*pairs[i], given) for i, given in asked])
            still = {i for i, _ in asked}
            for (i, given), p in zip(asked, log_p.tolist(), strict=True):
                if i in still:
                    n, best = found[i].n_tests + 1, found[i]
                    is_better = p > best.log_p or n == 1
                    found[i] = Verdict(given, p, n) if is_better else best._replace(n_tests=n)
                    still -= {i} if p > log_alpha else set()
            left = {i: left[i] for i in still}
        return found

    def _measured(self, questions: Sequence[Question]) -> Array:
        out = np.empty((len(questions), 4))
        for k, (rows, (a, b, given)) in enumerate(
            zip(self._counted(questions), questions, strict=True)
        ):
            few = CategoricalTests(rows, self.statistic)
            few.workspaces = self.workspaces  # are made once
            x, y, *rest = (few.names.index(self.names[v]) for v in (a, b, *given))
            out[k] = few._measured([(x, y, tuple(rest))])[0]
        return out

    def _rows(self, question: Question) -> Table:
        return next(self._counted([question]))

    def _counted(self, questions: Sequence[Question]) -> Iterator[Table]:
        """The columns of each test, equal rows as one with their weight."""
        families = [[self.names[v] for v in (a, b, *given)] for a, b, given in questions]
        start = 0
        while start < len(families):
            stop, n_cells = start, 0
            while stop < len(families) and (stop == start or n_cells < MOST_AT_ONCE):
                sizes = (self.table.variable(name).n_states + 1 for name in families[stop])
                stop, n_cells = stop + 1, n_cells + math.prod(sizes)
            some = families[start:stop]
            for names, counts in zip(some, count_families(self.table, some), strict=True):
                places = np.nonzero(counts)
                columns = []
                for name, codes in zip(names, places, strict=True):
                    variable = self.table.variable(name)
                    columns.append(
                        Column(variable, codes.astype(smallest_code_type(variable.n_states)))
                    )
                yield Table.from_columns(columns, counts[places])
            start = stop
