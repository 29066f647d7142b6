"""Local scores of categorical tables by compiled counting: all further parents in one pass."""

import math
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import MAX_LANED_CELLS
from jensen.data.half_bytes import HALF, WHOLE, HalfBytes, cut, pack_half_bytes
from jensen.data.threads import n_parts, run_parts
from jensen.scores.plain_scorer import PlainScorer

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[np.int32]
Scored = tuple[Counts, list[int]]
"""The table of the family itself, and variables that are still to be scored."""

NS_PER_WORD, NS_PER_CALL = 0.19, 9.0
"""What one bitset costs per word and per 256 words; measured, like the next."""

NS_PER_BYTE, NS_PER_HALVES = 0.6, 260.0
"""What one byte of half bytes costs per row and per cell of the family."""

NS_PER_INDEX = 1.2
"""What one row costs when a family is counted by itself."""

NS_PER_COUNT = 2.0
"""What the score of one cell takes."""

MOST_COUNTS = 1 << 23
"""The most counts that are held at once; larger families are counted by sorting."""

LONG = 1e6
"""Work that takes less, in ns, is not shared out to threads."""


class Turned(NamedTuple):
    """What was found about a pair of variables the other way round, from the same counts."""

    family: tuple[int, ...]
    out: Array  # (n,)
    table: Counts
    left: list[int]  # still to be scored


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
        self._turned: Turned | None = None
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
        family = (*parents, child)
        if self._turned is not None and self._turned.family == family:
            _, out, table, left = self._turned
            self._remember(child, parents, table)
            return self._complete(child, parents, left, out)
        cells = math.prod(self._sizes[v] for v in family)
        costs = self._costs(family, cells)
        way = min(costs, key=lambda name: costs[name])
        out = np.full((2 if len(family) == 2 else 1, len(self.names)), np.nan)
        left = self._all
        if costs[way] < math.inf:
            n = n_parts() if costs[way] > LONG else 1
            table, left = getattr(self, way)(family, cells, n, out)
            self._remember(child, parents, table)
            if len(out) == 2 and way != "_with_index":
                turned = table.reshape(self.size[list(family)]).T.ravel()
                self._turned = Turned((child, *parents), out[1], turned, left)
        return self._complete(child, parents, left, out[0])

    def _complete(self, child: int, parents: Sequence[int], left: list[int], out: Array) -> Array:
        """Score by plain counting what is left."""
        if left:
            family = (*parents, child)
            self.plain.with_some(child, parents, [u for u in left if u not in family], out)
        return out

    def _costs(self, family: Sequence[int], cells: int) -> dict[str, float]:
        """What each way of counting takes, in ns; ∞ where it cannot be done."""
        n_rows, words = self.table.n_rows, self.table.n_rows / 64
        a_set = NS_PER_WORD * words + NS_PER_CALL * (1.0 + words / 256)
        scoring = NS_PER_COUNT * cells * self._n_states
        costs = {
            "_with_bits": cells * self._n_sets * a_set + scoring,
            "_with_bytes": self._n_bytes * (NS_PER_BYTE * n_rows + NS_PER_HALVES * cells) + scoring,
            "_with_index": len(self.names) * n_rows * NS_PER_INDEX + scoring,
        }
        if self._without_bits and any(v in self._without_bits for v in family):
            costs["_with_bits"] = math.inf
        if not self._n_bytes or cells * self._n_bytes > MOST_COUNTS // 256:
            costs["_with_bytes"] = math.inf
        if cells * max(self._sizes) > MOST_COUNTS:
            costs["_with_index"] = costs["_with_bits"] = math.inf
        return costs

    @cached_property
    def _n_states(self) -> int:
        return sum(self._sizes)

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
        return pack_half_bytes(columns, self._sizes)

    def _with_bits(self, family: tuple[int, ...], cells: int, n: int, out: Array) -> Scored:
        """Score what has bitsets."""
        from jensen.kernels.further_parents import score_with_bits

        chosen, members = np.array(family, np.int64), set(family)
        others = [u for u in self._with_bitsets if u not in members]
        parts = [np.array(others[k::n], np.int64) for k in range(n)]
        rooms = [self._room(k, cells * (1 + int(self.size[u].sum()))) for k, u in enumerate(parts)]

        bits = self._bits  # filled before there are threads that would wait for it

        def score(k: int) -> None:
            score_with_bits(
                bits, self.first, self.size, chosen, parts[k], self.kind, self.amount,
                rooms[k], out,
            )  # fmt: skip

        run_parts(score, range(n))
        return rooms[0][:cells], self._without_bits

    def _with_bytes(self, family: tuple[int, ...], cells: int, n: int, out: Array) -> Scored:
        """Score what stands in bytes."""
        from jensen.kernels.further_parents import score_with_bytes

        plane, stride = self._strides(family)
        r, parts = self._sizes[family[-1]], self._byte_parts(n)
        tables = [np.empty(cells, np.int32) for _ in parts]
        rooms = [
            self._room(k, 256 * cells * len(part.bytes)).reshape(-1, 256 * cells)
            for k, part in enumerate(parts)
        ]

        planes = self._planes

        def score(k: int) -> None:
            score_with_bytes(
                planes, plane, stride, parts[k], self.size, r, self.kind, self.amount,
                rooms[k], tables[k], out,
            )  # fmt: skip

        run_parts(score, range(len(parts)))
        return tables[0], self._without_bytes

    def _with_index(self, family: tuple[int, ...], cells: int, n: int, out: Array) -> Scored:
        """Score all, one after the other."""
        from jensen.kernels.further_parents import score_tables

        members = set(family)
        others = [u for u in self._by_size if u not in members]
        table, r = self._count_index([family])[0], self._sizes[family[-1]]

        def score(k: int) -> None:
            part = others[k::n]
            for some in _batches(part, [cells * self._sizes[u] for u in part]):
                counts, at = self._count_index([(*family, u) for u in some])
                chosen = np.array(some, np.int64)
                score_tables(
                    table, counts, self.size, chosen, at, r, self.kind, self.amount, out[0]
                )

        run_parts(score, range(n))
        return table, []

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
        cells = math.prod(self._sizes[v] for v in (*parents, child))
        if cells > min(MOST_COUNTS, max(1 << 16, self.table.n_rows)):
            found = self.plain.family(*key), self.plain.without_each(*key)
            self._last = (*key, *found)
            return found
        return self._remember(child, parents, self._count_index([(*parents, child)])[0])

    def _remember(self, child: int, parents: Sequence[int], table: Counts) -> tuple[float, Array]:
        from jensen.kernels.local_terms import score_family

        less = np.empty(len(parents))
        sizes = self.size[np.array(parents, np.int64)]
        here = score_family(table, sizes, self._sizes[child], self.kind, self.amount, less)
        self._last = (child, tuple(parents), here, less)
        return here, less

    def _count_index(self, families: Sequence[Sequence[int]]) -> tuple[Counts, Ints]:
        """Tables of families, and where each begins."""
        from jensen.kernels.counting import count_index

        parts = [self._strides(family) for family in families]
        plane, stride = (np.concatenate(x) for x in zip(*parts, strict=True))
        ptr = np.cumsum([0, *(len(planes) for planes, _ in parts)], dtype=np.int64)
        sizes = [math.prod(self._sizes[v] for v in family) for family in families]
        at = np.cumsum([0, *sizes], dtype=np.int64)
        lanes = np.zeros((4 if at[-1] <= MAX_LANED_CELLS else 1, int(at[-1])), np.int32)
        count_index(self._planes, ptr, plane, stride, at, 0, self.table.n_rows, lanes)
        return np.asarray(lanes.sum(0, dtype=np.int32)), at

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
