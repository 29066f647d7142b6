"""The machine: how much memory work may take, arrays that are used again, threads and Ctrl-C.

Memory is checked before a piece of work begins. Threads run nowhere but here.

The system gives a large array fresh pages every time and takes them back afterwards. For arrays
that live for a moment that costs more than the work in them, and threads wait for each other there:
`pooled_array` takes their memory from a pool.
"""

import math
import os
import signal
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache, partial
from itertools import islice
from operator import index
from pathlib import Path
from threading import Event, Lock, current_thread, local, main_thread
from types import FrameType
from typing import Any, NoReturn, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from jensen.exceptions import JensenError, TooLargeError
from jensen.support.arguments import is_real

UNKNOWN = 8 << 30
"""Bytes that a machine is assumed to have if it does not tell."""

LITTLE = 1 << 20
"""Bytes that are there where Python runs: asking the machine takes longer than such work."""

_limit: float | None = None


def set_memory_limit(n_bytes: float | None) -> None:
    """Choose how many bytes a table may take; None: half of what the machine or container has.

    There is no limit with `float("inf")`.

    Examples
    --------
    >>> import jensen as jn
    >>> jn.set_memory_limit(4e9)
    >>> jn.set_memory_limit(None)
    """
    global _limit
    if n_bytes is not None and not (is_real(n_bytes) and n_bytes > 0):
        raise JensenError(f"the memory limit must be a positive number of bytes, not {n_bytes!r}")
    _limit = n_bytes


def get_memory_limit() -> float:
    """How many bytes a table may take."""
    return _limit if _limit is not None else min(_machine(), _container()) // 2


