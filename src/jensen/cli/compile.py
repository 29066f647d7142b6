"""`jensen compile`: compile and cache every kernel beforehand."""

import sys
import time
from collections.abc import Collection

from jensen.cli import options, outputs
from jensen.cli.command import Command, Given


def run(given: Given) -> None:
    """Compile all kernels and cache them, so that nothing has to wait for it later.

    They are kept in the folder that JENSEN_CACHE_DIR names, else in that of the package or of the
    user's caches.
    """
    from jensen.support.kernel_cache import places

    begin = time.perf_counter()
    seconds = cache()
    if given.as_json:
        outputs.print_json(seconds)
    else:
        where = f" in {places().write}" if places().write else ""
        print(f"{len(seconds)} kernels are ready{where} ({time.perf_counter() - begin:.1f} s)")


def cache(wanted: Collection[str] | None = None) -> dict[str, float]:
    """Compile kernels on all cores, all or those that are named; return the seconds of each."""
    from tqdm import tqdm

    from jensen.data import get_threads
    from jensen.kernels import cache_all, load_all

    seconds: dict[str, float] = {}
    total = len(load_all()) if wanted is None else len(wanted)
    with tqdm(total=total, desc="compiling", disable=not sys.stderr.isatty()) as bar:
        for some in cache_all(get_threads(), wanted):
            seconds |= some
            bar.update(len(some))
    return dict(sorted(seconds.items()))


COMMAND = Command(
    name="compile", run=run, group="Tools", options=(options.JSON,), examples=("jensen compile",)
)
