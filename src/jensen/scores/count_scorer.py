"""Local scores of categorical tables by compiled counting: all further parents in one pass."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, get_threads
from jensen.data.counting import MAX_LANED_CELLS
from jensen.data.half_bytes import HALF, WHOLE, HalfBytes, pack_half_bytes
from jensen.data.threads import ordered_map
from jensen.scores.plain_scorer import PlainScorer

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[np.int32]
Scored = tuple[Counts, list[int]]
"""The table of the family itself, and variables that are still to be scored."""

NS_PER_WORD, NS_PER_CALL = 0.27, 9.0
"""What one bitset costs per word and per 256 words; measured, like the next."""

NS_PER_BYTE, NS_PER_BYTE_CELL = 0.65, 128.0
"""What one byte of half bytes costs per row and per cell of the family."""

NS_PER_INDEX = 1.2
"""What one row costs when a family is counted by itself."""

MOST_COUNTS = 1 << 23
"""The most counts that are held at once; larger families are counted by sorting."""

LONG = 1 << 17
"""Tables of fewer rows are counted by one thread."""


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
        self.size = np.array([level.size for level in self.levels], np.int64)
        self.first = np.array([level.bits.start for level in self.levels], np.int64)
        self._sizes: list[int] = self.size.tolist()
        self._all = list(range(len(self.names)))
        # those of one size stand together: neighbours in this list share what a score prepares
        self._by_size = sorted(self._all, key=lambda v: self._sizes[v])
        self._with_bitsets = [v for v in self._by_size if len(self.levels[v].bits)]
        self._without_bits = [v for v in self._all if not len(self.levels[v].bits)]
        self._without_bytes = [v for v in self._all if self._sizes[v] > WHOLE]
        self._last: tuple[int, tuple[int, ...], float, Array] | None = None

    @property
    def is_set_function(self) -> bool:
        """As the score says."""
        return self.plain.is_set_function

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
        family = (*parents, child)
        cells = math.prod(self._sizes[v] for v in family)
        out = np.full(len(self.names), np.nan)
        costs = self._costs(family, cells)
        way = min(costs, key=lambda name: costs[name])
        table, left = None, self._all
        if costs[way] < math.inf:
            table, left = getattr(self, way)(family, cells, out)
            self._remember(child, parents, table)
        if left:
            self.plain.with_some(child, parents, [u for u in left if u not in family], out)
        return out

    def _costs(self, family: Sequence[int], cells: int) -> dict[str, float]:
        """What each way of counting takes, in ns; ∞ where it cannot be done."""
        n_rows, words = self.table.n_rows, self.table.n_rows / 64
        a_set = NS_PER_WORD * words + NS_PER_CALL * (1.0 + words / 256)
        costs = {
            "_with_bits": cells * self._n_sets * a_set,
            "_with_bytes": self._n_bytes * (NS_PER_BYTE * n_rows + NS_PER_BYTE_CELL * cells),
            "_with_index": len(self.names) * n_rows * NS_PER_INDEX,
        }
        if self._without_bits and any(v in self._without_bits for v in family):
            costs["_with_bits"] = math.inf
        if cells * self._n_bytes > MOST_COUNTS // 256:
            costs["_with_bytes"] = math.inf
        if cells * max(self._sizes) > MOST_COUNTS:
            costs["_with_index"] = costs["_with_bits"] = math.inf
        return costs

    @cached_property
    def _n_sets(self) -> int:
        """Bitsets of all variables but for the last of each."""
        return sum(self._sizes[v] - 1 for v in self._with_bitsets)

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
        return pack_half_bytes(columns, self.size.tolist())

    def _with_bits(self, family: Sequence[int], cells: int, out: Array) -> Scored:
        """Score what has bitsets."""
        chosen = set(family)
        others = np.array([u for u in self._with_bitsets if u not in chosen], np.int64)
        counts, at = self._count_bits(family, others)
        self._score_tables(family, cells, counts, others, at, out)
        return counts[:cells], self._without_bits

    def _with_index(self, family: Sequence[int], cells: int, out: Array) -> Scored:
        """Score all, one after the other."""
        chosen = set(family)
        others = [u for u in self._by_size if u not in chosen]
        for some in _batches(others, [cells * self._sizes[u] for u in others]):
            counts, at = self._count_index([(*family, u) for u in some])
            self._score_tables(family, cells, counts, np.array(some, np.int64), at, out)
        return self._count_index([family])[0], []

    def _score_tables(
        self, family: Sequence[int], cells: int, counts: Counts, others: Ints, at: Ints, out: Array
    ) -> None:
        from jensen.kernels.further_parents import score_tables

        r = self._sizes[family[-1]]
        score_tables(counts, self.size, others, at, cells // r, r, self.kind, self.amount, out)

    def _count_bits(self, family: Sequence[int], others: Ints) -> tuple[Counts, Ints]:
        """Tables of the family and of it with each of the others, and where these begin."""
        from jensen.kernels.further_parents import count_with_bits

        chosen = np.array(family, np.int64)
        cells = math.prod(self._sizes[v] for v in family)
        at = np.empty(len(others) + 1, np.int64)
        at[0] = cells
        np.cumsum(self.size[others] * cells, out=at[1:])
        at[1:] += cells

        def count(start: int, stop: int) -> Counts:
            found = np.zeros(at[-1], np.int32)
            words = start // 64, -(-stop // 64)
            count_with_bits(self._bits, self.first, self.size, chosen, others, at, *words, found)
            return found

        return self._sum(count), at

    def _with_bytes(self, family: Sequence[int], cells: int, out: Array) -> Scored:
        """Score what stands in bytes."""
        from jensen.kernels.further_parents import count_with_bytes, score_with_bytes

        packed, (plane, stride) = self._half_bytes, self._strides(family)
        r = self._sizes[family[-1]]

        def count(start: int, stop: int) -> Counts:
            found = np.zeros((len(packed.bytes), 256 * cells), np.int32)
            count_with_bytes(self._planes, plane, stride, packed.bytes, start, stop, found)
            return found

        counts = self._sum(count)
        score_with_bytes(counts, *packed[1:], self.size, cells // r, r, self.kind, self.amount, out)
        table = np.asarray(counts[0].reshape(-1, 256).sum(1, dtype=np.int32))
        return table, self._without_bytes

    def _family(self, child: int, parents: Sequence[int]) -> tuple[float, Array]:
        """The score of a family and of those with a parent less; the last is remembered."""
        key = (child, tuple(parents))
        if self._last is not None and self._last[:2] == key:
            return self._last[2:]
        cells = math.prod(self._sizes[v] for v in (*parents, child))
        if cells > min(MOST_COUNTS, max(1 << 16, self.table.n_rows)):
            found = self.plain.family(*key), self.plain.without_each(*key)
            self._last = (*key, *found)
            return found
        return self._remember(child, parents, self._count((*parents, child), cells))

    def _remember(self, child: int, parents: Sequence[int], table: Counts) -> tuple[float, Array]:
        from jensen.kernels.local_terms import score_family

        less = np.empty(len(parents))
        sizes = self.size[np.array(parents, np.int64)]
        here = score_family(table, sizes, self._sizes[child], self.kind, self.amount, less)
        self._last = (child, tuple(parents), here, less)
        return here, less

    def _count(self, family: Sequence[int], cells: int) -> Counts:
        """The table of a family, flat, the child last."""
        if cells < NS_PER_INDEX * 64 / NS_PER_WORD and not self._without_bits:
            return self._count_bits(family, np.empty(0, np.int64))[0]
        return self._count_index([family])[0]

    def _count_index(self, families: Sequence[Sequence[int]]) -> tuple[Counts, Ints]:
        """Tables of families, and where each begins."""
        from jensen.kernels.counting import count_index

        parts = [self._strides(family) for family in families]
        plane, stride = (np.concatenate(x) for x in zip(*parts, strict=True))
        ptr = np.cumsum([0, *(len(planes) for planes, _ in parts)], dtype=np.int64)
        sizes = [math.prod(self._sizes[v] for v in family) for family in families]
        at = np.cumsum([0, *sizes], dtype=np.int64)
        lanes = 4 if at[-1] <= MAX_LANED_CELLS else 1

        def count(start: int, stop: int) -> Counts:
            found = np.zeros((lanes, at[-1]), np.int32)
            count_index(self._planes, ptr, plane, stride, at, start, stop, found)
            return np.asarray(found.sum(0, dtype=np.int32))

        return self._sum(count), at

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

    def _sum(self, count: Callable[[int, int], Counts]) -> Counts:
        """Counts of all rows; whole numbers, so it does not matter how rows are shared out."""
        parts = list(_shares(self.table.n_rows))
        if len(parts) == 1:
            return count(*parts[0])
        return reduce(np.add, ordered_map(lambda part: count(*part), parts))


def _shares(n_rows: int) -> Iterator[tuple[int, int]]:
    """Rows for each thread, in words of 64."""
    threads = get_threads() if n_rows >= LONG else 1
    size = max(64, -(-n_rows // threads // 64) * 64)
    for start in range(0, max(n_rows, 1), size):
        yield start, min(start + size, n_rows)


def _batches(items: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Items whose tables are not too large together."""
    batch: list[int] = []
    total = 0
    for item, size in zip(items, sizes, strict=True):
        if batch and total + size > MAX_LANED_CELLS:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch
