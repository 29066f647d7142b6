"""How many threads there are, and the one place where they run."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from operator import index
from threading import local
from typing import SupportsIndex, TypeVar

from jensen.exceptions import JensenError

VARIABLE = "JENSEN_THREADS"

Item = TypeVar("Item")
Result = TypeVar("Result")

_chosen: int | None = None
_here = local()


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


def ordered_map(f: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Run f on every item, on threads if that can help; results come in the order of items.

    Within one of these threads there are no further ones: parallelism is never nested. Nothing runs
    on when this has ended, be it by an exception or by a caller who takes no more results.
    """
    items = list(items)
    workers = min(get_threads(), len(items))
    if workers <= 1 or getattr(_here, "is_worker", False):
        yield from map(f, items)
        return
    futures = [_pool(os.getpid(), workers).submit(f, item) for item in items]
    try:
        for future in futures:
            yield future.result()
    except BaseException:  # also that nobody takes what is left
        for future in futures:
            future.cancel()
        wait(futures)
        raise


def run_parts(f: Callable[[Item], None], parts: Sequence[Item]) -> None:
    """Run f on every one of a few parts, the first here: for work that takes a moment only."""
    if len(parts) == 1:
        f(parts[0])
        return
    others = [_pool(os.getpid(), len(parts) - 1).submit(f, part) for part in parts[1:]]
    try:
        f(parts[0])
    finally:
        wait(others)
    for future in others:
        future.result()


def n_parts() -> int:
    """How many parts work may be cut into here: 1 within a thread that does a part already."""
    return 1 if getattr(_here, "is_worker", False) else get_threads()


@lru_cache(maxsize=4)
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """Threads that wait for work; a forked process has to have its own."""
    return ThreadPoolExecutor(workers, "jensen", _become_worker)


def _become_worker() -> None:
    _here.is_worker = True


def _cores() -> int:
    return os.cpu_count() or 1


def _check(n: int, where: str) -> None:
    if n < 1:
        raise JensenError(f"{where}: the number of threads must be at least 1, not {n}")
