"""How much memory a piece of work may take, checked before it begins; arrays that are used again.

The system gives a large array fresh pages every time and takes them back afterwards. For arrays
that live for a moment that costs more than the work in them, and threads wait for each other there:
`pooled_array` takes their memory from a pool.
"""

import math
import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError, TooLargeError
from jensen.support.arguments import is_real

UNKNOWN = 8 << 30
"""Bytes that a machine is assumed to have if it does not tell."""

LITTLE = 1 << 20
"""Bytes that are there where Python runs: asking the machine takes longer than such work."""

_chosen: float | None = None


def set_memory_limit(n_bytes: float | None) -> None:
    """Choose how many bytes a table may take; None: half of what the machine or container has.

    There is no limit with `float("inf")`.

    Examples
    --------
    >>> import jensen as jn
    >>> jn.set_memory_limit(4e9)
    >>> jn.set_memory_limit(None)
    """
    global _chosen
    if n_bytes is not None and not (is_real(n_bytes) and n_bytes > 0):
        raise JensenError(f"the memory limit must be a positive number of bytes, not {n_bytes!r}")
    _chosen = n_bytes


def get_memory_limit() -> float:
    """How many bytes a table may take."""
    return _chosen if _chosen is not None else min(_machine(), _container()) // 2


def check_memory(n_bytes: float, what: str, way_out: str) -> None:
    """Refuse work that would take more than the limit, before anything is allocated."""
    if _chosen is None and n_bytes <= LITTLE:
        return
    if n_bytes > get_memory_limit():
        raise TooLargeError(
            f"{what} would take {show_bytes(n_bytes)}, more than the limit of "
            f"{show_bytes(get_memory_limit())}: {way_out}, or raise it with jn.set_memory_limit"
        )


STREAM = 2048
"""Bytes of one start or chain: a random stream and its state."""


def check_many(n: int, n_bytes: float, what: str, way_out: str) -> None:
    """Refuse n things that take so many bytes each, before the first is made."""
    try:
        total, shown = float(n) * n_bytes, f"{n:,}" if n < 10**18 else f"{float(n):.3g}"
    except OverflowError:  # the number is too large for a float
        total, shown = math.inf, "more than 1e308"
    check_memory(total, f"{shown} {what}", way_out)


def show_bytes(n_bytes: float) -> str:
    """Bytes as people read them.

    >>> show_bytes(3 * 2**30), show_bytes(10)
    ('3.0 GiB', '10 B')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} B" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} TiB"


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):  # Windows has no sysconf
        return UNKNOWN


def _container() -> int:
    """The limit of the control group, where there is one."""
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(file).read_text().strip()
        except OSError:
            continue
        if text.isdecimal():
            return int(text)
    return _machine()


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
