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
for name in kernels.compile_all():
    lap(name)
print(json.dumps([before, parts]))
"""
# The first function that Numba compiles also pays for Numba's own start.
FIRST_USE = """numba.njit(lambda x: x + 1).compile("int64(int64)")
lap("first use of Numba")"""


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
    return run_python(script, {"NUMBA_CACHE_DIR": str(cache)})


def _details(printed: str) -> Sequence[str]:
    before, kernels = json.loads(printed)
    total = sum(seconds for _, seconds in kernels)
    rows = [*before, *kernels, (f"all {len(kernels)} kernels", total)]
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
