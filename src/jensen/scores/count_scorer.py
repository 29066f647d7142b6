"""Local scores of categorical tables by compiled counting: all further parents in one pass."""

import math
from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import MAX_LANED_CELLS, count_meetings
from jensen.data.half_bytes import HALF, WHOLE, HalfBytes, cut, pack_half_bytes
from jensen.data.threads import n_parts, run_all
from jensen.scores.family_cells import (
    MANY_CELLS,
    NOWHERE,
    NS_PER_BYTE,
    NS_PER_CALL,
    NS_PER_CODE,
    NS_PER_FAR_WORD,
    NS_PER_HALVES,
    NS_PER_WORD,
    TILE,
    Cells,
    Counts,
    Kept,
)
from jensen.scores.plain_scorer import PlainScorer

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COUNTS = 1 << 23
"""The most counts that are held at once; larger families are counted by sorting."""

KEPT_COUNTS = 1 << 23
"""The most that are kept of all families together; then these are forgotten."""

MOST_PAIRED_STATES, MOST_MEETINGS = 16, 2048
"""Pairs are scored all at once if no variable, and all variables, have more states than this."""

LONG = 1e6
"""Work that takes less, in ns, is not shared out to threads."""


class CountScorer:
    """Scores of one categorical table without weights or missing values.

    Parameters
    ----------
    plain
        The same scores by plain counting, for families that are too large to be counted in tables.
    kind, amount
        Which score, as `kernels.local_terms` reads it.
    """

    def __init__(self, plain: PlainScorer, kind: int, amount: float) -> None:
        self.plain = plain
        self.table: Table = plain.table
        self.names = plain.names
        self.kind, self.amount = kind, amount
        self.levels = [self.table.packed.levels[name] for name in self.names]
        self._sizes: list[int] = [level.size for level in self.levels]
        self.size = np.array(self._sizes, np.int64)
        self.first = np.array([level.bits.start for level in self.levels], np.int64)
        planes = [(level.planes.start, len(level.planes), level.size) for level in self.levels]
        self._columns = np.array(planes, np.int64).reshape(-1, 3).T.copy()
        self._all = list(range(len(self.names)))
        # those of one size stand together: neighbours in this list share what a score prepares
        self._by_size = np.argsort(self.size, kind="stable")
        has_bits = np.array([len(level.bits) > 0 for level in self.levels], bool)
        self._with_bitsets = self._by_size[has_bits[self._by_size]]
        self._without_bits = [v for v in self._all if not has_bits[v]]
        self._without_bytes = [v for v in self._all if self._sizes[v] > WHOLE]
        self._in_bytes = self._by_size[self.size[self._by_size] <= WHOLE]
        self._last: tuple[int, tuple[int, ...], float, Array] | None = None
        self._kept: dict[tuple[int, ...], Kept] = {}
        self._n_kept = 0
        self._rooms: dict[int, Counts] = {}
        self._byte_parts = cache(lambda n: cut(self._half_bytes, n))

    @property
    def is_set_function(self) -> bool:
        """As the score says."""
        return self.plain.is_set_function

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.plain.total_weight

    def family(self, child: int, parents: Sequence[int]) -> float:
        """The score of a variable given its parents."""
        return self._family(child, parents)[0]

    def without_each(self, child: int, parents: Sequence[int]) -> Array:
        """(p,): the score without each parent."""
        return self._family(child, parents)[1]

    def with_each(self, child: int, parents: Sequence[int]) -> Array:
        """(n,): the score with each other variable as a further parent.

        Scores the family itself too, for its table comes with the others.
        """
        if not len(parents) and self._pairs is not None:
            self._last = child, (), float(self._pairs[child, child]), np.empty(0)
            return np.array(self._pairs[child])
        family, out = (child, *parents), np.full(len(self.names), np.nan)
        known = self._kept.get(tuple(sorted(family)))
        table, left = self._count(family, out) if known is None else self._read(known, family, out)
        if table is not None:
            self._remember(child, parents, table)
        if left:
            self.plain.with_some(child, parents, [u for u in left if u not in family], out)
        return out

    def _read(
        self, known: Kept, family: tuple[int, ...], out: Array
    ) -> tuple[Counts | None, list[int]]:
        """Score what was counted with another of the same variables as the child."""
        from jensen.kernels.further_parents import score_counted

        sizes, place = [self._sizes[v] for v in known.family], known.family.index(family[0])
        score_counted(
            known.counts, known.at, self.size, known.others, known.table.size, sizes[place],
            math.prod(sizes[place + 1 :]), self.kind, self.amount, out,
        )  # fmt: skip
        axes = [known.family.index(v) for v in family]
        return known.table.reshape(sizes).transpose(axes).ravel(), known.left

    def _count(self, family: tuple[int, ...], out: Array) -> tuple[Counts | None, list[int]]:
        """Score what is quickly counted, by the way that takes least; the table, and the rest."""
        cells = self._number(family)
        if cells is None:
            return None, self._all
        costs = self._costs(cells)
        way = min(costs, key=costs.__getitem__)
        n = n_parts() if costs[way] > LONG else 1
        found: tuple[Counts, list[int]] = getattr(self, way)(cells, n, out)
        return found

    def _number(self, family: tuple[int, ...]) -> Cells | None:
        """Where rows of this family are counted; None: they are too many for tables."""
        from jensen.kernels.further_parents import find_places

        r = self._sizes[family[0]]
        q = math.prod(self._sizes[v] for v in family[1:])
        if r * q <= MANY_CELLS:
            return Cells(family, r, float(q), r * q, NOWHERE, None)
        if r * q > min(MOST_COUNTS, max(1 << 16, self.table.n_rows)):
            return None
        table, place = self._count_index(family), np.empty(r * q, np.uint32)
        n_found = find_places(table, r, place)
        if r * n_found * max(self._sizes) > MOST_COUNTS:
            return None
        return Cells(family, r, float(q), r * n_found, place, table)

    def _costs(self, cells: Cells) -> dict[str, float]:
        """What each way of counting takes, in ns; ∞ where it cannot be done."""
        n_rows, n_cells, without = self.table.n_rows, cells.n_cells, self._without_bits
        no_bits = len(cells.place) or (without and any(v in without for v in cells.family))
        no_bytes = not self._n_bytes or 1024 * n_cells > MOST_COUNTS
        a_byte = NS_PER_BYTE * n_rows + NS_PER_HALVES * n_cells
        return {
            "_with_bits": math.inf if no_bits else n_cells * self._ns_of_all_sets,
            "_with_bytes": math.inf if no_bytes else self._n_bytes * a_byte,
            "_with_columns": len(self.names) * n_rows * NS_PER_CODE,
        }

    @cached_property
    def _ns_of_all_sets(self) -> float:
        words = self.table.n_rows / 64
        a_word = NS_PER_WORD if words <= TILE else NS_PER_FAR_WORD
        return self._n_sets * (a_word * words + NS_PER_CALL * (1.0 + words / TILE))

    @cached_property
    def _n_sets(self) -> int:
        """Bitsets of all variables but for the last of each."""
        return int((self.size[self._with_bitsets] - 1).sum())

    @cached_property
    def _n_bytes(self) -> int:
        """About as many bytes as the half bytes take."""
        halves = sum(math.log(size) for size in self._sizes if size <= HALF) / math.log(12.0)
        return math.ceil(halves / 2) + sum(HALF < size <= WHOLE for size in self._sizes)

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return self.table.packed.bits(self.names[v] for v in self._with_bitsets)

    @cached_property
    def _planes(self) -> NDArray[np.uint8]:
        return self.table.packed.planes(self.names)

    @cached_property
    def _half_bytes(self) -> HalfBytes:
        columns = [self.table.column(name).data for name in self.names]
        return pack_half_bytes(columns, self._sizes)

    @cached_property
    def _pairs(self) -> Array | None:
        """(n, n): the score of each variable given each other, and alone; None: one by one."""
        from jensen.kernels.pair_information import score_pairs

        if max(self._sizes) > MOST_PAIRED_STATES or self._n_sets > MOST_MEETINGS:
            return None
        meetings, n = count_meetings(self.table, self.names), len(self.names)
        out = np.empty((n, n))
        score_pairs(meetings, self.size, self.table.n_rows, self.kind, self.amount, out)
        return out

    def _others(self, among: Ints, family: Sequence[int]) -> Ints:
        """Those that are not of the family."""
        is_other = np.ones(len(self.names), bool)
        is_other[list(family)] = False
        return among[is_other[among]]

    def _apart(self, others: Ints, n_cells: int) -> tuple[Ints, int]:
        """(n,): where the counts of each of the others begin, -1 for the rest; and their number."""
        at, size = np.full(len(self.names), -1, np.int64), n_cells * self.size[others]
        at[others] = size.cumsum() - size
        return at, int(size.sum())

    def _with_bits(self, cells: Cells, n: int, out: Array) -> tuple[Counts, list[int]]:
        """Score what has bitsets."""
        from jensen.kernels.further_parents import score_with_bits

        chosen = np.array(cells.family, np.int64)
        others = self._others(self._with_bitsets, cells.family)
        at, n_counts = self._apart(others, cells.n_cells)
        counts = np.empty(n_counts, np.int32)
        parts = [np.ascontiguousarray(others[k::n]) for k in range(n)]
        tables = [np.empty(cells.n_cells, np.int32) for _ in parts]
        bits = self._bits  # filled before there are threads that would wait for it

        def score(k: int) -> None:
            score_with_bits(
                bits, self.first, self.size, chosen, parts[k], self.kind, self.amount,
                tables[k], at, counts, out,
            )  # fmt: skip

        run_all(score, range(n))
        self._keep(Kept(cells.family, tables[0], at, counts, others, self._without_bits))
        return tables[0], self._without_bits

    def _with_bytes(self, cells: Cells, n: int, out: Array) -> tuple[Counts, list[int]]:
        """Score what stands in bytes."""
        from jensen.kernels.further_parents import score_with_bytes

        plane, stride = self._strides(cells.family)
        parts, size, planes = self._byte_parts(n), cells.n_cells, self._planes
        tables = [np.empty(size, np.int32) for _ in parts]
        rooms = [self._room(k, 1024 * size).reshape(4, -1) for k in range(len(parts))]
        others = self._others(self._in_bytes, cells.family)
        at, n_counts = self._apart(others, size)
        is_kept = not len(cells.place) and n_counts <= KEPT_COUNTS
        if not is_kept:  # one after the other
            at, n_counts = np.minimum(at, 0), size * int(self.size[others].max(initial=1))
        counts = [np.empty(n_counts, np.int32) for _ in range(1 if is_kept else len(parts))]

        def score(k: int) -> None:
            score_with_bytes(
                planes, plane, stride, cells.place, parts[k], self.size, cells.n_states,
                cells.n_configs, self.kind, self.amount, rooms[k], tables[k], at,
                counts[k % len(counts)], out,
            )  # fmt: skip

        run_all(score, range(len(parts)))
        if is_kept:
            self._keep(Kept(cells.family, tables[0], at, counts[0], others, self._without_bytes))
        return (tables[0] if cells.table is None else cells.table), self._without_bytes

    def _keep(self, found: Kept) -> None:
        """Keep the counts of a family as long as there is room."""
        self._n_kept += found.counts.size
        if self._n_kept > KEPT_COUNTS:
            self._kept.clear()
            self._n_kept = found.counts.size
        self._kept[tuple(sorted(found.family))] = found

    def _with_columns(self, cells: Cells, n: int, out: Array) -> tuple[Counts, list[int]]:
        """Score all, one after the other."""
        from jensen.kernels.further_parents import score_with_columns

        plane, stride = self._strides(cells.family)
        others, planes = self._others(self._by_size, cells.family), self._planes
        parts = [np.ascontiguousarray(others[k::n]) for k in range(n)]

        def score(k: int) -> None:
            score_with_columns(
                planes, plane, stride, cells.place, self._columns, parts[k], cells.n_states,
                cells.n_cells, cells.n_configs, self.kind, self.amount, out,
            )  # fmt: skip

        run_all(score, range(n))
        return (self._count_index(cells.family) if cells.table is None else cells.table), []

    def _room(self, part: int, size: int) -> Counts:
        """Memory of any content, used again and again: fresh one costs more than what is done."""
        if part not in self._rooms or self._rooms[part].size < size:
            self._rooms[part] = np.empty(size, np.int32)
        return self._rooms[part][:size]

    def _family(self, child: int, parents: Sequence[int]) -> tuple[float, Array]:
        """The score of a family and of those with a parent less; the last is remembered."""
        key = (child, tuple(parents))
        if self._last is not None and self._last[:2] == key:
            return self._last[2:]
        cells = math.prod(self._sizes[v] for v in (child, *parents))
        if cells > min(MOST_COUNTS, max(1 << 16, self.table.n_rows)):
            found = self.plain.family(*key), self.plain.without_each(*key)
            self._last = (*key, *found)
            return found
        return self._remember(child, parents, self._count_index((child, *parents)))

    def _remember(self, child: int, parents: Sequence[int], table: Counts) -> tuple[float, Array]:
        from jensen.kernels.local_terms import score_family

        less = np.empty(len(parents))
        sizes = np.array([self._sizes[p] for p in parents], np.int64)
        here = score_family(table, sizes, self._sizes[child], self.kind, self.amount, less)
        self._last = (child, tuple(parents), here, less)
        return here, less

    def _count_index(self, family: Sequence[int]) -> Counts:
        """The table of a family."""
        from jensen.kernels.counting import count_index

        plane, stride = self._strides(family)
        cells = math.prod(self._sizes[v] for v in family)
        ptr, at = np.array([0, len(plane)], np.int64), np.array([0, cells], np.int64)
        lanes = np.zeros((4 if cells <= MAX_LANED_CELLS else 1, cells), np.int32)
        count_index(self._planes, ptr, plane, stride, at, 0, self.table.n_rows, lanes)
        return np.asarray(lanes.sum(0, dtype=np.int32))

    def _strides(self, family: Sequence[int]) -> tuple[Ints, Ints]:
        """The byte planes of a family, and what each adds to the position in its table."""
        plane: list[int] = []
        stride: list[int] = []
        step = 1
        for v in reversed(family):
            planes = self.levels[v].planes
            plane.extend(planes)
            stride.extend(step * 256**k for k in range(len(planes)))
            step *= self._sizes[v]
        return np.array(plane, np.int64), np.array(stride, np.int64)
