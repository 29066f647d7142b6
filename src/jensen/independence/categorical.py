"""G², X² and conditional mutual information of categorical columns, by compiled counting."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.threads import n_parts, run_all
from jensen.exceptions import DataError
from jensen.independence import contingency
from jensen.independence.testing import (
    Around,
    Array,
    Ends,
    Given,
    Measured,
    Question,
    Verdict,
    search_in_turn,
)

Statistic = Literal["g2", "x2", "mutual-information"]

MOST_CELLS = 1 << 18
"""Cells of the largest table that is counted densely; others are counted by sorting."""

FEW = 8
"""So few pairs are not shared out to threads."""

NO_FREEDOM = "no degrees of freedom: one of the two is constant wherever they are compared"
"""What is said of a test that nothing could surprise."""


class CategoricalTests:
    """Tests of the categorical columns of one table.

    Parameters
    ----------
    statistic
        "g2", "x2" or "mutual-information".
    permutations
        0: p-values by the chi-squared distribution. Else so many times x is shuffled within every
        stratum, and p is the share of these and of the data that is as far from independence.
    seed
        Of the permutations; every test has its own stream, whenever it is made.
    """

    def __init__(
        self,
        table: Table,
        statistic: Statistic = "g2",
        permutations: int = 0,
        seed: int = 0,
    ) -> None:
        self.table = table
        self.names = tuple(sorted(table.names))
        self.statistic = statistic
        self.permutations, self.seed = permutations, seed
        self._rooms: list[Array] = []
        if permutations and table.weights is not None and np.any(table.weights % 1.0):
            raise DataError(
                "permutations= shuffles rows, and these weights are no whole numbers of rows: "
                "leave permutations= out"
            )

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """One test with all that is known of it."""
        if self.permutations:
            return self._shuffled(a, b, given)
        statistic, df, n, log_p = self._measured([(a, b, given)])[0].tolist()
        note = "" if df else NO_FREEDOM
        return Measured(self._shown(statistic, n), int(df), log_p, n, note)

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """The logarithms of the p-values of some tests."""
        if self.permutations:
            return np.array([self._shuffled(*question).log_p for question in questions])
        return np.asarray(self._measured(questions)[:, 3])

    def search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float
    ) -> list[Verdict]:
        """Look for sets of this size that separate pairs."""
        if self.permutations:
            return search_in_turn(self.log_p_values, pairs, around, size, log_alpha, together=1)
        n = self._prepare(len(pairs))
        found: list[Any] = [None] * len(pairs)

        def search(k: int) -> None:
            found[k::n] = self._search(pairs[k::n], around, size, log_alpha, self._rooms[k])

        run_all(search, range(n))
        for i, verdict in enumerate(found):
            if verdict.n_tests < 0:  # a table was too large
                some = [pairs[i]]
                found[i] = search_in_turn(self.log_p_values, some, around, size, log_alpha)[0]
        return found

    def _search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float, room: Array
    ) -> Iterator[Verdict]:
        from jensen.kernels.independence import find_separators

        ends = np.array(pairs, np.int64).reshape(-1, 2)
        ptr, member = _flat(around)
        log_p, n_tests = np.empty(len(pairs)), np.empty(len(pairs), np.int64)
        given = np.empty((len(pairs), size), np.int64)
        find_separators(
            self._columns, ends, ptr, member, size, self._kind, log_alpha, room,
            log_p, given, n_tests,
        )  # fmt: skip
        sets = (tuple(some) if n else () for some, n in zip(given.tolist(), n_tests, strict=True))
        return map(Verdict, sets, log_p.tolist(), n_tests.tolist())

    def _measured(self, questions: Sequence[Question]) -> Array:
        """(T, 4): statistic, degrees of freedom, rows and log p."""
        from jensen.kernels.independence import measure_tests

        n = self._prepare(len(questions))
        ends = np.array([question[:2] for question in questions], np.int64).reshape(-1, 2)
        ptr, member = _flat([question[2] for question in questions])
        out = np.empty((len(questions), 4))
        cuts = [len(questions) * k // n for k in range(n + 1)]

        def measure(k: int) -> None:
            a, b = cuts[k], cuts[k + 1]
            measure_tests(
                self._columns, ends[a:b], ptr[a : b + 1], member, self._kind, self._rooms[k],
                out[a:b],
            )  # fmt: skip

        run_all(measure, range(n))
        for i in np.flatnonzero(out[:, 2] < 0.0).tolist():
            out[i] = self._sorted(*questions[i])
        return out

    def _sorted(self, a: int, b: int, given: Given) -> tuple[float, int, float, float]:
        """The same by sorting, for tables with very many cells."""
        found, df, n = contingency.statistic(self._cells(a, b, given), self.statistic == "x2")
        return found, df, n, log_tail(found, df)

    def _shuffled(self, a: int, b: int, given: Given) -> Measured:
        """A test by permutations; a constant column can only ever give the same table."""
        cells, squared = self._cells(a, b, given), self.statistic == "x2"
        found, df, n = contingency.statistic(cells, squared)
        if not df:
            return Measured(0.0, 0, 0.0, n, NO_FREEDOM)
        a, b = min(a, b), max(a, b)
        stream = np.random.SeedSequence(self.seed, spawn_key=(a, b, *sorted(given)))
        drawn = contingency.permuted(
            cells, squared, self.permutations, np.random.default_rng(stream)
        )
        # tables that are as far from independence differ in their last digits only
        as_far = np.count_nonzero(drawn >= found - 1e-9 * (1.0 + found))
        log_p = float(np.log((1 + as_far) / (1 + self.permutations)))
        return Measured(
            self._shown(found, n), df, log_p, n, f"p by {self.permutations} permutations"
        )

    def _shown(self, statistic: float, n: float) -> float:
        """Mutual information is G² per row, halved."""
        if self.statistic == "mutual-information":
            return statistic / (2.0 * n) if n else 0.0
        return statistic

    def _cells(self, a: int, b: int, given: Given) -> contingency.Cells:
        columns = [self.table.column(self.names[v]) for v in sorted((a, b))]
        others = [self.table.column(self.names[v]) for v in sorted(given)]
        missing = [column.missing() for column in (*columns, *others)]
        rows = ~np.any(missing, axis=0)
        x, y, *rest = (column.data[rows].astype(np.int64) for column in (*columns, *others))
        weights = None if self.table.weights is None else self.table.weights[rows]
        return contingency.cells_of(x, y, rest, weights)

    @property
    def _kind(self) -> int:
        from jensen.kernels.stratified_tables import X_SQUARED

        return X_SQUARED if self.statistic == "x2" else 0

    @cached_property
    def _columns(self) -> Any:
        """The columns as the kernels read them."""
        from jensen.kernels.stratified_tables import Columns

        levels = [self.table.packed.levels[name] for name in self.names]
        with_bits = [n for n, level in zip(self.names, levels, strict=True) if level.bits]
        weights = self.table.weights
        bits = self.table.packed.bits(with_bits if weights is None else [])
        planes = self.table.packed.planes(self.names)
        order = [p for level in levels for p in level.planes]
        return Columns(
            bits,
            _ints(level.bits.start if level.bits else -1 for level in levels),
            _ints(level.size for level in levels),
            _ints(self.table.variable(name).n_states for name in self.names),
            planes if order == [*range(len(planes))] else planes[order],
            np.cumsum([0, *(len(level.planes) for level in levels)], dtype=np.int64),
            np.empty(0) if weights is None else np.ascontiguousarray(weights, np.float64),
        )

    def _prepare(self, n_items: int) -> int:
        """Into how many parts work is cut; makes room for each, and what they all read."""
        _ = self._columns
        n = n_parts() if n_items > FEW else 1
        self._rooms += [np.empty(MOST_CELLS) for _ in range(n - len(self._rooms))]
        return n


def log_tail(statistic: float, df: int) -> float:
    """The logarithm of a p-value by the chi-squared distribution."""
    from jensen.kernels.chi_squared import log_tails

    out = np.empty(1)
    log_tails(np.array([statistic]), np.array([df], np.int64), out)
    return float(out[0])


def _ints(values: Any) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)


def _flat(lists: Sequence[Given]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists of different lengths, one after the other, and where each begins."""
    ptr = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return ptr, _ints(x for some in lists for x in some)
