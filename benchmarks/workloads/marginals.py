"""Marginals of all variables of a network, nothing known.

All have the tables that Jensen read. Jensen's junction tree is compiled before, as it is for every
question but the first of its form; the others build theirs in every run.
"""

import os
import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.agree import relative_difference
from benchmarks.words import duration
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload
from benchmarks.workloads.networks import files

SMALL = ["alarm", "hailfinder"]
"""Pgmpy answers for these; it takes the memory or the time of all larger ones."""

LARGE = ["andes", "pigs", "diabetes", "munin"]


def jensen(setting: Setting, name: str) -> Task:
    import jensen as jn

    jn.set_threads(setting.threads)
    jn.examples.load("asia").marginals()  # so that all kernels are loaded
    net = _load(setting, name)
    before = time.perf_counter()
    net.marginals()
    first = duration(time.perf_counter() - before)
    return Task(
        lambda _: list(net.marginals().values()),
        answer=lambda found: _flat([p.values for p in found]),
        details=lambda _: [f"first call, which searches and compiles the junction tree: {first}"],
    )


def pyagrum(setting: Setting, name: str) -> Task:
    """Its own number of threads is all; on one it is quicker on some of these."""
    import pyagrum

    pyagrum.setNumberOfThreads(setting.threads)
    net = _load(setting, name)
    network, names = net.to_pyagrum(), net.graph.nodes

    def run(_: None) -> list[Any]:
        engine = pyagrum.LazyPropagation(network)
        engine.makeInference()
        return [engine.posterior(x) for x in names]

    return Task(run, answer=lambda found: _flat([p.toarray() for p in found]))


def pgmpy(setting: Setting, name: str) -> Task:
    """Variable after variable: asked for several it forms their joint distribution first."""
    from pgmpy.inference import VariableElimination

    net = _load(setting, name)
    model, names = net.to_pgmpy(), net.graph.nodes

    def run(_: None) -> list[Any]:
        engine = VariableElimination(model)
        return [engine.query([x], show_progress=False) for x in names]

    return Task(run, answer=lambda found: _flat([p.values for p in found]))


def _load(setting: Setting, name: str) -> Any:
    import jensen as jn

    return jn.load(files(setting, [name])[0])


def _flat(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate(parts)


def _workload(name: str, peers: list[Any], goal: Goal) -> Workload:
    def contender(who: Any) -> Contender:
        threads = os.cpu_count() if who is pyagrum else None
        return Contender(who.__name__, partial(who, name=name), who.__name__, threads)

    alone = Contender("pyagrum on one thread", partial(pyagrum, name=name), "pyagrum")
    return Workload(
        f"marginals-{name}",
        f"marginals of all variables of {name}, the junction tree compiled",
        contender(jensen),
        [*map(contender, peers), *([alone] if pyagrum in peers else [])],
        Check(relative_difference, 1e-9, "relative"),
        threads=1,
        goal=goal,
    )


WORKLOADS = [
    *(_workload(name, [pyagrum, pgmpy], Goal(ratio=30)) for name in SMALL),
    *(_workload(name, [pyagrum], Goal(ratio=5)) for name in LARGE),
    _workload("link", [], Goal(seconds=2.0, gib=1.0)),  # pyAgrum asks for more than 24 GiB
]
