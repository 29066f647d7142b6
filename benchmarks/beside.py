"""Another checkout of Jensen in place of the peers, to see what a change made slower.

The other checkout runs its own file of the workload, in a process that finds its package and its
benchmarks first. So a workload may call internals that were renamed in between.
"""

import os
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

from benchmarks.workload import Contender, Goal, Setting, Task, Workload


def beside(workload: Workload, checkout: Path) -> Workload:
    """The same work, done by this checkout and by another one; nobody has a goal."""
    setup = partial(other_setup, checkout=checkout, name=workload.name)
    other = replace(workload.jensen, name=f"jensen, {checkout.name}", setup=setup, is_peer=True)
    return replace(workload, peers=[other], goal=Goal())


def find_checkout(text: str) -> Path:
    """The folder of another checkout; refuse what is none."""
    folder = Path(text).resolve()
    if not (folder / "src" / "jensen").is_dir() or not (folder / "benchmarks").is_dir():
        raise ValueError(f"{text} is no checkout of Jensen: it has no src/jensen or no benchmarks")
    return folder


def other_setup(setting: Setting, checkout: Path, name: str) -> Task:
    """What the other checkout does for the workload of this name, in a process of its own."""
    folders = [str(checkout / "src"), str(checkout)]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)  # of processes that it starts itself
    for module in [m for m in sys.modules if m.partition(".")[0] in ("jensen", "benchmarks")]:
        del sys.modules[module]
    known: dict[str, Workload] = import_module("benchmarks.registry").discover()
    if name not in known:
        raise LookupError(f"it has no workload {name!r}")
    there: Contender = known[name].jensen
    return there.setup(setting)