def check_memory(n_bytes: float, what: str | Callable[[], str], way_out: str) -> None:
    """Refuse work that would take more than the limit, before anything is allocated."""
    if _limit is None and n_bytes <= LITTLE:
        return
    if n_bytes > get_memory_limit():
        work = what if isinstance(what, str) else what()
        raise TooLargeError(
            f"{work} would take {show_bytes(n_bytes)}, more than the limit of "
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


# --- threads ---

VARIABLE = "JENSEN_THREADS"

WINDOW = 8
"""So many items of an iterator are taken at a time for each thread."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Tasks = deque[tuple[int, Item]]
Done = dict[int, Callable[[], Result]]
"""By number of the task a function that returns its result or raises its error."""

_n_threads: int | None = None
_here = local()
_blas_lock = Lock()
_blas_limits: list[Any] = []  # what restores BLAS, once for everyone who wants it on one thread


def set_threads(n: SupportsIndex | None) -> None:
    """Choose how many threads sums over rows may use; results never depend on it.

    Parameters
    ----------
    n
        At least 1. None: the environment variable `JENSEN_THREADS`, else all cores.

    Examples
    --------
    >>> import jensen as jn
    >>> jn.set_threads(1)
    >>> jn.get_threads()
    1
    >>> jn.set_threads(None)
    """
    global _n_threads
    if n is None:
        _n_threads = None
        return
    try:
        chosen = index(n)
    except TypeError:
        raise JensenError(f"set_threads: {n!r} is no number of threads: set 1 or more") from None
    _check(chosen, "set_threads")
    _n_threads = chosen


def get_threads() -> int:
    """How many threads sums over rows use."""
    if _n_threads is not None:
        return _n_threads
    text = os.environ.get(VARIABLE)
    if text is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cores()
    if not (text.isascii() and text.isdigit()):
        raise JensenError(f"{VARIABLE}={text!r} is no number of threads: set it to 1 or more")
    _check(int(text), VARIABLE)
    return int(text)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep matrix products on the thread that asks for them, so that bits depend on no other.

    BLAS cuts long sums by how many threads it has. The setting belongs to the whole process: the
    first who enters changes it, the last who leaves restores it. May decorate a function.
    """
    with _blas_lock:
        limit = None if _blas_limits else _blas().limit(limits=1, user_api="blas")
        _blas_limits.append(limit)
    try:
        yield
    finally:
        with _blas_lock:
            if len(_blas_limits) == 1:
                _blas_limits[0].restore_original_limits()
                _blas_limits.clear()
            else:
                _blas_limits.pop()


@cache
def _blas() -> Any:
    """The BLAS that NumPy has loaded; looking for it takes a while."""
    return ThreadpoolController()


def ordered_map(f: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Run f on every item, on threads if that can help; results come in the order of items.

    The caller's thread works on items too. Within an item there are no further threads: parallelism
    is never nested. Threads have the caller's context, so each of them notices Ctrl-C. When this
    ends, by an exception or because the caller takes no more results, no thread goes on. Of an
    iterator only some items are held at a time.
    """
    if not isinstance(items, Sized):
        remaining = iter(items)
        while window := list(islice(remaining, WINDOW * n_parts())):
            yield from ordered_map(f, window)
        return
    n_others = min(n_parts(), len(items)) - 1
    if n_others < 1:
        yield from map(f, items)
        return
    tasks: Tasks[Item] = deque(enumerate(items))
    done: Done[Result] = {}
    pool = _pool(os.getpid(), n_others)
    others = [pool.submit(copy_context().run, _do_all, f, tasks, done) for _ in range(n_others)]
    try:
        for i in range(len(items)):
            while i not in done:
                if not _do_next(f, tasks, done):
                    _wait_for(others)
            yield done.pop(i)()
    finally:
        tasks.clear()
        _wait_for(others)


def run_all(f: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Run f on every item, on threads if that can help."""
    for _ in ordered_map(f, items):
        pass


def n_parts() -> int:
    """How many threads may be used here: 1 inside a task of `ordered_map`."""
    return 1 if getattr(_here, "is_at_work", False) else get_threads()


def _do_all(f: Callable[[Item], Result], tasks: Tasks[Item], done: Done[Result]) -> None:
    while _do_next(f, tasks, done):
        pass


def _do_next(f: Callable[[Item], Result], tasks: Tasks[Item], done: Done[Result]) -> bool:
    """Run the first task that is left; return whether there was one."""
    try:
        i, item = tasks.popleft()
    except IndexError:
        return False
    _here.is_at_work = True
    try:
        result = f(item)
        done[i] = lambda: result
    except BaseException as error:
        tasks.clear()  # all before this one have begun, so the first error of all is among them
        done[i] = partial(_fail, error)
    finally:
        _here.is_at_work = False
    return True


def _fail(error: BaseException) -> NoReturn:
    raise error


def _wait_for(others: Sequence[Future[None]]) -> None:
    for other in others:
        other.cancel()  # if it has not begun, there is nothing left to do
    wait(others)


@lru_cache(maxsize=4)
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """A pool of threads; a forked process needs its own, so the process is part of the key."""
    return ThreadPoolExecutor(workers, "jensen")


def _cores() -> int:
    return os.cpu_count() or 1


def _check(n: int, where: str) -> None:
    if n < 1:
        raise JensenError(f"{where}: the number of threads must be at least 1, not {n}")


# --- Ctrl-C ---

_current: ContextVar[Event | None] = ContextVar("current", default=None)
"""The event that Ctrl-C sets at the moment; threads that the main thread starts share it."""


@contextmanager
def interruptible() -> Iterator[Event]:
    """Yield an event that the first Ctrl-C sets; the second one interrupts at once, as usual.

    Work that is called by other such work, also on the threads of this module, has the same
    event: all of it ends, and each part has to ask whether the results that it was given are
    complete. Only the main thread receives signals: in a thread that the caller started, the event
    is never set.
    """
    shared = _current.get()
    if shared is not None:
        yield shared
        return
    if current_thread() is not main_thread():
        yield Event()
        return
    stop, before = Event(), signal.getsignal(signal.SIGINT)

    def request_stop(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    if before is None or before is signal.SIG_IGN:  # set by another language, or ignored
        yield stop
        return
    signal.signal(signal.SIGINT, request_stop)
    token = _current.set(stop)
    try:
        yield stop
    finally:
        _current.reset(token)
        signal.signal(signal.SIGINT, before)
