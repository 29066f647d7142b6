"""Columns of few states packed several to a byte: counting the bytes counts all of them.

A byte has two halves, and a half holds variables whose numbers of states multiply to 16 at most. A
variable of up to 256 states has a byte of its own; one of more has none.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.threads import ordered_map
from jensen.support.row_records import HalfBytes

HALF, WHOLE = 16, 256
WIDE = 2
"""`half` of a variable that fills a byte; the others have half 0 or 1."""

LONG = 1 << 16
"""Columns of fewer rows are packed by one thread."""

Ints = NDArray[np.int64]


def pack_half_bytes(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> HalfBytes:
    """Pack columns of codes below these sizes."""
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


def cut(packed: HalfBytes, n: int) -> list[HalfBytes]:
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
