"""Compile every kernel: cold, and loaded from the cache; each time in a fresh process."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

from benchmarks.subprocesses import run_python
from benchmarks.words import columns, duration
from benchmarks.workload import Contender, Setting, Task, Workload

SCRIPT = """
import json, time
last, parts = time.perf_counter(), []
def lap(name):
    global last
    now = time.perf_counter()
    parts.append((name, now - last))
    last = now
import numba
lap("import of Numba")
FIRST_USE
from jensen import kernels
kernels.load_all()
lap("import of the kernels")
before, parts = parts, []
for item, name in zip(kernels.load_all(), kernels.compile_all()):
    lap(item.function.py_func.__module__.rpartition(".")[2] + "." + name)
print(json.dumps([before, parts]))
"""
# The first function that Numba compiles also pays for Numba's own start.
FIRST_USE = """numba.njit(lambda x: x + 1).compile("int64(int64)")
lap("first use of Numba")"""

HIDDEN = {"elimination", "hidden_sets", "messages", "posteriors", "tree_programs"}
"""Modules of what is needed where values are missing."""


def cold(setting: Setting) -> Task:
    """An empty cache for every run."""
    return Task(
        lambda cache: _compile(cache, FIRST_USE),
        prepare=lambda: Path(mkdtemp(dir=setting.folder)),
        details=_details,
    )


def cached(setting: Setting) -> Task:
    """A cache that the first run filled."""
    cache = Path(mkdtemp(dir=setting.folder))
    _compile(cache)
    return Task(lambda _: _compile(cache), details=_details)


def _compile(cache: Path, first_use: str = "") -> str:
    script = SCRIPT.replace("FIRST_USE", first_use)
    return run_python(script, {"JENSEN_CACHE_DIR": str(cache)})


def _details(printed: str) -> Sequence[str]:
    before, kernels = json.loads(printed)
    hidden = [item for item in kernels if item[0].partition(".")[0] in HIDDEN]
    sums = [("all {} kernels", kernels), ("the {} for missing values and queries", hidden)]
    totals = [(text.format(len(some)), sum(s for _, s in some)) for text, some in sums]
    rows = [*before, *kernels, *totals]
    return columns([[name, duration(seconds)] for name, seconds in rows], right=[1])


WORKLOADS = [
    Workload(
        "compile-cold",
        "compile every kernel, with an empty cache (the whole process)",
        Contender("jensen", cold, "jensen", threads=1),
    ),
    Workload(
        "compile-cached",
        "load every kernel from the cache (the whole process)",
        Contender("jensen", cached, "jensen", threads=1),
    ),
]
