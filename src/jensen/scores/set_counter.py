"""Counts of a set of categorical variables with each other variable, by the way that takes least.

What was counted is kept: it serves whichever variable is the child. And where the counts of all
variables of a set but one are known, those of a state of this one follow from its other states. The
state that most rows have is left out so, and only the rows of the others are counted.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import MAX_LANED_CELLS, count_meetings
from jensen.data.packed import HALF, WHOLE, cut_bytes, pack_half_bytes
from jensen.scores.set_counts import (
    MANY_CELLS,
    NOWHERE,
    NS_PER_BYTE,
    NS_PER_CALL,
    NS_PER_CHOICE,
    NS_PER_CODE,
    NS_PER_HALVES,
    NS_PER_POSITION,
    NS_PER_WORD,
    ROWS_PER_CELL,
    TILE,
    Counts,
    FamilyCells,
    SetCounts,
)
from jensen.support.machine import n_parts, run_all
from jensen.support.row_records import HalfBytes

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Margins = Mapping[int, SetCounts]
"""What is known of a family without one of its variables, by that variable."""

MOST_COUNTS = 1 << 23
"""The most counts that are held at once; larger families are counted by sorting."""

KEPT_COUNTS = 1 << 23
"""The most that are kept of all families together; then these are forgotten."""

MOST_PAIRED_STATES, MOST_MEETINGS = 16, 2048
"""Pairs are counted all at once if no variable, and all variables, have more states than this."""

LONG = 1e6
"""Work that takes less, in ns, is not shared out to threads."""


class SetCounter:
    """Counts of one categorical table without weights or missing values.

    A variable is its position among the names.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        from jensen.kernels import further_parents

        self.kernels = further_parents
        self.table, self.names = table, names
        levels = [table.packed.levels[name] for name in names]
        self.sizes: list[int] = [level.size for level in levels]
        self.size = np.array(self.sizes, np.int64)
        self._levels = levels
        self._first = np.array([level.bits.start for level in levels], np.int64)
        # those of one size stand together: neighbours in this list share what a score prepares
        self.by_size = np.argsort(self.size, kind="stable")
        has_bits = np.array([len(level.bits) > 0 for level in levels], bool)
        self._with_bitsets = self.by_size[has_bits[self.by_size]]
        self._in_bytes = self.by_size[self.size[self.by_size] <= WHOLE]
        everything = range(len(names))
        self._without_bits = [v for v in everything if not has_bits[v]]
        self._without_bytes = [v for v in everything if self.sizes[v] > WHOLE]
        self._n_kept = 0
        self._rooms: dict[int, Counts] = {}
        self._byte_parts = cache(lambda n: cut_bytes(self._half_bytes, n))

    def find(self, family: tuple[int, ...]) -> SetCounts | FamilyCells | None:
        """Counts of a family, its child first, that were kept or are made now.

        None: its cells are too many for tables. `FamilyCells`: it takes less to count one variable
        after the other, and nothing of it is kept.
        """
        key = tuple(sorted(family))
        known = self._kept.get(key)
        if known is not None:
            return known
        cells = self._number(family)
        if cells is None:
            return None
        margins = {} if len(cells.place) else self._margins(key)
        cost, way = min(self._costs(cells, margins))
        if way == "columns":
            return cells
        n = n_parts() if cost > LONG else 1
        found = (self._with_bits if way == "bits" else self._with_bytes)(cells, margins, n)
        if found.n_cells == found.table.size:
            self._keep(key, found)
        return found

    # --- what is known ---

    @cached_property
    def _kept(self) -> dict[tuple[int, ...], SetCounts]:
        """What is known, by the variables in rising order: of single ones always, if of pairs."""
        single = range(0 if self.meetings is None else len(self.names))
        return {(v,): self._alone(v) for v in single}

    def _margins(self, key: tuple[int, ...]) -> Margins:
        kept, found = self._kept, {}
        for i, x in enumerate(key):
            known = kept.get(key[:i] + key[i + 1 :])
            if known is not None:
                found[x] = known
        return found

    def _keep(self, key: tuple[int, ...], found: SetCounts) -> None:
        """Keep what another child or a larger family may need, as long as there is room."""
        self._n_kept += found.counts.size
        if self._n_kept > KEPT_COUNTS:
            del self._kept
            self._n_kept = found.counts.size
        self._kept[key] = found

    @cached_property
    def meetings(self) -> Ints | None:
        """How often states of any two variables meet; None if that is too much to be kept."""
        if max(self.sizes) > MOST_PAIRED_STATES or self._n_sets > MOST_MEETINGS:
            return None
        return count_meetings(self.table, self.names)

    @cached_property
    def _alone(self) -> Callable[[int], SetCounts]:
        """What is known of each single variable, where all pairs were counted."""
        n, size, order = len(self.names), self.size, self.by_size
        widths = np.outer(size, size[order]) * (order != np.arange(n)[:, None])
        at, stride = np.empty((n, n), np.int64), np.eye(n, dtype=np.int64)
        at[:, order] = np.cumsum(widths).reshape(n, n) - widths
        own, counts = np.zeros((n, size.max()), np.int32), np.empty(widths.sum(), np.int32)
        joint = np.full((n, n), np.nan)
        self.kernels.count_single_with_each(self.meetings, size, self.table.n_rows, at, own, counts)

        def known(v: int) -> SetCounts:
            table = own[v, : self.sizes[v]]
            others = order[order != v]
            family = np.array([v], np.int64)
            return SetCounts(
                family, stride[v], table, len(table), others, at[v], counts, (), joint[v]
            )

        return known

    @cached_property
    def _common(self) -> tuple[list[int], list[float]]:
        """(n,): the state of each variable that most rows have, and the share of all others.

        Variables without bitsets get (0, 1).
        """
        counts = count_bits(self._bits).tolist()
        found = [counts[level.bits.start : level.bits.stop] or [0] for level in self._levels]
        most = list(map(max, found))
        states = [here.index(n) for here, n in zip(found, most, strict=True)]
        return states, [1.0 - n / self.table.n_rows for n in most]

    # --- which way ---

    def _number(self, family: tuple[int, ...]) -> FamilyCells | None:
        """Where rows of this family are counted; None: they are too many for tables."""
        r, n_rows = self.sizes[family[0]], self.table.n_rows
        cells = math.prod(self.sizes[v] for v in family)
        if cells <= max(MANY_CELLS, n_rows // ROWS_PER_CELL):
            return FamilyCells(family, cells, NOWHERE, None)
        if cells > min(MOST_COUNTS, max(1 << 16, n_rows)):
            return None
        from jensen.kernels.further_rows import find_places

        table, place = self.count_index(family), np.empty(cells, np.uint32)
        n_found = find_places(table, r, place)
        if r * n_found * max(self.sizes) > MOST_COUNTS:
            return None
        return FamilyCells(family, r * n_found, place, table)

    def _costs(self, cells: FamilyCells, margins: Margins) -> Sequence[tuple[float, str]]:
        """What each way of counting takes, in ns; ∞ where it cannot be done."""
        n_rows, n_cells, without = self.table.n_rows, cells.n_cells, self._without_bits
        no_bits = len(cells.place) or (without and any(v in without for v in cells.family))
        no_bytes = not self._n_bytes or n_cells * max(1024, self._n_states) > MOST_COUNTS
        n_filled, counted, share, a_row = n_cells, 1.0, 1.0, NS_PER_POSITION
        for v, known in margins.items():
            size = self.sizes[v]
            n_filled = min(n_filled, size * int(np.count_nonzero(known.table)))
            counted *= 1.0 - 1.0 / size
            share, a_row = min(share, self._common[1][v]), NS_PER_POSITION + NS_PER_CHOICE
        a_byte = NS_PER_BYTE * share * n_rows + NS_PER_HALVES * n_cells
        return (
            (math.inf if no_bits else n_filled * counted * self._ns_of_all_sets, "bits"),
            (math.inf if no_bytes else self._n_bytes * a_byte + a_row * n_rows, "bytes"),
            (len(self.names) * n_rows * NS_PER_CODE, "columns"),
        )

    @cached_property
    def _ns_of_all_sets(self) -> float:
        words = self.table.n_rows / 64
        return self._n_sets * (NS_PER_WORD * words + NS_PER_CALL * (1.0 + words / TILE))

    @cached_property
    def _n_sets(self) -> int:
        """Bitsets of all variables but for the last of each."""
        return int((self.size[self._with_bitsets] - 1).sum())

    @cached_property
    def _n_states(self) -> int:
        """Of all variables that stand in bytes."""
        return int(self.size[self._in_bytes].sum())

    @cached_property
    def _n_bytes(self) -> int:
        """About as many bytes as the half bytes take."""
        halves = sum(math.log(size) for size in self.sizes if size <= HALF) / math.log(12.0)
        return math.ceil(halves / 2) + sum(HALF < size <= WHOLE for size in self.sizes)

    # --- the ways ---

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return self.table.packed.bits(self.names[v] for v in self._with_bitsets)

    @cached_property
    def planes(self) -> NDArray[np.uint8]:
        """The bytes of all variables."""
        return self.table.packed.planes(self.names)

    @cached_property
    def columns(self) -> Ints:
        """(3, n): the first byte of every variable, how many it has, how many states."""
        found = [(x.planes.start, len(x.planes), x.size) for x in self._levels]
        return np.array(found, np.int64).reshape(-1, 3).T.copy()

    @cached_property
    def _half_bytes(self) -> HalfBytes:
        columns = [self.table.column(name).data for name in self.names]
        return pack_half_bytes(columns, self.sizes)

    def _with_bits(self, cells: FamilyCells, margins: Margins, n: int) -> SetCounts:
        """Count what has bitsets."""
        found = self._begin(cells, margins, self._with_bitsets, self._without_bits)
        bits = self._bits  # filled before there are threads that would wait for it
        family = found.family.tolist()
        chosen = np.array([family, self._left_out(family, margins)], np.int64)
        parts = [found.others] if n == 1 else [found.others[k::n].copy() for k in range(n)]
        tables = [found.table, *(np.empty_like(found.table) for _ in parts[1:])]

        def count(k: int) -> None:
            to = tables[k], found.at, found.counts
            self.kernels.count_with_bits(bits, self._first, self.size, chosen, parts[k], *to)

        _run(count, n)
        return self._complete(found, margins)

    def _with_bytes(self, cells: FamilyCells, margins: Margins, n: int) -> SetCounts:
        """Count what stands in bytes."""
        from jensen.kernels.further_rows import count_with_bytes

        margins = {
            x: known
            for x, known in margins.items()
            if x not in self._without_bits and len(known.left) == len(self._without_bytes)
        }
        found = self._begin(cells, margins, self._in_bytes, self._without_bytes)
        where = *self.strides(found.family.tolist()), cells.place
        closed = np.array([self._first[v] + self._common[0][v] for v in margins], np.int64)
        parts, planes, bits = self._byte_parts(n), self.planes, self._bits
        tables = [np.empty(cells.n_cells, np.int32) for _ in parts]
        rooms = [self._room(k, 1024 * cells.n_cells).reshape(4, -1) for k in range(len(parts))]

        def count(k: int) -> None:
            to = rooms[k], tables[k], found.at, found.counts
            count_with_bytes(planes, *where, bits, closed, parts[k], self.size, *to)

        _run(count, len(parts))
        table = tables[0] if cells.table is None else cells.table
        return self._complete(found._replace(table=table), margins)

    def _left_out(self, family: Sequence[int], margins: Margins) -> list[int]:
        """The state of each variable that is not counted; -1: all are."""
        return [self._common[0][v] if v in margins else -1 for v in family]

    def _begin(
        self, cells: FamilyCells, margins: Margins, among: Ints, left: Sequence[int]
    ) -> SetCounts:
        """Room for counts; variables of which a state is left out come first."""
        n, n_cells = len(self.names), cells.n_cells
        first = [v for v in cells.family if v in margins]
        family = np.array([*first, *(v for v in cells.family if v not in margins)], np.int64)
        (at, stride, others), joint = np.empty((3, n), np.int64), np.empty(n)
        place = self.kernels.place_others
        n_others, n_counts = place(among, family, self.size, n_cells, at, stride, others, joint)
        table, counts = np.empty(n_cells, np.int32), np.empty(n_counts, np.int32)
        return SetCounts(family, stride, table, n_cells, others[:n_others], at, counts, left, joint)

    def _complete(self, found: SetCounts, margins: Margins) -> SetCounts:
        """Fill in what was left out."""
        to = self.size, found.others, found.table, found.at, found.counts
        for place, x in enumerate(found.family[: len(margins)].tolist()):
            known = margins[x]
            there = known.stride, known.table, known.at, known.counts
            self.kernels.count_left_out(found.family, place, self._common[0][x], *to, *there)
        return found

    def _room(self, part: int, size: int) -> Counts:
        """Memory of any content, used again and again: fresh one costs more than what is done."""
        if part not in self._rooms or self._rooms[part].size < size:
            self._rooms[part] = np.empty(size, np.int32)
        return self._rooms[part][:size]

    def count_index(self, family: Sequence[int]) -> Counts:
        """The table of a family."""
        from jensen.kernels.counting import count_index

        plane, stride = self.strides(family)
        cells = math.prod(self.sizes[v] for v in family)
        ptr, at = np.array([0, len(plane)], np.int64), np.array([0, cells], np.int64)
        lanes = np.zeros((4 if cells <= MAX_LANED_CELLS else 1, cells), np.int32)
        count_index(self.planes, ptr, plane, stride, at, 0, self.table.n_rows, lanes)
        return np.asarray(lanes.sum(0, dtype=np.int32))

    def strides(self, family: Sequence[int]) -> tuple[Ints, Ints]:
        """The byte planes of a family, and what each adds to the position in its table."""
        plane: list[int] = []
        stride: list[int] = []
        step = 1
        for v in reversed(family):
            planes = self._levels[v].planes
            plane.extend(planes)
            stride.extend(step * 256**k for k in range(len(planes)))
            step *= self.sizes[v]
        return np.array(plane, np.int64), np.array(stride, np.int64)


def _run(f: Callable[[int], None], n: int) -> None:
    """Run f on so many numbers, on threads if these are several."""
    if n == 1:
        f(0)
    else:
        run_all(f, range(n))


def count_bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of bits in each row of words."""
    if hasattr(np, "bitwise_count"):  # since NumPy 2.0
        found: NDArray[np.int64] = np.bitwise_count(words).sum(1, dtype=np.int64)
        return found
    return np.array([np.unpackbits(row.view(np.uint8)).sum() for row in words], np.int64)
