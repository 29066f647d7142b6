"""Categorical columns as the counting kernels read them: bytes and bitsets, filled lazily, once.

Both matrices are allocated whole but untouched; only rows of variables that somebody counts are
filled, and pages that nobody touches cost no memory.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.data.threads import ordered_map

MAX_PACKED_STATES = 64
"""A variable with more states is never counted by bitsets: they would be larger than its codes."""


LONG = 1 << 16
"""Columns of fewer rows are filled by one thread."""


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
        self._columns = {
            name: column
            for name, column in columns.items()
            if column.variable.kind == "categorical"
        }
        self.n_rows = n_rows
        self._planes_filled: set[str] = set()
        self._bits_filled: set[str] = set()
        self.levels: dict[str, Level] = {}
        n_planes = n_bits = 0
        for name, column in self._columns.items():
            # Codes run to n_states, which stands for missing, and the largest is found quickly.
            n_states = column.variable.n_states
            top = np.maximum.reduce(column.data, initial=0)
            size = max(n_states + int(top == n_states > 0), 1)
            planes = range(n_planes, n_planes + column.data.dtype.itemsize)
            bits = range(n_bits, n_bits + (size if size <= MAX_PACKED_STATES else 0))
            self.levels[name] = Level(size, planes, bits)
            n_planes, n_bits = planes.stop, bits.stop
        self._planes = np.empty((n_planes, n_rows), np.uint8)
        self._bits = np.empty((n_bits, (n_rows + 63) // 64), np.uint64)

    def planes(self, names: Iterable[str]) -> NDArray[np.uint8]:
        """The matrix of bytes, in which the rows of these variables are filled."""
        self._fill(names, self._planes_filled, self._fill_planes)
        return self._planes

    def bits(self, names: Iterable[str]) -> NDArray[np.uint64]:
        """The matrix of bitsets, in which the rows of these variables are filled."""
        self._fill(names, self._bits_filled, self._fill_bits)
        return self._bits

    def _fill(self, names: Iterable[str], filled: set[str], fill: Callable[[str], None]) -> None:
        todo = [name for name in dict.fromkeys(names) if name not in filled]
        is_long = self.n_rows >= LONG  # a pool of threads costs more than a short column
        for _ in ordered_map(fill, todo) if is_long else map(fill, todo):
            pass
        filled.update(todo)

    def _fill_planes(self, name: str) -> None:
        codes = np.ascontiguousarray(self._columns[name].data)
        digits = codes.astype(codes.dtype.newbyteorder("<"), copy=False).view(np.uint8)
        rows = self.levels[name].planes
        for k, row in enumerate(rows):  # one by one: NumPy is slow where an inner axis is short
            self._planes[row] = digits[k :: len(rows)]

    def _fill_bits(self, name: str) -> None:
        from jensen.kernels.counting import pack_bits

        level, codes = self.levels[name], self._columns[name].data
        flags = codes.flags
        if codes.dtype != np.uint8 or not (flags.c_contiguous and flags.writeable):
            codes = np.require(codes, np.uint8, ["C", "W"])  # 64 states at most
        pack_bits(codes, self._bits, level.bits.start, level.size)
