"""Load and save networks of the bnlearn repository (as pgmpy ships them) in BIF."""

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload

SMALL = [
    "alarm",
    "andes",
    "asia",
    "cancer",
    "child",
    "earthquake",
    "hailfinder",
    "hepar2",
    "insurance",
    "link",
    "pigs",
    "sachs",
    "survey",
    "water",
    "win95pts",
]
LARGE = ["barley", "diabetes", "mildew", "pathfinder"]
MUNIN = ["munin", "munin1", "munin2", "munin3", "munin4"]
"""Three parts of the 24, because pgmpy takes longer to load them all than a run may."""

UNREAD = {"child"}
"""PyAgrum cannot read a label with a slash."""

UNSAVED = {"child", "diabetes", "link", "mildew", "munin1", "munin2", "munin3", "munin4", "water"}
"""PyAgrum does not write a label that begins with a digit, but in the copy that it may change."""


class Library(NamedTuple):
    """How one library reads and writes, and its tables as arrays."""

    load: Callable[[Path], Any]
    save: Callable[[Any, Path], None]
    tables: Callable[[Any], list[Any]]


def jensen() -> Library:
    import jensen as jn

    return Library(
        jn.load,
        lambda net, path: net.save(path),
        lambda net: [net.network_.part(x, net.network_.tables) for x in net.graph.nodes],
    )


def pyagrum() -> Library:
    import pyagrum as gum

    return Library(
        lambda path: gum.loadBN(str(path)),
        lambda bn, path: gum.saveBN(bn, str(path)),
        lambda bn: [bn.cpt(x)[:] for x in bn.names()],
    )


def pgmpy() -> Library:
    from pgmpy.readwrite import BIFReader, BIFWriter

    return Library(
        lambda path: BIFReader(str(path)).get_model(),
        lambda model, path: BIFWriter(model).write(str(path)),
        lambda model: [cpd.values for cpd in model.get_cpds()],
    )


def files(setting: Setting, names: list[str]) -> list[Path]:
    """The networks, unpacked: nobody is timed at gunzip."""
    import pgmpy

    shipped = Path(pgmpy.__file__).parent / "utils" / "example_models"
    for name in names:
        target = setting.folder / f"{name}.bif"
        if not target.exists():
            target.write_bytes(gzip.decompress((shipped / f"{name}.bif.gz").read_bytes()))
    return [setting.folder / f"{name}.bif" for name in names]


def load(setting: Setting, names: list[str], library: Callable[[], Library]) -> Task:
    read, _, tables = library()
    paths = files(setting, names)
    return Task(lambda _: [read(path) for path in paths], answer=partial(_answer, tables))


def save(setting: Setting, names: list[str], library: Callable[[], Library]) -> Task:
    read, write, tables = library()
    networks = [read(path) for path in files(setting, names)]
    target = setting.folder / f"saved-by-{library.__name__}.bif"

    def run(_: Any) -> list[Any]:
        for network in networks:
            write(network, target)
        return networks

    return Task(run, answer=partial(_answer, tables))


def _answer(tables: Callable[[Any], list[Any]], networks: list[Any]) -> Any:
    """Σ p² of every network: no order of variables or axes changes it."""
    return np.array([sum(np.sum(np.square(t)) for t in tables(n)) for n in networks])


def _without(names: set[str]) -> list[str]:
    return [name for name in (*SMALL, *LARGE, *MUNIN) if name not in names]


def _workload(
    name: str, title: str, names: list[str], work: Callable[..., Task], peer: str, ratio: float
) -> Workload:
    def contender(library: Callable[[], Library], **choices: Any) -> Contender:
        setup = partial(work, names=names, library=library)
        return Contender(library.__name__, setup, library.__name__, threads=1, **choices)

    peers = {
        "pgmpy": contender(pgmpy),
        "pyagrum": contender(
            pyagrum, tolerance=1e-4, because="pyAgrum reads BIF in single precision"
        ),
    }
    goal = Goal(ratio=ratio)
    return Workload(name, title, contender(jensen), [peers[peer]], same_numbers, goal=goal)


WORKLOADS = [
    _workload(
        "networks-load",
        "load 23 networks (pyAgrum cannot read child: a label has a slash)",
        _without(UNREAD),
        load,
        "pyagrum",
        1.0,
    ),
    _workload(
        "networks-save",
        "save 15 networks (pyAgrum refuses 8: labels that begin with a digit; and cannot read one)",
        _without(UNSAVED),
        save,
        "pyagrum",
        1.0,
    ),
    _workload("networks-load-small", "load 15 of 24 networks", SMALL, load, "pgmpy", 20.0),
    _workload("networks-load-large", "load 4 of 24 networks", LARGE, load, "pgmpy", 20.0),
    _workload("networks-load-munin", "load 5 of 24 networks", MUNIN, load, "pgmpy", 20.0),
    _workload("networks-save-all", "save all 24 networks", _without(set()), save, "pgmpy", 20.0),
]
