"""How many threads there are, the one place where they run, and how Ctrl-C ends their work."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache, partial
from itertools import islice
from operator import index
from threading import Event, Lock, current_thread, local, main_thread
from types import FrameType
from typing import Any, NoReturn, SupportsIndex, TypeVar

from threadpoolctl import ThreadpoolController

from jensen.exceptions import JensenError

VARIABLE = "JENSEN_THREADS"

WINDOW = 8
"""So many items of an iterator are taken at a time for each thread."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Tasks = deque[tuple[int, Item]]
Done = dict[int, Callable[[], Result]]
"""By number of the task a function that returns its result or raises its error."""

_chosen: int | None = None
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
    global _chosen
    if n is None:
        _chosen = None
        return
    try:
        chosen = index(n)
    except TypeError:
        raise JensenError(f"set_threads: {n!r} is no number of threads: set 1 or more") from None
    _check(chosen, "set_threads")
    _chosen = chosen


def get_threads() -> int:
    """How many threads sums over rows use."""
    if _chosen is not None:
        return _chosen
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
