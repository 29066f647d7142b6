"""Compiled inner loops: arrays in, arrays filled, scalars out.

A kernel is declared with its one signature, compiled on first use and cached on disk. Importing a
module of this folder imports Numba, so the rest of the package does it where a kernel is called.
"""

import functools
import logging
import multiprocessing
import pkgutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from typing import Any, NamedTuple

from numba import njit
from numba.core import event
from numba.core.dispatcher import Dispatcher
from numba.core.sigutils import normalize_signature

from jensen.support.kernel_cache import VARIABLE, KernelCache, writable_folder

MODULES = tuple(sorted(x.name for x in pkgutil.iter_modules(__path__) if not x.ispkg))
"""Every module of kernels, found in this folder; `jensen compile` goes through them."""

TOGETHER = (
    ("partition_chain", "structure_chain"),
    ("local_terms", "pair_information", "further_scores", "further_parents", "further_rows"),
    ("tree_programs", "elimination"),
    ("posteriors", "completions"),
    ("family_orders", "family_pools", "graph_moves", "order_chain"),
    ("chains", "columns", "gaussians", "log_tables"),
)
"""Modules that share helpers are compiled in one process, the longest groups first."""

COMPILING = "compiling (once; the result is cached, and `jensen compile` does it beforehand)"
NOT_KEPT = (
    f"compiling beforehand is of no use: no folder can be written in which the kernels would be "
    f"found again; set {VARIABLE} to one that can"
)

log = logging.getLogger("jensen")


class Kernel(NamedTuple):
    """A compiled function and the only signature it may have."""

    function: Any
    signature: Any


KERNELS: list[Kernel] = []


def _declares(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """What declares functions that are compiled in this way."""
    compile_ = njit(nogil=True, error_model="numpy", **options)

    def declare(function: Callable[..., Any]) -> Any:
        compiled = compile_(function)
        if isinstance(compiled, Dispatcher) and not function.__closure__:
            compiled._cache = KernelCache(function)
        return compiled

    return declare


_bare = functools.partial(_declares, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)

helper = _declares(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Declares a function that only kernels call: what Python would need is not compiled."""

bare = _bare()
"""Declares a helper that makes no arrays: those it is given in records are not counted either.

Counting who uses an array takes longer than a look into it, and stops other threads that do so.
"""

bare_part = _bare(forceinline=True)
"""Declares such a helper that is pasted where it is called: large records are not handed over."""

bare_sum = _bare(forceinline=True, fastmath={"reassoc", "contract"})
"""The same of a sum that may be reordered, so that it is vectorised."""

part = _declares(inline="always")
"""Declares a function that is pasted where a kernel calls it: compiled within the kernel alone."""


def kernel(signature: Any, fastmath: Collection[str] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Declare a kernel with its signature: in Numba's notation, or by `records.signature`."""

    def declare(function: Callable[..., Any]) -> Any:
        compiled = _declares(fastmath=set(fastmath))(function)
        KERNELS.append(Kernel(compiled, signature))
        return compiled

    return declare


def reassociated(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare a kernel whose sums may be reordered, so that they are vectorised.

    Infinities and NaN keep their meaning, which `fastmath=True` would take from them.
    """
    return kernel(signature, fastmath=("reassoc", "contract"))


def load_all(modules: Sequence[str] = MODULES) -> list[Kernel]:
    """Every kernel of these modules, declared but not compiled."""
    names = {import_module(f"jensen.kernels.{module}").__name__ for module in modules}
    return [item for item in KERNELS if item.function.__module__ in names]


def compile_all() -> Iterator[str]:
    """Compile and cache every kernel, yielding its name when it is ready."""
    for item in load_all():
        _compile(item)
        yield item.function.__name__


def _compile(item: Kernel) -> None:
    """Compile as a call would: the cache does not find by types what was compiled by a text."""
    if hasattr(item.function, "compile"):  # plain Python under NUMBA_DISABLE_JIT
        arguments, _ = normalize_signature(item.signature)
        item.function.compile(tuple(arguments))


def cache_all(
    n_processes: int, wanted: Collection[str] | None = None
) -> Iterator[dict[str, float]]:
    """Compile and cache kernels, yielding the seconds they took, a group of modules at a time.

    Numba compiles one function at a time in a process, so the work is shared by several processes.
    `wanted` names the kernels to compile; by default all are.
    """
    from jensen.exceptions import FileError  # at the top it would be a source of all kernels

    if writable_folder() is None and never_cached():
        raise FileError(NOT_KEPT)
    alone = [(module,) for module in MODULES if not any(module in group for group in TOGETHER)]
    context = multiprocessing.get_context("spawn")  # whose processes repeat no warnings
    pool = ProcessPoolExecutor(
        n_processes, context, initializer=log.setLevel, initargs=(logging.ERROR,)
    )
    try:
        tasks = [pool.submit(_cache_modules, group, wanted) for group in (*TOGETHER, *alone)]
        for task in as_completed(tasks):
            yield task.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _cache_modules(modules: Sequence[str], wanted: Collection[str] | None) -> dict[str, float]:
    seconds = {}
    for item in load_all(modules):
        name, begin = item.function.__name__, time.perf_counter()
        if wanted is None or name in wanted:
            _compile(item)
            seconds[name] = time.perf_counter() - begin
    return seconds


def never_cached() -> list[str]:
    """Names of the kernels of which nothing is kept that was compiled from today's sources."""
    found = [item.function for item in load_all()]
    return [x.__name__ for x in found if isinstance(x, Dispatcher) and not x._cache.exists()]


class _Announcement(event.Listener):
    """Says once that kernels are being compiled; loading them from the cache is silent."""

    def on_start(self, happening: event.Event) -> None:
        log.info(COMPILING)
        event.unregister("numba:compile", self)

    def on_end(self, happening: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announcement())
