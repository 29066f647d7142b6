"""Large arrays whose memory is used again.

The system gives large arrays fresh pages every time, and takes them back when they are gone; for
arrays that live for a moment that costs more than what is done in them, and threads wait for each
other there.
"""

import math
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP = 1 << 16
MOST_KEPT = 1 << 26
"""Bytes that may wait for their next use."""

_free: dict[int, list[bytearray]] = {}
_in_use: dict[int, tuple[weakref.ref[NDArray[Any]], bytearray]] = {}


def recycled(*shape: int) -> NDArray[np.float64]:
    """An array of any content; its memory is used again when no array looks at it any more.

    Examples
    --------
    >>> recycled(2, 3).shape
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
    # views of it look at this array, not at the memory, for which NumPy cannot ask
    whole = np.frombuffer(memory, np.float64)
    key = id(memory)
    _in_use[key] = weakref.ref(whole, lambda _: _release(key)), memory
    return whole[: math.prod(shape)].reshape(shape)


def _release(key: int) -> None:
    _, memory = _in_use.pop(key)
    waiting = sum(size * len(some) for size, some in list(_free.items()))
    if waiting + len(memory) <= MOST_KEPT:
        _free.setdefault(len(memory), []).append(memory)
