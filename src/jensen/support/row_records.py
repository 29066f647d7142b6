"""Records of arrays that rows, hidden states and their kernels share."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class HalfBytes(NamedTuple):
    """Packed bytes, and which variables each holds."""

    bytes: NDArray[np.uint8]  # (bytes, N)
    ptr: Ints  # (bytes + 1,)
    member: Ints  # byte g holds member[ptr[g]:ptr[g + 1]]
    half: Ints  # the half of each member
    divide: Ints  # a member is (half byte // divide) modulo its size


SHARED = 1 << 16
"""Rows of a unit; zeros of so many are kept."""


class ColumnRows(NamedTuple):
    """Rows, as columns."""

    codes: NDArray[np.int32]  # (C, n): labels; missing is the code after the last
    numbers: Array  # (R, n): missing is NaN
    counts: Array  # (P, n): missing is NaN
    base: Array  # (n,): what is known of a row whatever θ is

    @classmethod
    def of(
        cls,
        n: int,
        codes: NDArray[np.int32] | None = None,
        numbers: Array | None = None,
        counts: Array | None = None,
        base: Array | None = None,
    ) -> "ColumnRows":
        """Columns of one kind; there are none of the others."""
        return cls(
            np.empty((0, n), np.int32) if codes is None else codes,
            np.empty((0, n)) if numbers is None else numbers,
            np.empty((0, n)) if counts is None else counts,
            _zeros(n) if base is None else base,
        )

    @classmethod
    def joined(cls, parts: "Sequence[ColumnRows]") -> "ColumnRows":
        """The columns of all parts."""
        return cls(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.sum([part.base for part in parts], axis=0),
        )

    def split(self, parts: "Sequence[ColumnRows]") -> "Iterator[ColumnRows]":
        """Views of the columns that came from each part."""
        a, b, c = 0, 0, 0
        for part in parts:
            i, j, k = a + len(part.codes), b + len(part.numbers), c + len(part.counts)
            yield ColumnRows(self.codes[a:i], self.numbers[b:j], self.counts[c:k], part.base)
            a, b, c = i, j, k


class ColumnTables(NamedTuple):
    """How likely values are under each of K states, and what is expected where one is missing."""

    constant: Array  # (K,)
    at: NDArray[np.int64]  # (C + 1,): where the labels of each column begin
    labels: Array  # (K, T): log probabilities; the last of a column is that of a missing label
    mean: Array  # (K, R)
    precision: Array  # (K, R)
    unseen: Array  # (K, R): the log potential of a missing number
    square: Array  # (K, R): the expected square of one
    log_rate: Array  # (K, P)
    rate: Array  # (K, P)
    uncounted: Array  # (K, P): the log potential of a missing count
    expected: Array  # (K, P): the expected one

    @classmethod
    def of(
        cls,
        n_states: int,
        constant: Array | None = None,
        labels: Array | None = None,
        numbers: tuple[Array, ...] | None = None,
        counts: tuple[Array, ...] | None = None,
    ) -> "ColumnTables":
        """Columns of one kind; labels (K, C, V) stand one column after the other."""
        none = np.empty((n_states, 0))
        n_columns, width = (0, 0) if labels is None else labels.shape[1:]
        return cls(
            np.zeros(n_states) if constant is None else constant,
            np.arange(n_columns + 1) * width,
            none if labels is None else labels.reshape(n_states, -1),
            *((none,) * 4 if numbers is None else numbers),
            *((none,) * 4 if counts is None else counts),
        )

    @classmethod
    def joined(cls, parts: "Sequence[ColumnTables]") -> "ColumnTables":
        """The columns of all parts."""
        constants, places, *tables = zip(*parts, strict=True)
        widths = np.concatenate([np.diff(at) for at in places])
        at = np.concatenate([[0], np.cumsum(widths)])
        return cls(
            np.sum(constants, axis=0), at, *(np.concatenate(some, axis=1) for some in tables)
        )


class ColumnSums(NamedTuple):
    """What rows add up to, by the shares that states have of them."""

    labels: Array  # (K, T)
    first: Array  # (K, R): Σ x
    second: Array  # (K, R): Σ x²
    totals: Array  # (K, P): Σ x
    unused: Array  # (K, P): what the kernel of both moments makes of counts

    @classmethod
    def zero(cls, tables: ColumnTables) -> "ColumnSums":
        """Nothing added yet."""
        return cls(*(np.zeros(x.shape) for x in _shaped(tables)))

    def split(self, parts: Sequence[ColumnTables]) -> "Iterator[ColumnSums]":
        """What belongs to the columns of each part."""
        a = [0] * 5
        for part in parts:
            b = [start + x.shape[1] for start, x in zip(a, _shaped(part), strict=True)]
            yield ColumnSums(*(x[:, i:j] for x, i, j in zip(self, a, b, strict=True)))
            a = b


def _zeros(n: int) -> Array:
    """Zeros that nobody writes to; units of one size share them."""
    return _shared_zeros(n) if n <= SHARED else np.zeros(n)


@lru_cache(maxsize=4)
def _shared_zeros(n: int) -> Array:
    return np.zeros(n)


def _shaped(tables: ColumnTables) -> tuple[Array, ...]:
    """Tables with the shapes of the sums."""
    return tables.labels, tables.mean, tables.mean, tables.rate, tables.rate


class ChainTables(NamedTuple):
    """A chain in linear space; wide tables have at least the eight columns that kernels read."""

    first: Array  # (K,)
    wide: Array  # (K, at least 8): the transitions
    wide_t: Array  # (K, at least 8): and transposed
    last: Array  # (K,)


class ChainSums(NamedTuple):
    """What kernels add up over sequences, by weight."""

    first: Array  # (K,): states of first steps
    pairs: Array  # (K, K): of neighbouring steps, yet to be multiplied by the transitions
    last: Array  # (K,): states of last steps
    states: Array  # (K,): of all steps

    @classmethod
    def zero(cls, n_states: int) -> "ChainSums":
        """Nothing added yet."""
        K = n_states
        return cls(np.zeros(K), np.zeros((K, K)), np.zeros(K), np.zeros(K))


# --- chains whose rows are worked on in batches ---

BATCH_ENTRIES = 1 << 13  # rows times states of a batch, which stays in the cache


def room_size(spans: NDArray[np.int64], n_states: int) -> int:
    """How large a room the sequences with these spans need."""
    longest = (spans[:, 1] - spans[:, 0]).max(initial=0)
    return int(longest + BATCH_ENTRIES // n_states + 1) * (3 * n_states + 2)
