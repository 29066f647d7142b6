"""`jensen compile`: compile and cache every kernel beforehand."""

import sys
import time

from jensen.cli import options, outputs

NAME = "compile"
EPILOG = "Example: jensen compile"


def command(as_json: options.Json = False) -> None:
    """Compile all kernels and cache them, so that nothing has to wait for it later."""
    from tqdm import tqdm

    from jensen.kernels import compile_all, load_all

    seconds: dict[str, float] = {}
    begin = time.perf_counter()
    with tqdm(total=len(load_all()), desc="compiling", disable=not sys.stderr.isatty()) as bar:
        for name in compile_all():
            seconds[name], begin = time.perf_counter() - begin, time.perf_counter()
            bar.update()
    if as_json:
        outputs.print_json(seconds)
    else:
        print(f"{len(seconds)} kernels are ready ({sum(seconds.values()):.1f} s)")
