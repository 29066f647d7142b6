"""Tests of categorical columns: G², X² and conditional mutual information.

Tables of moderate size are counted densely by compiled code; larger ones by sorting the cells that
occur. Permutation tests draw tables with the same margins.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import random_table

from jensen.data import RowSource, Table
from jensen.exceptions import DataError
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
from jensen.support.machine import n_parts, run_all
from jensen.support.text import keyword

Statistic = Literal["g2", "x2", "mutual-information"]
Codes = NDArray[np.int64]

MOST_CELLS = 1 << 18
"""The most cells of a table that is counted densely; larger tables are counted by sorting."""

FEW = 8
"""Up to this many pairs are not distributed over threads."""

NO_FREEDOM = "no degrees of freedom: one of the two is constant wherever they are compared"
"""The note of a test without degrees of freedom; its p-value is 1."""

MOST_AT_ONCE = 1 << 22
"""The most cells of drawn tables, or of those counted in one pass, that are in memory at a time."""


class OccupiedCells(NamedTuple):
    """The cells of a stratified table that occur: stratum, row, column and weight of each."""

    stratum: Codes
    x: Codes
    y: Codes
    weight: Array
    n_strata: int


def cells_of(x: Codes, y: Codes, given: list[Codes], weights: Array | None) -> OccupiedCells:
    """The cells of complete rows; strata are numbered among those that occur."""
    stratum = np.zeros(len(x), np.int64)
    for codes in given:
        stratum = np.unique(stratum * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    row, column = (np.unique(codes, return_inverse=True)[1] for codes in (x, y))
    width, height = column.max(initial=0) + 1, row.max(initial=0) + 1
    # strata and rows are at most as many as there are rows of data, so their product is exact
    block, pair = np.unique(stratum * height + row, return_inverse=True)
    cells, at = np.unique(pair * width + column, return_inverse=True)
    weight = np.bincount(at, weights, minlength=len(cells)).astype(np.float64)
    left = block[cells // width]
    occurs = weight > 0.0
    n_strata = int(stratum.max(initial=-1)) + 1
    rows, columns = left[occurs], cells[occurs] % width
    return OccupiedCells(rows // height, rows % height, columns, weight[occurs], n_strata)


def table_statistic(cells: OccupiedCells, squared: bool) -> tuple[float, int, float]:
    """G² (or X²), its degrees of freedom, and the weight of all rows.

    A stratum has (rows that occur - 1) · (columns that occur - 1) degrees of freedom.
    """
    across, row_of, n_rows = _margins(cells, cells.x)
    down, column_of, n_columns = _margins(cells, cells.y)
    total = np.bincount(cells.stratum, cells.weight, minlength=cells.n_strata)
    n = float(cells.weight.sum())
    df = int(np.sum(np.maximum(n_rows - 1, 0) * np.maximum(n_columns - 1, 0)))
    ratio = cells.weight / across[row_of] * (total[cells.stratum] / down[column_of])
    if squared:
        return max(float(np.sum(cells.weight * ratio)) - n, 0.0), df, n
    return max(2.0 * float(np.sum(cells.weight * np.log(ratio))), 0.0), df, n


def _margins(cells: OccupiedCells, codes: Codes) -> tuple[Array, Codes, Codes]:
    """Margins by (stratum, code): their sums, each cell's margin, and their number per stratum."""
    width = int(codes.max(initial=0)) + 1
    keys, at = np.unique(cells.stratum * width + codes, return_inverse=True)
    sums = np.bincount(at, cells.weight, minlength=len(keys)).astype(np.float64)
    return sums, at, np.bincount(keys // width, minlength=cells.n_strata)


def permuted_statistics(
    cells: OccupiedCells, squared: bool, n_draws: int, rng: np.random.Generator
) -> Array:
    """(n_draws,): the statistic of tables in which x is shuffled within every stratum.

    Shuffling keeps the margins of every stratum, so tables with these margins are drawn.
    """
    out = np.zeros(n_draws)
    for s in range(cells.n_strata):
        here = cells.stratum == s
        x, row = np.unique(cells.x[here], return_inverse=True)
        y, column = np.unique(cells.y[here], return_inverse=True)
        if min(len(x), len(y)) < 2:
            continue
        counts = np.zeros((len(x), len(y)), np.int64)
        counts[row, column] = cells.weight[here]
        across, down = counts.sum(1), counts.sum(0)
        expected = np.outer(across, down) / counts.sum()
        tables = random_table(across, down)
        at_once = max(1, MOST_AT_ONCE // counts.size)
        for begin in range(0, n_draws, at_once):
            end = min(begin + at_once, n_draws)
            drawn = tables.rvs(size=end - begin, random_state=rng)
            out[begin:end] += _terms(drawn, expected, squared).sum((1, 2))
    return out


def _terms(counts: Array, expected: Array, squared: bool) -> Array:
    if squared:
        return np.asarray((counts - expected) ** 2 / expected)
    # x log(x / e), where 0 log 0 = 0
    return np.asarray(2.0 * counts * np.log(np.where(counts > 0.0, counts / expected, 1.0)))


def log_tail(statistic: float, df: int) -> float:
    """The logarithm of a p-value by the chi-squared distribution."""
    from jensen.kernels.independence import log_tails

    out = np.empty(1)
    log_tails(np.array([statistic]), np.array([df], np.int64), out)
    return float(out[0])


class CategoricalTests:
    """Tests of the categorical columns of one table.

    Parameters
    ----------
    statistic
        "g2", "x2" or "mutual-information".
    permutations
        0: p-values by the chi-squared distribution. Otherwise the number of times that x is
        shuffled within every stratum; p is the share of these tables, and of the data, that are at
        least as far from independence as the data.
    seed
        The seed of the permutations; every test has its own stream, in whatever order they run.
    """

    table: Any

    def __init__(
        self,
        table: RowSource,
        statistic: Statistic = "g2",
        permutations: int = 0,
        seed: int = 0,
    ) -> None:
        self.table = table
        self.names = tuple(sorted(table.names))
        self.statistic = statistic
        self.permutations, self.seed = permutations, seed
        self.workspaces: list[Array] = []
        if permutations and table.sum(lambda block: np.sum(block.weights % 1.0)):
            raise DataError(
                f"{keyword('permutations')} shuffles rows, and these weights are no whole numbers "
                f"of rows: leave {keyword('permutations')} out"
            )

    def measure(self, a: int, b: int, given: Given) -> Measured:
        """The full result of one test."""
        if self.permutations:
            return self._shuffled(a, b, given)
        statistic, df, n, log_p = self._measured([(a, b, given)])[0].tolist()
        note = "" if df else NO_FREEDOM
        return Measured(self._shown(statistic, n), int(df), log_p, n, note)

    def log_p_values(self, questions: Sequence[Question]) -> Array:
        """(T,): the logarithms of the p-values of some tests."""
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
            found[k::n] = self._search(pairs[k::n], around, size, log_alpha, self.workspaces[k])

        run_all(search, range(n))
        for i, verdict in enumerate(found):
            if verdict.n_tests < 0:  # a table was too large
                some = [pairs[i]]
                found[i] = search_in_turn(self.log_p_values, some, around, size, log_alpha)[0]
        return found

    def _search(
        self, pairs: Sequence[Ends], around: Around, size: int, log_alpha: float, workspace: Array
    ) -> Iterator[Verdict]:
        from jensen.kernels.independence import find_separators

        ends = np.array(pairs, np.int64).reshape(-1, 2)
        ptr, member = _flat(around)
        log_p, n_tests = np.empty(len(pairs)), np.empty(len(pairs), np.int64)
        given = np.empty((len(pairs), size), np.int64)
        find_separators(
            self._columns, ends, ptr, member, size, self._kind, log_alpha, workspace,
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
                self._columns, ends[a:b], ptr[a : b + 1], member, self._kind, self.workspaces[k],
                out[a:b],
            )  # fmt: skip

        run_all(measure, range(n))
        for i in np.flatnonzero(out[:, 2] < 0.0).tolist():
            out[i] = self._sorted(*questions[i])
        return out

    def _sorted(self, a: int, b: int, given: Given) -> tuple[float, int, float, float]:
        """The same for one test by sorting, for tables with very many cells."""
        found, df, n = table_statistic(self._cells(a, b, given), self.statistic == "x2")
        return found, df, n, log_tail(found, df)

    def _shuffled(self, a: int, b: int, given: Given) -> Measured:
        """A test by permutations; with a constant column all permutations give the same table."""
        cells, squared = self._cells(a, b, given), self.statistic == "x2"
        found, df, n = table_statistic(cells, squared)
        if not df:
            return Measured(0.0, 0, 0.0, n, NO_FREEDOM)
        a, b = min(a, b), max(a, b)
        stream = np.random.SeedSequence(self.seed, spawn_key=(a, b, *sorted(given)))
        drawn = permuted_statistics(
            cells, squared, self.permutations, np.random.default_rng(stream)
        )
        # equally extreme tables may differ in the last digits
        as_far = np.count_nonzero(drawn >= found - 1e-9 * (1.0 + found))
        log_p = float(np.log((1 + as_far) / (1 + self.permutations)))
        return Measured(
            self._shown(found, n), df, log_p, n, f"p by {self.permutations} permutations"
        )

    def _shown(self, statistic: float, n: float) -> float:
        """The statistic as it is reported; mutual information is G² / (2 n)."""
        if self.statistic == "mutual-information":
            return statistic / (2.0 * n) if n else 0.0
        return statistic

    def _rows(self, question: Question) -> Table:
        """Rows with the columns of a test."""
        rows: Table = self.table
        return rows

    def _cells(self, a: int, b: int, given: Given) -> OccupiedCells:
        table = self._rows((a, b, given))
        columns = [table.column(self.names[v]) for v in sorted((a, b))]
        others = [table.column(self.names[v]) for v in sorted(given)]
        missing = [column.missing() for column in (*columns, *others)]
        rows = ~np.any(missing, axis=0)
        x, y, *rest = (column.data[rows].astype(np.int64) for column in (*columns, *others))
        weights = None if table.weights is None else table.weights[rows]
        return cells_of(x, y, rest, weights)

    @property
    def _kind(self) -> int:
        from jensen.kernels.stratified_tables import X_SQUARED

        return X_SQUARED if self.statistic == "x2" else 0

    @cached_property
    def _columns(self) -> Any:
        """The columns in the form that the kernels read."""
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
        """The number of parts that work is cut into; allocates a workspace for each."""
        _ = self._columns
        n = n_parts() if n_items > FEW else 1
        self.workspaces += [np.empty(MOST_CELLS) for _ in range(n - len(self.workspaces))]
        return n


def _ints(values: Any) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)


def _flat(lists: Sequence[Given]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concatenated lists: where each begins, and all members."""
    ptr = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return ptr, _ints(x for some in lists for x in some)
