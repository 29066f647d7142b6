"""Categorical columns as the counting kernels read them: bytes and bitsets, filled once.

Both matrices are allocated whole. The bytes of a small table are copied at once; else only rows of
variables that somebody counts are filled, and pages that nobody touches cost no memory.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.data.threads import ordered_map

MAX_PACKED_STATES = 64
"""A variable with more states is never counted by bitsets: they would be larger than its codes."""


LONG = 1 << 16
"""Columns of fewer rows are filled by one thread."""

SMALL = 1 << 22
"""Up to so many codes of one byte all columns go together: calls for each would take longer."""


class Level(NamedTuple):
    """Where one variable stands in the two matrices."""

    size: int  # how many codes occur: the states, and one more if something is missing
    planes: range  # its bytes in `planes`, least significant first
    bits: range  # its bitsets in `bits`, one per code; empty if it has too many states


class Packed:
    """Bytes (P, N) and bitsets (S, W) of the categorical columns of one table.

    Missing is the last code, so kernels need not know of it: they count it like a state.
    """

    def __init__(self, columns: Mapping[str, Column], n_rows: int) -> None:
        categorical = (item for item in columns.items() if item[1].variable.kind == "categorical")
        # Those of one byte come first, so that they can be copied together.
        self._columns = dict(sorted(categorical, key=lambda item: item[1].data.dtype.itemsize))
        self.n_rows = n_rows
        widths = [column.data.dtype.itemsize for column in self._columns.values()]
        self._planes = np.empty((sum(widths), n_rows), np.uint8)
        self._planes_filled: set[str] = set()
        self._bits_filled: set[str] = set()
        self._is_small = widths.count(1) * n_rows <= SMALL
        tops = self._copy(widths.count(1)) if self._is_small else []
        tops += [_top(column) for column in list(self._columns.values())[len(tops) :]]
        pairs = zip(self._columns.values(), tops, strict=True)
        sizes = [max(column.variable.n_states, top + 1) for column, top in pairs]
        n_bits = [size if size <= MAX_PACKED_STATES else 0 for size in sizes]
        levels = map(Level, sizes, _ranges(widths), _ranges(n_bits))
        self.levels = dict(zip(self._columns, levels, strict=True))
        self._bits = np.empty((sum(n_bits), (n_rows + 63) // 64), np.uint64)

    def planes(self, names: Iterable[str]) -> NDArray[np.uint8]:
        """The matrix of bytes, in which the rows of these variables are filled."""
        todo = _without(names, self._planes_filled)
        self._for_each(todo, self._fill_planes)
        self._planes_filled.update(todo)
        return self._planes

    def bits(self, names: Iterable[str]) -> NDArray[np.uint64]:
        """The matrix of bitsets, in which the rows of these variables are filled."""
        todo = _without(names, self._bits_filled)
        if self._is_small and todo:
            rows = [self.levels[name].planes.start for name in todo]  # 64 states at most
            self._fill_bits(self.planes(todo), rows, todo)
        else:
            self._for_each(todo, self._fill_bits_of)
        self._bits_filled.update(todo)
        return self._bits

    def _copy(self, n: int) -> list[int]:
        """Fill the bytes of the first n columns, of one byte each; returns their largest codes."""
        names = list(self._columns)[:n]
        if not names:
            return []
        codes = [self._columns[name].data for name in names]
        np.concatenate(codes, out=self._planes[:n].reshape(-1), casting="unsafe")
        self._planes_filled.update(names)
        tops: list[int] = np.maximum.reduce(self._planes[:n], axis=1, initial=0).tolist()
        return tops

    def _for_each(self, todo: Sequence[str], fill: Callable[[str], None]) -> None:
        is_long = self.n_rows >= LONG  # a pool of threads costs more than a short column
        for _ in ordered_map(fill, todo) if is_long else map(fill, todo):
            pass

    def _fill_planes(self, name: str) -> None:
        codes = np.ascontiguousarray(self._columns[name].data)
        digits = codes.astype(codes.dtype.newbyteorder("<"), copy=False).view(np.uint8)
        rows = self.levels[name].planes
        for k, row in enumerate(rows):  # one by one: NumPy is slow where an inner axis is short
            self._planes[row] = digits[k :: len(rows)]

    def _fill_bits_of(self, name: str) -> None:
        codes = np.require(self._columns[name].data, np.uint8, ["C", "W"])  # 64 states at most
        self._fill_bits(codes[None], [0], [name])

    def _fill_bits(
        self, codes: NDArray[np.uint8], rows: Sequence[int], names: Sequence[str]
    ) -> None:
        """Fill the bitsets of variables, whose codes stand in these rows."""
        from jensen.kernels.counting import pack_bits

        levels = [self.levels[name] for name in names]
        firsts, sizes = [level.bits.start for level in levels], [level.size for level in levels]
        pack_bits(codes, *(np.array(x, np.int64) for x in (rows, firsts, sizes)), self._bits)


def _ranges(lengths: Iterable[int]) -> list[range]:
    """Ranges of these lengths, one after the other."""
    ends = list(accumulate(lengths, initial=0))
    return list(map(range, ends, ends[1:]))


def _without(names: Iterable[str], done: set[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name not in done]


def _top(column: Column) -> int:
    """The largest code: they run to n_states, which stands for missing."""
    return int(np.maximum.reduce(column.data, initial=0))
