"""A pool of memory for large arrays that live for a moment.

The system gives a large array fresh pages every time and takes them back afterwards. For short-
lived arrays that costs more than the work in them, and threads wait for each other there.
"""

import math
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP = 1 << 16
"""Sizes are rounded up to multiples of this; smaller arrays are not pooled."""

MOST_KEPT = 1 << 26
"""The most bytes that the pool holds while nobody uses them."""

_free: dict[int, list[bytearray]] = {}
_in_use: dict[int, tuple[weakref.ref[NDArray[Any]], bytearray]] = {}


def pooled_array(*shape: int) -> NDArray[np.float64]:
    """An uninitialised array; its memory goes back to the pool when no view of it is left.

    Examples
    --------
    >>> pooled_array(2, 3).shape
    (2, 3)
    """
    n_bytes = 8 * math.prod(shape)
    size = -(-n_bytes // STEP) * STEP
    if n_bytes < STEP:
        return np.empty(shape)
    try:
        memory = _free[size].pop()
    except (KeyError, IndexError):
        memory = bytearray(size)
    # views refer to this array, so that its end is the end of all views
    whole = np.frombuffer(memory, np.float64)
    key = id(memory)
    _in_use[key] = weakref.ref(whole, lambda _: _release(key)), memory
    return whole[: math.prod(shape)].reshape(shape)


def _release(key: int) -> None:
    _, memory = _in_use.pop(key)
    waiting = sum(size * len(some) for size, some in list(_free.items()))
    if waiting + len(memory) <= MOST_KEPT:
        _free.setdefault(len(memory), []).append(memory)
