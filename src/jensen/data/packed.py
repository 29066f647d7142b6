"""Categorical columns as the counting kernels read them: bytes and bitsets, filled lazily, once.

Both matrices are allocated whole but untouched; only rows of variables that somebody counts are
filled, and pages that nobody touches cost no memory.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column

MAX_PACKED_STATES = 64
"""A variable with more states is never counted by bitsets: they would be larger than its codes."""


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
            size = max(column.variable.n_states + int(bool(column.missing().any())), 1)
            planes = range(n_planes, n_planes + column.data.dtype.itemsize)
            bits = range(n_bits, n_bits + (size if size <= MAX_PACKED_STATES else 0))
            self.levels[name] = Level(size, planes, bits)
            n_planes, n_bits = planes.stop, bits.stop
        self._planes = np.empty((n_planes, n_rows), np.uint8)
        self._bits = np.empty((n_bits, (n_rows + 63) // 64), np.uint64)

    def planes(self, names: Iterable[str]) -> NDArray[np.uint8]:
        """The matrix of bytes, in which the rows of these variables are filled."""
        for name in names:
            if name not in self._planes_filled:
                codes = np.ascontiguousarray(self._columns[name].data)
                digits = codes.astype(codes.dtype.newbyteorder("<"), copy=False).view(np.uint8)
                rows = self.levels[name].planes
                self._planes[rows.start : rows.stop] = digits.reshape(
                    self.n_rows, codes.dtype.itemsize
                ).T
                self._planes_filled.add(name)
        return self._planes

    def bits(self, names: Iterable[str]) -> NDArray[np.uint64]:
        """The matrix of bitsets, in which the rows of these variables are filled."""
        from jensen.kernels.counting import pack_bits

        for name in names:
            if name not in self._bits_filled:
                planes, level = self.planes([name]), self.levels[name]
                pack_bits(planes[level.planes.start], self._bits, level.bits.start, level.size)
                self._bits_filled.add(name)
        return self._bits
