"""Compiled inner loops: arrays in, arrays filled, scalars out.

A kernel is declared with its one signature, compiled on first use and cached on disk. Importing a
module of this folder imports Numba, so the rest of the package does it where a kernel is called.
"""

import functools
import logging
import multiprocessing
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from numba import njit
from numba.core import event
from numba.core.sigutils import normalize_signature

from jensen.data.threads import get_threads

MODULES = (
    "best_networks",
    "bit_sets",
    "chains",
    "chains_log",
    "chi_squared",
    "cluster_cuts",
    "columns",
    "counting",
    "dag_sums",
    "elimination",
    "family_orders",
    "forward",
    "further_parents",
    "gaussians",
    "graph_changes",
    "graph_draws",
    "graph_features",
    "graph_moves",
    "hidden_sets",
    "independence",
    "interning",
    "local_terms",
    "log_tables",
    "long_numbers",
    "messages",
    "order_chain",
    "order_sums",
    "orders",
    "pair_information",
    "parent_draws",
    "parent_sums",
    "partition_chain",
    "posteriors",
    "random_numbers",
    "records",
    "set_sums",
    "small_graphs",
    "spanning",
    "stratified_tables",
    "structure_chain",
    "subsets",
    "tree_programs",
)
"""Every module of kernels; `jensen compile` goes through them."""

LONGEST = ("partition_chain", "structure_chain", "order_chain", "further_parents", "tree_programs")
"""Modules that take longest to compile: they are begun first, so that no core waits for them."""

COMPILING = "compiling (once; the result is cached, and `jensen compile` does it beforehand)"

log = logging.getLogger("jensen")


class Kernel(NamedTuple):
    """A compiled function and the only signature it may have."""

    function: Any
    signature: Any


KERNELS: list[Kernel] = []

helper = njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
"""Declares a function that only kernels call: what Python would need is not compiled."""

_bare = functools.partial(
    njit,
    cache=True,
    nogil=True,
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    _nrt=False,
)

bare = _bare()
"""Declares a helper that makes no arrays: those it is given in records are not counted either.

Counting who uses an array takes longer than a look into it, and stops other threads that do so.
"""

bare_part = _bare(forceinline=True)
"""Declares such a helper that is pasted where it is called: large records are not handed over."""

bare_sum = _bare(forceinline=True, fastmath={"reassoc", "contract"})
"""The same of a sum that may be reordered, so that it is vectorised."""

part = njit(cache=True, nogil=True, error_model="numpy", inline="always")
"""Declares a function that is pasted where a kernel calls it: compiled within the kernel alone."""


def kernel(signature: Any, fastmath: Collection[str] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Declare a kernel with its signature: in Numba's notation, or by `records.signature`."""

    def declare(function: Callable[..., Any]) -> Any:
        compile_ = njit(cache=True, nogil=True, error_model="numpy", fastmath=set(fastmath))
        compiled = compile_(function)
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


def cache_all(wanted: Collection[str] | None = None) -> Iterator[dict[str, float]]:
    """Compile and cache kernels on all cores, yielding the seconds they took, module by module.

    Numba compiles one function at a time in a process, so every core has a process of its own.
    `wanted` names some kernels of which others are not needed.
    """
    modules = [*LONGEST, *(module for module in MODULES if module not in LONGEST)]
    pool = ProcessPoolExecutor(get_threads(), multiprocessing.get_context("spawn"))
    try:
        tasks = [pool.submit(_cache_module, module, wanted) for module in modules]
        for task in as_completed(tasks):
            yield task.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _cache_module(module: str, wanted: Collection[str] | None) -> dict[str, float]:
    seconds = {}
    for item in load_all([module]):
        name, begin = item.function.__name__, time.perf_counter()
        if wanted is None or name in wanted:
            _compile(item)
            seconds[name] = time.perf_counter() - begin
    return seconds


def never_cached() -> list[str]:
    """Names of the kernels of which the cache has nothing, be it of today's source or older."""
    found = []
    for item in load_all():
        function = item.function
        if hasattr(function, "stats"):
            source = Path(function.__code__.co_filename).stem
            index = f"{source}.{function.__name__}-{function.__code__.co_firstlineno}.*.nbi"
            if not any(Path(function.stats.cache_path).glob(index)):
                found.append(function.__name__)
    return found


class _Announcement(event.Listener):
    """Says once that kernels are being compiled; loading them from the cache is silent."""

    def on_start(self, happening: event.Event) -> None:
        log.info(COMPILING)
        event.unregister("numba:compile", self)

    def on_end(self, happening: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announcement())
