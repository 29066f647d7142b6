"""Categorical columns as the counting kernels read them: bytes and bitsets, filled once.

Both matrices are allocated whole. The bytes of a small table are copied at once. Of a large one
only the rows of variables that are counted are filled; untouched pages cost no memory. Columns of
few states are also packed several to a byte (`pack_half_bytes`).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, count, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.support.machine import ordered_map
from jensen.support.row_records import HalfBytes

MAX_PACKED_STATES = 64
"""A variable with more states is never counted by bitsets: they would be larger than its codes."""

LONG = 1 << 16
"""Columns of fewer rows are filled by one thread."""

SMALL = 1 << 22
"""Up to so many one-byte codes all columns are copied in one call, which is faster."""

Ints = NDArray[np.int64]


class Level(NamedTuple):
    """Where one variable stands in the two matrices."""

    size: int  # how many codes occur: the states, and one more if something is missing
    planes: range  # its bytes in `planes`, least significant first
    bits: range  # its bitsets in `bits`, one per code; empty if it has too many states


class Packed:
    """Bytes (P, N) and bitsets (S, W) of the categorical columns of one table.

    Missing is the last code, and kernels count it like a state.

    Parameters
    ----------
    columns, n_rows
        Of the table; only categorical ones are packed.
    incomplete
        Columns that get a code for missing even if these rows miss nothing: other rows do.
    """

    def __init__(
        self, columns: Mapping[str, Column], n_rows: int, incomplete: Collection[str] = ()
    ) -> None:
        categorical = [x for x in columns.values() if x.variable.kind == "categorical"]
        # Those of one byte come first, so that they can be copied together.
        categorical.sort(key=lambda column: column.data.itemsize)
        self._columns = {column.variable.name: column for column in categorical}
        self.n_rows = n_rows
        self._widths = [column.data.itemsize for column in categorical]
        self._planes = np.empty((sum(self._widths), n_rows), np.uint8)
        self._planes_filled: set[str] = set()
        self._bits_filled: set[str] = set()
        self._is_small = self._widths.count(1) * n_rows <= SMALL
        tops = self._largest_codes()
        n_states = [len(column.variable.states) for column in categorical]
        for k, name in enumerate(self._columns) if incomplete else ():
            tops[k] = max(tops[k], n_states[k] * (name in incomplete))
        self._sizes = [n if n > top else top + 1 for n, top in zip(n_states, tops, strict=True)]
        self._n_bits = [size if size <= MAX_PACKED_STATES else 0 for size in self._sizes]
        self._bits = np.empty((sum(self._n_bits), (n_rows + 63) // 64), np.uint64)
        # Whether every column of the table is categorical, and misses nothing.
        self.is_complete = len(columns) == len(categorical) and self._sizes == n_states

    @cached_property
    def levels(self) -> dict[str, Level]:
        """Where each variable stands."""
        levels = map(Level, self._sizes, _ranges(self._widths), _ranges(self._n_bits))
        return dict(zip(self._columns, levels, strict=True))

    def size_of(self, name: str) -> int:
        """How many codes of a variable occur: its states, and one more if something is missing."""
        places, index = self._places
        return int(places[2, index[name]])

    def places(self, names: Iterable[str]) -> Ints:
        """(3, n): of these variables the first byte, the first bitset, and how many codes occur."""
        places, index = self._places
        return places.take(np.array([index[name] for name in names], np.intp), axis=1)

    @cached_property
    def _places(self) -> tuple[Ints, dict[str, int]]:
        """Places of all variables and the index of each; faster than making all levels."""
        firsts = [list(accumulate(x, initial=0))[:-1] for x in (self._widths, self._n_bits)]
        return np.array([*firsts, self._sizes], np.int64), dict(zip(self._columns, count()))

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
            self._fill_bits(self.planes(todo), self.places(todo))  # 64 states at most
        else:
            self._for_each(todo, self._fill_bits_of)
        self._bits_filled.update(todo)
        return self._bits

    def _largest_codes(self) -> list[int]:
        """The largest code of each column; n_states stands for missing.

        Also fills the bytes of the columns that are copied together.
        """
        columns = [column.data for column in self._columns.values()]
        n = self._widths.count(1) if self._is_small else 0
        tops: list[int] = []
        if n:
            planes = self._planes[:n]
            np.concatenate(columns[:n], out=planes.reshape(-1), casting="unsafe")
            self._planes_filled.update(islice(self._columns, n))
            tops = np.maximum.reduce(planes, axis=1, initial=0).tolist()
        return tops + [int(np.maximum.reduce(codes, initial=0)) for codes in columns[n:]]

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
        place = self.places([name])
        place[0] = 0
        self._fill_bits(codes[None], place)

    def _fill_bits(self, codes: NDArray[np.uint8], places: Ints) -> None:
        """Fill the bitsets of variables whose codes are in rows places[0] of `codes`."""
        from jensen.kernels.counting import pack_bits

        pack_bits(codes, *places, self._bits)


def _ranges(lengths: Iterable[int]) -> list[range]:
    """Ranges of these lengths, one after the other."""
    ends = list(accumulate(lengths, initial=0))
    return list(map(range, ends, ends[1:]))


def _without(names: Iterable[str], done: set[str]) -> list[str]:
    wanted = dict.fromkeys(names)
    return [] if done.issuperset(wanted) else [name for name in wanted if name not in done]


# --- several columns to a byte ---

HALF, WHOLE = 16, 256
"""The most states of variables that share half a byte, and of one that has a byte."""

WIDE = 2
"""`half` of a variable that fills a byte; the others have half 0 or 1."""


def pack_half_bytes(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> HalfBytes:
    """Pack columns of few states several to a byte: counting the bytes counts all of them.

    A byte has two halves, and a half holds variables whose numbers of states multiply to 16 at
    most. A variable of up to 256 states has a byte of its own; one of more has none.

    Parameters
    ----------
    columns
        V columns of codes, (N,) each.
    sizes
        (V,): how many states each column has; its codes are below.
    """
    halves = _fill_halves(sizes)
    wide = [v for v, size in enumerate(sizes) if HALF < size <= WHOLE]
    n_bytes = (len(halves) + 1) // 2 + len(wide)
    packed = np.empty((n_bytes, len(columns[0]) if columns else 0), np.uint8)
    member: list[tuple[int, int, int]] = []
    ptr = [0]
    for g in range(n_bytes - len(wide)):
        for half, variables in enumerate(halves[2 * g : 2 * g + 2]):
            divide = 1
            for v in variables:
                member.append((v, half, divide))
                divide *= sizes[v]
        ptr.append(len(member))
    for v in wide:
        member.append((v, WIDE, 1))
        ptr.append(len(member))

    def fill(g: int) -> None:
        room = np.empty_like(packed[g])
        for k, (v, half, divide) in enumerate(member[ptr[g] : ptr[g + 1]]):
            factor = np.uint8(divide << 4 * (half % 2))
            out = room if k else packed[g]
            np.multiply(columns[v], factor, out=out, dtype=np.uint8, casting="unsafe")
            if k:
                packed[g] += room

    is_long = packed.shape[1] >= LONG
    for _ in ordered_map(fill, range(n_bytes)) if is_long else map(fill, range(n_bytes)):
        pass
    fields = np.array(member, np.int64).reshape(-1, 3).T
    return HalfBytes(packed, np.array(ptr, np.int64), *(np.ascontiguousarray(f) for f in fields))


def cut_bytes(packed: HalfBytes, n: int) -> list[HalfBytes]:
    """Cut into n parts with about equally many bytes each; fewer if there are fewer bytes."""
    cuts = np.linspace(0, len(packed.bytes), n + 1).astype(int)
    return [
        packed._replace(bytes=packed.bytes[a:b], ptr=packed.ptr[a : b + 1])
        for a, b in pairwise(cuts)
        if a < b
    ]


def _fill_halves(sizes: Sequence[int]) -> list[list[int]]:
    """Variables of each half byte, by first fit, the largest first."""
    halves: list[list[int]] = []
    products: list[int] = []
    for v in sorted(range(len(sizes)), key=lambda v: -sizes[v]):
        if sizes[v] > HALF:
            continue
        for h, product in enumerate(products):
            if product * sizes[v] <= HALF:
                halves[h].append(v)
                products[h] *= sizes[v]
                break
        else:
            halves.append([v])
            products.append(sizes[v])
    return halves
