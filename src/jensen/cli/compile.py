"""`jensen compile`: compile and cache every kernel beforehand."""

import time

from jensen.cli import options, outputs
from jensen.cli.command import Command, Given


def run(given: Given) -> None:
    """Compile all kernels and cache them, so that nothing has to wait for it later.

    They are kept in the folder that JENSEN_CACHE_DIR names, else in that of the package or of the
    user's caches.
    """
    from jensen.support.kernel_cache import places

    begin = time.perf_counter()
    seconds = outputs.compile_kernels()
    if given.as_json:
        outputs.print_json(seconds)
    else:
        where = f" in {places().write}" if places().write else ""
        print(f"{len(seconds)} kernels are ready{where} ({time.perf_counter() - begin:.1f} s)")


COMMAND = Command(
    name="compile", run=run, group="Tools", options=(options.JSON,), examples=("jensen compile",)
)
