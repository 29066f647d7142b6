"""Sequences cut into blocks of rows that fit a processor's cache."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Group(NamedTuple):
    """Some whole sequences in one block, or a long one in several."""

    start: int  # sequences
    stop: int
    blocks: tuple[tuple[int, int], ...]  # rows


def groups(ptr: Ints, size: int) -> Iterator[Group]:
    """All sequences, in blocks of at most `size` rows; without any, one empty group."""
    start, end = 0, len(ptr) - 1
    if end == 0:
        yield Group(0, 0, ((0, 0),))
    while start < end:
        row = int(ptr[start])
        stop = int(np.searchsorted(ptr, row + size, side="right")) - 1
        if stop > start:
            yield Group(start, stop, ((row, int(ptr[stop])),))
        else:
            stop, last = start + 1, int(ptr[start + 1])
            cuts = (*range(row, last, size), last)
            yield Group(start, stop, tuple(pairwise(cuts)))
        start = stop


def spans(group: Group, ptr: Ints, block: tuple[int, int], chosen: Ints) -> Ints:
    """(m, 2): where in a block each chosen sequence of its group begins and ends."""
    a, b = block
    found = np.empty((len(chosen), 2), np.int64)
    np.maximum(ptr[group.start + chosen], a, out=found[:, 0])
    np.minimum(ptr[group.start + chosen + 1], b, out=found[:, 1])
    found -= a
    return found
