"""`jensen compile`: compile and cache every kernel beforehand."""

import sys
import time

from jensen.cli import options, outputs

NAME = "compile"
EPILOG = "Example: jensen compile"


def command(as_json: options.Json = False) -> None:
    """Compile all kernels and cache them, so that nothing has to wait for it later."""
    from tqdm import tqdm

    from jensen.kernels import cache_all, load_all

    seconds: dict[str, float] = {}
    begin = time.perf_counter()
    with tqdm(total=len(load_all()), desc="compiling", disable=not sys.stderr.isatty()) as bar:
        for some in cache_all():
            seconds |= some
            bar.update(len(some))
    if as_json:
        outputs.print_json(dict(sorted(seconds.items())))
    else:
        print(f"{len(seconds)} kernels are ready ({time.perf_counter() - begin:.1f} s)")
