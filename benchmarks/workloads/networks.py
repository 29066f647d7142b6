"""Load and save the 24 networks of the bnlearn repository (as pgmpy ships them) in BIF."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload


def files(setting: Setting) -> list[Path]:
    """The networks, unpacked: nobody is timed at gunzip."""
    import pgmpy

    folder = setting.folder / "networks"
    folder.mkdir(exist_ok=True)
    shipped = Path(pgmpy.__file__).parent / "utils" / "example_models"
    for packed in sorted(shipped.glob("*.bif.gz")):
        target = folder / packed.stem
        if not target.exists():
            target.write_bytes(gzip.decompress(packed.read_bytes()))
    return sorted(folder.glob("*.bif"))


def jensen(setting: Setting) -> Task:
    import jensen as jn

    return _task(
        setting,
        jn.load,
        lambda net, path: net.save(path),
        lambda net: [net.network_.part(x, net.network_.tables) for x in net.graph.nodes],
    )


def pyagrum(setting: Setting) -> Task:
    import pyagrum as gum

    return _task(
        setting,
        lambda path: gum.loadBN(str(path)),
        lambda bn, path: gum.saveBN(bn, str(path)),
        lambda bn: [bn.cpt(x)[:] for x in bn.names()],
    )


def pgmpy(setting: Setting) -> Task:
    from pgmpy.readwrite import BIFReader, BIFWriter

    return _task(
        setting,
        lambda path: BIFReader(str(path), n_jobs=1).get_model(),
        lambda model, path: BIFWriter(model).write(str(path)),
        lambda model: [cpd.values for cpd in model.get_cpds()],
    )


def _task(
    setting: Setting,
    load: Callable[[Path], Any],
    save: Callable[[Any, Path], None],
    tables: Callable[[Any], list[Any]],
) -> Task:
    paths = files(setting)
    target = setting.folder / "saved.bif"

    def run(_: Any) -> list[Any]:
        networks = [load(path) for path in paths]
        for network in networks:
            save(network, target)
        return networks

    def answer(networks: list[Any]) -> Any:
        """Σ p² of every network: no order of variables or axes changes it."""
        return np.array([sum(np.sum(np.square(t)) for t in tables(n)) for n in networks])

    return Task(run, answer=answer)


WORKLOADS = [
    Workload(
        "networks",
        "load and save 24 networks in BIF",
        Contender("jensen", jensen, "jensen", threads=1),
        [
            Contender(
                "pyagrum",
                pyagrum,
                "pyagrum",
                threads=1,
                tolerance=1e-4,
                because="pyAgrum reads BIF in single precision",
            ),
            Contender("pgmpy", pgmpy, "pgmpy", threads=1),
        ],
        same_numbers,
        goal=Goal(ratio=1.0),
    )
]
